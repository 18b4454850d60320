package dev.selvedge;

import dev.selvedge.time.Participant;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A fork on a virtual clock: its start and its end are events of the clock. */
final class VirtualFork<T extends @Nullable Object> extends LiveFork<T> {

    private final Participant participant;

    /** Whether the thread has come to its end. */
    private volatile boolean gone;

    /** The scope's owner, when it waits for that. */
    private volatile @Nullable Waiter awaitsEnd;

    VirtualFork(OpenScope scope, Callable<? extends T> task, @Nullable String name, int number, VirtualClock clock) {
        super(scope, task, name, number);
        participant = clock.enroll(name());
    }

    @Override
    void neverStarted() {
        participant.withdraw();
    }

    @Override
    public @Nullable Object call() {
        participant.begin();
        try {
            return super.call();
        } finally {
            gone = true;
            Waiter owner = awaitsEnd;
            if (owner != null) {
                owner.wake();
            }
            participant.end();
        }
    }

    /**
     * Waits until the thread has had its turns, on the clock. That it is done is not enough: a fork that was cancelled before
     * its first turn is done, and its thread still waits for that turn.
     */
    void awaitGone() throws InterruptedException {
        Waiter me = scope.context.clock().waiter(this);
        awaitsEnd = me;
        if (!gone) {
            boolean unused = me.await(scope.context.clock().never());
        }
    }

    boolean isGone() {
        return gone;
    }
}
