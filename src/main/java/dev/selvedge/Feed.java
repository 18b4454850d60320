package dev.selvedge;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.Waiter;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BooleanSupplier;
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

    /** So long the owner looks on before it starts another thread: what a start costs is little beside it. */
    static final int PAUSE_NANOS = 15_000;

    /** So long it takes to wake a sleeping thread, on the way there as on the way back: who sleeps for less is late. */
    static final int WAKE_NANOS = 50_000;

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

    /** A worker has come, and has claimed. */
    void begun() {}

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

    /** Waits until there are news, or until then. */
    final void awaitNews(Deadline until) throws InterruptedException {
        Waiter me = job.context.clock().waiter("the items of " + Words.scope(job.givenName()));
        owner = me;
        try {
            if (!isNews() && job.reason() == null) {
                boolean unused = me.await(until);
            }
        } catch (InterruptedException e) {
            job.interruptedInWait(e);
        } finally {
            owner = null;
        }
    }

    /**
     * Pauses while something lasts, but only a moment, and stays ready to run.
     *
     * @param nanos that moment
     * @param yields whether others run first, whose carrier may have been woken on this very processor; if the machine is
     *     busy, that may take longer
     */
    @SuppressWarnings("ThreadPriorityCheck") // see above
    final void pauseWhile(BooleanSupplier lasts, int nanos, boolean yields) {
        boolean gives = yields || Thread.currentThread().isVirtual();
        long until = job.now() + nanos;
        while (lasts.getAsBoolean() && job.now() - until < 0) {
            if (gives) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        }
    }

    /** Whether no item waits for a thread. */
    abstract boolean isAllTaken();

    /** All items are there. */
    static final class OfArray extends Feed {

        /** When so many pauses will do for what is left, another thread comes too late. */
        private static final int LAST_PAUSES = 4;

        /** Items that are taken more quickly are too quick for another thread: the two would wait for each other at the counter. */
        private static final int MOST_A_PAUSE = 200;

        /** Once items were seen to take long, so many threads are started without a look at whether others have begun. */
        private static final int FEW = 64;

        private static final int LONGEST_LOOK = 1_000_000;

        /** So many numbers fill two cache lines, which processors fetch together. */
        private static final int LINE = 32;

        private final @Nullable Object[] items;

        /** The next one to be taken, with no neighbours. Up by workers, beyond the end by those that find nothing. */
        private final AtomicIntegerArray next = new AtomicIntegerArray(2 * LINE + 1);

        /** Set with the last one. The owner looks here: with a look at the counter it would slow down who counts. */
        private volatile boolean allTaken;

        /** Threads that have claimed. */
        private final AtomicInteger begun = new AtomicInteger();

        /** Threads between their start and their end. */
        private final AtomicInteger running = new AtomicInteger();

        /** How many threads were started. The owner's. */
        private int started;

        /** So many have to begin before the owner goes on. Written by the owner. */
        private volatile int awaited;

        OfArray(Bulk job, @Nullable Object[] items) {
            super(job);
            this.items = items;
            this.allTaken = items.length == 0;
        }

        @Override
        void weave() throws InterruptedException {
            int most = Math.min(job.mostAtWork(items.length), items.length);
            if (!job.isReported()) {
                job.leaveFrame(null); // the owner only forks and waits: there is nothing of its own to interrupt
            }
            int more = 1;
            while (more > 0 && started < most && isWanted()) {
                start(Math.min(more, most - started));
                if (more == 1 || more > FEW) {
                    awaitBegun(more == 1);
                }
                more = moreThan(more);
            }
            while (job.isReported() && !isNews() && job.reason() == null) {
                awaitNews(job.reportIfDue());
            }
            // To be woken takes longer than the last items, if they are quick.
            pauseWhile(() -> running.get() > 0, PAUSE_NANOS, true);
        }

        private boolean isWanted() {
            return !isAllTaken() && job.reason() == null;
        }

        private void start(int threads) {
            for (int n = 0; n < threads && isWanted(); n++) {
                running.getAndIncrement();
                started++;
                job.startWorker();
                job.reportIfDue();
            }
        }

        /** As long as most threads still wait for a processor, more of them are of no use. */
        private void awaitBegun(boolean pauses) throws InterruptedException {
            int most = started - started / 2;
            if (pauses) {
                pauseWhile(() -> begun.get() < most && isWanted(), WAKE_NANOS, true);
            }
            awaited = most;
            while (begun.get() < most && isWanted()) {
                awaitNews(job.reportIfDue());
            }
            awaited = 0;
        }

        /**
         * Looks on while the threads get on well with the items, longer each time, and says how many more to start. More of
         * them are of use as long as an item takes its thread longer than a pause, since then it waits for something, most
         * likely, and a thread costs little beside it; or as long as there are processors without one.
         */
        private int moreThan(int last) throws InterruptedException {
            for (int look = PAUSE_NANOS; isWanted(); look = Math.min(2 * look, LONGEST_LOOK)) {
                int before = next.get(LINE);
                long begin = job.now();
                if (look <= 2 * PAUSE_NANOS) {
                    pauseWhile(this::isWanted, PAUSE_NANOS, last == 1);
                } else {
                    awaitNews(job.context.clock().after(Duration.ofNanos(look)));
                    job.reportIfDue();
                }
                int taken = next.get(LINE) - before;
                long pauses = Math.max(1, (job.now() - begin) / PAUSE_NANOS);
                if (taken < started * pauses) {
                    return Math.min(2 * last, items.length);
                }
                long rate = taken / pauses;
                if (started < Jvm.PROCESSORS
                        && rate < MOST_A_PAUSE
                        && items.length - next.get(LINE) > LAST_PAUSES * rate) {
                    return 1;
                }
            }
            return 0;
        }

        @Override
        void begun() {
            if (begun.incrementAndGet() == awaited) {
                wakeOwner();
            }
        }

        @Override
        boolean claim(Worker worker) {
            int i = next.getAndIncrement(LINE);
            if (i < items.length) {
                worker.index = i;
                worker.item = items[i];
                if (i == items.length - 1) {
                    allTaken = true;
                }
                return true;
            }
            if (i == items.length) {
                allTaken = true; // whoever has taken the last one may not have come to say so
                wakeOwner(); // it may look on
            }
            return false;
        }

        @Override
        boolean isAllTaken() {
            return allTaken;
        }

        @Override
        void forkEnded(ForkTask<?> fork) {
            if (running.decrementAndGet() == 0) {
                wakeOwner();
            }
        }

        @Override
        boolean isNews() {
            int n = awaited;
            return n > 0 ? begun.get() >= n : isAllTaken() && (running.get() == 0 || !job.isReported());
        }

        @Override
        long total() {
            return items.length;
        }

        @Override
        long started() {
            return Math.min(next.get(LINE), items.length);
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
