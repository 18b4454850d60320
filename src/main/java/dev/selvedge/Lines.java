package dev.selvedge;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.util.Arrays;

/** Makes lines of bytes. A line too long to keep comes in pieces. Of one thread. */
final class Lines<X extends Exception> {

    static final int LONGEST = 1 << 20;

    private final Task.VoidOf<? super String, X> each;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    Lines(Task.VoidOf<? super String, X> each) {
        this.each = each;
    }

    void add(byte[] b, int n) throws X, InterruptedException {
        int begin = 0;
        for (int i = 0; i < n; i++) {
            if (b[i] == '\n') {
                line.write(b, begin, i - begin);
                begin = i + 1;
                give();
            }
        }
        line.write(b, begin, n - begin);
        if (line.size() >= LONGEST) {
            give();
        }
    }

    /** What comes after the last end of a line is a line too. */
    void end() throws X, InterruptedException {
        if (line.size() > 0) {
            give();
        }
    }

    private void give() throws X, InterruptedException {
        byte[] bytes = line.toByteArray();
        line.reset();
        int length = bytes.length > 0 && bytes[bytes.length - 1] == '\r' ? bytes.length - 1 : bytes.length;
        each.run(new String(Arrays.copyOf(bytes, length), Charset.defaultCharset()));
    }
}
