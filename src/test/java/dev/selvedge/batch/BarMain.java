package dev.selvedge.batch;

import dev.selvedge.MainScope;
import dev.selvedge.Progress;
import dev.selvedge.Selvedge;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/** A job in a JVM of its own: so many items, a second each; the argument says how it ends. */
final class BarMain {

    private BarMain() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("job")) {
            job();
            return;
        }
        boolean cut = !args[0].equals("all");
        ProgressBar bar = ProgressBar.auto().named("grading");
        for (int i = 0; i <= (cut ? 20 : 50); i++) {
            bar.accept(new Progress(50, i, i, 0, 0, 0, 0, Duration.ofSeconds(i), false));
        }
        if (args[0].equals("ctrl-c")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("\nthe hook")));
            pressCtrlC();
        }
        if (cut) {
            bar.accept(new Progress(50, 22, 20, 0, 2, 0, 0, Duration.ofSeconds(21), true));
        }
        System.out.println("the data");
    }

    /** A call that is cancelled at its 21st item. */
    private static void job() {
        ProgressBar bar = ProgressBar.auto().named("grading");
        List<Integer> items = IntStream.rangeClosed(1, 50).boxed().toList();
        MainScope.of(Selvedge.scope("job"))
                .run(s -> Selvedge.scope("items")
                        .concurrency(1)
                        .progress(Duration.ofMillis(1), bar)
                        .forEach(items, item -> {
                            if (item > 20) {
                                pressCtrlC();
                            }
                        }));
    }

    /** Does not come back. */
    private static void pressCtrlC() throws InterruptedException {
        try {
            String pid = Long.toString(ProcessHandle.current().pid());
            int unused = new ProcessBuilder("kill", "-INT", pid).start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        new CountDownLatch(1).await();
    }
}
