package dev.selvedge;

import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/**
 * How far a call over many items is: the numbers of one moment. They are counted by several threads while others go on, so
 * they fit together up to the items that are being worked on.
 *
 * <p>Immutable, and so for any thread.
 *
 * @param total how many items there are; {@link #UNKNOWN} if nobody knows, since they come from an iterator
 * @param started how many items were begun, ended or not
 * @param succeeded how many have given a value
 * @param failed how many have failed, after all their attempts
 * @param cancelled how many were begun, and then cut off
 * @param retried how many attempts were made beyond the first ones
 * @param known how many of {@code succeeded} were not worked on, since an earlier run had done so; see {@link Task.Recorded}
 * @param elapsed how long the call has taken until now
 * @param over whether this is the last word on the call: nothing of it runs any more, be it done, failed or cancelled
 * @since 0.1
 */
public record Progress(
        long total,
        long started,
        long succeeded,
        long failed,
        long cancelled,
        long retried,
        long known,
        Duration elapsed,
        boolean over) {

    /** What {@link #total()} is if nobody knows how many items there are. */
    public static final long UNKNOWN = -1;

    private static final double SECOND = 1e9;
    private static final int MINUTE = 60;
    private static final int HOUR = 3600;

    /**
     * Checks that the numbers can be what they are called.
     *
     * @throws IllegalArgumentException if one of them, or the time, is negative; {@code total} may be {@link #UNKNOWN}
     */
    public Progress {
        if (total < UNKNOWN) {
            throw new IllegalArgumentException("total must be -1 (not known) or more: " + total);
        }
        check(started, "started");
        check(succeeded, "succeeded");
        check(failed, "failed");
        check(cancelled, "cancelled");
        check(retried, "retried");
        check(known, "known");
        if (Objects.requireNonNull(elapsed, "elapsed").isNegative()) {
            throw new IllegalArgumentException("elapsed must not be negative: " + elapsed);
        }
    }

    private static void check(long n, String what) {
        if (n < 0) {
            throw new IllegalArgumentException(what + " must not be negative: " + n);
        }
    }

    /**
     * How many items have ended, one way or another.
     *
     * @return the sum of {@code succeeded}, {@code failed} and {@code cancelled}
     */
    public long ended() {
        return plus(plus(succeeded, failed), cancelled);
    }

    /**
     * How many items are being worked on, or wait for a retry.
     *
     * @return those that were started and have not ended
     */
    public long inFlight() {
        return Math.max(0, started - ended());
    }

    /**
     * How many items a second were worked on until they succeeded or failed, from the beginning until now.
     *
     * @return the rate; 0 as long as no time has passed
     */
    public double perSecond() {
        double seconds = elapsed.toSeconds() + elapsed.toNanosPart() / SECOND;
        return seconds > 0 ? Math.max(0, plus(succeeded, failed) - known) / seconds : 0;
    }

    /**
     * The rate for people: {@code 210/s}; of slow items {@code 2.5/min}, or {@code 12/h}.
     *
     * @return the rate in the unit in which it is at least 1, if there is one; empty text as long as there is no rate
     */
    public String rateInWords() {
        double rate = perSecond();
        if (rate <= 0) {
            return "";
        }
        if (rate >= 1) {
            return rounded(rate) + "/s";
        }
        return rate * MINUTE >= 1 ? rounded(rate * MINUTE) + "/min" : rounded(rate * HOUR) + "/h";
    }

    /**
     * How long the rest will take at the rate so far.
     *
     * @return the time, zero if nothing is left; empty if the total is not known, or nothing was worked on yet
     */
    public Optional<Duration> timeLeft() {
        if (total == UNKNOWN) {
            return Optional.empty();
        }
        long left = Math.max(0, total - ended());
        if (left == 0) {
            return Optional.of(Duration.ZERO);
        }
        double rate = perSecond();
        return rate > 0 ? Optional.of(Duration.ofNanos((long) (left / rate * SECOND))) : Optional.empty();
    }

    /**
     * One line for people: {@code 1,204 of 5,000 (24 %), 3 failed, 16 in flight, 210/s, 19 s left}; when the call is over,
     * how long it took: {@code 5,000 of 5,000 (100 %), 3 failed, 210/s, took 24 s}.
     */
    @Override
    public String toString() {
        StringBuilder s = new StringBuilder(number(ended()));
        if (total != UNKNOWN) {
            s.append(" of ").append(number(total));
            if (total > 0) {
                s.append(" (").append(percent()).append(" %)");
            }
        }
        part(s, known, "known before");
        part(s, failed, "failed");
        part(s, cancelled, "cancelled");
        part(s, retried, "retried");
        part(s, inFlight(), "in flight");
        String rate = rateInWords();
        if (!rate.isEmpty()) {
            s.append(", ").append(rate);
        }
        if (over) {
            s.append(", took ").append(Deadline.inWords(elapsed));
        } else {
            timeLeft()
                    .filter(Duration::isPositive)
                    .ifPresent(left -> s.append(", ")
                            .append(Deadline.inWords(wholeSeconds(left)))
                            .append(" left"));
        }
        return s.toString();
    }

    /** 100 only if all have ended. */
    private long percent() {
        long ended = ended();
        if (ended >= total) {
            return 100;
        }
        return total <= Long.MAX_VALUE / 100 ? ended * 100 / total : Math.min(99, ended / (total / 100));
    }

    /** An estimate is not better than that; and what is left is never nothing. */
    private static Duration wholeSeconds(Duration d) {
        long seconds = d.toSeconds();
        return Duration.ofSeconds(d.toNanosPart() > 0 ? seconds + 1 : seconds);
    }

    private static String rounded(double rate) {
        return rate < 9.95 ? String.format(Locale.ROOT, "%.1f", rate) : number(Math.round(rate));
    }

    private static void part(StringBuilder s, long n, String what) {
        if (n > 0) {
            s.append(", ").append(number(n)).append(' ').append(what);
        }
    }

    private static String number(long n) {
        return String.format(Locale.ROOT, "%,d", n);
    }

    /** Of numbers that are not negative; the largest there is if the sum is larger. */
    private static long plus(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }
}
