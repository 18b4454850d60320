package dev.selvedge;

import dev.selvedge.policy.Transient;
import dev.selvedge.time.Deadline;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a task took longer than its {@linkplain ScopeSpec#timeout timeout}. Retries take it for a failure that
 * may not come again, circuit breakers for a failure. The cause is what the interrupt made the attempt throw.
 *
 * @since 0.1
 */
public final class AttemptTimeoutException extends RuntimeException implements Transient {

    private static final long serialVersionUID = 1;

    /** The time that the attempt had. */
    private final Duration limit;

    AttemptTimeoutException(@Nullable String scope, Duration limit, @Nullable Throwable cause) {
        super("an attempt of " + Words.scope(scope) + " exceeded its timeout of " + Deadline.inWords(limit), cause);
        this.limit = limit;
    }

    /**
     * The time that the attempt had.
     *
     * @return the timeout of the scope, or what was left of {@link dev.selvedge.policy.Retry#maxDuration} if that was less
     */
    public Duration limit() {
        return limit;
    }
}
