package dev.selvedge;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The first successes, so many as are wanted: they cancel the others. One for a race, more for a quorum. */
final class FirstOf extends Gathering {

    private static final VarHandle SUCCEEDED;
    private static final VarHandle FAILED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            SUCCEEDED = lookup.findVarHandle(FirstOf.class, "succeeded", int.class);
            FAILED = lookup.findVarHandle(FirstOf.class, "failed", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** In the order in which they came; each place is written once, by the fork that took it. */
    private final @Nullable ForkTask<?>[] winners;

    /** How many have succeeded, and failed. Counted up by forks. */
    @SuppressWarnings("unused") // through SUCCEEDED
    private volatile int succeeded;

    @SuppressWarnings("unused") // through FAILED
    private volatile int failed;

    FirstOf(Ledger ledger, ScopeSpec spec, Object[] tasks, int wanted) {
        super(ledger, spec, tasks, null);
        this.winners = new ForkTask<?>[wanted];
    }

    @Override
    void succeeded(ForkTask<?> fork) {
        int place = (int) SUCCEEDED.getAndAdd(this, 1);
        if (place >= winners.length) {
            return;
        }
        winners[place] = fork;
        if (place == winners.length - 1) {
            String message = winners.length == 1
                    ? "\"" + nameOf(fork) + "\" was first"
                    : winners.length + " were first, the last of them \"" + nameOf(fork) + "\"";
            cancelSilently(new CancelReason(CancelReason.Kind.RACE_LOST, message, null));
        }
    }

    @Override
    void failed(ForkTask<?> fork, Throwable error) {
        int all = (int) FAILED.getAndAdd(this, 1) + 1;
        boolean hopeless = all == taskCount() - winners.length + 1 && all < taskCount(); // the others cannot be enough
        if (error instanceof Error || hopeless) {
            cancelBecauseOf(fork, error);
        }
    }

    @Override
    long forkBehind(CancelReason why) {
        ForkTask<?> last = winners[winners.length - 1];
        return last != null && why.kind() == CancelReason.Kind.RACE_LOST ? numberOf(last) : super.forkBehind(why);
    }

    @Override
    Object conclude() throws Throwable {
        Failure failure = failures();
        CancelReason why = reason();
        boolean byFailure = isOwnFailure(why);
        if (why != null && byFailure && why.cause() instanceof Error error) {
            throw bare(error, Failure.errors(failure));
        }
        if (succeeded >= winners.length) {
            keepOutsideCancelPending();
            discardValues(winners);
            unhandled(Failure.errors(failure));
            return Arrays.stream(winners)
                    .map(w -> Objects.requireNonNull(w).result())
                    .toArray();
        }
        if (why != null && !byFailure && wasCutOff()) {
            throw stoppedWithValues(why);
        }
        throw failed(Objects.requireNonNull(failure));
    }
}
