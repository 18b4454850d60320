package dev.selvedge.time;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Something that happens once, at a moment set by {@link TimeSource#set}, unless it is {@linkplain #stop() stopped}
 * before.
 *
 * <p>{@link #ring} runs on the timer's thread, which all alarms share: it must be short and must not block (an
 * interrupt, a compare-and-set, a wake-up); anything longer belongs on another thread. On a {@link VirtualClock} it runs
 * on whichever thread moves the time, and a wait on that clock in it throws {@code IllegalStateException}. What it throws
 * goes to that thread's uncaught-exception handler and stops nothing else.
 *
 * @since 0.1
 */
public abstract class Alarm {

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Alarm.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int NEW = 0;
    private static final int SET = 1;
    private static final int OVER = 2;
    private static final int SILENCED = 3;

    /** NEW → SET once; SET → OVER by the ring or the stop, whichever comes first; NEW → SILENCED by the stop. */
    private volatile int state;

    private long due;

    /** The next alarm of an inbox; the timer's. */
    @Nullable
    Alarm next;

    /** How many alarms lie below this one in its inbox; the timer's. */
    int depth;

    /** Whether it lies in the heap of the system's timer, which then wants to know of its end. */
    volatile @Nullable Timer filed;

    /** For subclasses. */
    protected Alarm() {}

    /** What is to happen. */
    protected abstract void ring();

    /**
     * Sees to it that the alarm does not ring any more, set or not.
     *
     * @return true if it never will; false if it rings, has rung or was stopped before
     */
    public final boolean stop() {
        int s = state;
        while (s < OVER && !STATE.compareAndSet(this, s, s == NEW ? SILENCED : OVER)) {
            s = state;
        }
        if (s != SET) {
            return s == NEW;
        }
        Timer timer = filed;
        if (timer != null) {
            timer.ended();
        }
        return true;
    }

    /** What it is, for people: a virtual clock shows it among what is pending. Subclasses may say more. */
    @Override
    public String toString() {
        return "an alarm of " + getClass().getName();
    }

    /** Whether it has rung or was stopped. */
    final boolean isOver() {
        return state >= OVER;
    }

    /** Whether it is to be entered into a timer: not if it was stopped before. */
    final boolean arm(long nanos) {
        int s = state;
        if (s == SET || s == OVER) {
            throw new IllegalStateException("an alarm serves once, and this one has been set before");
        }
        due = nanos;
        return STATE.compareAndSet(this, NEW, SET);
    }

    final long due() {
        return due;
    }

    /** Rings, unless it is over; what it throws stops nothing else. */
    final void trigger() {
        if (!STATE.compareAndSet(this, SET, OVER)) {
            return;
        }
        try {
            ring();
        } catch (Throwable e) {
            Thread me = Thread.currentThread();
            me.getUncaughtExceptionHandler().uncaughtException(me, e);
        }
    }
}
