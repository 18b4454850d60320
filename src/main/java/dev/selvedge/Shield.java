package dev.selvedge;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Keeps requests addressed outside it from the thread until its task has ended; blocks inside it live as usual. */
final class Shield extends Frame {

    private final Callable<?> task;

    /** The shield around this one. */
    @Nullable
    Shield outer;

    /** Whether a request waits until this shield ends. Under the ledger's lock. */
    boolean keepsAway;

    Shield(Ledger ledger, Callable<?> task) {
        super(ledger);
        this.task = task;
    }

    @Override
    @Nullable
    Object execute() throws Throwable {
        Here.hold(ledger);
        ledger.enterShield(this);
        try {
            return task.call();
        } finally {
            ledger.leaveShield(this);
        }
    }
}
