package dev.selvedge;

import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A task in the calling thread, cut off by its deadline. */
final class TaskFrame extends Frame {

    private final Callable<?> task;

    TaskFrame(Ledger ledger, ScopeSpec spec, Callable<?> task) {
        super(ledger, spec);
        this.task = task;
    }

    @Override
    @Nullable
    Object execute() throws Throwable {
        Here.hold(ledger);
        ledger.enter(this);
        Object value = null;
        Throwable thrown = null;
        try {
            tellOpened();
            arm();
            value = task.call();
        } catch (Throwable t) {
            thrown = t;
        }
        Ledger.Verdict verdict = ledger.leave(this, thrown);
        disarm();
        seal();
        announceCancel();
        ledger.pop(this);
        try {
            if (thrown != null) {
                throw leaving(thrown, verdict);
            }
            return value;
        } finally {
            tellClosed();
        }
    }

    private Throwable leaving(Throwable thrown, Ledger.Verdict verdict) {
        CancelReason why = reason();
        if (verdict == Ledger.Verdict.OWN && why != null) {
            return stopped(why, List.of(), List.of(), Cancellation.causeIn(thrown));
        }
        if (verdict == Ledger.Verdict.PASSED && why != null) {
            // the exception of others is not touched, and the time-out is not lost
            context.unhandled(displayName(), stopped(why, List.of(), List.of(), null));
        }
        return asCancellation(thrown, verdict);
    }
}
