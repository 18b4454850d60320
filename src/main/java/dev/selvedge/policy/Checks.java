package dev.selvedge.policy;

import java.time.Duration;
import java.util.Objects;

/** What is asked of arguments; each error names the argument and its value. */
final class Checks {

    private Checks() {}

    static Duration notNegative(String what, Duration d) {
        if (Objects.requireNonNull(d, what).isNegative()) {
            throw new IllegalArgumentException(what + " must not be negative: " + d);
        }
        return d;
    }

    static Duration positive(String what, Duration d) {
        if (Objects.requireNonNull(d, what).isNegative() || d.isZero()) {
            throw new IllegalArgumentException(what + " must be positive: " + d);
        }
        return d;
    }

    static int atLeast(int least, String what, int n) {
        if (n < least) {
            throw new IllegalArgumentException(what + " must be at least " + least + ": " + n);
        }
        return n;
    }

    /** More than 0, and 1 at the most. */
    static double share(String what, double ratio) {
        if (!(ratio > 0 && ratio <= 1)) {
            throw new IllegalArgumentException(what + " must be more than 0, and 1 at the most: " + ratio);
        }
        return ratio;
    }
}
