package dev.selvedge.batch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** The failures of a journal, in a file of their own: the latest of each key. */
final class FailureLog {

    private static final String ERROR = "error";

    private final LineFile file;
    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock. */
    private final Map<String, String> errors;

    /** How many bytes at the end made no line, and were cut off. */
    final long cut;

    private FailureLog(LineFile file, Map<String, String> errors, long cut) {
        this.file = file;
        this.errors = errors;
        this.cut = cut;
    }

    static FailureLog open(Disk disk, Path path, Journal.Sync sync) throws IOException {
        String name = "the file of failures " + path;
        Disk.Handle handle = disk.open(path);
        try {
            Map<String, String> errors = new LinkedHashMap<>();
            long length = handle.length();
            long good = Scan.of(handle, name, ERROR, (line, bytes, end) -> put(errors, line, bytes));
            return new FailureLog(new LineFile(name, handle, sync, good), errors, length - good);
        } catch (Throwable e) {
            Journal.closing(handle::close, e);
            throw e;
        }
    }

    private static void put(Map<String, String> errors, Line line, byte[] bytes) {
        int from = line.from();
        String text = line.length() < 0 ? null : Line.unquoted(bytes, from, from + line.length());
        putLast(errors, line.key(), text == null ? "" : text);
    }

    private static void putLast(Map<String, String> errors, String key, String error) {
        errors.remove(key); // else it would stay in its place
        errors.put(key, error);
    }

    /** Appends a failure; returns when that is as safe as was promised. */
    void record(String key, Throwable error) {
        String text = textOf(error);
        byte[] line = Line.of(key, ERROR, Line.quoted(text));
        long end;
        lock.lock();
        try {
            end = file.append(key, line);
            putLast(errors, key, text);
        } finally {
            lock.unlock();
        }
        file.acknowledge(key, end);
    }

    private static String textOf(Throwable error) {
        try {
            return String.valueOf(error);
        } catch (RuntimeException e) {
            return error.getClass().getName();
        }
    }

    /** The key has succeeded. */
    void forget(String key) {
        lock.lock();
        try {
            errors.remove(key);
        } finally {
            lock.unlock();
        }
    }

    Map<String, String> errors() {
        lock.lock();
        try {
            return Collections.unmodifiableMap(new LinkedHashMap<>(errors));
        } finally {
            lock.unlock();
        }
    }

    void check(String key) {
        file.check(key);
    }

    void close() {
        file.close();
    }
}
