package dev.selvedge.time;

import java.time.Duration;

/**
 * Where the time comes from: a monotonic clock, and the waits and timers on it.
 *
 * <p>There are two kinds: {@linkplain #system() the system's}, and a {@link VirtualClock}, on which a timeout of 100
 * seconds takes no time at all. All methods are safe from any thread.
 *
 * @since 0.1
 */
public sealed interface TimeSource permits SystemTime, VirtualClock {

    /**
     * The time of this machine: {@link System#nanoTime()}, threads that really park, and one timer thread, a daemon,
     * that starts with the first alarm.
     *
     * @return the one source of its kind
     */
    static TimeSource system() {
        return SystemTime.INSTANCE;
    }

    /**
     * Nanoseconds since a moment that is fixed for this source. Steps of the wall clock do not show here.
     *
     * @return never negative, never less than before
     */
    long nanoTime();

    /**
     * The moment that lies so far ahead of now.
     *
     * @param d how far ahead; zero or less means a moment that has passed, a duration too long to count in nanoseconds
     *     (292 years) {@linkplain #never() never}
     * @return a moment of this source
     */
    Deadline after(Duration d);

    /**
     * The moment that never comes.
     *
     * @return the one moment of its kind on this source; unlike any other, it serves on other sources too
     */
    Deadline never();

    /**
     * A new waiter for the calling thread. Only that thread may {@linkplain Waiter#await wait} on it; any thread may
     * {@linkplain Waiter#wake wake} it. It serves for one wait.
     *
     * @return a waiter that nobody has woken
     */
    Waiter waiter();

    /**
     * Has an alarm ring once at {@code due}, or at once if that has passed; an alarm that was stopped before stays
     * silent.
     *
     * @param alarm what is to happen; not set before, on this source or another
     * @param due the moment, of this source
     * @throws IllegalArgumentException if {@code due} is a moment of another source
     * @throws IllegalStateException if the alarm is set already: an alarm serves once
     */
    void set(Alarm alarm, Deadline due);

    /**
     * Interrupts a thread as {@link Thread#interrupt()} does, and lets a virtual clock know of it, so that the wake-up
     * takes its place in the order of events.
     *
     * @param thread any thread, whether it waits on this source or not
     */
    void interrupt(Thread thread);

    /**
     * Whether a thread's interrupt flag is set, or was set while it waits and will be when the wait returns.
     *
     * @param thread any thread, whether it waits on this source or not
     * @return true if an interrupt is pending
     */
    boolean isInterrupted(Thread thread);
}
