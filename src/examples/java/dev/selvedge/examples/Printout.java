package dev.selvedge.examples;

import java.io.PrintStream;
import java.time.Duration;

/**
 * What the {@link Tour} prints: headlines, and indented lines below.
 *
 * @param stream where to
 */
record Printout(PrintStream stream) {

    void headline(String text) {
        stream.println(text);
    }

    void say(String text) {
        stream.println("   " + text);
    }

    Duration took(long start) {
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        say("took:  " + took.toMillis() + " ms");
        return took;
    }
}
