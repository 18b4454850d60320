package dev.selvedge.batch;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The right to use a journal, held by one at a time on this machine: a lock of the system on a file beside the journal.
 *
 * <p>Not on the journal itself. On POSIX systems a process loses its locks on a file as soon as it closes <em>any</em>
 * handle of that file, so that reading one's own journal would give the lock away; on Windows nobody could read it at
 * all. And the file stays when the lock is gone: whoever deletes it may take it from under the next one.
 */
final class Claim {

    /** The lock files of this JVM: each must be opened by one only, for the same reason. */
    private static final Set<Object> HELD = ConcurrentHashMap.newKeySet();

    /** Opened in vain while other code of this JVM has the lock: closing it would take that lock away. */
    private static final Queue<RandomAccessFile> LEFT_OPEN = new ConcurrentLinkedQueue<>();

    private final Object identity;
    private final RandomAccessFile file;

    private Claim(Object identity, RandomAccessFile file) {
        this.identity = identity;
        this.file = file;
    }

    /**
     * Takes the lock.
     *
     * @param journal as the user calls it
     * @param lockFile made if there is none
     * @throws IllegalStateException if somebody else has it
     */
    static Claim on(Path journal, Path lockFile) throws IOException {
        Object identity = identity(lockFile);
        if (!HELD.add(identity)) {
            throw inUse(journal, "in this process");
        }
        Claim claim = null;
        try {
            claim = take(journal, lockFile, identity);
            return claim;
        } finally {
            if (claim == null) {
                HELD.remove(identity);
            }
        }
    }

    private static Claim take(Path journal, Path lockFile, Object identity) throws IOException {
        RandomAccessFile file = new RandomAccessFile(lockFile.toFile(), "rw");
        boolean taken = false;
        try {
            taken = file.getChannel().tryLock() != null; // tries once, which no interrupt disturbs
            if (!taken) {
                throw inUse(journal, "by another process");
            }
        } catch (OverlappingFileLockException e) {
            LEFT_OPEN.add(file);
            taken = true;
            throw inUse(journal, "in this process");
        } finally {
            if (!taken) {
                file.close();
            }
        }
        return new Claim(identity, file);
    }

    private static IllegalStateException inUse(Path journal, String where) {
        return new IllegalStateException(
                "the journal " + journal + " is in use " + where + ": wait until that is closed, or use another file");
    }

    /** What tells the file from others, by whatever path it is reached; where the system has no such thing, the path. */
    private static Object identity(Path lockFile) throws IOException {
        try {
            Files.createFile(lockFile);
        } catch (FileAlreadyExistsException e) {
            // An earlier run has left it.
        }
        Object key = Files.readAttributes(lockFile, BasicFileAttributes.class).fileKey();
        return key == null ? lockFile : key;
    }

    void release() throws IOException {
        try {
            file.close();
        } finally {
            HELD.remove(identity);
        }
    }
}
