package dev.selvedge.batch;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A file of this machine. Written and read through {@link RandomAccessFile}: the operations of a {@link FileChannel}
 * would close the file when the thread that calls them is interrupted, and with it the journal of all others.
 */
final class RealFile implements Disk.Handle {

    private final Path path;

    /** Opened by the first append, or at once if the file exists. */
    private @Nullable RandomAccessFile writing;

    private final ReentrantLock lock = new ReentrantLock();

    /** Opened by the first read. Guarded by the lock, as its place in the file. */
    private @Nullable RandomAccessFile reading;

    /** Guarded by the lock. */
    private boolean closed;

    /** Whether the directory was synced too. One thread syncs at a time. */
    private boolean isInDirectory;

    RealFile(Path path) throws IOException {
        this.path = path;
        if (Files.exists(path)) {
            RandomAccessFile unused = openForWriting();
        }
    }

    private RandomAccessFile openForWriting() throws IOException {
        if (writing == null) {
            RandomAccessFile opened = new RandomAccessFile(path.toFile(), "rw");
            opened.seek(opened.length());
            writing = opened;
        }
        return writing;
    }

    @Override
    public long length() throws IOException {
        return writing == null ? 0 : writing.length();
    }

    @Override
    public int read(long at, byte[] into, int from, int count) throws IOException {
        lock.lock();
        try {
            if (closed) {
                throw new IOException("it is closed");
            }
            if (reading == null) {
                reading = new RandomAccessFile(path.toFile(), "r");
            }
            reading.seek(at);
            return reading.read(into, from, count);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void append(byte[] bytes) throws IOException {
        openForWriting().write(bytes);
    }

    @Override
    public void truncate(long length) throws IOException {
        if (writing != null) {
            writing.setLength(length);
            writing.seek(length);
        }
    }

    @Override
    public void sync() throws IOException {
        if (writing == null) {
            return;
        }
        writing.getFD().sync();
        if (!isInDirectory) { // the name of a new file is content of its directory
            syncDirectory(path.toAbsolutePath().getParent());
            isInDirectory = true;
        }
    }

    /** As far as the system can: not all open a directory as a file. */
    private static void syncDirectory(@Nullable Path directory) {
        boolean interrupted = Thread.interrupted();
        while (directory != null) {
            try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
                channel.force(true);
                break;
            } catch (ClosedByInterruptException e) {
                interrupted |= Thread.interrupted();
            } catch (IOException e) {
                break;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        lock.lock();
        try {
            closed = true;
            if (reading != null) {
                reading.close();
            }
        } finally {
            lock.unlock();
            if (writing != null) {
                writing.close();
            }
        }
    }
}
