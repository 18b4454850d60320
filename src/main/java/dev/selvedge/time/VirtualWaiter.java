package dev.selvedge.time;

import org.jspecify.annotations.Nullable;

/** A wait on a virtual clock: the thread gives up its turn, and gets it back as an event of the clock. */
final class VirtualWaiter extends Waiter {

    private final VirtualClock clock;

    /** The participant of {@link #thread}, from the moment it waits. Guarded by the clock's lock. */
    private @Nullable Participant participant;

    VirtualWaiter(VirtualClock clock) {
        this.clock = clock;
    }

    @Override
    void woken() {
        clock.lock().lock();
        try {
            resume();
            clock.dispatch();
        } finally {
            clock.lock().unlock();
        }
    }

    @Override
    boolean block(Deadline until) throws InterruptedException {
        long due = until.nanosOn(clock);
        Participant me = clock.me();
        if (me != null) {
            return block(me, due);
        }
        // A thread that does not take part does so while it waits.
        Participant guest = clock.enter(thread.getName());
        try {
            return block(java.util.Objects.requireNonNull(guest), due);
        } finally {
            if (guest != null) {
                guest.end();
            }
        }
    }

    private boolean block(Participant me, long due) throws InterruptedException {
        clock.lock().lock();
        try {
            if (state() == WOKEN) {
                return true;
            }
            if (Thread.interrupted()) {
                if (end(GONE)) {
                    throw new InterruptedException();
                }
                Thread.currentThread().interrupt();
                return true;
            }
            participant = me;
            clock.yieldTo(this, me, due);
        } finally {
            clock.lock().unlock();
        }
        me.awaitTurn();
        if (state() == WOKEN) {
            return true; // an interrupt that came after it stays for the next wait
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return false;
    }

    /** Under the clock's lock: its time has come. */
    void expire() {
        if (end(GONE)) {
            resume();
        }
    }

    boolean isOver() {
        return state() != WAITING;
    }

    /** Under the clock's lock. */
    private void resume() {
        if (participant != null) {
            participant.resume(this);
        }
    }
}
