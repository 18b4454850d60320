package dev.selvedge.policy;

import java.time.Duration;

/**
 * The rate limiter would have had to let the call wait for too long: nothing was run. It has no stack trace.
 *
 * @since 0.1
 */
public final class RateLimitedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** How long the wait would have been. */
    private final Duration retryAfter;

    RateLimitedException(String message, Duration retryAfter) {
        super(message, null, false, false);
        this.retryAfter = retryAfter;
    }

    /**
     * After how long the call would have been let through, as of the moment of the refusal.
     *
     * @return more than zero
     */
    public Duration retryAfter() {
        return retryAfter;
    }
}
