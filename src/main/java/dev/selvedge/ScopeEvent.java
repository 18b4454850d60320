package dev.selvedge;

import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.Retry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened in a scope, told to the {@linkplain ScopeSpec#listener listeners}.
 *
 * <p>An event is told on the thread it concerns, outside locks, with the interrupt flag put aside: a fork's on the
 * fork's thread, a scope's on its owner's, a cancellation's on the thread that asked for it, or, if that was the timer,
 * on the first thread of the scope that learns of it. A listener that throws changes nothing: its exception is told to
 * it as {@link Unhandled}, and logged if it throws again. Of one scope, {@link ScopeOpened} comes first and
 * {@link ScopeClosed} last; of one fork, {@link ForkCreated}, {@link ForkStarted} and {@link ForkEnded} come in this
 * order, and {@link HedgeStarted} after the first of them; {@link ScopeCancelled} comes before the end of any fork that it
 * cut off. So a listener that takes its time over a {@code ScopeCancelled} holds up those forks, and the end of the scope.
 *
 * @since 0.1
 */
public sealed interface ScopeEvent {

    /**
     * The name of the scope in which it happened.
     *
     * @return the name it was given; {@code "scope"} if it has none
     */
    String scope();

    private static void checkCount(String what, int count) {
        if (count < 1) {
            throw new IllegalArgumentException(what + " must be at least 1: " + count);
        }
    }

    /**
     * A scope was opened.
     *
     * @param scope its name
     */
    record ScopeOpened(String scope) implements ScopeEvent {
        /** Checks that what must be there is. */
        public ScopeOpened {
            Objects.requireNonNull(scope, "scope");
        }
    }

    /**
     * A scope has a deadline of its own, earlier than any around it.
     *
     * @param scope its name
     * @param limit the time it has
     */
    record DeadlineSet(String scope, Duration limit) implements ScopeEvent {
        /** Checks that what must be there is. */
        public DeadlineSet {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(limit, "limit");
        }
    }

    /**
     * A fork was made; its thread has not begun.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork
     */
    record ForkCreated(String scope, String fork) implements ScopeEvent {
        /** Checks that what must be there is. */
        public ForkCreated {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
        }
    }

    /**
     * A fork's task begins.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork
     */
    record ForkStarted(String scope, String fork) implements ScopeEvent {
        /** Checks that what must be there is. */
        public ForkStarted {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
        }
    }

    /**
     * An attempt of a task that is under a retry begins. How it ends is told by {@link AttemptSucceeded}, {@link AttemptFailed} or
     * {@link RetryGaveUp}; of one that is cut off, and of one that an {@code Error} ends, by what it ends.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork, or the scope's for a task in the scope's own thread
     * @param attempt which one it is, from 1
     */
    record AttemptStarted(String scope, String fork, int attempt) implements ScopeEvent {
        /** Checks that what must be there is. */
        public AttemptStarted {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            ScopeEvent.checkCount("attempt", attempt);
        }
    }

    /**
     * An attempt of a task that is under a retry has given a value; there is no further one.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork, or the scope's for a task in the scope's own thread
     * @param attempt which one it was, from 1
     */
    record AttemptSucceeded(String scope, String fork, int attempt) implements ScopeEvent {
        /** Checks that what must be there is. */
        public AttemptSucceeded {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            ScopeEvent.checkCount("attempt", attempt);
        }
    }

    /**
     * An attempt of a task has failed, and there will be another one.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork, or the scope's for a task in the scope's own thread
     * @param attempt which one it was, from 1
     * @param error what it threw
     * @param nextDelay the wait before the next one
     * @param source where the length of the wait comes from
     */
    record AttemptFailed(
            String scope, String fork, int attempt, Exception error, Duration nextDelay, Retry.DelaySource source)
            implements ScopeEvent {
        /** Checks that what must be there is. */
        public AttemptFailed {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            Objects.requireNonNull(error, "error");
            Objects.requireNonNull(nextDelay, "nextDelay");
            Objects.requireNonNull(source, "source");
            ScopeEvent.checkCount("attempt", attempt);
        }
    }

    /**
     * A task that is under a retry has failed for good.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork, or the scope's for a task in the scope's own thread
     * @param attempts how many attempts were made
     * @param reason why there was no further one
     * @param error what the last one threw
     * @param earlier what those before it threw, the last ten at the most, the first in time first
     */
    record RetryGaveUp(
            String scope, String fork, int attempts, Retry.Reason reason, Exception error, List<Exception> earlier)
            implements ScopeEvent {
        /** Checks that what must be there is, and copies the list. */
        public RetryGaveUp {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            Objects.requireNonNull(reason, "reason");
            Objects.requireNonNull(error, "error");
            earlier = List.copyOf(Objects.requireNonNull(earlier, "earlier"));
            ScopeEvent.checkCount("attempts", attempts);
        }
    }

    /**
     * A hedge joins an attempt that is slow, or has failed. It is a fork of its own, in a scope that ends with the attempt.
     *
     * @param scope the name of that scope
     * @param fork the name of the hedge
     * @param number which one it is, from 1
     * @param after how long after the first attempt
     */
    record HedgeStarted(String scope, String fork, int number, Duration after) implements ScopeEvent {
        /** Checks that what must be there is. */
        public HedgeStarted {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            Objects.requireNonNull(after, "after");
            ScopeEvent.checkCount("number", number);
        }
    }

    /**
     * A circuit breaker has gone from one state to another, by a call from this scope; on the thread of that call. A breaker is shared:
     * other scopes learn of it when they call.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork, or the scope's for a task in the scope's own thread
     * @param breaker the name of the breaker
     * @param from the state until now
     * @param to the state from now on
     */
    record BreakerChanged(String scope, String fork, String breaker, CircuitBreaker.State from, CircuitBreaker.State to)
            implements ScopeEvent {
        /** Checks that what must be there is. */
        public BreakerChanged {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            Objects.requireNonNull(breaker, "breaker");
            Objects.requireNonNull(from, "from");
            Objects.requireNonNull(to, "to");
        }
    }

    /**
     * An attempt has waited for its moment by a rate limiter, until it came or the task was cut off. One that is refused tells so by its
     * exception.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork, or the scope's for a task in the scope's own thread
     * @param waited how long
     */
    record RateLimitAwaited(String scope, String fork, Duration waited) implements ScopeEvent {
        /** Checks that what must be there is. */
        public RateLimitAwaited {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            Objects.requireNonNull(waited, "waited");
        }
    }

    /**
     * An attempt has waited for a slot of a bulkhead, until it got one or the task was cut off. One that is refused tells so by its
     * exception.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork, or the scope's for a task in the scope's own thread
     * @param waited how long
     */
    record BulkheadAwaited(String scope, String fork, Duration waited) implements ScopeEvent {
        /** Checks that what must be there is. */
        public BulkheadAwaited {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            Objects.requireNonNull(waited, "waited");
        }
    }

    /**
     * A scope that was asked to stop still waits for a task that goes on all the same: told once for each such task, some
     * {@linkplain ScopeSpec#stragglersAfter time} after the request, on a thread of its own, for which the scope waits. Where nobody who
     * listens replaces the log, it is logged. Of more than 100 in one scope, 100 are told.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork; the scope's for the body of a live scope, or a task in the scope's own thread
     * @param since how long ago the scope was asked to stop
     * @param stack where the thread is, the innermost call first, 64 calls at the most; empty if it has just ended
     */
    record StragglerFound(String scope, String fork, Duration since, List<StackTraceElement> stack)
            implements ScopeEvent {
        /** Checks that what must be there is, and copies the list. */
        public StragglerFound {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            Objects.requireNonNull(since, "since");
            stack = List.copyOf(Objects.requireNonNull(stack, "stack"));
        }
    }

    /**
     * A fork has ended.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork
     * @param outcome how
     */
    record ForkEnded(String scope, String fork, Outcome<?> outcome) implements ScopeEvent {
        /** Checks that what must be there is. */
        public ForkEnded {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
            Objects.requireNonNull(outcome, "outcome");
        }
    }

    /**
     * A scope was asked to stop.
     *
     * @param scope its name
     * @param reason why
     */
    record ScopeCancelled(String scope, CancelReason reason) implements ScopeEvent {
        /** Checks that what must be there is. */
        public ScopeCancelled {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(reason, "reason");
        }
    }

    /**
     * A scope's own deadline passed before it was done.
     *
     * @param scope its name
     * @param limit the time it had
     */
    record DeadlinePassed(String scope, Duration limit) implements ScopeEvent {
        /** Checks that what must be there is. */
        public DeadlinePassed {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(limit, "limit");
        }
    }

    /**
     * A value was made that nobody can read any more: of a race's loser, of a sibling of a failed fork, of a body whose
     * scope failed.
     *
     * @param scope the name of the scope
     * @param fork the name of the fork, or the scope's for the value of its body
     * @param value the value
     */
    record ValueDiscarded(
            String scope, String fork, @Nullable Object value) implements ScopeEvent {
        /** Checks that what must be there is. */
        public ValueDiscarded {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(fork, "fork");
        }
    }

    /**
     * An error that could not be attached to what the scope threw, or to anything because it threw nothing. Without a
     * listener it is logged.
     *
     * @param scope the name of the scope
     * @param error the error
     */
    record Unhandled(String scope, Throwable error) implements ScopeEvent {
        /** Checks that what must be there is. */
        public Unhandled {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(error, "error");
        }
    }

    /**
     * A scope has ended: all its threads have, and its resources are closed.
     *
     * @param scope its name
     * @param elapsed how long it was open
     * @param error what it throws; null if it gives a value, be it an {@link Outcome} that is a failure. A
     *     {@link ScopeCancelledException} is a scope that was cancelled from outside
     */
    record ScopeClosed(
            String scope, Duration elapsed, @Nullable Throwable error) implements ScopeEvent {
        /** Checks that what must be there is. */
        public ScopeClosed {
            Objects.requireNonNull(scope, "scope");
            Objects.requireNonNull(elapsed, "elapsed");
        }
    }
}
