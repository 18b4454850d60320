package dev.selvedge;

import java.nio.charset.Charset;
import java.util.Arrays;

/** The first bytes of a stream, or its last ones, up to a bound. Of one thread. */
final class Kept {

    static final int CHUNK = 8_192;

    private final int most;
    private final boolean last;

    /** A ring once it is as long as the bound; before that, it starts at 0. */
    private byte[] bytes = {};

    private int start;
    private int size;
    private boolean cut;

    private Kept(int most, boolean last) {
        this.most = most;
        this.last = last;
    }

    static Kept first(int most) {
        return new Kept(most, false);
    }

    static Kept last(int most) {
        return new Kept(most, true);
    }

    /** Takes the first {@code n} of {@code b}, none if that is negative. */
    void add(byte[] b, int n) {
        if (n <= 0) {
            return;
        }
        if (n > most - size) {
            cut = true;
        }
        int from = last ? Math.max(0, n - most) : 0;
        int left = n - from;
        makeRoomFor(left);
        int fits = Math.min(left, bytes.length - size);
        put(b, from, fits, (long) start + size);
        size += fits;
        if (last && fits < left) {
            put(b, from + fits, left - fits, start);
            start = (int) (((long) start + left - fits) % bytes.length);
        }
    }

    private void makeRoomFor(int n) {
        long needed = (long) size + n;
        if (needed > bytes.length && bytes.length < most) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(most, Math.max(needed, 2L * bytes.length)));
        }
    }

    private void put(byte[] b, int from, int n, long at) {
        if (n == 0) {
            return;
        }
        int here = (int) (at % bytes.length);
        int first = Math.min(n, bytes.length - here);
        System.arraycopy(b, from, bytes, here, first);
        System.arraycopy(b, from + first, bytes, 0, n - first);
    }

    boolean isCut() {
        return cut;
    }

    String text() {
        byte[] all = new byte[size];
        int first = Math.min(size, bytes.length - start);
        System.arraycopy(bytes, start, all, 0, first);
        System.arraycopy(bytes, 0, all, first, size - first);
        return new String(all, Charset.defaultCharset());
    }
}
