package dev.selvedge.batch;

import dev.selvedge.Progress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A job in a JVM of its own: so many items, a second each; the argument says how it ends. */
final class BarMain {

    private BarMain() {}

    public static void main(String[] args) throws Exception {
        boolean cut = !args[0].equals("all");
        ProgressBar bar = ProgressBar.auto().named("grading");
        for (int i = 0; i <= (cut ? 20 : 50); i++) {
            bar.accept(new Progress(50, i, i, 0, 0, 0, 0, Duration.ofSeconds(i), false));
        }
        if (args[0].equals("ctrl-c")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("\nthe hook")));
            Process kill = new ProcessBuilder(
                            "kill",
                            "-INT",
                            Long.toString(ProcessHandle.current().pid()))
                    .start();
            kill.waitFor();
            new CountDownLatch(1).await();
        }
        if (cut) {
            bar.accept(new Progress(50, 22, 20, 0, 2, 0, 0, Duration.ofSeconds(21), true));
        }
        System.out.println("the data");
    }
}
