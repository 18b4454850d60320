package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import dev.selvedge.DeadlineExceededException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A task that ignores interrupts, moved into a Java of its own: there it can be ended.
 *
 * <p>Run it: {@code main} gives the task two seconds, which are too few.
 */
public final class ChildJvm {

    private ChildJvm() {}

    // @start region="task"
    /** Stands for a library that does not look at the interrupt flag: no deadline ends it in this Java. */
    static long collatz(long from) {
        long longest = 0;
        for (long n = from; n > 0; n++) { // for good, in effect
            long steps = 0;
            for (long x = n; x != 1; steps++) {
                x = x % 2 == 0 ? x / 2 : 3 * x + 1;
            }
            longest = Math.max(longest, steps);
        }
        return longest;
    }

    /** What the other Java runs: arguments come in as strings, results go out as lines. */
    public static final class Task {

        private Task() {}

        /**
         * Searches from a number on.
         *
         * @param args the number
         */
        public static void main(String[] args) {
            System.out.println("searching from " + args[0]);
            System.out.println(collatz(Long.parseLong(args[0])));
        }
    }
    // @end

    // @start region="start"
    /** This same Java, with this same class path, and another main class. */
    static ProcessBuilder java(Class<?> main, String... args) {
        Path home = Path.of(System.getProperty("java.home"), "bin", "java");
        String java = ProcessHandle.current().info().command().orElse(home.toString());
        ProcessBuilder builder =
                new ProcessBuilder(java, "-Xmx64m", "-cp", System.getProperty("java.class.path"), main.getName());
        builder.command().addAll(List.of(args));
        return builder;
    }
    // @end

    /**
     * Gives the task two seconds.
     *
     * @param args not looked at
     * @throws IOException if the other Java cannot be started
     */
    public static void main(String[] args) throws IOException {
        // @start region="run"
        try {
            scope("search").deadline(ofSeconds(2)).run(s -> {
                var child = s.process(java(Task.class, "27"), ofMillis(500));
                child.lines(System.out::println).orThrow();
            });
        } catch (DeadlineExceededException late) {
            System.out.println(late.getMessage()); // and the other Java is gone
        }
        // @end
    }
}
