package dev.selvedge.examples;

import java.io.PrintStream;
import java.util.concurrent.locks.ReentrantLock;

/** Prints for many threads, one thing after the other. */
final class Printer {

    /** So much of a line is shown in messages. */
    private static final int LONGEST = 200;

    private final PrintStream out;
    private final PrintStream err;
    private final ReentrantLock lock = new ReentrantLock();

    Printer(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** For what a command writes to its standard output. */
    Capture ofOutput() {
        return new Capture(this, out);
    }

    /** For what a command writes to its standard error. */
    Capture ofErrors() {
        return new Capture(this, err);
    }

    /** Prints what is left of both, at one stroke. */
    void print(Capture output, Capture errors) {
        if (!output.isEmpty() || !errors.isEmpty()) {
            alone(() -> {
                output.print();
                errors.print();
            });
        }
    }

    /** Prints what is left of both, and what became of the command. */
    void print(Capture output, Capture errors, String line, String ending) {
        alone(() -> {
            output.print();
            if (errors.endsWithinLine()) {
                errors.add('\n');
            }
            errors.print();
            say(line, ending);
        });
    }

    /** A line of our own about a line of the input. */
    void say(String line, String ending) {
        String shown = line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "...";
        say("\"" + shown.replace("\n", "\\n") + "\": " + ending);
    }

    /** A line of our own, on standard error. */
    void say(String text) {
        lock.lock();
        try {
            err.println("each: " + text);
        } finally {
            lock.unlock();
        }
    }

    /** While something is printed, nothing else is. */
    void alone(Runnable printing) {
        lock.lock();
        try {
            printing.run();
            if (out.checkError()) { // which also flushes
                throw Hopeless.unread();
            }
            err.flush();
        } finally {
            lock.unlock();
        }
    }
}
