package dev.selvedge;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitBreaker.Permit;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The policies of a task: an immutable value, and the one order in which they act, from {@link #call} on inwards.
 *
 * <p>Everything runs on the thread of the task, but for hedged attempts. As long as nothing fails nothing is allocated, so what
 * belongs to one call goes from method to method: the task, whose it is, the breaker's permit, and when it is due.
 *
 * @param timeout the time for one attempt
 * @param retry when there is another attempt
 * @param breaker whether the task is run
 * @param attemptBreaker whether there is an attempt, if the breaker {@linkplain CircuitBreaker#countsAttempts counts} those; then
 *     there is no {@code breaker}
 * @param limiter when an attempt may begin
 * @param bulkhead how many run at the same time
 * @param hedge when another attempt joins one that is slow
 */
record Policies(
        @Nullable Duration timeout,
        @Nullable Retry retry,
        @Nullable CircuitBreaker breaker,
        @Nullable CircuitBreaker attemptBreaker,
        @Nullable RateLimiter limiter,
        @Nullable Bulkhead bulkhead,
        @Nullable Hedge hedge) {

    static {
        CircuitBreaker.onAnyTransition(Policies::tellChanged);
    }

    static final Policies NONE = new Policies(null, null, null, null, null, null, null);

    /**
     * When another attempt joins one that is slow.
     *
     * @param after the time between the starts of two attempts
     * @param extra how many may join
     */
    record Hedge(Duration after, int extra) {}

    Policies with(Duration perAttempt) {
        return new Policies(perAttempt, retry, breaker, attemptBreaker, limiter, bulkhead, hedge);
    }

    Policies with(Retry other) {
        return new Policies(timeout, other, breaker, attemptBreaker, limiter, bulkhead, hedge);
    }

    Policies with(CircuitBreaker other) {
        return new Policies(
                timeout,
                retry,
                other.countsAttempts() ? null : other,
                other.countsAttempts() ? other : null,
                limiter,
                bulkhead,
                hedge);
    }

    Policies with(RateLimiter other) {
        return new Policies(timeout, retry, breaker, attemptBreaker, other, bulkhead, hedge);
    }

    Policies with(Bulkhead other) {
        return new Policies(timeout, retry, breaker, attemptBreaker, limiter, other, hedge);
    }

    Policies with(Hedge other) {
        return new Policies(timeout, retry, breaker, attemptBreaker, limiter, bulkhead, other);
    }

    /** A task of a block under these policies; itself if there are none. */
    <T extends @Nullable Object> Callable<? extends T> around(Callable<? extends T> task, Host host) {
        return this == NONE ? task : () -> call(task, host);
    }

    /** As {@link #call}: whichever attempt is around, one that is retried or hedged begins anew. */
    <T extends @Nullable Object> T callIn(Callable<? extends T> task, Host host) throws Exception {
        if (this == NONE) {
            return task.call();
        }
        return (retry == null && hedge == null) || Attempt.stored() == Attempt.FIRST
                ? call(task, host)
                : Attempt.within(Attempt.FIRST, () -> call(task, host));
    }

    /**
     * Runs a task. The outermost policy is the breaker.
     *
     * @param host whose task it is
     */
    <T extends @Nullable Object> T call(Callable<? extends T> task, Host host) throws Exception {
        if (breaker == null) {
            return retried(task, host, null);
        }
        Permit permit = breaker.admit(host.clock());
        T value;
        try { // between the permit and this nothing can throw
            value = permit.isTrial() ? trial(task, host, permit) : retried(task, host, permit);
        } catch (Throwable t) {
            failed(permit, t, host);
            throw t;
        }
        permit.succeeded();
        return value;
    }

    /** Exactly one attempt. */
    private <T extends @Nullable Object> T trial(Callable<? extends T> task, Host host, Permit permit)
            throws Exception {
        Deadline until = retry == null ? null : retry.called(host.clock());
        if (retry != null) {
            tellStarted(host, 1);
        }
        long due = dueNow(host);
        try {
            T value = Attempt.within(Attempt.stored().asTrial(), () -> inSlot(task, host, permit, until, due));
            if (retry != null) {
                tellSucceeded(host, 1);
            }
            return value;
        } catch (Exception e) {
            throw retry == null
                    ? e
                    : new Retries<T>(
                                    this,
                                    retry,
                                    task,
                                    host,
                                    permit,
                                    host.context().deadline(),
                                    due)
                            .givenUpTrial(e);
        }
    }

    private <T extends @Nullable Object> T retried(Callable<? extends T> task, Host host, @Nullable Permit permit)
            throws Exception {
        long due = dueNow(host);
        if (retry == null) {
            return hedged(task, host, permit, null, due);
        }
        GivenUp.forget();
        Deadline until = retry.called(host.clock());
        tellStarted(host, 1);
        try {
            T value = hedged(task, host, permit, until, due);
            tellSucceeded(host, 1);
            return value;
        } catch (Exception e) {
            return new Retries<T>(this, retry, task, host, permit, until, due).after(e);
        }
    }

    /** Now, on the clock of the host, if any policy wants to know: a look at the clock costs more than most of them. */
    private long dueNow(Host host) {
        return retry == null && limiter == null ? 0 : host.clock().nanoTime();
    }

    /**
     * One attempt, or several at the same time.
     *
     * @param permit that of the breaker, if it is around
     * @param until when the retry ends; null or never for no limit
     * @param due when the attempt is to begin: now
     */
    <T extends @Nullable Object> T hedged(
            Callable<? extends T> task, Host host, @Nullable Permit permit, @Nullable Deadline until, long due)
            throws Exception {
        return hedge == null
                ? attempt(task, host, permit, until, due)
                : Hedged.run(this, hedge, task, host, permit, until);
    }

    /** One attempt among several, on a thread of its own. */
    <T extends @Nullable Object> T hedge(Callable<? extends T> task, Host host, @Nullable Deadline until)
            throws Exception {
        return attempt(task, host, null, until, dueNow(host));
    }

    /** One attempt on the calling thread; the breaker, if it counts attempts, is asked here. */
    private <T extends @Nullable Object> T attempt(
            Callable<? extends T> task, Host host, @Nullable Permit outer, @Nullable Deadline until, long due)
            throws Exception {
        if (attemptBreaker == null) {
            return inSlot(task, host, outer, until, due);
        }
        Permit permit = attemptBreaker.admit(host.clock());
        T value;
        try {
            value = permit.isTrial()
                    ? Attempt.within(Attempt.stored().asTrial(), () -> inSlot(task, host, permit, until, due))
                    : inSlot(task, host, permit, until, due);
        } catch (Throwable t) {
            failed(permit, t, host);
            throw t;
        }
        permit.succeeded();
        return value;
    }

    /** What the permit is told of a failure. */
    private static void failed(Permit permit, Throwable t, Host host) {
        boolean tellsNothing = !(t instanceof Exception)
                || Cancellation.isInFlight(t)
                || Refusals.include(t)
                || (Here.isAskedToStop() && !host.wasCutOffByItsDeadline());
        if (tellsNothing) {
            permit.close();
        } else {
            permit.failed((Exception) t);
        }
    }

    /**
     * The slot is held until the attempt has really ended. That the deadline passes while it waits, is the deadline's affair; that
     * the retry has no time left, is not.
     */
    private <T extends @Nullable Object> T inSlot(
            Callable<? extends T> task, Host host, @Nullable Permit permit, @Nullable Deadline until, long due)
            throws Exception {
        if (bulkhead == null) {
            return paced(task, host, permit, until, due);
        }
        Bulkhead.Slot slot = slot(bulkhead, host, until == null ? host.clock().never() : until);
        try {
            return paced(task, host, permit, until, dueNow(host));
        } finally {
            slot.close();
        }
    }

    private <T extends @Nullable Object> T paced(
            Callable<? extends T> task, Host host, @Nullable Permit permit, @Nullable Deadline until, long due)
            throws Exception {
        if (limiter != null && !limiter.tryAcquire(host.clock(), due)) {
            await(limiter, host, earliest(host, until));
        }
        if (permit != null) {
            permit.begin();
        }
        try {
            return timed(task, host, until);
        } catch (Throwable t) {
            boolean cutOff = t instanceof CancellationException || Cancellation.isInFlight(t);
            if (permit != null && cutOff && host.wasCutOffByItsDeadline()) {
                permit.failed(); // while it ran, and not while it waited
            }
            throw t;
        }
    }

    private static Bulkhead.Slot slot(Bulkhead bulkhead, Host host, Deadline until) throws InterruptedException {
        if (!host.isHeard()) {
            return bulkhead.enter(until);
        }
        Bulkhead.Slot free = bulkhead.tryEnter(host.clock());
        if (free != null) {
            return free;
        }
        return awaited(
                host,
                () -> bulkhead.enter(until),
                waited -> new ScopeEvent.BulkheadAwaited(host.displayName(), host.taskName(), waited));
    }

    private static void await(RateLimiter limiter, Host host, Deadline until) throws InterruptedException {
        if (!host.isHeard()) {
            limiter.acquire(until);
            return;
        }
        boolean unused = awaited(
                host,
                () -> {
                    limiter.acquire(until);
                    return true;
                },
                waited -> new ScopeEvent.RateLimitAwaited(host.displayName(), host.taskName(), waited));
    }

    /** Tells how long a policy has let the task wait, unless it refused it. */
    private static <R> R awaited(
            Host host, TimeSource.Work<R, InterruptedException> wait, Function<Duration, ScopeEvent> words)
            throws InterruptedException {
        long begun = host.clock().nanoTime();
        boolean refused = false;
        try {
            return wait.call();
        } catch (RuntimeException e) {
            refused = Refusals.include(e);
            throw e;
        } finally {
            if (!refused) {
                host.tell(words.apply(Duration.ofNanos(host.clock().nanoTime() - begun)));
            }
        }
    }

    /** Whoever listens is told of an attempt under a retry. */
    static void tellStarted(Host host, int attempt) {
        if (host.isHeard()) {
            host.tell(new ScopeEvent.AttemptStarted(host.displayName(), host.taskName(), attempt));
        }
    }

    /** The same of one that has given a value. */
    static void tellSucceeded(Host host, int attempt) {
        if (host.isHeard()) {
            host.tell(new ScopeEvent.AttemptSucceeded(host.displayName(), host.taskName(), attempt));
        }
    }

    /** On the thread of whoever has called the breaker. */
    private static void tellChanged(CircuitBreaker breaker, CircuitBreaker.State from, CircuitBreaker.State to) {
        Frame scope = Context.areAllPlain() ? null : Here.told();
        if (scope != null) {
            scope.tell(new ScopeEvent.BreakerChanged(scope.displayName(), scope.taskName(), breaker.name(), from, to));
        }
    }

    private static Deadline earliest(Host host, @Nullable Deadline until) {
        Deadline around = host.context().deadline();
        return until == null ? around : around.earlier(until);
    }

    private <T extends @Nullable Object> T timed(Callable<? extends T> task, Host host, @Nullable Deadline until)
            throws Exception {
        Duration limit = timeout;
        if (until != null && !until.isNever()) {
            Duration left = until.remaining();
            limit = limit == null || left.compareTo(limit) < 0 ? left : limit;
        }
        return limit == null ? task.call() : AttemptFrame.run(task, host, limit);
    }
}
