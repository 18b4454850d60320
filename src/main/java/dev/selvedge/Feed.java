package dev.selvedge;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.Waiter;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * How the items of a call come to the threads that work on them; and what the owner does meanwhile.
 *
 * <ul>
 *   <li>{@link OfArray}: all items are there. Threads take the next one by a counter; the owner starts more threads as long as
 *       items are left.
 *   <li>{@link PulledFeed.Ring}: the owner pulls items from an iterator into a small ring, and runs what is to be called for each
 *       outcome in between.
 *   <li>{@link PulledFeed.ThreadEach}: the owner pulls items, and starts a thread for each.
 * </ul>
 */
abstract sealed class Feed permits Feed.OfArray, PulledFeed {

    /** So many threads at the most work on what comes from an iterator, if nobody has said how many. */
    static final int WITHOUT_A_NUMBER = 1024;

    private static final int SPIN_NANOS = 15_000;

    final Bulk job;

    /** The owner, when it waits for news. Woken by workers and cancellers. */
    private volatile @Nullable Waiter owner;

    Feed(Bulk job) {
        this.job = job;
    }

    /** Hands items to threads until there are none left, or the job is asked to stop. The owner. */
    abstract void weave() throws InterruptedException;

    /** Gives a worker its next item; false if there is none for it, and then it ends. */
    abstract boolean claim(Worker worker);

    /** A worker ends while there may be items. */
    void left() {}

    /** An item has ended. */
    void itemEnded() {}

    /** A thread has ended. */
    abstract void forkEnded(ForkTask<?> fork);

    boolean isThreadPerItem() {
        return false;
    }

    /** How many items there are; {@link Progress#UNKNOWN} if nobody knows. Any thread. */
    abstract long total();

    /** How many items were begun. Any thread. */
    abstract long started();

    /** Whether there are no more items than those handed out. */
    abstract boolean isExhausted();

    /** How many items were taken from the source. */
    abstract long handedOut();

    /** Goes through what nobody has begun, as far as it is known. When all threads have ended. */
    abstract void forEachLeft(Left action);

    /** Takes an item that nobody has begun. */
    interface Left {
        void accept(long index, @Nullable Object item);
    }

    final void wakeOwner() {
        Waiter waiting = owner;
        if (waiting != null) {
            waiting.wake();
        }
    }

    /** Whether the owner has something to do. */
    abstract boolean isNews();

    /** Waits until there are news, or it is time to tell of the progress. */
    final void awaitNews(Deadline until) throws InterruptedException {
        Waiter me = job.context.clock().waiter("the items of " + Words.scope(job.givenName()));
        owner = me;
        try {
            if (!isNews() && job.reason() == null) {
                boolean unused = me.await(until);
            }
        } finally {
            owner = null;
        }
    }

    /** Gives the threads that are there a moment to take what is left; whether they have. */
    @SuppressWarnings("ThreadPriorityCheck") // on a virtual thread, another one may need the carrier
    final boolean pauseUntilTaken() {
        if (Thread.currentThread().isVirtual()) {
            Thread.yield();
        } else {
            long until = job.now() + SPIN_NANOS;
            while (!isAllTaken() && job.now() - until < 0) {
                Thread.onSpinWait();
            }
        }
        return isAllTaken();
    }

    /** Whether no item waits for a thread. */
    abstract boolean isAllTaken();

    /** All items are there. */
    static final class OfArray extends Feed {

        private final @Nullable Object[] items;

        /** The next one to be taken. Up by workers, beyond the end by those that find nothing. */
        private final AtomicInteger next = new AtomicInteger();

        /** Threads between their start and their end. */
        private final AtomicInteger running = new AtomicInteger();

        OfArray(Bulk job, @Nullable Object[] items) {
            super(job);
            this.items = items;
        }

        @Override
        void weave() throws InterruptedException {
            int most = Math.min(job.mostAtWork(items.length), items.length);
            if (!job.isReported()) {
                job.leaveFrame(null); // the owner only forks and waits: there is nothing of its own to interrupt
            }
            for (int n = 1; n <= most && !isAllTaken() && job.reason() == null; n++) {
                running.getAndIncrement();
                job.startWorker();
                if (Integer.bitCount(n) == 1) {
                    boolean unused = pauseUntilTaken();
                }
                job.reportIfDue();
            }
            while (job.isReported() && !isNews() && job.reason() == null) {
                awaitNews(job.reportIfDue());
            }
        }

        @Override
        boolean claim(Worker worker) {
            int i = next.getAndIncrement();
            if (i >= items.length) {
                return false;
            }
            worker.index = i;
            worker.item = items[i];
            return true;
        }

        @Override
        boolean isAllTaken() {
            return next.get() >= items.length;
        }

        @Override
        void forkEnded(ForkTask<?> fork) {
            if (running.decrementAndGet() == 0) {
                wakeOwner();
            }
        }

        @Override
        boolean isNews() {
            return isAllTaken() && running.get() == 0;
        }

        @Override
        long total() {
            return items.length;
        }

        @Override
        long started() {
            return Math.min(next.get(), items.length);
        }

        @Override
        boolean isExhausted() {
            return true;
        }

        @Override
        long handedOut() {
            return items.length;
        }

        @Override
        void forEachLeft(Left action) {
            for (int i = (int) started(); i < items.length; i++) {
                action.accept(i, items[i]);
            }
        }
    }
}
