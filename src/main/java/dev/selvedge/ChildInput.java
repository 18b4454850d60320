package dev.selvedge;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a process reads. Closing it does not wait for a thread that is blocked in writing because the process does not read:
 * that thread closes it when it comes back, at the latest when the process has ended.
 *
 * <p>No interrupt ends a write, but the end of the process does.
 */
final class ChildInput extends OutputStream {

    private final OutputStream pipe;

    /** Held while something is written: long, if the process does not read. */
    private final ReentrantLock lock = new ReentrantLock();

    /** false → true once, by anyone; who holds the lock, or can take it, then closes the pipe. */
    private volatile boolean closed;

    /** Throws if the process was ended on behalf of its scope, and the calling thread is to stop too. */
    private final Runnable ensureNotCutOff;

    ChildInput(OutputStream pipe, Runnable ensureNotCutOff) {
        this.pipe = pipe;
        this.ensureNotCutOff = ensureNotCutOff;
    }

    @Override
    public void write(int b) throws IOException {
        alone(() -> pipe.write(b));
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        Objects.checkFromIndexSize(off, len, b.length);
        alone(() -> pipe.write(b, off, len));
    }

    @Override
    public void flush() throws IOException {
        alone(pipe::flush);
    }

    @Override
    public void close() throws IOException {
        closed = true;
        closeIfIdle();
    }

    private void alone(Step step) throws IOException {
        lock.lock();
        try {
            if (closed) {
                throw new IOException("the stream was closed");
            }
            step.run();
        } catch (IOException e) {
            ensureNotCutOff.run(); // then nobody has broken the pipe but the scope
            throw e;
        } finally {
            lock.unlock();
            if (closed) {
                closeIfIdle();
            }
        }
    }

    private void closeIfIdle() throws IOException {
        if (lock.tryLock()) {
            try {
                pipe.close();
            } finally {
                lock.unlock();
            }
        }
    }

    private interface Step {
        void run() throws IOException;
    }
}
