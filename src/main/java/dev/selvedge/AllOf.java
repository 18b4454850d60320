package dev.selvedge;

import org.jspecify.annotations.Nullable;

/** All, or none: the first failure cancels the others. */
final class AllOf extends Gathering {

    AllOf(Ledger ledger, ScopeSpec spec, Object[] tasks, @Nullable String @Nullable [] names) {
        super(ledger, spec, tasks, names);
    }

    @Override
    void failed(ForkTask<?> fork, Throwable error) {
        if (budget == null) {
            cancelBecauseOf(fork, error);
        } else {
            Budget.goOn(this, fork, error);
        }
    }

    @Override
    Object conclude() throws Throwable {
        CancelReason why = reason();
        Failure failure = failures();
        if (budget != null) {
            checkBudget(budget, failure);
        }
        if (why == null || (!wasCutOff() && failure == null)) {
            keepOutsideCancelPending();
            return values();
        }
        if (failure != null && isOwnFailure(why)) {
            throw failed(failure);
        }
        throw stoppedWithValues(why);
    }

    /** The forks went on after failures: throws if there were any, unless what cut off the rest was something else. */
    private void checkBudget(Budget spendable, @Nullable Failure newest) throws Throwable {
        Error fatal = Failure.fatal(newest);
        if (fatal != null) {
            throw bare(fatal, Failure.errors(newest));
        }
        if (spendable.isSpent() && outsideCancel() == null) {
            throw spendable.exceeded(Failure.errors(newest), outcomes());
        }
        if (newest != null && !wasCutOff()) {
            keepOutsideCancelPending();
            discardAllValues();
            throw failedException(newest, Failure.errors(newest));
        }
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
