package dev.selvedge.policy;

import dev.selvedge.time.TimeSource;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What many calls may spend on retries together: a share of the calls, and so many a second in any case. When a service is
 * down, each call fails at once then, instead of three times over. Shared and thread-safe.
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="budget"}
 *
 * <p>It is a bucket of tokens. Each call puts the ratio into it, each second so many as are granted in any case, each retry
 * takes one. It begins with what one second grants, and holds at the most what ten seconds grant, or a hundred if that is
 * more.
 *
 * @since 0.1
 */
public final class RetryBudget {

    private static final double RATIO = 0.2;
    private static final int PER_SECOND = 10;

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int HELD_SECONDS = 10;
    private static final int HELD_TOKENS = 100;

    /** What rounding may have cost a token that was put in bit by bit. */
    private static final double ROUNDING = 1e-9;

    private final double ratio;
    private final int perSecond;
    private final double most;
    private final PerClock<Bucket> buckets = new PerClock<>(Bucket::new);

    private RetryBudget(double ratio, int perSecond) {
        this.ratio = ratio;
        this.perSecond = perSecond;
        this.most = Math.max(HELD_SECONDS * (double) perSecond, HELD_TOKENS);
    }

    /**
     * A budget of 20 % of the calls, and 10 retries a second in any case.
     *
     * @return a new budget, to be shared
     */
    public static RetryBudget standard() {
        return of(RATIO, PER_SECOND);
    }

    /**
     * A budget of so many retries to a call, and so many a second in any case.
     *
     * @param ratio retries to a call, from 0 to 1
     * @param perSecond retries a second that are granted however few the calls; 0 or more
     * @return a new budget, to be shared
     * @throws IllegalArgumentException if {@code ratio} is not between 0 and 1, or {@code perSecond} less than 0
     */
    public static RetryBudget of(double ratio, int perSecond) {
        if (!(ratio >= 0 && ratio <= 1)) {
            throw new IllegalArgumentException("ratio must be between 0 and 1: " + ratio);
        }
        return new RetryBudget(ratio, Checks.atLeast(0, "perSecond", perSecond));
    }

    /**
     * A task is called for the first time: the bucket gets its share.
     *
     * @param time what the budget goes by
     */
    public void called(TimeSource time) {
        buckets.on(Objects.requireNonNull(time, "time")).calls.increment();
    }

    /**
     * Takes the price of a retry, if there is so much.
     *
     * @param time what the budget goes by
     * @return false if the budget is spent
     */
    public boolean tryRetry(TimeSource time) {
        return buckets.on(Objects.requireNonNull(time, "time")).take();
    }

    /** Calls are only counted; what they and the seconds have put in is reckoned up when something is to be taken. */
    private final class Bucket {

        private final LongAdder calls = new LongAdder();
        private final ReentrantLock lock = new ReentrantLock();
        private final TimeSource time;

        // Guarded by the lock.
        private double tokens = perSecond;
        private long reckonedAt;

        Bucket(TimeSource time) {
            this.time = time;
            this.reckonedAt = time.nanoTime();
        }

        boolean take() {
            lock.lock();
            try {
                long now = time.nanoTime();
                double granted = (now - reckonedAt) / (double) SECOND * perSecond;
                reckonedAt = now;
                tokens = Math.min(tokens + granted + calls.sumThenReset() * ratio, most);
                if (tokens < 1 - ROUNDING) {
                    return false;
                }
                tokens--;
                return true;
            } finally {
                lock.unlock();
            }
        }
    }
}
