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
     * @param d how far ahead
     * @return the moment
     */
    public static Deadline after(Duration d) {
        return TimeSource.system().after(d);
    }

    /**
     * The moment {@code when} on the system's time. The wall clock is read once, here: what it does later does not move the
     * deadline.
     *
     * @param when the moment on the wall clock
     * @return the moment
     */
    public static Deadline at(Instant when) {
        Objects.requireNonNull(when, "when");
        Instant now = Instant.now();
        if (!when.isAfter(now)) {
            return after(Duration.ZERO);
        }
        return after(Duration.between(now, when));
    }

    /**
     * The moment that never comes, on the system's time.
     *
     * @return the moment
     */
    public static Deadline never() {
        return TimeSource.system().never();
    }

    /**
     * The time left: zero once the deadline has passed, never negative; {@link ChronoUnit#FOREVER} for a deadline that
     * never comes. Many clients refuse a time-out of zero or of such length: {@code Selvedge.timeLeft} is made for them.
     *
     * @return zero or more
     */
    public Duration remaining() {
        return isNever() ? FOREVER : Duration.ofNanos(Math.max(0, nanos - clock.nanoTime()));
    }

    /**
     * Whether the moment has come: true from that very nanosecond on.
     *
     * @return whether it has come
     */
    public boolean passed() {
        return !isNever() && nanos <= clock.nanoTime();
    }

    /**
     * Whether this deadline never comes.
     *
     * @return whether it will never come
     */
    public boolean isNever() {
        return nanos == Long.MAX_VALUE;
    }

    /**
     * The earlier of two, this one if they are equal. A deadline that never comes is later than any other, whatever its
     * source.
     *
     * @param other the deadline to compare with
     * @return one of the two objects
     * @throws IllegalArgumentException if both do come, on different sources: they cannot be compared
     */
    public Deadline earlier(Deadline other) {
        if (other.isNever()) {
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
     * @return the source of time
     */
    public TimeSource clock() {
        return clock;
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
