package dev.selvedge;

import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitBreaker.Permit;
import dev.selvedge.policy.Retry;
import dev.selvedge.policy.Retry.Again;
import dev.selvedge.policy.Retry.Decision;
import dev.selvedge.policy.Retry.GiveUp;
import dev.selvedge.policy.Retry.Reason;
import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** What comes after a first attempt that has failed: waits and further attempts, on the task's own thread. */
final class Retries<T extends @Nullable Object> {

    private static final int KEPT = 10;

    private final Policies policies;
    private final Retry retry;
    private final Callable<? extends T> task;
    private final Host host;
    private final @Nullable Permit permit;
    private final Deadline until;
    private final long begun;

    /** Of the attempts before the latest one, the last ten, the first in time first: a retry may go on for long. */
    private final List<Exception> earlier = new ArrayList<>();

    private int attempts = 1;

    Retries(
            Policies policies,
            Retry retry,
            Callable<? extends T> task,
            Host host,
            @Nullable Permit permit,
            Deadline until,
            long begun) {
        this.policies = policies;
        this.retry = retry;
        this.task = task;
        this.host = host;
        this.permit = permit;
        this.until = until;
        this.begun = begun;
    }

    /** The value of the first attempt that succeeds; or throws what the last one threw. */
    T after(Exception first) throws Exception {
        Exception failure = first;
        while (true) {
            awaitNext(failure);
            attempts++;
            host.retries();
            Policies.tellStarted(host, attempts);
            long due = now();
            try {
                T value = Attempt.within(
                        Attempt.again(attempts, Duration.ofNanos(due - begun), failure),
                        () -> policies.hedged(task, host, permit, until, due));
                Policies.tellSucceeded(host, attempts);
                return value;
            } catch (Exception e) {
                keep(failure);
                failure = e;
            } catch (Throwable error) {
                keep(failure);
                tellOfEarlier(error);
                throw error;
            }
        }
    }

    private void keep(Exception failure) {
        if (earlier.size() == KEPT) {
            earlier.remove(0);
        }
        earlier.add(failure);
    }

    /** The one attempt of a trial has failed. */
    Exception givenUpTrial(Exception failure) {
        return Cancellation.isInFlight(failure) ? failure : givenUp(failure, new GiveUp(Reason.BREAKER_OPENED, null));
    }

    private Duration elapsed() {
        return Duration.ofNanos(now() - begun);
    }

    private long now() {
        return host.clock().nanoTime();
    }

    /** Comes back when the next attempt is due; throws if there is none. */
    private void awaitNext(Exception failure) throws Exception {
        if (Cancellation.isInFlight(failure)) {
            tellOfEarlier(failure);
            throw failure;
        }
        Reason known = knownReason(failure);
        Decision decision = known != null
                ? new GiveUp(known, null)
                : retry.decide(attempts, failure, elapsed(), host.context().deadline());
        switch (decision) {
            case GiveUp giveUp -> throw givenUp(failure, giveUp);
            case Again again -> pause(failure, again);
        }
        Reason meanwhile = reasonAfterPause();
        if (meanwhile != null) {
            throw givenUp(failure, new GiveUp(meanwhile, null));
        }
    }

    /** Why there is no further attempt whatever the policy says; null if it is for the policy to say. */
    private @Nullable Reason knownReason(Exception failure) {
        if (Here.isAskedToStop()) {
            return Reason.CANCELLED;
        }
        if (Refusals.include(failure)) {
            return failure instanceof ScopeFailedException && !retry.isSelective() ? Reason.NOT_RETRYABLE : null;
        }
        if (!retry.isSelective() && GivenUp.includes(failure)) {
            return Reason.NOT_RETRYABLE;
        }
        return hasBreakerOpened() ? Reason.BREAKER_OPENED : null;
    }

    private @Nullable Reason reasonAfterPause() {
        if (Here.isAskedToStop()) {
            return Reason.CANCELLED;
        }
        if (host.context().deadline().passed()) {
            return Reason.DEADLINE;
        }
        return hasBreakerOpened() ? Reason.BREAKER_OPENED : null;
    }

    /** One that counts attempts and is open may let the next one through, once its cool-down is over. */
    private boolean hasBreakerOpened() {
        CircuitBreaker around = policies.breaker();
        CircuitBreaker inside = policies.attemptBreaker();
        return (around != null && around.state() != CircuitBreaker.State.CLOSED)
                || (inside != null && inside.remainingCoolDown().isPositive());
    }

    private void pause(Exception failure, Again again) throws InterruptedException {
        if (host.isHeard()) {
            host.tell(new ScopeEvent.AttemptFailed(scope(), fork(), attempts, failure, again.delay(), again.source()));
        }
        try {
            boolean unused = host.clock()
                    .waiter(new BackOff(again.delay()))
                    .await(host.clock().after(again.delay()));
        } catch (InterruptedException e) {
            e.addSuppressed(failure); // it is ours, made by the waiter
            tellOfEarlier(failure);
            throw e;
        }
    }

    /** The failure that is final. */
    private Exception givenUp(Exception failure, GiveUp why) {
        Throwable fault = why.fault();
        if (fault instanceof ScopeCancelledException cancelled && cancelled.isInFlight()) {
            cancelled.addSuppressed(failure); // the policy's function was cut off, and with it the call
            tellOfEarlier(failure);
            return cancelled;
        }
        if (fault != null) {
            host.context().unhandled(scope(), host.scopeId(), fault);
        }
        if (isExhausted(why.reason())) {
            GivenUp.add(failure);
        }
        earlier.removeIf(e -> e == failure);
        if (host.isHeard()) {
            host.tell(
                    new ScopeEvent.RetryGaveUp(scope(), fork(), attempts, why.reason(), failure, List.copyOf(earlier)));
        } else {
            tellOfEarlier(failure);
        }
        return failure;
    }

    /** Whether another retry around would multiply attempts, or spend what a budget has refused. */
    private boolean isExhausted(Reason reason) {
        return switch (reason) {
            case ATTEMPTS, DURATION -> attempts > 1;
            case BUDGET -> true;
            case DEADLINE, NOT_RETRYABLE, RETRY_AFTER, FAULT, CANCELLED, BREAKER_OPENED -> false;
        };
    }

    /** Failures that were to be made good, and were not, unless one that is seen says the same. Listeners have heard of them. */
    private void tellOfEarlier(Throwable seen) {
        if (!host.isHeard() && !earlier.stream().allMatch(e -> FailureGroup.areAlike(e, seen))) {
            host.context().unhandled(scope(), host.scopeId(), new CountedFailures(wordsForEarlier(), earlier, seen));
        }
    }

    private String wordsForEarlier() {
        int before = attempts - 1;
        return before + (before == 1 ? " attempt" : " attempts") + " failed before the one whose failure was thrown"
                + (before > KEPT ? "; the last " + KEPT : "");
    }

    private String scope() {
        return host.displayName();
    }

    private String fork() {
        return host.taskName();
    }

    /**
     * What the thread waits for.
     *
     * @param length how long
     */
    private record BackOff(Duration length) {
        @Override
        public String toString() {
            return "a back-off of " + Deadline.inWords(length);
        }
    }
}
