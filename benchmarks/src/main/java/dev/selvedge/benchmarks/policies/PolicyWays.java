package dev.selvedge.benchmarks.policies;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofSeconds;

import dev.failsafe.Failsafe;
import dev.failsafe.FailsafeExecutor;
import dev.failsafe.Timeout;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Task;
import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.timelimiter.TimeLimiter;
import io.github.resilience4j.timelimiter.TimeLimiterConfig;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The ways to call one task, which gives a number and never fails, under policies of each library. What they are made of is made
 * once, as constants are, and may be shared by threads.
 */
public final class PolicyWays {

    private static final VarHandle VALUE;

    /** What the task gives: read anew by each call, so that none can be left out. */
    @SuppressWarnings("unused") // through VALUE
    private static int value = 1;

    static {
        try {
            VALUE = MethodHandles.lookup().findStaticVarHandle(PolicyWays.class, "value", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final Duration LONG = ofSeconds(30);
    private static final int FAST = 1_000_000_000;
    private static final int WINDOW = 100;
    private static final int WINDOW_SECONDS = 10;
    private static final float HALF = 50;
    private static final int SLOTS = 10;

    private PolicyWays() {}

    private static int task() {
        return (int) VALUE.getOpaque();
    }

    /** The task alone. */
    public static Callable<Integer> bare() {
        return PolicyWays::task;
    }

    /** What a policy that knows of time cannot do without. */
    public static Callable<Integer> bareAndClock() {
        return () -> System.nanoTime() == Long.MIN_VALUE ? 0 : task();
    }

    /** This library's. */
    public static Callable<Integer> selvedge(Policy policy) {
        ScopeSpec spec = switch (policy) {
            case BREAKER_IN_A_ROW -> scope().breaker(CircuitBreaker.of("b"));
            case BREAKER_OF_100_CALLS -> scope().breaker(CircuitBreaker.of("b", b -> b.failureRate(0.5, WINDOW)));
            case BREAKER_OF_10_S ->
                scope().breaker(CircuitBreaker.of("b", b -> b.failureRate(0.5, ofSeconds(WINDOW_SECONDS))));
            case RETRY -> scope().retry(Retry.DEFAULT);
            case LIMITER -> scope().rateLimit(limiter());
            case BULKHEAD -> scope().bulkhead(Bulkhead.of(SLOTS));
            case STACK ->
                scope().retry(Retry.DEFAULT).breaker(CircuitBreaker.of("b")).rateLimit(limiter());
            case TIMEOUT -> scope().timeout(LONG);
        };
        Task<Integer, RuntimeException> task = PolicyWays::task;
        return () -> spec.call(task);
    }

    private static RateLimiter limiter() {
        return RateLimiter.of(FAST, ofSeconds(1), l -> l.burst(WINDOW));
    }

    /** Failsafe's. */
    public static Callable<Integer> failsafe(Policy policy) {
        FailsafeExecutor<Integer> executor = switch (policy) {
            case BREAKER_IN_A_ROW ->
                Failsafe.with(dev.failsafe.CircuitBreaker.<Integer>builder()
                        .withFailureThreshold(5)
                        .build());
            case BREAKER_OF_100_CALLS -> Failsafe.with(failsafeBreaker());
            case BREAKER_OF_10_S ->
                Failsafe.with(dev.failsafe.CircuitBreaker.<Integer>builder()
                        .withFailureRateThreshold((int) HALF, WINDOW, ofSeconds(WINDOW_SECONDS))
                        .build());
            case RETRY -> Failsafe.with(dev.failsafe.RetryPolicy.<Integer>ofDefaults());
            case LIMITER -> Failsafe.with(failsafeLimiter());
            case BULKHEAD -> Failsafe.with(dev.failsafe.Bulkhead.<Integer>of(SLOTS));
            case STACK ->
                Failsafe.with(dev.failsafe.RetryPolicy.<Integer>ofDefaults(), failsafeBreaker(), failsafeLimiter());
            case TIMEOUT ->
                Failsafe.with(Timeout.<Integer>builder(LONG).withInterrupt().build());
        };
        return () -> executor.get(PolicyWays::task);
    }

    private static dev.failsafe.CircuitBreaker<Integer> failsafeBreaker() {
        return dev.failsafe.CircuitBreaker.<Integer>builder()
                .withFailureThreshold(WINDOW / 2, WINDOW)
                .build();
    }

    private static dev.failsafe.RateLimiter<Integer> failsafeLimiter() {
        return dev.failsafe.RateLimiter.<Integer>smoothBuilder(FAST, ofSeconds(1))
                .withMaxWaitTime(LONG)
                .build();
    }

    /** Whether Resilience4j has such a policy: it has no breaker that counts failures in a row. */
    public static boolean isInResilience4j(Policy policy) {
        return policy != Policy.BREAKER_IN_A_ROW;
    }

    /** Resilience4j's. */
    public static Callable<Integer> resilience4j(Policy policy) {
        Callable<Integer> task = PolicyWays::task;
        return switch (policy) {
            case BREAKER_IN_A_ROW -> throw new IllegalArgumentException("Resilience4j has no such breaker: " + policy);
            case BREAKER_OF_100_CALLS -> guarded(SlidingWindowType.COUNT_BASED, WINDOW, task);
            case BREAKER_OF_10_S -> guarded(SlidingWindowType.TIME_BASED, WINDOW_SECONDS, task);
            case RETRY -> retried(task);
            case LIMITER -> limited(task);
            case BULKHEAD ->
                io.github.resilience4j.bulkhead.Bulkhead.decorateCallable(
                        io.github.resilience4j.bulkhead.Bulkhead.of(
                                "b",
                                BulkheadConfig.custom()
                                        .maxConcurrentCalls(SLOTS)
                                        .build()),
                        task);
            case STACK -> retried(guarded(SlidingWindowType.COUNT_BASED, WINDOW, limited(task)));
            case TIMEOUT -> timeLimited();
        };
    }

    private static Callable<Integer> guarded(SlidingWindowType type, int size, Callable<Integer> task) {
        return io.github.resilience4j.circuitbreaker.CircuitBreaker.decorateCallable(
                io.github.resilience4j.circuitbreaker.CircuitBreaker.of(
                        "b",
                        CircuitBreakerConfig.custom()
                                .slidingWindowType(type)
                                .slidingWindowSize(size)
                                .failureRateThreshold(HALF)
                                .build()),
                task);
    }

    private static Callable<Integer> retried(Callable<Integer> task) {
        return io.github.resilience4j.retry.Retry.decorateCallable(
                io.github.resilience4j.retry.Retry.ofDefaults("r"), task);
    }

    private static Callable<Integer> limited(Callable<Integer> task) {
        return io.github.resilience4j.ratelimiter.RateLimiter.decorateCallable(
                io.github.resilience4j.ratelimiter.RateLimiter.of(
                        "l",
                        RateLimiterConfig.custom()
                                .limitForPeriod(FAST)
                                .limitRefreshPeriod(ofSeconds(1))
                                .build()),
                task);
    }

    private static Callable<Integer> timeLimited() {
        ExecutorService pool =
                Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());
        TimeLimiter limiter =
                TimeLimiter.of(TimeLimiterConfig.custom().timeoutDuration(LONG).build());
        return () -> limiter.executeFutureSupplier(() -> CompletableFuture.supplyAsync(PolicyWays::task, pool));
    }
}
