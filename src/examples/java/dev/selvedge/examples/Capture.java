package dev.selvedge.examples;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.Arrays;

/** What a command has written to one of its streams, as far as it is not printed. Of one thread at a time. */
final class Capture {

    private static final int MOST = 1 << 20;

    private final Printer printer;
    private final PrintStream to;
    private byte[] bytes = new byte[1 << 10];
    private int size;

    Capture(Printer printer, PrintStream to) {
        this.printer = printer;
        this.to = to;
    }

    /** Reads a stream to its end. When there is a megabyte of it, whole lines of that are printed meanwhile. */
    void read(InputStream from) {
        try {
            for (int n = 0; n >= 0; n = from.read(bytes, size, bytes.length - size)) {
                size += n;
                if (size == MOST) {
                    printer.alone(this::printLines);
                } else {
                    makeRoom();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("what a command writes cannot be read: " + e.getMessage(), e);
        }
    }

    private void makeRoom() {
        if (size == bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.min(MOST, 4 * size));
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
        makeRoom();
        bytes[size++] = (byte) one;
    }

    /** Prints what is left. */
    void print() {
        to.write(bytes, 0, size);
        size = 0;
    }
}
