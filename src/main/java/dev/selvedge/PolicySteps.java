package dev.selvedge;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import java.time.Duration;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * The steps that say by which policies a task runs. They act on tasks, one by one, and not on the body of a live scope.
 *
 * <p>In whatever order the steps are written, the policies are always nested like this:
 *
 * <pre>{@code
 * breaker( retry( hedge( bulkhead( rateLimit( timeout( task ))))))
 * }</pre>
 *
 * <p>A step given again replaces what was given before.
 *
 * @param <S> what a step gives: a new specification, or the same scope seen with other policies
 */
@CheckReturnValue
abstract sealed class PolicySteps<S> permits ScopeSpec, Scope {

    PolicySteps() {}

    abstract Policies policies();

    abstract S with(Policies policies);

    /**
     * With so much time for each attempt, from the moment at which it really begins: waits for a slot or for a rate come
     * before. An attempt that takes longer is interrupted, and throws {@link AttemptTimeoutException}, which a retry
     * retries, but for one that names its failures and not this one: {@link Retry#onTransient} does. If it gives a value all the same, that is the value. An attempt that has less time than that, by the
     * deadline around, is cut off by the deadline.
     *
     * @param perAttempt the time for one attempt; one too long to count (292 years) means no limit
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code perAttempt} is zero or negative
     */
    public S timeout(Duration perAttempt) {
        Objects.requireNonNull(perAttempt, "perAttempt");
        if (perAttempt.isZero() || perAttempt.isNegative()) {
            throw new IllegalArgumentException("perAttempt must be positive: " + perAttempt);
        }
        return with(policies().with(perAttempt));
    }

    /**
     * With further attempts after a failure. The task is called anew each time. The failure of the last attempt is thrown
     * as it is; what became of the earlier ones is told by {@link ScopeEvent.AttemptFailed} and {@link
     * ScopeEvent.RetryGaveUp}, or logged if nobody listens and the last one failed too.
     *
     * <p>There is no further attempt once the thread was asked to stop, the breaker has opened, or the wait would end after
     * the deadline; nor, unless the policy says {@linkplain Retry#on which failures} it is for, if a retry inside has made
     * all its attempts and thrown that very failure: attempts would multiply. {@link Retry#maxDuration} also cuts off an attempt that runs, and
     * bounds its waits for a slot and for a rate.
     *
     * @param policy when, and after how long
     * @return a new value; this one stays as it is
     */
    public S retry(Retry policy) {
        return with(policies().with(Objects.requireNonNull(policy, "policy")));
    }

    /**
     * With further attempts after a failure, by the policy there is, changed a little.
     *
     * @param policy is given the policy of the steps before, or {@link Retry#DEFAULT}, and gives the one to take
     * @return a new value; this one stays as it is
     */
    public S retry(UnaryOperator<Retry> policy) {
        Retry before = policies().retry();
        Retry refined = Objects.requireNonNull(policy, "policy").apply(before == null ? Retry.DEFAULT : before);
        return retry(Objects.requireNonNull(refined, "policy gave null"));
    }

    /**
     * Behind a circuit breaker: while it is open, the task is not run, and {@link
     * dev.selvedge.policy.CircuitOpenException} is thrown.
     *
     * <p>It counts a task once, however many attempts that took: with 3 attempts, and a breaker that opens after 5 failures,
     * the service may see 15 before it opens. {@link CircuitBreaker.Settings#countAttempts()} has it count each. A trial is
     * one attempt, without retries and hedges. A task that this scope's own deadline cuts off while it runs has failed; one
     * that is cut off by anything else, or while it waits, counts for nothing.
     *
     * @param shared the breaker of the service that the task calls
     * @return a new value; this one stays as it is
     */
    public S breaker(CircuitBreaker shared) {
        return with(policies().with(Objects.requireNonNull(shared, "shared")));
    }

    /**
     * At the pace of a rate limiter: each attempt waits for its moment. If that would come after the deadline, or later than
     * the limiter allows, {@link dev.selvedge.policy.RateLimitedException} is thrown at once.
     *
     * @param shared the limiter of the service that the task calls
     * @return a new value; this one stays as it is
     */
    public S rateLimit(RateLimiter shared) {
        return with(policies().with(Objects.requireNonNull(shared, "shared")));
    }

    /**
     * In a slot of a bulkhead: each attempt waits for one, as long as the deadline and the bulkhead allow, and gives it back
     * before a back-off. If there is none in the time that the bulkhead allows, {@link
     * dev.selvedge.policy.BulkheadFullException} is thrown.
     *
     * @param shared the bulkhead of the service that the task calls
     * @return a new value; this one stays as it is
     */
    public S bulkhead(Bulkhead shared) {
        return with(policies().with(Objects.requireNonNull(shared, "shared")));
    }

    /**
     * With one more attempt at the same time, if the first one is slow; see {@link #hedge(Duration, int)}.
     *
     * @param after how long to wait for the first; zero to start both at once
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code after} is negative
     */
    public S hedge(Duration after) {
        return hedge(after, 1);
    }

    /**
     * With more attempts at the same time, one after the other, while none has given a value: the next one starts when so
     * much time has gone by, or at once when one has failed. The first value wins; the other attempts are cancelled and
     * awaited, and values that they still give are {@linkplain ScopeSpec#onDiscard discarded}. If all fail, the failure of
     * the first attempt is thrown. The task must be fit to run several times at once.
     *
     * <p>Each attempt runs in a fork, of a scope whose name is that of this one and {@code "/hedge"}: thread-locals, locks and transactions of the calling thread are not seen by it, other
     * than what is {@linkplain ScopeSpec#propagate propagated}, which is captured anew by the thread that the task would run in. A hedge that a policy inside refuses is not started, and
     * none after it; that is no error while another attempt runs.
     *
     * @param after how long to wait before each further attempt; zero to start all at once
     * @param extra how many further attempts at the most
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code after} is negative, or {@code extra} less than 1
     */
    public S hedge(Duration after, int extra) {
        if (Objects.requireNonNull(after, "after").isNegative()) {
            throw new IllegalArgumentException("after must not be negative: " + after);
        }
        if (extra < 1) {
            throw new IllegalArgumentException("extra must be at least 1: " + extra);
        }
        return with(policies().with(new Policies.Hedge(after, extra)));
    }
}
