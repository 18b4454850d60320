package dev.selvedge.batch;

import dev.selvedge.Outcome;
import dev.selvedge.Task;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** What the tests of journals have in common: journals whose items are their own keys. */
final class Journals {

    private static final long PATIENCE_NANOS = 20_000_000_000L;

    private Journals() {}

    static Journal<String> open(Path file) {
        return Journal.open(file, Function.identity());
    }

    static Journal<String> open(Path file, Journal.Sync sync, Disk disk) {
        return Journal.open(file, Function.identity(), sync, disk);
    }

    /** The three steps of work that gives the item itself, and records keys only. */
    static Task.Recorded<String, String, RuntimeException> keys(Journal<String> journal) {
        return steps(journal.recording(item -> item));
    }

    /** The same, with values, which are kept as they are. */
    static Task.Recorded<String, String, RuntimeException> values(Journal<String> journal) {
        return steps(journal.recording(item -> item, value -> value, text -> text));
    }

    static <I, R, X extends Exception> Task.Recorded<I, R, X> steps(Task.Of<I, R, X> recording) {
        return (Task.Recorded<I, R, X>) recording;
    }

    /** All three steps, for an item whose work is not interrupted. */
    static <I, R> R call(Task.Recorded<I, R, RuntimeException> steps, I item) {
        try {
            return steps.call(item);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void succeed(Journal<String> journal, String... keys) {
        for (String key : keys) {
            keys(journal).record(key, new Outcome.Success<>(key));
        }
    }

    static void fail(Journal<String> journal, String key, Throwable error) {
        keys(journal).record(key, new Outcome.Failure<>(error));
    }

    /** Opens a journal, writes keys and closes it. */
    static void write(Path file, String... keys) {
        try (Journal<String> journal = open(file)) {
            succeed(journal, keys);
        }
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> lines(Path file) {
        return read(file).lines().toList();
    }

    static Path failuresOf(Path file) {
        return file.resolveSibling(file.getFileName() + ".failed");
    }

    /** Spins until another thread has done something, which it does soon. */
    static void spinUntil(BooleanSupplier so) {
        long start = System.nanoTime();
        while (!so.getAsBoolean()) {
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                throw new AssertionError("waited in vain");
            }
            Thread.yield();
        }
    }
}
