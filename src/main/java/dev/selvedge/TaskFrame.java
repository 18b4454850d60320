package dev.selvedge;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** A task in the calling thread, cut off by its deadline. */
class TaskFrame extends Watched {

    private final ScopeSpec spec;
    private final Callable<?> task;

    TaskFrame(Ledger ledger, ScopeSpec spec, Callable<?> task) {
        super(ledger, spec);
        this.spec = spec;
        this.task = task;
    }

    @Override
    @Nullable
    final ThreadFactory threads() {
        return spec.conduct().threads();
    }

    @Override
    @Nullable
    final Object execute() throws Throwable {
        Here.hold(ledger);
        ledger.enter(this);
        Object value = null;
        Throwable thrown = null;
        try {
            tellOpened();
            arm();
            value = attempted();
        } catch (Throwable t) {
            thrown = t;
        }
        Ledger.Verdict verdict = ledger.leave(this, thrown);
        disarm();
        seal();
        endWatch();
        haveCancelAnnounced();
        ledger.pop(this);
        Throwable leaving = thrown == null ? null : leaving(thrown, verdict);
        tellClosed(leaving);
        if (leaving != null) {
            throw leaving;
        }
        return value;
    }

    @Override
    final boolean isOwnerAtWork() {
        return true;
    }

    /** What the task comes to, under its policies. */
    @Nullable
    Object attempted() throws Exception {
        return spec.policies().callIn(task, this);
    }

    private Throwable leaving(Throwable thrown, Ledger.Verdict verdict) {
        CancelReason why = reason();
        if (verdict == Ledger.Verdict.OWN && why != null) {
            return stopped(why, List.of(), List.of(), Cancellation.causeIn(thrown));
        }
        if (verdict == Ledger.Verdict.PASSED && why != null) {
            // the exception of others is not touched, and the time-out is not lost
            unhandled(stopped(why, List.of(), List.of(), null));
        }
        return asCancellation(thrown, verdict);
    }

    /** One whose failure is an outcome. */
    static final class Kept extends TaskFrame {

        Kept(Ledger ledger, ScopeSpec spec, Callable<?> task) {
            super(ledger, spec, task);
        }

        @Override
        Object attempted() throws Exception {
            try {
                return new Outcome.Success<>(super.attempted());
            } catch (Exception e) {
                if (Cancellation.isInFlight(e)) {
                    throw e;
                }
                return new Outcome.Failure<>(e);
            }
        }
    }
}
