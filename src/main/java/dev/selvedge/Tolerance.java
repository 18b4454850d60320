package dev.selvedge;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * How many tasks may fail before a job is given up. Immutable.
 *
 * @param ratio which part of those that have ended may fail; 1 for all
 * @param minSamples how many must have ended before the ratio counts
 * @param maxFailures how many may fail at all
 */
record Tolerance(double ratio, long minSamples, long maxFailures) {

    private static final int MOST_DIGITS = 9;

    /** The tolerance with another ratio. */
    static Tolerance ofRatio(@Nullable Tolerance before, double ratio, int minSamples) {
        if (!(ratio >= 0 && ratio < 1)) {
            throw new IllegalArgumentException("ratio must be at least 0 and less than 1: " + ratio);
        }
        if (minSamples < 1) {
            throw new IllegalArgumentException("minSamples must be at least 1: " + minSamples);
        }
        return new Tolerance(ratio, minSamples, before == null ? Long.MAX_VALUE : before.maxFailures);
    }

    /** The tolerance with another number. */
    static Tolerance ofFailures(@Nullable Tolerance before, long n) {
        if (n < 0) {
            throw new IllegalArgumentException("maxFailures must not be negative: " + n);
        }
        return before == null ? new Tolerance(1, 1, n) : new Tolerance(before.ratio, before.minSamples, n);
    }

    boolean isSpent(long completed, long failed) {
        return failed > maxFailures || (completed >= minSamples && failed > ratio * completed);
    }

    /** What was allowed, and is exceeded. */
    String inWords(long completed, long failed) {
        if (failed > maxFailures) {
            return "more than " + maxFailures;
        }
        return "more than " + percent() + " % of " + completed;
    }

    /** All digits that the ratio was given with, and no others; very small ones as {@code 4.9E-322}. */
    private String percent() {
        BigDecimal percent = BigDecimal.valueOf(ratio).movePointRight(2).stripTrailingZeros();
        return percent.scale() > MOST_DIGITS ? percent.toString() : percent.toPlainString();
    }
}
