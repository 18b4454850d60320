package dev.selvedge;

import dev.selvedge.time.TimeSource;
import dev.selvedge.time.Waiter;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** How many forks of a scope may be between their start and their end. The owner takes a place for each, and waits for one. */
final class Slots {

    private final int atMost;

    /** Up by the owner, down by the threads of forks. */
    private final AtomicInteger taken = new AtomicInteger();

    /** The owner, when it waits; woken by forks and cancellers. */
    private volatile @Nullable Waiter owner;

    Slots(int atMost) {
        this.atMost = atMost;
    }

    static @Nullable Slots of(Conduct conduct) {
        return conduct.atMost() == 0 ? null : new Slots(conduct.atMost());
    }

    boolean isFree() {
        return taken.get() < atMost;
    }

    /** Takes a place, which is free. The owner. */
    void take() {
        taken.getAndIncrement();
    }

    /** Waits for a place, and takes it; or gives the reason why the scope was asked to stop, and takes none. The owner. */
    @Nullable
    CancelReason takeUnlessCancelled(OpenScope scope) {
        try {
            while (scope.reason() == null && !isFree()) {
                await(scope.context.clock(), () -> scope.reason() == null);
            }
        } catch (InterruptedException e) {
            throw Here.cancelledBy(e);
        }
        CancelReason why = scope.reason();
        if (why == null) {
            take();
        }
        return why;
    }

    /** Gives a place back. */
    void giveBack() {
        taken.getAndDecrement();
        wakeOwner();
    }

    void wakeOwner() {
        Waiter waiting = owner;
        if (waiting != null) {
            waiting.wake();
        }
    }

    /** Waits until a place is free, or the owner is woken; not at all if there is no reason to go on. */
    void await(TimeSource clock, BooleanSupplier goesOn) throws InterruptedException {
        Waiter me = clock.waiter("a free slot of " + atMost);
        owner = me;
        try {
            if (!isFree() && goesOn.getAsBoolean()) {
                boolean unused = me.await(clock.never());
            }
        } finally {
            owner = null;
        }
    }
}
