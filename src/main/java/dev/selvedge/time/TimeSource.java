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
     * The time of this machine: {@link System#nanoTime()}, threads that really park, and one timer thread, a daemon, that
     * starts with the first alarm.
     *
     * @return the one source of the machine's time
     */
    static TimeSource system() {
        return SystemTime.INSTANCE;
    }

    /**
     * Nanoseconds since a moment that is fixed for this source; never negative, never going back. Steps of the wall clock
     * do not show here.
     *
     * @return the time in nanoseconds
     */
    long nanoTime();

    /**
     * The moment that lies so far ahead of now. A duration too long to count in nanoseconds (292 years) means
     * {@linkplain #never() never}; zero or less means a moment that has passed.
     *
     * @param d how far ahead
     * @return the moment
     */
    Deadline after(Duration d);

    /**
     * The moment that never comes.
     *
     * @return the moment
     */
    Deadline never();

    /**
     * A new waiter for the calling thread. Only that thread may {@linkplain Waiter#await wait} on it; any thread may
     * {@linkplain Waiter#wake wake} it. It serves for one wait.
     *
     * @return a waiter of the calling thread
     */
    Waiter waiter();

    /**
     * Has an alarm ring once at {@code due}, or at once if that has passed; an alarm that was stopped before stays silent.
     *
     * @param alarm what rings
     * @param due when, on this source
     * @throws IllegalArgumentException if {@code due} is a moment of another source
     * @throws IllegalStateException if the alarm was set before: an alarm serves once
     */
    void set(Alarm alarm, Deadline due);

    /**
     * Interrupts a thread as {@link Thread#interrupt()} does, and lets a virtual clock know of it, so that the wake-up takes
     * its place in the order of events.
     *
     * @param thread the thread
     */
    void interrupt(Thread thread);

    /**
     * Whether a thread's interrupt flag is set, or was set while it waits and will be when the wait returns.
     *
     * @param thread the thread
     * @return whether an interrupt is pending
     */
    boolean isInterrupted(Thread thread);
}
