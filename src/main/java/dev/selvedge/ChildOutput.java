package dev.selvedge;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a process writes, for a reader who can be interrupted and who is never left behind.
 *
 * <p>A thread that reads from a pipe is blocked until all who could write to it have let go of it. No interrupt wakes it, and
 * closing the stream does not either; so a stranger who was given the pipe, a daemon that a child left behind, would keep a
 * reader, and with it the scope, for good. Hence nobody ever blocks in the pipe here: only what is there is read, and the wait
 * between two looks is one for the end of the process. That end is the end of the stream, as soon as what was written before
 * it is read.
 */
final class ChildOutput extends InputStream {

    static final int END = -1;

    private static final long FIRST_PAUSE = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

    private final ChildProcess child;
    private final InputStream pipe;

    /** False if it goes elsewhere: then there is nothing to read, and no end to wait for. */
    private final boolean isPiped;

    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock. */
    private boolean closed;

    ChildOutput(ChildProcess child, InputStream pipe, boolean isPiped) {
        this.child = child;
        this.pipe = pipe;
        this.isPiped = isPiped;
    }

    boolean isPiped() {
        return isPiped;
    }

    /**
     * Reads what is there.
     *
     * @return how many bytes; 0 if there are none now, {@link #END} if there will be none
     */
    int poll(byte[] into, int from, int length) throws IOException {
        boolean ended = !isPiped || child.hasExited(); // asked first: all that it wrote is there then
        lock.lock();
        try {
            ensureOpen();
            int there = pipe.available();
            return there > 0 ? pipe.read(into, from, Math.min(there, length)) : ended ? END : 0;
        } finally {
            lock.unlock();
        }
    }

    /** The same, waiting for at least one byte, in real time. */
    int await(byte[] into, int from, int length) throws IOException, InterruptedException {
        for (long pause = FIRST_PAUSE; ; pause = longer(pause)) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            int n = poll(into, from, length);
            if (n != 0) {
                return n;
            }
            child.awaitExit(pause);
        }
    }

    /** Reads two at the same time, to their ends, in real time. */
    static void awaitEnds(ChildOutput one, Kept ofOne, ChildOutput other, Kept ofOther)
            throws IOException, InterruptedException {
        byte[] buffer = new byte[Kept.CHUNK];
        for (long pause = FIRST_PAUSE; ; ) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            int n = one.poll(buffer, 0, buffer.length);
            ofOne.add(buffer, n);
            int m = other.poll(buffer, 0, buffer.length);
            ofOther.add(buffer, m);
            if (n == END && m == END) {
                return;
            }
            if (n > 0 || m > 0) {
                pause = FIRST_PAUSE;
            } else {
                one.child.awaitExit(pause);
                pause = longer(pause);
            }
        }
    }

    private static long longer(long pause) {
        return Math.min(2 * pause, LONGEST_PAUSE);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        int n = read(one, 0, 1);
        return n == END ? END : one[0] & 0xff;
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
        Objects.checkFromIndexSize(off, len, b.length);
        if (len == 0) {
            return 0;
        }
        int n = Thread.currentThread().isInterrupted() ? 0 : poll(b, off, len);
        if (n == 0) {
            n = child.outside(() -> await(b, off, len));
        }
        if (n == END) {
            child.ensureNotCutOff();
        }
        return n;
    }

    @Override
    public int available() throws IOException {
        lock.lock();
        try {
            ensureOpen();
            return pipe.available();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() throws IOException {
        lock.lock();
        try {
            closed = true;
            pipe.close();
        } finally {
            lock.unlock();
        }
    }

    private void ensureOpen() throws IOException {
        if (closed) {
            throw new IOException("the stream was closed");
        }
    }
}
