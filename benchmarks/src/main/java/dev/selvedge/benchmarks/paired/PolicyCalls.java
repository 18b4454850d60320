package dev.selvedge.benchmarks.paired;

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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * {@code n} calls, one after the other, of a task that gives a number and never fails, under policies that have nothing to do:
 * what they cost on every good day. All objects are made once, as constants are.
 *
 * @param name the suite's
 * @param about the policies
 * @param ways the ways to call, the bare task first; made in the JVM that measures them
 */
record PolicyCalls(String name, String about, Supplier<List<Way>> ways) implements Suite {

    static final List<Suite> SUITES = List.of(
            new PolicyCalls("breaker", "a closed circuit breaker", PolicyCalls::breakers),
            new PolicyCalls("retry", "a retry that is not needed", PolicyCalls::retries),
            new PolicyCalls("bulkhead", "a bulkhead with a free slot", PolicyCalls::bulkheads),
            new PolicyCalls("stack", "a retry, a closed breaker and a rate limiter that lets all through", PolicyCalls::stacks),
            new PolicyCalls("timeout", "a time-out of 30 s that is not needed", PolicyCalls::timeouts));

    private static final VarHandle VALUE;

    /** What the task gives: read anew by each call, so that none can be left out. */
    @SuppressWarnings("unused") // through VALUE
    private static int value = 1;

    static {
        try {
            VALUE = MethodHandles.lookup().findStaticVarHandle(PolicyCalls.class, "value", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final Duration LONG = ofSeconds(30);
    private static final int FAST = 1_000_000_000;
    private static final int WINDOW = 100;
    private static final float HALF = 50;

    /**
     * One way to call the task.
     *
     * @param name as the table shows it
     * @param call calls it once
     */
    record Way(String name, Callable<Integer> call) {}

    private static int task() {
        return (int) VALUE.getOpaque();
    }

    @Override
    public List<Integer> sizes() {
        return List.of(1_000);
    }

    @Override
    public List<Contender> contenders(int n) {
        return ways.get().stream()
                .map(way -> new Contender(way.name, () -> sum(n, way.call)))
                .toList();
    }

    private static long sum(int n, Callable<Integer> call) throws Exception {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += call.call();
        }
        return sum;
    }

    private static Way bare() {
        return new Way("bare", PolicyCalls::task);
    }

    /** What a policy that knows of time cannot do without. */
    private static Way clock() {
        return new Way("bare and a clock read", () -> System.nanoTime() == Long.MIN_VALUE ? 0 : task());
    }

    private static Way ours(String name, ScopeSpec spec) {
        Task<Integer, RuntimeException> task = PolicyCalls::task;
        return new Way(name, () -> spec.call(task));
    }

    private static Way failsafe(FailsafeExecutor<Integer> executor) {
        return new Way("Failsafe", () -> executor.get(PolicyCalls::task));
    }

    private static List<Way> breakers() {
        return List.of(
                        bare(),
                        clock(),
                        ours("in a row", scope().breaker(CircuitBreaker.of("b"))),
                        ours("of 100 calls", scope().breaker(CircuitBreaker.of("b", b -> b.failureRate(0.5, WINDOW)))),
                        ours("of 10 s", scope().breaker(CircuitBreaker.of("b", b -> b.failureRate(0.5, ofSeconds(10))))),
                        failsafe(Failsafe.with(dev.failsafe.CircuitBreaker.<Integer>builder()
                                .withFailureThreshold(WINDOW / 2, WINDOW)
                                .build())),
                        new Way(
                                "Resilience4j",
                                io.github.resilience4j.circuitbreaker.CircuitBreaker.decorateCallable(
                                        theirBreaker(SlidingWindowType.COUNT_BASED, WINDOW), PolicyCalls::task)),
                        new Way(
                                "Resilience4j of 10 s",
                                io.github.resilience4j.circuitbreaker.CircuitBreaker.decorateCallable(
                                        theirBreaker(SlidingWindowType.TIME_BASED, 10), PolicyCalls::task)));
    }

    private static io.github.resilience4j.circuitbreaker.CircuitBreaker theirBreaker(SlidingWindowType type, int size) {
        return io.github.resilience4j.circuitbreaker.CircuitBreaker.of(
                "b",
                CircuitBreakerConfig.custom()
                        .slidingWindowType(type)
                        .slidingWindowSize(size)
                        .failureRateThreshold(HALF)
                        .build());
    }

    private static List<Way> retries() {
        return List.of(
                        bare(),
                        ours("selvedge", scope().retry(Retry.DEFAULT)),
                        failsafe(Failsafe.with(dev.failsafe.RetryPolicy.<Integer>ofDefaults())),
                        new Way(
                                "Resilience4j",
                                io.github.resilience4j.retry.Retry.decorateCallable(
                                        io.github.resilience4j.retry.Retry.ofDefaults("r"), PolicyCalls::task)));
    }

    private static List<Way> bulkheads() {
        return List.of(
                        bare(),
                        ours("selvedge", scope().bulkhead(Bulkhead.of(10))),
                        failsafe(Failsafe.with(dev.failsafe.Bulkhead.<Integer>of(10))),
                        new Way(
                                "Resilience4j",
                                io.github.resilience4j.bulkhead.Bulkhead.decorateCallable(
                                        io.github.resilience4j.bulkhead.Bulkhead.of(
                                                "b",
                                                BulkheadConfig.custom().maxConcurrentCalls(10).build()),
                                        PolicyCalls::task)));
    }

    private static List<Way> stacks() {
        return List.of(
                        bare(),
                        clock(),
                        ours(
                                "selvedge",
                                scope().retry(Retry.DEFAULT)
                                        .breaker(CircuitBreaker.of("b"))
                                        .rateLimit(RateLimiter.of(FAST, ofSeconds(1), l -> l.burst(WINDOW)))),
                        failsafe(Failsafe.with(
                                dev.failsafe.RetryPolicy.<Integer>ofDefaults(),
                                dev.failsafe.CircuitBreaker.<Integer>builder()
                                        .withFailureThreshold(WINDOW / 2, WINDOW)
                                        .build(),
                                dev.failsafe.RateLimiter.<Integer>smoothBuilder(FAST, ofSeconds(1))
                                        .withMaxWaitTime(LONG)
                                        .build())),
                        new Way("Resilience4j", theirStack()));
    }

    private static Callable<Integer> theirStack() {
        Callable<Integer> limited = io.github.resilience4j.ratelimiter.RateLimiter.decorateCallable(
                io.github.resilience4j.ratelimiter.RateLimiter.of(
                        "l",
                        RateLimiterConfig.custom()
                                .limitForPeriod(FAST)
                                .limitRefreshPeriod(ofSeconds(1))
                                .build()),
                PolicyCalls::task);
        Callable<Integer> guarded = io.github.resilience4j.circuitbreaker.CircuitBreaker.decorateCallable(
                theirBreaker(SlidingWindowType.COUNT_BASED, WINDOW), limited);
        return io.github.resilience4j.retry.Retry.decorateCallable(
                io.github.resilience4j.retry.Retry.ofDefaults("r"), guarded);
    }

    private static List<Way> timeouts() {
        List<Way> ways = new ArrayList<>();
        ways.add(bare());
        ways.add(ours("selvedge", scope().timeout(LONG)));
        ways.add(failsafe(Failsafe.with(
                Timeout.<Integer>builder(LONG).withInterrupt().build())));
        ExecutorService pool = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());
        TimeLimiter limiter = TimeLimiter.of(
                TimeLimiterConfig.custom().timeoutDuration(LONG).build());
        ways.add(new Way(
                "Resilience4j",
                () -> limiter.executeFutureSupplier(() -> CompletableFuture.supplyAsync(PolicyCalls::task, pool))));
        return ways;
    }
}
