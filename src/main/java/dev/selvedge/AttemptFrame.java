package dev.selvedge;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** One attempt of a task, cut off by its own timeout. */
final class AttemptFrame extends Frame {

    private final Callable<?> task;
    private final Duration timeout;

    private AttemptFrame(Ledger ledger, @Nullable String scope, Callable<?> task, Duration timeout) {
        super(ledger, scope, timeout);
        this.task = task;
        this.timeout = timeout;
    }

    /** In the calling thread. */
    static <T extends @Nullable Object> T run(Callable<? extends T> task, Host host, Duration timeout) {
        String scope = host.givenName();
        return ScopeSpec.execute(null, ledger -> new AttemptFrame(ledger, scope, task, timeout));
    }

    @Override
    @Nullable
    Object execute() throws Throwable {
        if (!isEarliest()) {
            return task.call();
        }
        Here.hold(ledger);
        ledger.enter(this);
        Object value = null;
        Throwable thrown = null;
        try {
            arm();
            value = task.call();
        } catch (Throwable t) {
            thrown = t;
        }
        Ledger.Verdict verdict = ledger.leave(this, thrown);
        disarm(); // nobody but the alarm can cancel it, and that finds it left
        ledger.pop(this);
        if (thrown == null) {
            return value;
        }
        if (reason() == null || verdict == Ledger.Verdict.OUTSIDE || verdict == Ledger.Verdict.NOT_FIRED) {
            throw asCancellation(thrown, verdict);
        }
        if (verdict == Ledger.Verdict.OWN) {
            throw new AttemptTimeoutException(givenName(), timeout, Cancellation.causeIn(thrown));
        }
        unhandled(new AttemptTimeoutException(givenName(), timeout, null)); // it is not lost
        throw thrown;
    }
}
