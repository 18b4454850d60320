package dev.selvedge.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The circuit breaker is open: nothing was run. Its cause is the failure that has opened it, where there is one; it has no
 * stack trace of its own.
 *
 * @since 0.1
 */
public final class CircuitOpenException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** The name of the breaker. */
    private final String breaker;

    /** How long it will refuse for. */
    private final Duration retryAfter;

    CircuitOpenException(String breaker, String message, Duration retryAfter, @Nullable Throwable cause) {
        super(message, cause, false, false);
        this.breaker = breaker;
        this.retryAfter = retryAfter;
    }

    /**
     * Which breaker it was.
     *
     * @return its name
     */
    public String breaker() {
        return breaker;
    }

    /**
     * After how long another call may be admitted, as of the moment of the refusal.
     *
     * @return what was left of the cool-down; while trials run, the time until the latest of them is presumed lost;
     *     {@link java.time.temporal.ChronoUnit#FOREVER} if the breaker was opened by hand
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
