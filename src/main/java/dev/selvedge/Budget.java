package dev.selvedge;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The failures that an open scope may have: counts what ends, and cancels the scope when there are too many.
 *
 * <p>Each end is one step up of one of the two counts, and is judged by both as they are after it. So of two ends at the same
 * moment at least one sees the other, and the scope is cancelled at the first end that exceeds the tolerance.
 */
final class Budget {

    /** A report needs no more kinds of failures than somebody reads. */
    private static final int GROUPS = 100;

    private final Tolerance tolerance;

    // Each goes up by one per task, by the thread of the task.
    private final AtomicLong succeeded = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();

    /** null → why the scope was cancelled, by whoever cancels it for this. */
    private volatile @Nullable CancelReason spent;

    private final FailureGroup.Tally tally = new FailureGroup.Tally(GROUPS);

    private Budget(Tolerance tolerance) {
        this.tolerance = tolerance;
    }

    static @Nullable Budget of(@Nullable Tolerance tolerance) {
        return tolerance == null ? null : new Budget(tolerance);
    }

    /** A task has given a value: that may be what makes the samples enough. */
    void succeeded(Frame scope) {
        succeeded.getAndIncrement();
        judge(scope);
    }

    /** A task has failed, after all its attempts. */
    void failed(Frame scope, Throwable error) {
        if (Refusals.include(error) || error instanceof CancellationException || Cancellation.isInFlight(error)) {
            return; // tells nothing of the work itself
        }
        tally.add(error);
        failed.getAndIncrement();
        judge(scope);
    }

    /** A fork has failed in a scope that goes on: it stops only if its budget is spent, or nothing is to go on. */
    static void goOn(OpenScope scope, ForkTask<?> fork, Throwable error) {
        if (Failure.endsTheJob(error)) {
            scope.cancelBecauseOf(fork, error);
        } else if (scope.budget != null && !fork.isDaemon()) {
            scope.budget.failed(scope, error);
        }
    }

    private void judge(Frame scope) {
        long bad = failed.get();
        if (bad > 0 && scope.reason() == null) {
            long all = bad + succeeded.get();
            if (tolerance.isSpent(all, bad)) {
                String message = "the error budget of " + Words.scope(scope.givenName()) + " is spent: " + bad + " of "
                        + all + " failed, " + tolerance.inWords(all, bad);
                CancelReason why = new CancelReason(CancelReason.Kind.ERROR_BUDGET, message, null);
                if (scope.cancelSilently(why)) {
                    spent = why;
                }
            }
        }
    }

    /** Whether the scope was cancelled since this is spent. When its threads have ended. */
    boolean isSpent() {
        return spent != null;
    }

    /** What the scope throws then; the failures are in it as groups, and some as themselves. */
    ErrorBudgetExceededException exceeded(List<Throwable> failures, List<Outcome<?>> outcomes) {
        String message = Objects.requireNonNull(spent).message();
        ErrorBudgetExceededException e =
                new ErrorBudgetExceededException(message, succeeded.get(), failed.get(), tally.groups(), outcomes);
        List<Throwable> unused = Failure.attach(e, failures);
        return e;
    }
}
