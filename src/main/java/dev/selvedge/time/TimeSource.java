package dev.selvedge.time;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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
     * The date and time of day. It may be set back; so it serves to read dates, and not to measure.
     *
     * @return what the wall clock shows; on a {@link VirtualClock}, the epoch and what has passed since the clock was made
     */
    Instant now();

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
     * The same, saying what the wait is for: reports of a {@link VirtualClock} show it.
     *
     * @param what for people; it is asked for its {@code toString} when there is something to report
     * @return a waiter that nobody has woken
     */
    Waiter waiter(Object what);

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

    /**
     * Runs work that goes on outside the sight of this source: a read from a socket on a platform thread, the wait for a
     * child process. On the system's time it simply runs. A {@link VirtualClock} ticks along with real time meanwhile,
     * rather than jump, and gives the caller's turn to others; the caller waits for its next turn before it goes on.
     *
     * @param <T> the value of the work
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param work runs in the calling thread, whether that takes part or not
     * @return what the work returns
     * @throws X what the work throws
     * @throws InterruptedException if the work does
     */
    <T extends @Nullable Object, X extends Exception> T external(Work<T, X> work) throws X, InterruptedException;

    /**
     * The same, for work that gives nothing.
     *
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param work runs in the calling thread, whether that takes part or not
     * @throws X what the work throws
     * @throws InterruptedException if the work does
     */
    default <X extends Exception> void external(VoidWork<X> work) throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        Work<@Nullable Object, X> valued = () -> {
            work.run();
            return null;
        };
        Object unused = external(valued);
    }

    /**
     * Work that gives a value.
     *
     * @param <T> the value
     * @param <X> its checked exception
     */
    @FunctionalInterface
    interface Work<T extends @Nullable Object, X extends Exception> {
        /**
         * Does the work.
         *
         * @return the value
         * @throws X if it fails
         * @throws InterruptedException if it is interrupted
         */
        T call() throws X, InterruptedException;
    }

    /**
     * Work that gives nothing.
     *
     * @param <X> its checked exception
     */
    @FunctionalInterface
    interface VoidWork<X extends Exception> {
        /**
         * Does the work.
         *
         * @throws X if it fails
         * @throws InterruptedException if it is interrupted
         */
        void run() throws X, InterruptedException;
    }
}
