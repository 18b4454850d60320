package dev.selvedge.time;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that takes part in a {@link VirtualClock}: the clock does not move while it runs, and it runs only when it
 * is its turn.
 *
 * <p>Scopes on a virtual clock make their threads take part by themselves. For threads of your own, see
 * {@link VirtualClock#enroll} and {@link VirtualClock#enter}.
 *
 * @since 0.1
 */
public final class Participant {

    private final VirtualClock clock;
    private final String name;
    private volatile @Nullable Thread thread;

    /** Whether it is this participant's turn. Set by the clock, cleared under its lock by the thread itself. */
    private volatile boolean released;

    /** Whether the thread's interrupt flag is put aside while it waits for its turn. Written by the thread. */
    private volatile boolean interrupted;

    /** What the thread waits on. Guarded by the clock's lock. */
    private @Nullable VirtualWaiter waitsOn;

    Participant(VirtualClock clock, String name) {
        this.clock = clock;
        this.name = name;
    }

    /**
     * Binds the calling thread to this participant, and waits until it is its turn. An interrupt does not cut this wait
     * off.
     */
    public void begin() {
        thread = Thread.currentThread();
        clock.began(this);
    }

    /** Ends the calling thread's part: it no longer holds the clock. */
    public void end() {
        clock.ended(this);
    }

    /** Takes back the announcement of a participant whose thread could not be started. */
    public void withdraw() {
        clock.withdraw(this);
    }

    /**
     * The name it was given.
     *
     * @return the name, for people; {@code toString} gives it too
     */
    public String name() {
        return name;
    }

    @Override
    public String toString() {
        return name;
    }

    /**
     * Parks until it is this participant's turn. The interrupt flag is as it was, or set if an interrupt came
     * meanwhile.
     */
    void awaitTurn() {
        while (!released) {
            LockSupport.park(this);
            if (Thread.currentThread().isInterrupted()) { // parking returns at once while the flag is set
                interrupted = true;
                Thread.interrupted();
                clock.lock().lock();
                try {
                    interrupted();
                    clock.dispatch();
                } finally {
                    clock.lock().unlock();
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
            interrupted = false;
        }
    }

    boolean isInterrupted() {
        return interrupted;
    }

    /** Under the clock's lock: whether it has the turn. */
    boolean isReleased() {
        return released;
    }

    void release() {
        released = true;
        LockSupport.unpark(thread);
    }

    /** Under the clock's lock. */
    void waitsOn(VirtualWaiter waiter) {
        waitsOn = waiter;
        released = false;
    }

    /** Under the clock's lock: the waiter was woken or is due. */
    void resume(VirtualWaiter waiter) {
        if (waitsOn == waiter) {
            waitsOn = null;
            clock.ready(this);
        }
    }

    /** Under the clock's lock: the thread was interrupted, which ends its wait if it is in one. */
    void interrupted() {
        VirtualWaiter waiter = waitsOn;
        if (waiter != null && waiter.end(Waiter.GONE)) {
            resume(waiter);
        }
    }
}
