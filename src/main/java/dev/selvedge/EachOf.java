package dev.selvedge;

import org.jspecify.annotations.Nullable;

/** Each for itself: a failure is an outcome, and the others go on. */
final class EachOf extends Gathering {

    EachOf(Ledger ledger, ScopeSpec spec, Object[] tasks, @Nullable String @Nullable [] names) {
        super(ledger, spec, tasks, names);
    }

    @Override
    void failed(ForkTask<?> fork, Throwable error) {
        Budget.goOn(this, fork, error);
    }

    @Override
    Object conclude() throws Throwable {
        Error error = Failure.fatal(failures());
        if (error != null) {
            throw bare(error, Failure.errors(failures()));
        }
        CancelReason why = reason();
        boolean fromOutside = outsideCancel() != null || (why != null && isInherited(why));
        if (why != null && fromOutside && wasCutOff()) {
            throw stoppedWithValues(why);
        }
        keepOutsideCancelPending();
        Outcome<?>[] outcomes = new Outcome<?>[taskCount()];
        for (int i = 0; i < outcomes.length; i++) {
            outcomes[i] = outcomeAt(i);
        }
        return outcomes;
    }
}
