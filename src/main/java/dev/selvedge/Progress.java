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
 * @param total how many items there are; -1 if nobody knows, since they come from an iterator
 * @param started how many items were begun, ended or not
 * @param succeeded how many have given a value
 * @param failed how many have failed, after all their attempts
 * @param cancelled how many were begun, and then cut off
 * @param retried how many attempts were made beyond the first ones
 * @param known how many of {@code succeeded} were not worked on, since an earlier run had done so; see {@link Task.Recorded}
 * @param elapsed how long the call has taken until now
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
        Duration elapsed) {

    /** What {@link #total()} is if nobody knows how many items there are. */
    public static final long UNKNOWN = -1;

    private static final double SECOND = 1e9;

    /** Checks that the time is there. */
    public Progress {
        Objects.requireNonNull(elapsed, "elapsed");
    }

    /**
     * How many items have ended, one way or another.
     *
     * @return the sum of {@code succeeded}, {@code failed} and {@code cancelled}
     */
    public long ended() {
        return succeeded + failed + cancelled;
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
        double seconds = elapsed.toNanos() / SECOND;
        return seconds > 0 ? (succeeded + failed - known) / seconds : 0;
    }

    /**
     * How long the rest will take at the rate so far.
     *
     * @return the time; empty if the total is not known, or nothing was worked on yet
     */
    public Optional<Duration> timeLeft() {
        double rate = perSecond();
        if (total == UNKNOWN || rate <= 0) {
            return Optional.empty();
        }
        double nanos = Math.max(0, total - ended()) / rate * SECOND;
        return Optional.of(Duration.ofNanos((long) nanos));
    }

    /** One line for people: {@code 1,204 of 5,000 (24 %), 3 failed, 16 in flight, 210/s, 18 s left}. */
    @Override
    public String toString() {
        StringBuilder s = new StringBuilder(number(ended()));
        if (total != UNKNOWN) {
            s.append(" of ").append(number(total));
            if (total > 0) {
                s.append(" (").append(ended() * 100 / total).append(" %)");
            }
        }
        part(s, failed, "failed");
        part(s, cancelled, "cancelled");
        part(s, retried, "retried");
        part(s, inFlight(), "in flight");
        s.append(", ").append(rate()).append("/s");
        timeLeft()
                .filter(left -> total > ended())
                .ifPresent(left -> s.append(", ")
                        .append(Deadline.inWords(Duration.ofSeconds(Math.max(1, left.toSeconds()))))
                        .append(" left"));
        return s.toString();
    }

    private String rate() {
        double rate = perSecond();
        return rate < 10 ? String.format(Locale.ROOT, "%.1f", rate) : number(Math.round(rate));
    }

    private static void part(StringBuilder s, long n, String what) {
        if (n > 0) {
            s.append(", ").append(number(n)).append(' ').append(what);
        }
    }

    private static String number(long n) {
        return String.format(Locale.ROOT, "%,d", n);
    }
}
