package dev.selvedge;

import java.util.List;

/**
 * More tasks failed than the scope's error budget allows, so the rest was cancelled.
 *
 * <p>What was cancelled, ignored or not started is in no count: an interrupt, a cancellation, and the refusal of a policy say
 * nothing of the work. The message tells of the moment in which the budget was spent; the methods of the end, when all that
 * was under way then has ended too. The cause is the first of the failures that were the most frequent in that moment.
 *
 * @see ScopeSpec#errorBudget(double, int)
 * @see ScopeSpec#maxFailures(long)
 * @since 0.1
 */
public final class ErrorBudgetExceededException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** How many tasks gave a value. */
    private final long succeeded;

    /** How many tasks failed. */
    private final long failed;

    private final transient List<FailureGroup> groups;

    private final transient List<Outcome<?>> outcomes;

    ErrorBudgetExceededException(
            String message,
            FailureGroup mostOften,
            long succeeded,
            long failed,
            List<FailureGroup> groups,
            List<Outcome<?>> outcomes) {
        super(message + "; most often: " + mostOften, mostOften.first());
        this.succeeded = succeeded;
        this.failed = failed;
        this.groups = groups;
        this.outcomes = outcomes;
    }

    /**
     * How many tasks had given a value or failed, those included that ended while the others were being stopped.
     *
     * @return the number of samples
     */
    public long completed() {
        return succeeded + failed;
    }

    /**
     * How many tasks had given a value.
     *
     * @return the number of successes
     */
    public long succeeded() {
        return succeeded;
    }

    /**
     * How many tasks had failed, after all their attempts.
     *
     * @return the number of failures
     */
    public long failed() {
        return failed;
    }

    /**
     * The failures by type and message, the most frequent first.
     *
     * @return an unmodifiable list of the first hundred kinds; empty after serialization
     */
    public List<FailureGroup> failureGroups() {
        return groups == null ? List.of() : groups;
    }

    /**
     * How each task ended, in the order of the items or of forking: what was done is not lost.
     *
     * @return an unmodifiable list, of {@code map}, {@code gather} and a live scope; empty for {@code forEach} and
     *     {@code eachCompleted}, which keep nothing, and after serialization
     */
    public List<Outcome<?>> outcomes() {
        return outcomes == null ? List.of() : outcomes;
    }
}
