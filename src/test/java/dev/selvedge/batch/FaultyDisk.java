package dev.selvedge.batch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The real disk, but it does what a test says: it fills up, breaks, is slow. What it does to the file of failures is not counted. */
final class FaultyDisk implements Disk {

    /** What a sync does besides; with its number, from 1. */
    interface OnSync {
        void sync(int number) throws IOException;
    }

    final AtomicInteger appends = new AtomicInteger();
    final AtomicInteger syncs = new AtomicInteger();
    final AtomicInteger cuts = new AtomicInteger();

    /** How many bytes fit yet. */
    final AtomicLong room = new AtomicLong(Long.MAX_VALUE);

    volatile OnSync onSync = number -> {};

    volatile boolean cutsFail;
    volatile boolean closeFails;

    /** How much of the file a power cut would leave. */
    volatile long safe;

    @Override
    public Handle open(Path file) throws IOException {
        Handle real = Disk.REAL.open(file);
        return file.toString().endsWith(".failed") ? real : new Faulty(real);
    }

    private final class Faulty implements Handle {

        private final Handle real;

        Faulty(Handle real) {
            this.real = real;
        }

        @Override
        public long length() throws IOException {
            return real.length();
        }

        @Override
        public int read(long at, byte[] into, int from, int count) throws IOException {
            return real.read(at, into, from, count);
        }

        @Override
        public void append(byte[] bytes) throws IOException {
            int fits = (int) Math.min(room.get(), bytes.length);
            room.addAndGet(-fits);
            real.append(Arrays.copyOf(bytes, fits));
            appends.incrementAndGet();
            if (fits < bytes.length) {
                throw new IOException("No space left on device");
            }
        }

        @Override
        public void truncate(long length) throws IOException {
            cuts.incrementAndGet();
            if (cutsFail) {
                throw new IOException("Read-only file system");
            }
            real.truncate(length);
        }

        @Override
        public void sync() throws IOException {
            long length = real.length();
            onSync.sync(syncs.incrementAndGet());
            real.sync();
            safe = length;
        }

        @Override
        public void close() throws IOException {
            real.close();
            if (closeFails) {
                throw new IOException("Stale file handle");
            }
        }
    }
}
