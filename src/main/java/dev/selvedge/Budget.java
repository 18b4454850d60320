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

    /** Up by one per task, by its thread. */
    private final AtomicLong succeeded = new AtomicLong();

    private final FailureGroup.Tally tally = new FailureGroup.Tally(GROUPS);

    /** null → how it was spent, by whoever cancels the scope for this. */
    private volatile @Nullable Spent spent;

    /**
     * The moment in which there were too many failures. Others may fail until all have been stopped.
     *
     * @param message says how many there were
     * @param mostOften the largest group of failures then
     */
    private record Spent(String message, FailureGroup mostOften) {}

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
        long bad = tally.count();
        long good = succeeded.get();
        if (bad == 0 || scope.reason() != null || !tolerance.isSpent(bad + good, bad)) {
            return;
        }
        FailureGroup.Tally.Now now =
                tally.now(); // with more failures than there were a moment ago it is spent all the more
        long all = now.count() + good;
        String message = "the error budget of " + Words.scope(scope.givenName()) + " is spent: " + now.count() + " of "
                + all + " failed, " + tolerance.inWords(all, now.count());
        CancelReason why = new CancelReason(CancelReason.Kind.ERROR_BUDGET, message, null);
        if (scope.cancelSilently(why)) {
            spent = new Spent(message, now.groups().get(0));
        }
    }

    /** Whether the scope was cancelled since this is spent. When its threads have ended. */
    boolean isSpent() {
        return spent != null;
    }

    /** What the scope throws then; the failures are in it as groups, and some as themselves. */
    ErrorBudgetExceededException exceeded(List<Throwable> failures, List<Outcome<?>> outcomes) {
        Spent then = Objects.requireNonNull(spent);
        FailureGroup.Tally.Now now = tally.now();
        ErrorBudgetExceededException e = new ErrorBudgetExceededException(
                then.message, then.mostOften, succeeded.get(), now.count(), now.groups(), outcomes);
        List<Throwable> unused = Failure.attach(e, failures);
        return e;
    }
}
