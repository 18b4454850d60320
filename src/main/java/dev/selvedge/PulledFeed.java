package dev.selvedge;

import dev.selvedge.time.Deadline;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The owner pulls items one by one, and calls what is to be called for each outcome in between. */
abstract sealed class PulledFeed extends Feed {

    /** So many items are pulled from an iterator before somebody works on them. */
    static final int READ_AHEAD = 32;

    private final Iterable<?> items;
    private final long total;

    /** How many items may be between their being pulled and the end of what is called for them. */
    private final long mostOnTheWay;

    // The owner's.
    private @Nullable Iterator<?> source;

    private boolean exhausted;

    /** Up by the owner; others may read it. */
    private volatile long pulled;

    PulledFeed(Bulk job, Iterable<?> items, long total, int most) {
        super(job);
        this.items = items;
        this.total = total;
        this.mostOnTheWay = (long) most + READ_AHEAD;
    }

    @Override
    final void weave() throws InterruptedException {
        while (job.reason() == null) {
            Deadline tick = job.reportIfDue();
            if (mayPull()) {
                pull();
            } else if (!job.harvest.handOn(job)) {
                if (isDone()) {
                    return;
                }
                awaitNews(tick);
            }
        }
    }

    private boolean mayPull() {
        return !isExhausted() && hasRoom() && pulled - mostOnTheWay < job.harvest.handedOn();
    }

    /** Whether the owner has nothing left to do here: the threads may be. */
    private boolean isDone() {
        boolean isNeeded = job.isReported() || job.harvest.needsOwner();
        return isExhausted() && !job.harvest.hasWaiting() && (!isNeeded || isIdle());
    }

    private void pull() throws InterruptedException {
        @Nullable Object item;
        try {
            Iterator<?> from =
                    source == null ? Objects.requireNonNull(items.iterator(), "its iterator is null") : source;
            source = from;
            if (!from.hasNext()) {
                exhausted = true;
                return;
            }
            item = from.next();
        } catch (Throwable t) {
            if (job.isCutOffBy(t)) {
                throw Sneaky.sneak(t);
            }
            job.ruin("the source", t);
            return;
        }
        long index = pulled;
        job.harvest.take(index, item);
        pulled = index + 1;
        offer(index, item);
    }

    @Override
    final boolean isNews() {
        return job.harvest.hasWaiting() || mayPull() || (isExhausted() && isIdle());
    }

    /** Whether a thread can be had for another item, or there is room for it to wait. */
    abstract boolean hasRoom();

    abstract void offer(long index, @Nullable Object item);

    /** Whether no item waits or is worked on. */
    abstract boolean isIdle();

    @Override
    final void itemEnded() {
        if (job.harvest.hasWaiting()) {
            wakeOwner();
        }
    }

    @Override
    final long total() {
        return total;
    }

    @Override
    final boolean isExhausted() {
        return exhausted || pulled == total;
    }

    @Override
    final long handedOut() {
        return pulled;
    }

    /** If the total is known, they are all there: nothing that is not known is pulled for this. */
    @Override
    void forEachLeft(Left action) {
        Iterator<?> from = source == null ? items.iterator() : source;
        for (long index = pulled; total != Progress.UNKNOWN && from.hasNext(); index++) {
            action.accept(index, from.next());
        }
    }

    /** Items wait in a small ring for the threads that work on them. */
    static final class Ring extends PulledFeed {

        private static final int LONGEST_PENALTY = 1 << 20;

        private final int most;
        private final ReentrantLock lock = new ReentrantLock();

        // Changed under the lock; the counts are looked at without it, since the owner does so more often than anything
        // happens.
        private final @Nullable Object[] ring = new Object[READ_AHEAD];
        private volatile long taken;
        private volatile long put;

        /** Workers that will take what is there before they end. */
        private volatile int takers;

        // The owner's: so many threads are started without a pause; twice as many after each pause that was of no use.
        private int withoutPause;

        private int penalty = 1;

        Ring(Bulk job, Iterable<?> items, long total, int most) {
            super(job, items, total, most);
            this.most = most;
        }

        @Override
        boolean hasRoom() {
            return put - taken < ring.length;
        }

        @Override
        void offer(long index, @Nullable Object item) {
            int there;
            lock.lock();
            try {
                ring[(int) (index % ring.length)] = item;
                put = index + 1;
                there = takers;
            } finally {
                lock.unlock();
            }
            if (there < most && (there == 0 || !isTakenSoon())) {
                startIfNeeded();
            }
        }

        private boolean isTakenSoon() {
            if (withoutPause > 0) {
                withoutPause--;
                return isAllTaken();
            }
            pauseWhile(() -> !isAllTaken(), PAUSE_NANOS, true);
            if (isAllTaken()) {
                penalty = 1;
                return true;
            }
            withoutPause = penalty;
            penalty = Math.min(2 * penalty, LONGEST_PENALTY);
            return false;
        }

        private void startIfNeeded() {
            lock.lock();
            try {
                int there = takers;
                if (put == taken || there == most) {
                    return;
                }
                takers = there + 1;
            } finally {
                lock.unlock();
            }
            job.startWorker();
        }

        @Override
        boolean claim(Worker worker) {
            boolean isHalfEmpty;
            lock.lock();
            try {
                long index = taken;
                if (put == index) {
                    leaveLocked();
                    return false;
                }
                int at = (int) (index % ring.length);
                worker.index = index;
                worker.item = ring[at];
                ring[at] = null;
                taken = index + 1;
                isHalfEmpty = put - taken == ring.length / 2;
            } finally {
                lock.unlock();
            }
            if (isHalfEmpty) {
                wakeOwner();
            }
            return true;
        }

        @Override
        void left() {
            lock.lock();
            try {
                leaveLocked();
            } finally {
                lock.unlock();
            }
        }

        private void leaveLocked() {
            int there = takers;
            takers = there - 1;
        }

        @Override
        void forkEnded(ForkTask<?> fork) {
            if (fork.wasCutOff()) { // before it began
                left();
            }
            if (isIdle()) {
                wakeOwner();
            }
        }

        @Override
        boolean isIdle() {
            return takers == 0 && put == taken;
        }

        @Override
        boolean isAllTaken() {
            return put == taken;
        }

        @Override
        long started() {
            return taken;
        }

        @Override
        void forEachLeft(Left action) {
            for (long index = taken; index < put; index++) {
                action.accept(index, ring[(int) (index % ring.length)]);
            }
            super.forEachLeft(action);
        }
    }

    /** A thread for each item. */
    static final class ThreadEach extends PulledFeed {

        private final int most;

        /** Those between their start and their end. Put by the owner, removed by their threads. */
        private final ConcurrentMap<ForkTask<?>, Worker> running = new ConcurrentHashMap<>();

        ThreadEach(Bulk job, Iterable<?> items, long total, int most) {
            super(job, items, total, most);
            this.most = most;
        }

        @Override
        boolean isThreadPerItem() {
            return true;
        }

        @Override
        boolean hasRoom() {
            return running.size() < most;
        }

        @Override
        void offer(long index, @Nullable Object item) {
            Worker worker = job.workerFor(index, item);
            running.put(worker.fork(), worker);
            job.start(worker.fork());
        }

        @Override
        boolean claim(Worker worker) {
            throw new IllegalStateException("a thread of its own for each item claims none");
        }

        @Override
        void forkEnded(ForkTask<?> fork) {
            Worker worker = running.remove(fork);
            if (worker != null && fork.wasCutOff()) { // before it began
                worker.neverBegan(fork.whyCutOff());
            }
            wakeOwner();
        }

        @Override
        boolean isIdle() {
            return running.isEmpty();
        }

        @Override
        boolean isAllTaken() {
            return true;
        }

        @Override
        long started() {
            return handedOut();
        }
    }
}
