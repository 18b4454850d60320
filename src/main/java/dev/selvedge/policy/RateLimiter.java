package dev.selvedge.policy;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.Waiter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Lets through so many calls in a time, evenly: 10 in a second means one every 100 ms. One object for each service, shared by
 * all calls to it; thread-safe.
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="limiter"}
 *
 * <p>A call that comes too early waits for its moment, in the order of coming. How long that is, is known at once: if it is
 * longer than the call may wait, by its deadline or {@link Settings#maxWait}, it is refused at once with a {@link
 * RateLimitedException}. A call that is interrupted while it waits gives its moment back, and those behind it move up.
 *
 * <p>With a {@linkplain Settings#burst burst} of b, up to b calls that come after a pause pass at the same moment. In any
 * window of the time given, no more than n + b − 1 calls are let through. (GCRA, the generic cell rate algorithm of ITU-T I.371:
 * one word that says when the next call is due. No thread, no timer.)
 *
 * @since 0.1
 */
public final class RateLimiter {

    private final int permits;
    private final Duration per;

    /** From one call to the next, in nanoseconds. */
    private final long interval;

    private final int burst;

    /** How much earlier than evenly a call may come, in nanoseconds. */
    private final long tolerance;

    private final @Nullable Duration maxWait;
    private final PerClock<Meter> meters = new PerClock<>(Meter::new);

    private RateLimiter(int permits, Duration per, Settings settings) {
        this.permits = permits;
        this.per = per;
        long nanos = Backoff.nanos(per);
        this.interval = (nanos + permits - 1) / permits; // rounded up: rather too few than too many
        this.burst = settings.burst;
        this.tolerance = checkedTolerance();
        this.maxWait = settings.maxWait;
    }

    /**
     * A limiter of so many calls in a time.
     *
     * @param permits how many
     * @param per in which time; more than a hundred years count as that
     * @return a new limiter, on which no call has been made, to be shared
     * @throws IllegalArgumentException if {@code permits} is less than 1, {@code per} zero or negative, or that is more than one
     *     call in a nanosecond
     */
    public static RateLimiter of(int permits, Duration per) {
        return of(permits, per, settings -> settings);
    }

    /**
     * A limiter of so many calls in a time, with settings of its own.
     *
     * @param permits how many
     * @param per in which time; more than a hundred years count as that
     * @param settings makes the settings from the default ones
     * @return a new limiter, on which no call has been made, to be shared
     * @throws IllegalArgumentException if {@code permits} is less than 1, {@code per} zero or negative, or that is more than one
     *     call in a nanosecond
     */
    public static RateLimiter of(int permits, Duration per, UnaryOperator<Settings> settings) {
        Checks.atLeast(1, "permits", permits);
        Checks.positive("per", per);
        if (permits > Backoff.nanos(per)) {
            throw new IllegalArgumentException(
                    "permits must not be more than one in a nanosecond: " + permits + " per " + per);
        }
        Settings made = Objects.requireNonNull(settings, "settings").apply(new Settings(1, null));
        return new RateLimiter(permits, per, Objects.requireNonNull(made, "settings gave null"));
    }

    /**
     * A limiter for each key, a customer for example, made when the key is first asked for.
     *
     * @param <K> the type of the keys
     * @param limiter makes the limiter of a key
     * @return the limiters by key; at most 10,000, of which those that would let the next call through at once, with all of its
     *     burst, may be forgotten
     */
    public static <K> PerKey<K, RateLimiter> perKey(Function<? super K, RateLimiter> limiter) {
        return new PerKey<>(
                Objects.requireNonNull(limiter, "limiter"),
                l -> l.meters.latest().isFresh());
    }

    private long checkedTolerance() {
        if (burst - 1 > Backoff.MOST / interval) {
            throw new IllegalArgumentException("burst must not be more than passes in a hundred years: " + burst);
        }
        return (burst - 1) * interval;
    }

    /** Of a weight, which is the burst at the most: by {@link #checkedTolerance} the product fits. */
    private long intervals(int n) {
        return Math.min(Backoff.MOST, n * interval);
    }

    // Without waiting.

    /**
     * Passes if that is possible at once, on the system's time.
     *
     * @return false if the call came too early; it has changed nothing then
     */
    public boolean tryAcquire() {
        return tryAcquire(TimeSource.system());
    }

    /**
     * Passes if that is possible at once.
     *
     * @param time what the limiter goes by
     * @return false if the call came too early; it has changed nothing then
     */
    public boolean tryAcquire(TimeSource time) {
        return tryAcquire(1, time);
    }

    /**
     * Passes as of a moment that the caller has just read from the clock, if that is possible: a look at the clock takes longer
     * than all the rest. The moment is taken as it is, and the call counts as made then: one that lies back may be found to be too
     * early, as it would have been; for one that lies ahead, the next ones come as much later.
     *
     * @param time what the limiter goes by
     * @param now what its {@link TimeSource#nanoTime} has given
     * @return false if the call came too early; it has changed nothing then
     */
    public boolean tryAcquire(TimeSource time, long now) {
        return meters.on(Objects.requireNonNull(time, "time")).pass(1, now);
    }

    /**
     * Passes as so many calls, if that is possible at once.
     *
     * @param weight how many calls it counts as
     * @param time what the limiter goes by
     * @return false if the call came too early; it has changed nothing then
     * @throws IllegalArgumentException if {@code weight} is less than 1, or more than the burst
     */
    public boolean tryAcquire(int weight, TimeSource time) {
        checkWeight(weight);
        Meter meter = meters.on(Objects.requireNonNull(time, "time"));
        return meter.pass(weight, meter.now());
    }

    // With waiting.

    /**
     * Passes, now or when the call's moment has come.
     *
     * @param until by when; its clock is the time that the limiter goes by
     * @throws RateLimitedException if the moment would come at {@code until} or later, or the wait be longer than
     *     {@link Settings#maxWait}; at once, and nothing has changed
     * @throws InterruptedException if the thread is interrupted before or while it waits; its moment is given back
     */
    public void acquire(Deadline until) throws InterruptedException {
        acquire(1, until);
    }

    /**
     * Passes as so many calls, now or when their moment has come.
     *
     * @param weight how many calls it counts as
     * @param until by when; its clock is the time that the limiter goes by
     * @throws IllegalArgumentException if {@code weight} is less than 1, or more than the burst
     * @throws RateLimitedException if the moment would come at {@code until} or later, or the wait be longer than
     *     {@link Settings#maxWait}; at once, and nothing has changed
     * @throws InterruptedException if the thread is interrupted before or while it waits; its moment is given back
     */
    public void acquire(int weight, Deadline until) throws InterruptedException {
        checkWeight(weight);
        Meter meter = meters.on(Objects.requireNonNull(until, "until").clock());
        if (!meter.pass(weight, meter.now())) {
            meter.waitFor(weight, until);
        }
    }

    private void checkWeight(int weight) {
        if (weight < 1 || weight > burst) {
            throw new IllegalArgumentException(
                    "weight must be at least 1, and the burst of " + burst + " at the most: " + weight);
        }
    }

    @Override
    public String toString() {
        return "the rate limiter of " + permits + " per " + Deadline.inWords(per);
    }

    /** How a limiter is to be: an immutable value. Each step returns a new one. */
    public static final class Settings {

        private final int burst;
        private final @Nullable Duration maxWait;

        private Settings(int burst, @Nullable Duration maxWait) {
            this.burst = burst;
            this.maxWait = maxWait;
        }

        /**
         * Lets so many calls pass at the same moment after a pause.
         *
         * @param n 1 by default: calls are spread evenly
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code n} is less than 1; by {@code of}, if so many do not pass in a hundred years
         */
        public Settings burst(int n) {
            return new Settings(Checks.atLeast(1, "burst", n), maxWait);
        }

        /**
         * Lets a call wait for so long at the most.
         *
         * @param maxWait zero for not at all; by default, as long as its deadline allows
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code maxWait} is negative
         */
        public Settings maxWait(Duration maxWait) {
            return new Settings(burst, Checks.notNegative("maxWait", maxWait));
        }
    }

    /** What it is on one clock. */
    private final class Meter {

        private final TimeSource time;

        /** When the next call would come if all came evenly. */
        private final AtomicLong next;

        /** Held by those who come to wait, and go. */
        private final ReentrantLock lock = new ReentrantLock();

        /** In the order of their moments. Guarded by the lock. */
        private final Deque<Reservation> waiting = new ArrayDeque<>();

        /** No call was made yet: whichever moment the first one names, it is not too early. */
        Meter(TimeSource time) {
            this.time = time;
            this.next = new AtomicLong(Long.MIN_VALUE);
        }

        long now() {
            return time.nanoTime();
        }

        boolean isFresh() {
            return next.get() <= now();
        }

        /** When a call can pass, if the next one would be due then. */
        private long moment(long due, int weight, long now) {
            return Math.max(due, now) + intervals(weight - 1) - tolerance;
        }

        boolean pass(int weight, long now) {
            while (true) {
                long due = next.get();
                if (moment(due, weight, now) > now) {
                    return false;
                }
                if (next.compareAndSet(due, Math.max(due, now) + intervals(weight))) {
                    return true;
                }
            }
        }

        void waitFor(int weight, Deadline until) throws InterruptedException {
            Reservation mine = reserve(weight, until);
            while (mine != null) {
                Waiter me = mine.newWaiter();
                if (me == null) {
                    return;
                }
                try {
                    boolean unused = me.await(mine.moment);
                } catch (InterruptedException e) {
                    mine.giveBack();
                    throw e;
                }
            }
        }

        /** Null if the call passes at once after all. */
        private @Nullable Reservation reserve(int weight, Deadline until) {
            lock.lock();
            try {
                while (true) {
                    long now = now();
                    long due = next.get();
                    long at = moment(due, weight, now);
                    checkWait(at - now, until);
                    if (next.compareAndSet(due, Math.max(due, now) + intervals(weight))) {
                        if (at <= now) {
                            return null;
                        }
                        Reservation made = new Reservation(at, intervals(weight));
                        waiting.addLast(made);
                        return made;
                    }
                }
            } finally {
                lock.unlock();
            }
        }

        private void checkWait(long nanos, Deadline until) {
            Duration wait = Duration.ofNanos(nanos);
            if (nanos > 0
                    && (nanos > Backoff.MOST
                            || (maxWait != null && wait.compareTo(maxWait) > 0)
                            || wait.compareTo(until.remaining()) >= 0)) {
                throw new RateLimitedException(
                        RateLimiter.this + " would let this call wait for " + Deadline.inWords(wait)
                                + ", longer than it may",
                        wait);
            }
        }

        /** The moment of a call that waits. */
        private final class Reservation {

            private final long length;

            // Guarded by the lock.

            /** Comes nearer when another one is given back. */
            private long at;

            private @Nullable Waiter waiter;

            /** The same as of the latest wait; its own thread's. */
            private Deadline moment = time.never();

            Reservation(long at, long length) {
                this.at = at;
                this.length = length;
            }

            /** For the next wait; null if the moment has come. */
            @Nullable
            Waiter newWaiter() {
                lock.lock();
                try {
                    if (at <= now()) {
                        waiting.remove(this);
                        return null;
                    }
                    moment = time.after(Duration.ofNanos(at - now()));
                    waiter = time.waiter(RateLimiter.this);
                    return waiter;
                } finally {
                    lock.unlock();
                }
            }

            /** All who come later wait too, one behind the other: each moves up. What has passed cannot be given back. */
            void giveBack() {
                lock.lock();
                try {
                    boolean behind = false;
                    boolean hasPassed = at <= now();
                    for (Reservation r : waiting) {
                        if (behind && !hasPassed) {
                            r.moveUp(length);
                        }
                        behind |= r == this;
                    }
                    waiting.remove(this);
                    next.addAndGet(hasPassed ? 0 : -length);
                } finally {
                    lock.unlock();
                }
            }

            private void moveUp(long by) {
                at = at - by;
                if (waiter != null) {
                    boolean unused = waiter.wake();
                }
            }
        }
    }
}
