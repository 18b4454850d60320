package dev.selvedge.batch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads a file of lines from the beginning, and finds where what can be read ends.
 *
 * <p>A last line without a line break was not written to its end; nor was a last one that holds zeros: after a power cut a
 * file may be as long as it should be. Both are for cutting off. But any other line that makes no sense was damaged by
 * something else, and a file that does not even begin like ours is none of ours: then nothing may be cut.
 */
final class Scan {

    private static final int BLOCK = 1 << 16;

    private final String name;
    private final String field;
    private final Found found;

    private long line;
    private long good;

    /** The last line, if it is none. */
    private @Nullable String bad;

    /** Whether that may be the beginning of one of ours. */
    private boolean isBadTorn;

    private Scan(String name, String field, Found found) {
        this.name = name;
        this.field = field;
        this.found = found;
    }

    /** Is told of each line. */
    @FunctionalInterface
    interface Found {
        /**
         * A line.
         *
         * @param bytes where it stands for the moment
         * @param end where it ends in the file, its line break included
         */
        void line(Line line, byte[] bytes, long end);
    }

    /**
     * Reads a file.
     *
     * @param name what messages call it
     * @param field the field that its lines may have after the key
     * @return how much of it is good
     * @throws IOException if it cannot be read, or is damaged, or no file of ours
     */
    static long of(Disk.Handle file, String name, String field, Found found) throws IOException {
        return new Scan(name, field, found).run(file);
    }

    private long run(Disk.Handle file) throws IOException {
        byte[] buffer = new byte[BLOCK];
        int have = 0;
        long base = 0;
        long length = file.length();
        while (base + have < length) {
            int n = file.read(base + have, buffer, have, buffer.length - have);
            if (n <= 0) {
                break; // somebody cuts it, who has no claim to it
            }
            int used = lines(buffer, have, have + n, base);
            have = have + n - used;
            base += used;
            System.arraycopy(buffer, used, buffer, 0, have);
            if (have == buffer.length) {
                buffer = Arrays.copyOf(buffer, longer(buffer.length));
            }
        }
        if (have > 0) {
            next();
            bad(buffer, 0, have, Line.isTorn(buffer, 0, have) || good > 0);
        }
        if (bad != null && !isBadTorn) {
            throw good == 0
                    ? new IOException(name + " is none: its first line is " + bad + ". Nothing was changed")
                    : damaged();
        }
        return good;
    }

    private int longer(int length) throws IOException {
        if (length > Integer.MAX_VALUE / 2) {
            throw new IOException("line " + (line + 1) + " of " + name + " is too long. Nothing was changed");
        }
        return length * 2;
    }

    /** The lines that end between {@code fresh} and {@code end}; how many bytes they are. */
    private int lines(byte[] b, int fresh, int end, long base) throws IOException {
        int start = 0;
        for (int i = fresh; i < end; i++) {
            if (b[i] == '\n') {
                next();
                Line parsed = Line.parse(b, start, i, field);
                if (parsed == null) {
                    bad(b, start, i, Line.holdsZero(b, start, i));
                } else {
                    good = base + i + 1;
                    found.line(parsed, b, good);
                }
                start = i + 1;
            }
        }
        return start;
    }

    /** One more line: so the one before was not the last. */
    private void next() throws IOException {
        if (bad != null) {
            throw damaged();
        }
        line++;
    }

    private IOException damaged() {
        return new IOException("line " + line + " of " + name + " is damaged: " + bad + ". Nothing was changed");
    }

    private void bad(byte[] b, int start, int end, boolean torn) {
        bad = Words.quoted(new String(b, start, Math.min(end - start, Words.LONGEST * 2), StandardCharsets.UTF_8));
        isBadTorn = torn;
    }
}
