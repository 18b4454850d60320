package dev.selvedge;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Keeps requests addressed outside it from the thread until its task has ended; blocks inside it live as usual. */
final class Shield extends Frame {

    private final Callable<?> task;

    /** Whether the flag was set at entry: it is put aside. */
    boolean hadFlag;

    /** The depth of the shield around this one, 0 if there is none. */
    int outerShield;

    Shield(Ledger ledger, Callable<?> task) {
        super(ledger);
        this.task = task;
    }

    @Override
    @Nullable
    Object execute() throws Throwable {
        ledger.enterShield(this);
        try {
            return task.call();
        } finally {
            ledger.leaveShield(this);
        }
    }
}
