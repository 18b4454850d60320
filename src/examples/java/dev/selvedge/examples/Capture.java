package dev.selvedge.examples;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** What a command has written to one of its streams, as far as it is not printed. Of one thread at a time. */
final class Capture {

    /** Follows what a command writes; by chance, there is no such thing in that. */
    static final String MARK = "each" + new UUID(random(), random()) + "=";

    private static final byte[] MARK_BYTES = MARK.getBytes(US_ASCII);

    private static final int MOST = 1 << 20;

    private final Printer printer;
    private final PrintStream to;
    private byte[] bytes = new byte[1 << 10];
    private int size;

    /** What follows the mark; null as long as that has not come. */
    private String ending;

    private boolean isClean;

    Capture(Printer printer, PrintStream to) {
        this.printer = printer;
        this.to = to;
    }

    /**
     * Takes what there is of a stream, and waits for nothing; whether there was anything. When there is a megabyte, whole
     * lines of that are printed.
     */
    boolean take(InputStream from) throws IOException {
        int n = isOpen() ? from.available() : 0;
        if (n == 0) {
            return false;
        }
        makeRoom(n); // for all of it: a pipe has a mark as a whole or not at all, and so do we
        int before = size;
        size += from.readNBytes(bytes, size, n);
        lookForMark(before);
        return true;
    }

    private void lookForMark(int from) {
        for (int at = from; at + MARK_BYTES.length < size; at++) {
            if (isMarkAt(at)) {
                int end = at + MARK_BYTES.length;
                while (bytes[end] != '\n') {
                    end++;
                }
                ending = new String(bytes, at + MARK_BYTES.length, end - at - MARK_BYTES.length, US_ASCII);
                isClean = end + 1 == size;
                size = at;
                return;
            }
        }
    }

    private boolean isMarkAt(int from) {
        int n = MARK_BYTES.length;
        return bytes[from] == MARK_BYTES[0] && Arrays.equals(bytes, from, from + n, MARK_BYTES, 0, n);
    }

    /** Whether its end has not come yet. */
    boolean isOpen() {
        return ending == null;
    }

    /** Whether nothing has come after the end, from whatever the command has left behind. */
    boolean isClean() {
        return isClean;
    }

    /** With which the command has ended, if that stream says so. */
    int status() {
        return Integer.parseInt(ending);
    }

    private void makeRoom(int more) {
        while (size > 0 && size + more > MOST) {
            printer.alone(this::printLines);
        }
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(size + more, Math.min(MOST, 4 * size)));
        }
    }

    /** All up to the last end of a line; or all, if there is none. */
    private void printLines() {
        int length = size;
        while (length > 0 && bytes[length - 1] != '\n') {
            length--;
        }
        length = length == 0 ? size : length;
        to.write(bytes, 0, length);
        System.arraycopy(bytes, length, bytes, 0, size - length);
        size -= length;
    }

    boolean isEmpty() {
        return size == 0;
    }

    boolean endsWithinLine() {
        return size > 0 && bytes[size - 1] != '\n';
    }

    void add(char one) {
        makeRoom(1);
        bytes[size++] = (byte) one;
    }

    /** Prints what is left. */
    void print() {
        to.write(bytes, 0, size);
        size = 0;
    }

    private static long random() {
        return ThreadLocalRandom.current().nextLong();
    }
}
