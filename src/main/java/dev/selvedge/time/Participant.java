package dev.selvedge.time;

import java.util.Arrays;
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

    /** Whether the thread came by itself, and nobody who takes part waits for its end. */
    private final boolean guest;

    private volatile @Nullable Thread thread;

    /** Whether it has ended or was withdrawn. Guarded by the clock's lock. */
    private boolean over;

    /** Whether it is this participant's turn. Set by the clock, cleared under its lock by the thread itself. */
    private volatile boolean released;

    /** Whether the thread has taken up its turn. Written by the thread. */
    private volatile boolean running;

    /** Whether the thread's interrupt flag is put aside while it waits for its turn. Written by the thread. */
    private volatile boolean interrupted;

    /** Whether the thread is in a wait in real time that is part of the library's own work. Written by the thread. */
    private volatile boolean holding;

    /** What the thread waits on. Guarded by the clock's lock, as all that follows. */
    private @Nullable VirtualWaiter waitsOn;

    /** Where it was first seen parked, when, and how often it was since; null if it was seen running. */
    private StackTraceElement @Nullable [] parkedAt;

    /** Whether the thread was interrupted since the clock serves no more. */
    private volatile boolean abandoned;

    private long parkedSince;
    private int looks;
    private boolean parked;

    Participant(VirtualClock clock, String name, boolean guest) {
        this.clock = clock;
        this.name = name;
        this.guest = guest;
    }

    /**
     * Binds the calling thread to this participant, and waits until it is its turn. An interrupt does not cut this wait
     * off.
     *
     * @throws IllegalStateException if it has begun or was withdrawn before, or the thread takes part already
     */
    public void begin() {
        clock.began(this);
    }

    /**
     * Ends the calling thread's part: it no longer holds the clock. Later calls do nothing.
     *
     * @throws IllegalStateException if the calling thread is not that which has begun
     */
    public void end() {
        clock.ended(this, true);
    }

    /**
     * Takes back the announcement of a participant whose thread could not be started. From any thread; later calls do
     * nothing.
     *
     * @throws IllegalStateException if it has begun: then its thread ends it
     */
    public void withdraw() {
        clock.ended(this, false);
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
        while (!released && clock.turns().stuck() == null) {
            LockSupport.park(this);
            if (Thread.currentThread().isInterrupted()) { // parking returns at once while the flag is set
                interrupted = true;
                Thread.interrupted();
                clock.interruptedBetween(this);
            }
        }
        running = true;
        if (interrupted) {
            Thread.currentThread().interrupt();
            interrupted = false;
        }
    }

    boolean isGuest() {
        return guest;
    }

    boolean isInterrupted() {
        return interrupted;
    }

    /** On its thread: a wait in real time that is part of the library's own work begins, or ends; how it was before. */
    boolean hold(boolean now) {
        boolean before = holding;
        holding = now;
        return before;
    }

    @Nullable
    Thread thread() {
        return thread;
    }

    /**
     * Ends the calling thread's part, like {@link #end()}.
     *
     * @return why the clock serves no more, if the thread was interrupted for that and nothing else; its interrupt flag is
     *     then clear. Else null.
     * @throws IllegalStateException if the calling thread is not that which has begun
     */
    public @Nullable StuckClockError endOrFail() {
        end();
        if (!abandoned) {
            return null;
        }
        boolean unused = Thread.interrupted();
        return clock.turns().stuck();
    }

    // Under the clock's lock.

    /** The calling thread is to be that of this participant; {@code other} is what it is already. */
    void begins(@Nullable Participant other) {
        if (thread != null || over) {
            throw new IllegalStateException("the participant \"" + name + "\" cannot begin: it "
                    + (thread != null ? "has begun" : "was withdrawn") + " before");
        }
        if (other != null) {
            throw new IllegalStateException("the participant \"" + name
                    + "\" cannot begin: this thread takes part already, as \"" + other + "\"");
        }
        thread = Thread.currentThread();
    }

    /** Its part is over; false if it was before. */
    boolean ends(boolean byItsThread) {
        Thread bound = thread;
        if (byItsThread && bound != Thread.currentThread() && !(over && bound == null)) {
            throw new IllegalStateException("the participant \"" + name + "\" cannot be ended here: "
                    + (bound == null ? "it has not begun, so withdraw it" : "it is of " + bound));
        }
        if (!byItsThread && bound != null) {
            throw new IllegalStateException(
                    "the participant \"" + name + "\" cannot be withdrawn: it has begun, and " + bound + " ends it");
        }
        boolean first = !over;
        over = true;
        return first;
    }

    void release() {
        released = true;
        forgetLooks();
        LockSupport.unpark(thread);
    }

    void waitsOn(VirtualWaiter waiter) {
        waitsOn = waiter;
        goesOutside();
    }

    /** It has no turn any more, and comes back by waiting for one. */
    void goesOutside() {
        released = false;
        running = false;
        forgetLooks();
    }

    @Nullable
    VirtualWaiter waitsOn() {
        return waitsOn;
    }

    /** The waiter was woken or is due. */
    void resume(VirtualWaiter waiter) {
        if (waitsOn == waiter) {
            waitsOn = null;
            clock.turns().ready(this, waiter);
        }
    }

    /** The thread was interrupted, which ends its wait if it is in one; elsewhere it is busy until it is seen parked again. */
    void interrupted() {
        VirtualWaiter waiter = waitsOn;
        if (waiter == null) {
            forgetLooks();
        } else if (waiter.end(Waiter.GONE)) {
            resume(waiter);
        }
    }

    /** The clock serves no more: the wait is over, if it is in one. */
    void abandon() {
        VirtualWaiter waiter = waitsOn;
        if (waiter != null && waiter.end(Waiter.GONE)) {
            waitsOn = null;
        } else if (guest && running && thread != null) {
            abandoned = true;
            thread.interrupt(); // nobody else will
        }
        LockSupport.unpark(thread);
    }

    /**
     * Looks whether the thread is parked outside the library. It counts as parked once it was at every look of a while, and
     * stood at the same place in the first and the last of them. One that waits for the clock's lock, which whoever looks
     * holds, is not parked: on a loaded machine it may take long to get going again.
     */
    void look(long real, long window, int atLeast) {
        Thread t = thread;
        if (t == null
                || !running
                || holding
                || !isParked(t.getState())
                || clock.turns().lock.hasQueuedThread(t)) {
            forgetLooks();
            return;
        }
        if (parkedAt == null) {
            begin(real, t.getStackTrace());
            return;
        }
        looks++;
        if (real - parkedSince >= window && looks >= atLeast) {
            StackTraceElement[] place = t.getStackTrace();
            boolean same = Arrays.equals(parkedAt, place);
            begin(real, place);
            parked = same;
        }
    }

    private void begin(long real, StackTraceElement[] place) {
        parkedAt = place;
        parkedSince = real;
        looks = 1;
    }

    private void forgetLooks() {
        parkedAt = null;
        parked = false;
    }

    private static boolean isParked(Thread.State state) {
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING || state == Thread.State.BLOCKED;
    }

    /** As it was at the latest look. */
    boolean isParked() {
        return parked;
    }
}
