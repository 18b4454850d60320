package dev.selvedge.time;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A moment by which something has to be done, on the {@link TimeSource} it was made by.
 *
 * <p>Monotonic: a step of the wall clock moves no deadline. Immutable and thread-safe.
 *
 * @since 0.1
 */
public final class Deadline {

    private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    private static final String[] UNITS = {"ns", "µs", "ms", "s"};

    private final TimeSource clock;
    private final long nanos;

    Deadline(TimeSource clock, long nanos) {
        this.clock = clock;
        this.nanos = nanos;
    }

    static Deadline of(TimeSource clock, long now, Duration d) {
        long ahead = TimeUnit.NANOSECONDS.convert(Objects.requireNonNull(d, "d")); // saturates
        if (ahead <= 0) {
            return new Deadline(clock, now);
        }
        return ahead < Long.MAX_VALUE - now ? new Deadline(clock, now + ahead) : clock.never();
    }

    /**
     * The moment so far ahead of now on the system's time; see {@link TimeSource#after}.
     *
     * @param d how far ahead; zero or less means a moment that has passed, a duration too long to count in nanoseconds
     *     (292 years) never
     * @return a moment of {@link TimeSource#system()}
     */
    public static Deadline after(Duration d) {
        return TimeSource.system().after(d);
    }

    /**
     * The moment {@code when} on the system's time. The wall clock is read once, here: what it does later does not move
     * the deadline.
     *
     * @param when the moment by the wall clock; one that lies back has passed, one too far ahead to count in
     *     nanoseconds (292 years) never comes
     * @return a moment of {@link TimeSource#system()}
     */
    public static Deadline at(Instant when) {
        Objects.requireNonNull(when, "when");
        Instant now = TimeSource.system().now();
        if (!when.isAfter(now)) {
            return after(Duration.ZERO);
        }
        return after(Duration.between(now, when));
    }

    /**
     * The moment that never comes, on the system's time.
     *
     * @return the one of {@link TimeSource#system()}; it serves on any source
     */
    public static Deadline never() {
        return TimeSource.system().never();
    }

    /**
     * The time left, by the clock whose moment this is. Many clients refuse a time-out of zero, or one as long as that
     * of a deadline that never comes: {@code Selvedge.timeLeft} is made for them.
     *
     * @return zero once the deadline has passed, never negative; {@link ChronoUnit#FOREVER} for a deadline that never
     *     comes
     */
    public Duration remaining() {
        return isNever() ? FOREVER : Duration.ofNanos(Math.max(0, nanos - clock.nanoTime()));
    }

    /**
     * Whether the moment has come.
     *
     * @return true from that very nanosecond on; never for a deadline that never comes
     */
    public boolean passed() {
        return !isNever() && nanos <= clock.nanoTime();
    }

    /**
     * Whether this deadline never comes.
     *
     * @return true for what {@link #never()} gives, and for moments too far ahead to count
     */
    public boolean isNever() {
        return nanos == Long.MAX_VALUE;
    }

    /**
     * The earlier of two, this one if they are equal. A deadline that never comes is later than any other, whatever its
     * source.
     *
     * @param other a moment of the same source, or one that never comes
     * @return this object or {@code other}
     * @throws IllegalArgumentException if both do come, on different sources: they cannot be compared
     */
    public Deadline earlier(Deadline other) {
        if (Objects.requireNonNull(other, "other").isNever()) {
            return this;
        }
        if (isNever()) {
            return other;
        }
        return other.nanosOn(clock) < nanos ? other : this;
    }

    /**
     * The source whose moment this is.
     *
     * @return the source that made it
     */
    public TimeSource clock() {
        return clock;
    }

    /**
     * A duration as the messages of this library have it: {@code 800 ms}, {@code 1.5 s}, {@code 2 h 3 min}.
     *
     * @param d any duration
     * @return for people: to three digits after the point, from an hour on to the minute
     */
    public static String inWords(Duration d) {
        if (Objects.requireNonNull(d, "d").isNegative()) {
            boolean least = d.toSeconds() == Long.MIN_VALUE; // has no positive counterpart
            return "-" + inWords(least ? Duration.ofSeconds(Long.MAX_VALUE) : d.negated());
        }
        if (d.toHours() > 0) {
            return d.toHours() + " h" + (d.toMinutesPart() > 0 ? " " + d.toMinutesPart() + " min" : "");
        }
        if (d.toMinutes() > 0) {
            return d.toMinutes() + " min" + (d.toSecondsPart() > 0 ? " " + d.toSecondsPart() + " s" : "");
        }
        long whole = d.toNanos();
        long unit = 1;
        int name = 0;
        while (name < UNITS.length - 1 && whole / unit >= 1000) {
            unit *= 1000;
            name++;
        }
        return number(whole, unit) + " " + UNITS[name];
    }

    private static String number(long nanos, long unit) {
        String fraction = unit == 1
                ? ""
                : Long.toString(1000 + nanos % unit / (unit / 1000)).substring(1);
        int end = fraction.length();
        while (end > 0 && fraction.charAt(end - 1) == '0') {
            end--;
        }
        return nanos / unit + (end == 0 ? "" : "." + fraction.substring(0, end));
    }

    /** The moment in nanoseconds of {@code wanted}. */
    long nanosOn(TimeSource wanted) {
        if (clock != wanted && !isNever()) {
            throw new IllegalArgumentException("a deadline of " + clock + " means nothing on " + wanted);
        }
        return nanos;
    }

    @Override
    public String toString() {
        return isNever() ? "never" : remaining() + " left";
    }
}
