package dev.selvedge.policy;

import dev.selvedge.time.TimeSource;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The results that a closed circuit looks back on. Successes are the many: they cost next to nothing. Only a failure, or a
 * slow success, is looked at closer.
 */
abstract sealed class Window {

    /** Whether one more success makes no difference, so that nobody need be told of it. */
    volatile boolean isSpotless;

    private Window() {}

    /** A call has succeeded just now. Only a window that goes by the time looks at the clock. */
    final void succeeded(TimeSource time) {
        if (!isSpotless) {
            count(time);
        }
    }

    /** A call has succeeded, and when was looked at anyway. */
    final void succeeded(long now) {
        if (!isSpotless) {
            count(now);
        }
    }

    /** Takes a success to account, whenever it was. */
    void count(TimeSource time) {
        count(0);
    }

    /** Takes a success to account. */
    abstract void count(long now);

    /** A call has failed: whether the circuit is to open. */
    abstract boolean failed(long now);

    /** A call has succeeded, and was slow: whether the circuit is to open. */
    abstract boolean slow(long now);

    abstract CircuitBreaker.Counts counts(long now);

    /** How much is too much. */
    record Limits(double failureRate, double slowRate, int minimumCalls) {
        boolean areExceeded(CircuitBreaker.Counts counts) {
            return counts.calls() >= minimumCalls
                    && (counts.failures() >= failureRate * counts.calls()
                            || counts.slow() >= slowRate * counts.calls());
        }
    }

    /**
     * Failures in a row. Whatever changes something does so under the lock: so it is spotless only while there is no failure, and a
     * success that has looked and gone by has come before the next one.
     */
    static final class Consecutive extends Window {

        private final int most;
        private final ReentrantLock lock = new ReentrantLock();

        // Guarded by the lock.
        private long failures;

        Consecutive(int most) {
            this.most = most;
            this.isSpotless = true;
        }

        @Override
        void count(long now) {
            lock.lock();
            try {
                failures = 0;
                isSpotless = true;
            } finally {
                lock.unlock();
            }
        }

        @Override
        boolean failed(long now) {
            lock.lock();
            try {
                isSpotless = false;
                failures++;
                return failures >= most;
            } finally {
                lock.unlock();
            }
        }

        @Override
        boolean slow(long now) {
            succeeded(now);
            return false;
        }

        @Override
        CircuitBreaker.Counts counts(long now) {
            lock.lock();
            try {
                return new CircuitBreaker.Counts(failures, failures, 0);
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * The last calls, so many. A success is one more in a striped counter; a failure remembers how many calls there had been
     * by then, and that is all it takes to know how many failures lie within the last calls.
     *
     * <p>Once all of the last calls have succeeded, one more success changes nothing, and is not even counted until the next
     * failure: all goes well nearly always.
     */
    static final class LastCalls extends Window {

        private final int size;
        private final Limits limits;
        private final LongAdder calls = new LongAdder();
        private final ReentrantLock lock = new ReentrantLock();

        /** How many calls there had been by the latest one that failed or was slow. Written under the lock. */
        private volatile long latest;

        // Guarded by the lock.
        private final Moments failures;
        private final Moments slow;

        LastCalls(int size, Limits limits) {
            this.size = size;
            this.limits = limits;
            this.failures = new Moments(size);
            this.slow = new Moments(size);
        }

        @Override
        void count(long now) {
            calls.increment();
            if (calls.sum() - latest >= size) {
                becomeSpotless();
            }
        }

        private void becomeSpotless() {
            lock.lock();
            try {
                isSpotless = calls.sum() - latest >= size;
            } finally {
                lock.unlock();
            }
        }

        @Override
        boolean failed(long now) {
            return noted(failures);
        }

        @Override
        boolean slow(long now) {
            return noted(slow);
        }

        private boolean noted(Moments where) {
            lock.lock();
            try {
                calls.increment();
                latest = calls.sum();
                isSpotless = false;
                where.add(latest);
                return limits.areExceeded(counts());
            } finally {
                lock.unlock();
            }
        }

        @Override
        CircuitBreaker.Counts counts(long now) {
            lock.lock();
            try {
                return counts();
            } finally {
                lock.unlock();
            }
        }

        /** Under the lock. */
        private CircuitBreaker.Counts counts() {
            long total = calls.sum();
            return new CircuitBreaker.Counts(
                    Math.min(total, size), failures.after(total - size), slow.after(total - size));
        }

        /** At how many calls something happened; the latest so many. */
        private static final class Moments {

            private final int most;
            private long[] ring = new long[8];
            private int count;

            /** Where the next one goes. */
            private int next;

            Moments(int most) {
                this.most = most;
            }

            void add(long total) {
                if (count == ring.length && count < most) {
                    grow();
                }
                ring[next] = total;
                next = (next + 1) % ring.length;
                count = Math.min(count + 1, ring.length);
            }

            private void grow() {
                long[] larger = new long[Math.min(most, 2 * ring.length)];
                for (int i = 0; i < count; i++) {
                    larger[i] = ring[(next + i) % ring.length]; // the ring is full: the next place has the oldest
                }
                ring = larger;
                next = count % larger.length;
            }

            /** How many lie after that. */
            int after(long total) {
                int found = 0;
                while (found < count && ring[Math.floorMod(next - 1 - found, ring.length)] > total) {
                    found++;
                }
                return found;
            }
        }
    }

    /** The calls of the last while, in ten parts: what lies back nine parts and the one that runs counts. */
    static final class LastWhile extends Window {

        private static final int PARTS = 10;

        private final long part;
        private final Limits limits;

        /** Each slot is replaced when its next part of the time begins. */
        private final AtomicReferenceArray<@Nullable Part> parts = new AtomicReferenceArray<>(PARTS);

        LastWhile(long length, Limits limits) {
            this.part = Math.max(1, length / PARTS);
            this.limits = limits;
        }

        private Part at(long now) {
            long number = now / part;
            int slot = (int) (number % PARTS);
            while (true) {
                Part there = parts.get(slot);
                if (there != null && there.number >= number) {
                    return there; // a moment that was read before another thread came to the next part counts there
                }
                Part begun = new Part(number);
                if (parts.compareAndSet(slot, there, begun)) {
                    return begun;
                }
            }
        }

        @Override
        void count(TimeSource time) {
            count(time.nanoTime());
        }

        @Override
        void count(long now) {
            at(now).calls.increment();
        }

        @Override
        boolean failed(long now) {
            Part current = at(now);
            return noted(current, current.failures, now);
        }

        @Override
        boolean slow(long now) {
            Part current = at(now);
            return noted(current, current.slow, now);
        }

        private boolean noted(Part current, LongAdder what, long now) {
            current.calls.increment();
            what.increment();
            return limits.areExceeded(counts(now));
        }

        @Override
        CircuitBreaker.Counts counts(long now) {
            long oldest = now / part - PARTS;
            long calls = 0;
            long failures = 0;
            long slow = 0;
            for (int i = 0; i < PARTS; i++) {
                Part p = parts.get(i);
                if (p != null && p.number > oldest) {
                    calls += p.calls.sum();
                    failures += p.failures.sum();
                    slow += p.slow.sum();
                }
            }
            return new CircuitBreaker.Counts(calls, failures, slow);
        }

        private static final class Part {

            private final long number;
            private final LongAdder calls = new LongAdder();
            private final LongAdder failures = new LongAdder();
            private final LongAdder slow = new LongAdder();

            Part(long number) {
                this.number = number;
            }
        }
    }
}
