package dev.selvedge;

import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The block's own deadline passed before it was done.
 *
 * <p>Only the block whose deadline it was throws this; around it, the exception passes as any other. Its cause is the
 * interrupt that cut the work off, where there was one; failures of forks that the deadline overtook are suppressed
 * exceptions.
 *
 * @since 0.1
 */
public final class DeadlineExceededException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** Whose deadline it was. */
    private final String name;

    /** The time it had. */
    private final Duration limit;

    /** The time it took. */
    private final Duration elapsed;

    /** Names of forks; an unmodifiable list that serializes. */
    @SuppressWarnings("serial")
    private final List<String> unfinished;

    private final transient List<Outcome<?>> outcomes;

    DeadlineExceededException(
            String name,
            String what,
            Duration limit,
            Duration elapsed,
            List<String> unfinished,
            List<Outcome<?>> outcomes,
            @Nullable Throwable cause) {
        super(message(what, limit, elapsed, unfinished), cause);
        this.name = name;
        this.limit = limit;
        this.elapsed = elapsed;
        this.unfinished = unfinished;
        this.outcomes = outcomes;
    }

    private static String message(String what, Duration limit, Duration elapsed, List<String> unfinished) {
        return what + " exceeded its deadline of " + Deadline.inWords(limit) + " (after " + Deadline.inWords(elapsed)
                + ")" + (unfinished.isEmpty() ? "" : "; not finished: " + Words.names(unfinished));
    }

    /**
     * Which block it was, for code that has to tell: names need not be unique.
     *
     * @return the name of the scope, {@code "scope"} if it was given none; for a late {@link Fork#join(Duration)}, that of
     *     the fork
     */
    public String name() {
        return name;
    }

    /**
     * How long the block had, from its start.
     *
     * @return the duration it was given; for a fixed moment, the time from the opening to it; for a late
     *     {@link Fork#join(Duration)}, what that was given
     */
    public Duration limit() {
        return limit;
    }

    /**
     * How long it took until it had ended: at least {@link #limit()}, more if the work was slow to stop.
     *
     * @return the time from the opening to the end; zero if the deadline had passed before anything was started
     */
    public Duration elapsed() {
        return elapsed;
    }

    /**
     * The names of the forks that the deadline cut off, in the order of forking.
     *
     * @return an unmodifiable list; empty for a task in the calling thread
     */
    public List<String> unfinished() {
        return unfinished;
    }

    /**
     * How each fork ended, in the order of forking: what was done in time is not lost. Of a live scope, forks that had
     * ended long before the deadline may be missing.
     *
     * @return an unmodifiable list; empty for a task in the calling thread, and after serialization
     */
    public List<Outcome<?>> outcomes() {
        return outcomes == null ? List.of() : outcomes;
    }
}
