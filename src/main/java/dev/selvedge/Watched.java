package dev.selvedge;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A block that may have to wait for tasks that go on though it was asked to stop, and then has that told. */
abstract class Watched extends Frame {

    private static final Object NONE = new Object();

    /** null → the {@link Stragglers}, or NONE if it cannot be watched, by whoever has cancelled it. */
    private volatile @Nullable Object watch;

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
        Object mine = NONE;
        try {
            Stragglers watching = new Stragglers(this);
            watching.begin(this);
            mine = watching;
        } catch (Throwable e) {
            // it is cancelled all the same, and its owner must not wait for a watch
        } finally {
            watch = mine;
        }
    }

    /** Nothing runs any more, and nobody can cancel the block from now on: what is being told is awaited. The owner. */
    final void endWatch() {
        if (reason() == null) {
            return;
        }
        for (int spins = 0; watch == null; spins++) {
            spin(spins); // it was cancelled a moment ago
        }
        if (watch instanceof Stragglers watching) {
            watching.end();
        }
    }
}
