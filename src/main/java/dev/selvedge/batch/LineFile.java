package dev.selvedge.batch;

import dev.selvedge.Selvedge;
import dev.selvedge.time.Alarm;
import dev.selvedge.time.Participant;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/*
 * A file of lines that many threads append to, and that is given to the disk now and then.
 *
 * Group commit: whoever wants to see a line on the disk, and finds nobody at it, leads: it syncs all that has been written
 * until then, outside the lock, so that others append meanwhile. Those follow: they wait. When the leader is done, it wakes
 * those whose lines it has covered, and one of the others, to lead next. So there is one sync at a time, and each covers
 * all lines that were written while the one before was under way.
 *
 *   0 ……… synced ……… written
 *     on the disk    with the system: under EVERY nobody was told yet that these lines are there
 *
 * What fails is not tried again. After an append that failed the line is cut off, and what was written before can still be
 * synced. After a sync that failed nothing can: the system may have dropped what it could not write, and say so only once.
 */
final class LineFile {

    private final String name;
    private final Disk.Handle file;
    private final Journal.Sync sync;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private long written;
    private long synced;
    private boolean syncing;
    private final Deque<Follower> followers = new ArrayDeque<>();
    private @Nullable Delayed alarm;
    private boolean closed;

    /** What went wrong first. Nothing is appended any more. */
    private @Nullable IOException broken;

    /** Whether it was a sync. Nothing is synced any more. */
    private boolean unsyncable;

    /**
     * A file that was read.
     *
     * @param name what messages call it
     * @param good how much of the file is good; the rest is cut off
     */
    LineFile(String name, Disk.Handle file, Journal.Sync sync, long good) throws IOException {
        this.name = name;
        this.file = file;
        this.sync = sync;
        long length = file.length();
        if (good < length) {
            file.truncate(good);
        }
        if (length > 0 && !sync.isLeftToSystem()) { // whoever was killed may not have come to it
            file.sync();
            synced = good;
        }
        written = good;
    }

    /**
     * Writes a line; it is with the system when this returns, and may not be on the disk.
     *
     * @return where it ends
     */
    long append(String key, byte[] line) {
        lock.lock();
        try {
            check(key);
            try {
                file.append(line);
            } catch (Throwable e) {
                breakDown(e);
                cutTo(written);
                if (e instanceof Error error) {
                    throw error;
                }
                throw unwritten(key, "");
            }
            written += line.length;
            setAlarm();
            return written;
        } finally {
            lock.unlock();
        }
    }

    /** Throws if nothing can be appended any more. */
    void check(String key) {
        lock.lock();
        try {
            if (broken != null) {
                throw unwritten(key, "since an earlier write failed: ");
            }
            if (closed) {
                throw new IllegalStateException(
                        name + " is closed: the key " + Words.quoted(key) + " cannot be written to it");
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns when the line that ends there is as safe as was promised. */
    void acknowledge(String key, long end) {
        if (!sync.isEvery()) {
            return;
        }
        try {
            commit(end, Selvedge.deadline().clock());
        } catch (IOException e) {
            throw unwritten(key, "");
        }
    }

    private UncheckedIOException unwritten(String key, String since) {
        IOException cause = cause();
        return new UncheckedIOException(
                "cannot write the key " + Words.quoted(key) + " to " + name + ": " + since + Words.why(cause), cause);
    }

    private IOException cause() {
        lock.lock();
        try {
            return broken == null ? new IOException("closed") : broken;
        } finally {
            lock.unlock();
        }
    }

    // Syncing.

    /**
     * Returns when all up to there is on the disk, whatever interrupts come.
     *
     * @param clock the time of the calling thread
     */
    private void commit(long end, TimeSource clock) throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                Follower me = null;
                long upTo;
                lock.lock();
                try {
                    if (synced >= end) {
                        return;
                    }
                    if (unsyncable && broken != null) {
                        throw broken;
                    }
                    if (syncing) {
                        me = new Follower(end, clock);
                        followers.add(me);
                    }
                    syncing = true;
                    upTo = written;
                } finally {
                    lock.unlock();
                }
                if (me == null) {
                    lead(upTo);
                } else {
                    interrupted |= follow(me);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void lead(long upTo) {
        Throwable failure = null;
        try {
            file.sync();
        } catch (Throwable e) {
            failure = e;
        }
        List<Follower> released;
        lock.lock();
        try {
            syncing = false;
            if (failure == null) {
                synced = upTo;
            } else {
                unsyncable = true;
                breakDown(failure);
                if (sync.isEvery()) {
                    cutTo(synced); // of these lines nobody was told that they are there
                }
            }
            released = takeReleased();
        } finally {
            lock.unlock();
        }
        released.forEach(f -> f.waiter.wake());
        handOver();
        if (failure instanceof Error e) {
            throw e;
        }
    }

    private List<Follower> takeReleased() {
        List<Follower> released = new ArrayList<>();
        for (Iterator<Follower> i = followers.iterator(); i.hasNext(); ) {
            Follower f = i.next();
            if (unsyncable || f.end <= synced) {
                i.remove();
                released.add(f);
            }
        }
        return released;
    }

    /** Wakes one of those who still wait, to lead, unless somebody does. */
    private void handOver() {
        while (true) {
            Follower next;
            lock.lock();
            try {
                next = syncing ? null : followers.poll();
            } finally {
                lock.unlock();
            }
            if (next == null || next.waiter.wake()) {
                return; // one who was interrupted looks by itself
            }
        }
    }

    /** Waits until the leader of the moment is done; whether an interrupt came instead. */
    private boolean follow(Follower me) {
        boolean woken = false;
        try {
            woken = me.waiter.await(me.clock.never());
            return false;
        } catch (InterruptedException e) {
            return true;
        } finally {
            if (!woken) {
                lock.lock();
                try {
                    followers.remove(me);
                } finally {
                    lock.unlock();
                }
            }
        }
    }

    /** Under the lock: nothing is appended from now on. */
    private void breakDown(Throwable e) {
        if (broken == null) {
            broken = e instanceof IOException io ? io : new IOException(e.toString(), e);
        }
    }

    /** Under the lock. */
    private void cutTo(long length) {
        try {
            file.truncate(length);
            written = length;
        } catch (IOException e) {
            // The next one who opens it does that.
        }
    }

    // Syncing later.

    /** Under the lock: sees to it that what was written is synced before long. */
    private void setAlarm() {
        Duration delay = sync.delay();
        if (delay == null) {
            return;
        }
        TimeSource clock = Selvedge.deadline().clock();
        if (alarm == null || alarm.clock != clock) { // that of a test that is over may never ring
            alarm = new Delayed(clock);
            clock.set(alarm, clock.after(delay));
        }
    }

    private void syncLater(Delayed by) {
        long end;
        lock.lock();
        try {
            if (alarm == by) {
                alarm = null;
            }
            end = written;
        } finally {
            lock.unlock();
        }
        try {
            commit(end, by.clock);
        } catch (IOException e) {
            // It is kept: the next append throws it, or close.
        }
    }

    /**
     * Syncs and closes the file. Later calls do nothing.
     *
     * @throws UncheckedIOException if this fails, or anything has before
     */
    void close() {
        long end;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            end = written;
            if (alarm != null) {
                boolean unused = alarm.stop();
            }
        } finally {
            lock.unlock();
        }
        try {
            commit(end, Selvedge.deadline().clock());
        } catch (IOException e) {
            // It is kept.
        } finally {
            closeFile();
        }
        lock.lock();
        try {
            if (broken != null) {
                throw new UncheckedIOException(name + " was closed, and is not complete: " + Words.why(broken), broken);
            }
        } finally {
            lock.unlock();
        }
    }

    private void closeFile() {
        try {
            file.close();
        } catch (IOException e) {
            lock.lock();
            try {
                breakDown(e);
            } finally {
                lock.unlock();
            }
        }
    }

    /** One who waits for a sync. Whoever brings it may be a thread of another clock. */
    private static final class Follower {

        final long end;
        final TimeSource clock;
        final Waiter waiter;

        Follower(long end, TimeSource clock) {
            this.end = end;
            this.clock = clock;
            this.waiter = clock.waiter("a journal to be on the disk").fromOutside();
        }
    }

    /** Rings when it is time to sync. */
    private final class Delayed extends Alarm {

        final TimeSource clock;

        Delayed(TimeSource clock) {
            this.clock = clock;
        }

        /** On a thread of its own: a sync is long. On a virtual clock that thread takes part. */
        @Override
        protected void ring() {
            Participant participant =
                    clock instanceof VirtualClock virtual ? virtual.enroll("the sync of " + name) : null;
            boolean started = false;
            try {
                Thread unused = Thread.ofVirtual().name("journal-sync").start(() -> run(participant));
                started = true;
            } finally {
                if (!started && participant != null) {
                    participant.withdraw();
                }
            }
        }

        private void run(@Nullable Participant participant) {
            if (participant != null) {
                participant.begin();
            }
            try {
                syncLater(this);
            } finally {
                if (participant != null) {
                    participant.end();
                }
            }
        }

        @Override
        public String toString() {
            return "the sync of " + name;
        }
    }
}
