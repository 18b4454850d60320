package dev.selvedge;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** All, or none: the first failure cancels the others. */
final class AllOf extends Gathering {

    AllOf(Ledger ledger, ScopeSpec spec, Callable<?>[] tasks, @Nullable String @Nullable [] names) {
        super(ledger, spec, tasks, names);
    }

    @Override
    void failed(ForkTask<?> fork, Throwable error) {
        cancelBecauseOf(fork, error);
    }

    @Override
    Object conclude() throws Throwable {
        CancelReason why = reason();
        Failure failure = failures();
        if (why == null || (!wasCutOff() && failure == null)) {
            keepOutsideCancelPending();
            return values();
        }
        if (failure != null && isOwnFailure(why)) {
            throw failed(failure);
        }
        throw stoppedWithValues(why);
    }

    private @Nullable Object[] values() {
        Roster all = roster();
        @Nullable Object[] values = new Object[all.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = all.at(i).result();
        }
        return values;
    }
}
