package dev.selvedge.time;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * One wait of one thread, ended by whoever is first: a {@link #wake}, the deadline, or an interrupt.
 *
 * <p>The way to write a latch, a queue or a gate that works in real and in virtual time alike: make a waiter with
 * {@link TimeSource#waiter()}, put it where the other side finds it, check the condition again, then {@link #await}.
 *
 * <p>Who wins is decided by one compare-and-set, so nothing is lost: a {@code wake} that returned true has ended the
 * wait, and {@code await} then returns true, even if an interrupt or the deadline came at the same moment.
 *
 * @since 0.1
 */
public abstract sealed class Waiter permits SystemWaiter, VirtualWaiter {

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Waiter.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static final int WAITING = 0;
    static final int WOKEN = 1;
    static final int GONE = 2;

    /** The thread that waits. */
    final Thread thread = Thread.currentThread();

    /** WAITING → WOKEN by a waker, WAITING → GONE by the deadline, an interrupt or {@link #leave}. */
    private volatile int state;

    Waiter() {}

    /**
     * Ends the wait, if it has not ended. From any thread, also before the wait begins.
     *
     * @return true if this call did it; false if it had ended before
     */
    public final boolean wake() {
        if (!end(WOKEN)) {
            return false;
        }
        woken();
        return true;
    }

    /**
     * Gives the wait up before it began.
     *
     * @return true if this call ended it; false if it has been woken already, and what was granted must be used or
     *     returned
     */
    public final boolean leave() {
        return end(GONE);
    }

    /**
     * Says that code outside the source's sight may wake this waiter: the callback of an asynchronous client, a thread
     * that takes no part. A {@link VirtualClock} then waits a moment of real time before it jumps, and does not take the
     * wait for a deadlock. To be called before the wait.
     *
     * @return this waiter
     */
    public Waiter fromOutside() {
        return this;
    }

    /**
     * Waits, on the thread that made this waiter.
     *
     * @param until the moment at which to give up, of the source that made this waiter; or one that never comes
     * @return true if woken, false if {@code until} passed first
     * @throws InterruptedException if the thread is interrupted before or while it waits; the flag is then clear. If
     *     the waiter was woken before that, it returns true instead and the flag stays set.
     * @throws IllegalStateException on another thread than the one that made this waiter, or if it has served: a wait on
     *     it has ended without a wake-up, or it was given up; or if an alarm of its virtual clock rings in this thread
     * @throws IllegalArgumentException if {@code until} is a moment of another source
     */
    public final boolean await(Deadline until) throws InterruptedException {
        Objects.requireNonNull(until, "until");
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException("a waiter of " + thread + " was used by " + Thread.currentThread());
        }
        return block(until);
    }

    /**
     * Waits for a thread's end, in real time.
     *
     * @param thread the thread to wait for; not the calling one, which would wait for good
     * @throws InterruptedException if the calling thread is interrupted before or while it waits; the flag is then
     *     clear
     */
    public static void awaitEnd(Thread thread) throws InterruptedException {
        Objects.requireNonNull(thread, "thread");
        thread.join();
    }

    /**
     * Waits for a thread's end, in real time, whatever interrupts come.
     *
     * @param thread the thread to wait for; not the calling one, which would wait for good
     * @return whether an interrupt came meanwhile; the flag is then clear
     */
    public static boolean awaitEndUninterruptibly(Thread thread) {
        Objects.requireNonNull(thread, "thread");
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    /** Wakes the thread, after the state has been set. */
    abstract void woken();

    abstract boolean block(Deadline until) throws InterruptedException;

    final boolean end(int how) {
        return STATE.compareAndSet(this, WAITING, how);
    }

    final int state() {
        return state;
    }
}
