package dev.selvedge;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A task that runs in a thread of its own, in a live {@link Scope}.
 *
 * <p>Any thread may ask and wait; the result can be read after the scope has ended, too.
 *
 * @param <T> the value
 * @since 0.1
 */
public sealed interface Fork<T extends @Nullable Object> permits LiveFork {

    /**
     * The name it was given.
     *
     * @return the name; {@code fork-3} for the third fork of its scope if it was given none
     */
    String name();

    /**
     * Waits for the task and gives its value.
     *
     * @return what the task returned; null only if it returned that
     * @throws ScopeFailedException if the task failed; its cause is what the task threw. Let out of the body, this very
     *     object is what the scope throws.
     * @throws ScopeCancelledException if the fork was cancelled, or the waiting thread was asked to stop
     * @throws IllegalStateException if the calling thread is the fork's own
     */
    T join();

    /**
     * The same, for a bounded time. A fork that is late is cancelled and awaited; a value that arrives meanwhile is
     * returned. A task that is done gives its value whatever the time.
     *
     * @param atMost how long to wait, on the scope's clock; zero or less cancels a task that is not done
     * @return what the task returned; null only if it returned that
     * @throws DeadlineExceededException if it was late; it names the fork
     * @throws ScopeFailedException if the task failed in time, as from {@link #join()}
     * @throws ScopeCancelledException if the fork was cancelled, or the waiting thread was asked to stop
     * @throws IllegalStateException if the calling thread is the fork's own
     */
    T join(Duration atMost);

    /**
     * How the task ended. In an isolated scope, a failure that was looked at here is not thrown at the end.
     *
     * @return a success with the value, a failure with what the task threw, or why it was cut off
     * @throws IllegalStateException if it has not ended: {@link #join} first
     */
    Outcome<T> outcome();

    /**
     * Asks the task to stop: interrupts it, or sees to it that it never runs. That is no failure of the scope. From any
     * thread.
     *
     * @return true if this call did it; false if the fork was cancelled before or is done
     */
    boolean cancel();

    /**
     * This fork as a future, for code that wants one. It completes when the task ends: with its value, exceptionally with
     * what the task threw, or with a {@link ScopeCancelledException}, which counts as cancelled. Cancelling the future
     * cancels the fork; other ways of completing it do nothing to the fork.
     *
     * <p>What depends on the future runs on the fork's thread at its end, so the scope waits for it; it should be short.
     * In an isolated scope, a failure that is handed to a future counts as looked at.
     *
     * @return a new future at each call
     */
    CompletableFuture<T> toCompletableFuture();

    /**
     * Whether the task has ended, or will never run.
     *
     * @return true if {@link #outcome} can be asked; it then stays true
     */
    boolean isDone();
}
