package dev.selvedge;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A block that may have to wait for tasks that go on though it was asked to stop, and then has that told. */
abstract class Watched extends Frame {

    /** Set by whoever has cancelled it. */
    private volatile @Nullable Stragglers stragglers;

    Watched(Ledger ledger, ScopeSpec spec) {
        super(ledger, spec);
    }

    /** Its forks that have not ended. From any thread. */
    List<ForkTask<?>> running() {
        return List.of();
    }

    /** Whether a task runs in the owner's thread. From any thread. */
    boolean isOwnerAtWork() {
        return false;
    }

    @Override
    final void wasCancelled() {
        Stragglers mine = new Stragglers(this);
        stragglers = mine;
        mine.begin(this);
    }

    /** Nothing runs any more, and nobody can cancel the block from now on: what is being told is awaited. The owner. */
    final void endWatch() {
        if (reason() == null) {
            return;
        }
        for (int spins = 0; stragglers == null; spins++) {
            spin(spins); // it was cancelled a moment ago
        }
        Stragglers mine = stragglers;
        if (mine != null) {
            mine.end();
        }
    }
}
