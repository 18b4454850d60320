package dev.selvedge.time;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A wait on a virtual clock: the thread gives up its turn, and gets it back as an event of the clock. */
final class VirtualWaiter extends Waiter {

    private final VirtualClock clock;
    private final @Nullable Object what;
    private boolean fromOutside;

    /** The participant of {@link #thread}, from the moment it waits. Guarded by the clock's lock. */
    private @Nullable Participant participant;

    VirtualWaiter(VirtualClock clock, @Nullable Object what) {
        this.clock = clock;
        this.what = what;
    }

    @Override
    public Waiter fromOutside() {
        fromOutside = true;
        return this;
    }

    boolean isFromOutside() {
        return fromOutside;
    }

    @Override
    void woken() {
        clock.touch(this::resume);
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
            return block(Objects.requireNonNull(guest), due);
        } finally {
            if (guest != null) {
                guest.end();
            }
        }
    }

    private boolean block(Participant me, long due) throws InterruptedException {
        Turns turns = clock.turns();
        turns.lock.lock();
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
            if (state() == GONE) {
                throw new IllegalStateException("a waiter serves for one wait, and this one has served");
            }
            if (turns.stuck() == null) {
                participant = me;
                turns.yieldTo(this, me, due);
            }
        } finally {
            turns.lock.unlock();
        }
        me.awaitTurn();
        if (state() == WOKEN) {
            return true; // an interrupt that came after it stays for the next wait
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        StuckClockError stuck = turns.stuck();
        if (stuck != null && !(due != Long.MAX_VALUE && due <= turns.now())) {
            end(GONE);
            throw stuck;
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

    /** What the wait is for. */
    String purpose() {
        return what == null ? "a wake-up" : what.toString();
    }

    @Override
    public String toString() {
        String who = participant == null ? thread.getName() : participant.name();
        return what == null ? who : who + ": " + what;
    }
}
