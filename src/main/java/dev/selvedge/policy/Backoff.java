package dev.selvedge.policy;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * How long to wait after the n-th failure: {@code min(cap, base · factorⁿ⁻¹)}, and what of it the dice leave. It depends on
 * the number of the failure alone, so nothing can overflow little by little.
 *
 * @param base after the first failure, in nanoseconds; 0 for no wait at all
 * @param cap the most, in nanoseconds; at least the base
 * @param factor from one wait to the next; at least 1
 * @param jitter what of the wait is left to chance
 * @param random the dice; null for those of the calling thread
 */
record Backoff(
        long base,
        long cap,
        double factor,
        Jitter jitter,
        @Nullable RandomGenerator random) {

    /** A hundred years: no wait is longer, and sums with the time of a clock do not overflow. */
    static final long MOST = TimeUnit.DAYS.toNanos(36_500);

    static final Backoff DEFAULT =
            new Backoff(TimeUnit.MILLISECONDS.toNanos(100), TimeUnit.SECONDS.toNanos(20), 2, Jitter.FULL, null);

    /** What of a wait is left to chance. */
    enum Jitter {
        /** All of it: evenly between nothing and the wait. */
        FULL,
        /** The upper half. */
        EQUAL,
        NONE
    }

    static long nanos(Duration d) {
        return Math.min(TimeUnit.NANOSECONDS.convert(d), MOST); // saturates
    }

    Backoff between(long newBase, long newCap) {
        return new Backoff(newBase, newCap, factor, jitter, random);
    }

    /** The same wait each time. */
    Backoff fixed(long wait) {
        return new Backoff(wait, wait, 1, Jitter.NONE, random);
    }

    Backoff growing(double newFactor) {
        return new Backoff(base, cap, newFactor, jitter, random);
    }

    Backoff with(Jitter newJitter) {
        return new Backoff(base, cap, factor, newJitter, random);
    }

    Backoff with(RandomGenerator dice) {
        return new Backoff(base, cap, factor, jitter, dice);
    }

    /** The wait in nanoseconds, before the dice. */
    long ceiling(int failures) {
        if (factor == 2) {
            int doublings = Math.min(failures - 1, Long.SIZE - 2);
            return base > cap >> doublings ? cap : base << doublings;
        }
        double wait = base * Math.pow(factor, failures - 1);
        return base != 0 && !(wait < cap) ? cap : (long) wait; // infinite too: the cap
    }

    /** The wait in nanoseconds. */
    long nanos(int failures) {
        long ceiling = ceiling(failures);
        return switch (jitter) {
            case FULL -> upTo(ceiling);
            case EQUAL -> ceiling / 2 + upTo(ceiling - ceiling / 2);
            case NONE -> ceiling;
        };
    }

    private long upTo(long most) {
        RandomGenerator dice = random == null ? ThreadLocalRandom.current() : random;
        return most == 0 ? 0 : dice.nextLong(most + 1);
    }
}
