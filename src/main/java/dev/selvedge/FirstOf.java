package dev.selvedge;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The first success: it cancels the others. */
final class FirstOf extends Gathering {

    private static final VarHandle WINNER;

    static {
        try {
            WINNER = MethodHandles.lookup().findVarHandle(FirstOf.class, "winner", ForkTask.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** null → the first fork to succeed. */
    private volatile @Nullable ForkTask<?> winner;

    FirstOf(Ledger ledger, ScopeSpec spec, Callable<?>[] tasks) {
        super(ledger, spec, tasks, null);
    }

    @Override
    void succeeded(ForkTask<?> fork) {
        if (WINNER.compareAndSet(this, null, fork)) {
            String message = "\"" + nameOf(fork) + "\" was first";
            cancelSilently(new CancelReason(CancelReason.Kind.RACE_LOST, message, null));
        }
    }

    @Override
    void failed(ForkTask<?> fork, Throwable error) {
        if (error instanceof Error) {
            cancelBecauseOf(fork, error);
        }
    }

    @Override
    @Nullable
    Object conclude() throws Throwable {
        ForkTask<?> first = winner;
        Failure failure = failures();
        CancelReason why = reason();
        if (why != null && why.kind() == CancelReason.Kind.SIBLING_FAILED && why.cause() instanceof Error error) {
            throw bare(error, Failure.errors(failure));
        }
        if (first != null) {
            keepOutsideCancelPending();
            discardValues(first);
            unhandled(Failure.errors(failure));
            return first.result();
        }
        if (why != null && wasCutOff()) {
            throw stopped(why);
        }
        throw failed(Objects.requireNonNull(failure));
    }
}
