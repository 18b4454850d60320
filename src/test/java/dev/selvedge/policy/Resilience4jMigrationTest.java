package dev.selvedge.policy;

import static dev.selvedge.Selvedge.scope;
import static io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType.COUNT_BASED;
import static io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType.TIME_BASED;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.AttemptTimeoutException;
import dev.selvedge.ScopeEvent.AttemptFailed;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.bulkhead.ThreadPoolBulkhead;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.core.CallableUtils;
import io.github.resilience4j.core.IntervalFunction;
import io.github.resilience4j.core.functions.Either;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.RequestNotPermitted;
import io.github.resilience4j.retry.MaxRetriesExceededException;
import io.github.resilience4j.retry.RetryConfig;
import io.github.resilience4j.timelimiter.TimeLimiter;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@code docs/how-to/migrate-from-resilience4j.md} says, run against Resilience4j itself. */
@Timeout(30)
class Resilience4jMigrationTest extends OurSide {

    private final List<String> log = Collections.synchronizedList(new ArrayList<>());

    /** The virtual clock, for breakers of Resilience4j. */
    private final Clock clock = new Clock() {
        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return time.now();
        }
    };

    @Test
    void the_page_shows_the_rows_that_are_run() {
        List<MigrationRows.Row> shown = MigrationRows.shownIn("docs/how-to/migrate-from-resilience4j.md");

        assertThat(shown).hasSizeGreaterThan(40).containsExactlyElementsOf(MigrationRows.runBy(getClass()));
    }

    // Retries.

    @Test
    void attempts() {
        // theirs: attempts
        var theirs = RetryConfig.custom().maxAttempts(4);
        // ours: attempts
        var ours = Retry.DEFAULT.attempts(4);
        // end

        assertThat(callsOf(theirs, new IOException())).isEqualTo(4);
        assertThat(callsOf(ours, new IOException())).isEqualTo(4);
    }

    @Test
    void defaults() {
        // theirs: defaults
        var theirs = RetryConfig.custom();
        // ours: defaults
        var ours = Retry.DEFAULT.fixed(ofMillis(500));
        // end

        assertThat(theirs.build().getMaxAttempts()).isEqualTo(3);
        assertThat(waitsOf(theirs, 2)).containsExactly(500L, 500L);
        assertThat(callsOf(ours, new IOException())).isEqualTo(3);
        assertThat(waitsOf(ours, 2)).containsExactly(500L, 500L);
    }

    @Test
    void a_fixed_wait() {
        // theirs: fixed
        var theirs = RetryConfig.custom().waitDuration(ofMillis(20));
        // ours: fixed
        var ours = Retry.DEFAULT.fixed(ofMillis(20));
        // end

        assertThat(waitsOf(theirs, 3)).containsOnly(20L);
        assertThat(waitsOf(ours, 3)).containsOnly(20L);
    }

    @Test
    void waits_that_grow() {
        // theirs: backoff
        var theirs = RetryConfig.custom().intervalFunction(IntervalFunction.ofExponentialBackoff(100, 2, 600));
        // ours: backoff
        var ours = Retry.DEFAULT.backoff(ofMillis(100), ofMillis(600)).withoutJitter();
        // end

        assertThat(waitsOf(theirs, 5)).containsExactly(100L, 200L, 400L, 600L, 600L);
        assertThat(waitsOf(ours, 5)).containsExactly(100L, 200L, 400L, 600L, 600L);
        assertThat(IntervalFunction.ofExponentialBackoff(100).apply(2)).isEqualTo(150L);
    }

    @Test
    void waits_that_grow_with_jitter() {
        // theirs: random-backoff
        var theirs =
                RetryConfig.custom().intervalFunction(IntervalFunction.ofExponentialRandomBackoff(100, 2, 0.5, 600));
        // ours: random-backoff
        var ours = Retry.DEFAULT.backoff(ofMillis(100), ofMillis(600)).withEqualJitter();
        // end

        for (int i = 0; i < 200; i++) {
            assertThat(waitsOf(theirs, 2).get(0)).isBetween(50L, 150L);
            assertThat(waitsOf(theirs, 2).get(1)).isBetween(100L, 300L);
            assertThat(waitsOf(theirs, 9).get(8)).isBetween(300L, 600L);
            assertThat(waitsOf(ours, 2).get(0)).isBetween(50L, 100L);
            assertThat(waitsOf(ours, 2).get(1)).isBetween(100L, 200L);
            assertThat(waitsOf(ours, 9).get(8)).isBetween(300L, 600L);
        }
    }

    @Test
    void a_wait_with_jitter() {
        // theirs: randomized
        var theirs = RetryConfig.custom().intervalFunction(IntervalFunction.ofRandomized(100, 0.5));
        // ours: randomized
        var ours = Retry.DEFAULT.fixed(ofMillis(150)).withFullJitter();
        // end

        assertThat(waitsOf(theirs, 200)).allSatisfy(d -> assertThat(d).isBetween(50L, 150L));
        assertThat(waitsOf(ours, 200)).allSatisfy(d -> assertThat(d).isBetween(0L, 150L));
    }

    @Test
    void waits_by_a_function() {
        // theirs: interval-function
        var theirs = RetryConfig.custom().intervalFunction(IntervalFunction.of(100, last -> last + 50));
        // ours: interval-function
        var ours =
                Retry.DEFAULT.backoff(ofMillis(100), ofSeconds(1)).factor(1.5).withoutJitter();
        // end

        assertThat(waitsOf(theirs, 3)).containsExactly(100L, 150L, 200L);
        assertThat(waitsOf(ours, 3)).containsExactly(100L, 150L, 225L);
    }

    /** A refusal that says for how long. */
    private static final class BusyException extends Exception {
        private static final long serialVersionUID = 1;
    }

    private static long millisOf(Either<Throwable, Object> end) {
        return end.isLeft() && end.getLeft() instanceof BusyException ? 7 : 1;
    }

    private static Optional<String> headerOf(Exception e) {
        return e instanceof BusyException ? Optional.of("1") : Optional.empty();
    }

    @Test
    void after_what_the_failure_asks_for() {
        // theirs: retry-after
        var theirs = RetryConfig.custom().intervalBiFunction((attempt, end) -> millisOf(end));
        // ours: retry-after
        var ours = Retry.DEFAULT.retryAfter(e -> headerOf(e));
        // end

        assertThat(theirs.build().getIntervalBiFunction().apply(1, Either.left(new BusyException())))
                .isEqualTo(7);
        assertThat(ours.decide(1, new BusyException(), ZERO, time.never()))
                .isEqualTo(new Retry.Again(ofSeconds(1), Retry.DelaySource.RETRY_AFTER));
        assertThat(ours.decide(1, new BusyException(), ZERO, time.after(ofMillis(900))))
                .isEqualTo(new Retry.GiveUp(Retry.Reason.RETRY_AFTER, null));
    }

    @Test
    void for_some_failures() {
        // theirs: retry-exceptions
        var theirs = RetryConfig.custom().retryExceptions(IOException.class);
        // ours: retry-exceptions
        var ours = Retry.DEFAULT.on(IOException.class);
        // end

        assertThat(callsOf(theirs.waitDuration(ofMillis(1)), new FileNotFoundException()))
                .isEqualTo(3);
        assertThat(callsOf(ours, new FileNotFoundException())).isEqualTo(3);
        assertThat(callsOf(theirs, new IllegalStateException())).isEqualTo(1);
        assertThat(callsOf(ours, new IllegalStateException())).isEqualTo(1);
    }

    @Test
    void for_failures_that_a_predicate_accepts() {
        // theirs: retry-predicate
        var theirs = RetryConfig.custom().retryOnException(e -> "busy".equals(e.getMessage()));
        // ours: retry-predicate
        var ours = Retry.DEFAULT.when(e -> "busy".equals(e.getMessage()));
        // end

        assertThat(callsOf(theirs.waitDuration(ofMillis(1)), new IOException("busy")))
                .isEqualTo(3);
        assertThat(callsOf(ours, new IOException("busy"))).isEqualTo(3);
        assertThat(callsOf(theirs, new IOException("gone"))).isEqualTo(1);
        assertThat(callsOf(ours, new IOException("gone"))).isEqualTo(1);
    }

    @Test
    void not_for_some_failures() {
        // theirs: ignore
        var theirs = RetryConfig.custom().ignoreExceptions(FileNotFoundException.class);
        // ours: ignore
        var ours = Retry.DEFAULT.never(FileNotFoundException.class);
        // end

        assertThat(callsOf(theirs, new FileNotFoundException())).isEqualTo(1);
        assertThat(callsOf(ours, new FileNotFoundException())).isEqualTo(1);
        assertThat(callsOf(theirs.waitDuration(ofMillis(1)), new IOException())).isEqualTo(3);
        assertThat(callsOf(ours, new IOException())).isEqualTo(3);
    }

    /** A result that is no exception, but not what was wanted. */
    private static final class NotReadyException extends Exception {
        private static final long serialVersionUID = 1;
    }

    @Test
    void for_a_result() {
        // theirs: result
        var theirs = RetryConfig.custom().retryOnResult(state -> state.equals("running"));
        // ours: result
        var ours = Retry.DEFAULT.on(NotReadyException.class);
        // end

        AtomicInteger calls = new AtomicInteger();
        assertThat(retry(theirs.waitDuration(ofMillis(1))).executeSupplier(() -> {
                    calls.incrementAndGet();
                    return "running";
                }))
                .isEqualTo("running");
        assertThat(calls).hasValue(3);
        assertThat(callsOf(ours, new NotReadyException())).isEqualTo(3);
    }

    @Test
    void failing_on_a_result() {
        // theirs: fail-after-max
        var theirs = RetryConfig.custom()
                .retryOnResult(state -> state.equals("running"))
                .failAfterMaxAttempts(true);
        // ours: fail-after-max
        var ours = Retry.DEFAULT.on(NotReadyException.class);
        // end

        io.github.resilience4j.retry.Retry retry = retry(theirs.waitDuration(ofMillis(1)));
        assertThatThrownBy(() -> retry.executeSupplier(() -> "running"))
                .isInstanceOf(MaxRetriesExceededException.class);
        assertThat(callsOf(ours, new NotReadyException())).isEqualTo(3);
    }

    @Test
    void told_of_each_retry() {
        var retry = retry(RetryConfig.custom().waitDuration(ofMillis(1)));
        // theirs: on-retry
        retry.getEventPublisher().onRetry(e -> log.add("failed: " + e.getNumberOfRetryAttempts()));
        // ours: on-retry
        var ours = scope().retry(Retry.DEFAULT).listener(e -> {
            if (e instanceof AttemptFailed f) {
                log.add("failed: " + f.attempt());
            }
        });
        // end

        assertThatThrownBy(() -> retry.executeCallable(() -> load())).isInstanceOf(IOException.class);
        assertThat(log).containsExactly("failed: 1", "failed: 2");
        log.clear();
        fail(on(ours));
        assertThat(log).containsExactly("failed: 1", "failed: 2");
    }

    private static String load() throws IOException {
        throw new IOException("no");
    }

    @Test
    void a_call() {
        var retry = retry(RetryConfig.custom().waitDuration(ofMillis(1)));
        Callable<String> theirs = () -> {
            // theirs: call
            return retry.executeCallable(() -> load());
            // end
        };
        Callable<String> ours = () -> {
            // ours: call
            return scope().retry(Retry.DEFAULT).call(() -> load());
            // end
        };

        assertThatThrownBy(theirs::call).isExactlyInstanceOf(IOException.class);
        assertThatThrownBy(() -> on(scope()).call(ours::call)).isExactlyInstanceOf(IOException.class);
        AtomicInteger calls = new AtomicInteger();
        assertThatThrownBy(() -> retry.executeCallable(() -> {
                    calls.incrementAndGet();
                    throw new AssertionError("an error");
                }))
                .isInstanceOf(AssertionError.class);
        assertThat(calls).hasValue(1);
        assertThat(callsOf(Retry.DEFAULT, new AssertionError("an error"))).isEqualTo(1);
    }

    @Test
    void an_interrupt() {
        var retry = retry(RetryConfig.custom().waitDuration(ofMillis(1)));
        Callable<String> interrupted = () -> {
            log.add("called");
            throw new InterruptedException();
        };
        Callable<String> theirs = () -> {
            // theirs: interrupt
            return retry.executeCallable(interrupted);
            // end
        };
        Callable<String> ours = () -> {
            // ours: interrupt
            return scope().retry(Retry.DEFAULT).call(interrupted::call);
            // end
        };

        assertThatThrownBy(theirs::call).isInstanceOf(InterruptedException.class);
        assertThat(log).hasSize(3);
        assertThat(Thread.interrupted()).isFalse();
        assertThatThrownBy(ours::call).isInstanceOf(dev.selvedge.ScopeCancelledException.class);
        assertThat(log).hasSize(4);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void a_longest_duration() {
        // ours: max-duration
        var ours = Retry.DEFAULT.maxDuration(ofSeconds(5));
        // end

        assertThatThrownBy(() -> on(scope().retry(ours)).run(() -> Selvedge.sleep(ofSeconds(9))))
                .isInstanceOf(AttemptTimeoutException.class);
        assertThat(time.elapsed()).isEqualTo(ofSeconds(5));
        assertThat(RetryConfig.Builder.class.getMethods())
                .noneMatch(m -> m.getName().toLowerCase(java.util.Locale.ROOT).contains("maxduration"));
    }

    @Test
    void a_budget() {
        // ours: budget
        var ours = Retry.DEFAULT.budget(RetryBudget.standard());
        // end

        int calls = 0;
        for (int i = 0; i < 100; i++) {
            calls += callsOf(ours.immediately(), new IOException());
        }
        assertThat(calls).isLessThan(140);
    }

    // Breakers.

    @Test
    void a_rate_of_the_last_calls() {
        // theirs: count-window
        var theirs =
                CircuitBreakerConfig.custom().slidingWindow(20, 10, COUNT_BASED).failureRateThreshold(50);
        // ours: count-window
        var ours = CircuitBreaker.of("prices", b -> b.failureRate(0.5, 20).minimumCalls(10));
        // end

        assertThat(failuresUntilOpen(theirs)).isEqualTo(10);
        assertThat(failuresUntilOpen(ours)).isEqualTo(10);
        // Half of ten have failed, and the tenth was a success.
        var breaker = breaker(theirs);
        ours.reset();
        for (int i = 0; i < 5; i++) {
            breaker.onError(1, TimeUnit.MILLISECONDS, new IOException());
            ours.admit(time).failed();
        }
        for (int i = 0; i < 5; i++) {
            breaker.onSuccess(1, TimeUnit.MILLISECONDS);
            ours.admit(time).succeeded();
        }
        assertThat(breaker.getState()).hasToString("OPEN");
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.CLOSED);
        ours.admit(time).failed();
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.OPEN);
    }

    @Test
    void a_rate_of_the_last_while() {
        // theirs: time-window
        var theirs =
                CircuitBreakerConfig.custom().slidingWindow(20, 10, TIME_BASED).failureRateThreshold(50);
        // ours: time-window
        var ours = CircuitBreaker.of(
                "prices", b -> b.failureRate(0.5, ofSeconds(20)).minimumCalls(10));
        // end

        assertThat(failuresUntilOpen(theirs)).isEqualTo(10);
        assertThat(failuresUntilOpen(ours)).isEqualTo(10);
    }

    @Test
    void defaults_of_a_breaker() {
        // theirs: breaker-defaults
        var theirs = CircuitBreakerConfig.custom();
        // ours: breaker-defaults
        var ours = CircuitBreaker.of(
                "prices",
                b -> b.failureRate(0.5, 100)
                        .minimumCalls(100)
                        .coolDown(ofSeconds(60))
                        .trials(10));
        // end

        CircuitBreakerConfig built = theirs.build();
        assertThat(built.getFailureRateThreshold()).isEqualTo(50);
        assertThat(built.getPermittedNumberOfCallsInHalfOpenState()).isEqualTo(10);
        assertThat(built.getWaitIntervalFunctionInOpenState().apply(1)).isEqualTo(60_000);
        assertThat(failuresUntilOpen(theirs)).isEqualTo(100);
        assertThat(failuresUntilOpen(ours)).isEqualTo(100);
        assertThat(failuresUntilOpen(CircuitBreaker.of("default"))).isEqualTo(5);
    }

    @Test
    void failures_in_a_row() {
        // ours: consecutive
        var ours = CircuitBreaker.of("prices", b -> b.failures(5));
        // end

        assertThat(failuresUntilOpen(ours)).isEqualTo(5);
    }

    @Test
    void a_cool_down() {
        // theirs: cool-down
        var theirs = CircuitBreakerConfig.custom().waitDurationInOpenState(ofSeconds(5));
        // ours: cool-down
        var ours = CircuitBreaker.of("prices", b -> b.coolDown(ofSeconds(5)));
        // end

        var breaker = breaker(theirs);
        breaker.transitionToOpenState();
        assertThat(failuresUntilOpen(ours)).isEqualTo(5);
        sleep(ofSeconds(4));
        assertThat(breaker.tryAcquirePermission()).isFalse();
        assertThatThrownBy(() -> ours.admit(time)).isInstanceOf(CircuitOpenException.class);
        sleep(ofMillis(1_001));
        assertThat(breaker.tryAcquirePermission()).isTrue();
        assertThat(ours.admit(time).isTrial()).isTrue();
    }

    @Test
    void a_cool_down_that_grows() {
        // theirs: cool-down-function
        var theirs = CircuitBreakerConfig.custom()
                .waitIntervalFunctionInOpenState(IntervalFunction.ofExponentialBackoff(1_000, 2));
        // ours: cool-down-function
        var ours = CircuitBreaker.of("prices", b -> b.coolDown(opening -> ofSeconds(1L << (opening - 1))));
        // end

        assertThat(theirs.build().getWaitIntervalFunctionInOpenState().apply(3)).isEqualTo(4_000);
        var breaker = breaker(theirs);
        breaker.transitionToOpenState();
        sleep(ofMillis(1_001));
        assertThat(breaker.tryAcquirePermission()).as("it was given 1").isTrue();
        failuresUntilOpen(ours);
        assertThat(ours.remainingCoolDown()).isEqualTo(ofSeconds(1));
        sleep(ofSeconds(1));
        ours.admit(time).failed();
        assertThat(ours.remainingCoolDown()).isEqualTo(ofSeconds(2));
    }

    @Test
    void trials() {
        // theirs: trials
        var theirs = CircuitBreakerConfig.custom().permittedNumberOfCallsInHalfOpenState(3);
        // ours: trials
        var ours = CircuitBreaker.of("prices", b -> b.trials(3));
        // end

        var breaker = breaker(theirs);
        breaker.transitionToOpenState();
        breaker.transitionToHalfOpenState();
        assertThat(List.of(
                        breaker.tryAcquirePermission(),
                        breaker.tryAcquirePermission(),
                        breaker.tryAcquirePermission(),
                        breaker.tryAcquirePermission()))
                .containsExactly(true, true, true, false);
        breaker.onError(1, TimeUnit.MILLISECONDS, new IOException());
        assertThat(breaker.getState()).hasToString("HALF_OPEN");
        breaker.onSuccess(1, TimeUnit.MILLISECONDS);
        breaker.onSuccess(1, TimeUnit.MILLISECONDS);
        assertThat(breaker.getState()).hasToString("CLOSED");

        failuresUntilOpen(ours);
        sleep(ofSeconds(10));
        ours.admit(time).failed();
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.OPEN);
    }

    @Test
    void trials_that_never_end() {
        // theirs: lost-trials
        var theirs = CircuitBreakerConfig.custom().maxWaitDurationInHalfOpenState(ofSeconds(5));
        // end

        assertThat(theirs.build().getMaxWaitDurationInHalfOpenState()).isEqualTo(ofSeconds(5));
        assertThat(CircuitBreakerConfig.ofDefaults().getMaxWaitDurationInHalfOpenState())
                .isZero();
        CircuitBreaker ours = CircuitBreaker.of("prices");
        failuresUntilOpen(ours);
        sleep(ofSeconds(10));
        assertThat(ours.admit(time).isTrial()).isTrue();
        assertThatThrownBy(() -> ours.admit(time)).isInstanceOf(CircuitOpenException.class);
        sleep(ofSeconds(10));
        assertThat(ours.admit(time).isTrial()).isTrue();
    }

    @Test
    void half_open_by_a_timer() {
        // theirs: automatic
        var theirs = CircuitBreakerConfig.custom().automaticTransitionFromOpenToHalfOpenEnabled(true);
        // end

        assertThat(theirs.build().isAutomaticTransitionFromOpenToHalfOpenEnabled())
                .isTrue();
        CircuitBreaker ours = CircuitBreaker.of("prices");
        failuresUntilOpen(ours);
        sleep(ofSeconds(60));
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.OPEN);
        assertThat(ours.remainingCoolDown()).isZero();
    }

    @Test
    void slow_calls() {
        // theirs: slow
        var theirs = CircuitBreakerConfig.custom()
                .slidingWindow(10, 10, COUNT_BASED)
                .slowCallDurationThreshold(ofSeconds(2))
                .slowCallRateThreshold(50);
        // ours: slow
        var ours = CircuitBreaker.of("prices", b -> b.failureRate(0.5, 10).slowCalls(ofSeconds(2), 0.5));
        // end

        var breaker = breaker(theirs);
        for (int i = 0; i < 10; i++) {
            breaker.onSuccess(i < 5 ? 3 : 0, TimeUnit.SECONDS);
            CircuitBreaker.Permit permit = ours.admit(time);
            sleep(ofSeconds(i < 5 ? 3 : 0));
            permit.succeeded();
        }
        assertThat(breaker.getState()).hasToString("OPEN");
        // The rate is judged at a slow call or a failure here, and this was neither.
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.CLOSED);
        assertThat(ours.counts()).isEqualTo(new CircuitBreaker.Counts(10, 0, 5));

        var other = breaker(theirs);
        other.onError(3, TimeUnit.SECONDS, new IOException());
        assertThat(other.getMetrics().getNumberOfSlowCalls())
                .as("slow failures are slow")
                .isEqualTo(1);
    }

    @Test
    void what_is_a_failure() {
        // theirs: record
        var theirs = CircuitBreakerConfig.custom().recordExceptions(IOException.class);
        // ours: record
        var ours = CircuitBreaker.of("prices", b -> b.failures(1).failsOn(e -> e instanceof IOException));
        // end

        var breaker = breaker(theirs);
        breaker.onError(1, TimeUnit.MILLISECONDS, new IllegalStateException());
        assertThat(breaker.getMetrics().getNumberOfSuccessfulCalls()).isEqualTo(1);
        ours.admit(time).failed(new IllegalStateException());
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.CLOSED);
        ours.admit(time).failed(new IOException());
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.OPEN);
    }

    @Test
    void what_is_ignored() {
        // theirs: breaker-ignore
        var theirs = CircuitBreakerConfig.custom().ignoreExceptions(FileNotFoundException.class);
        // ours: breaker-ignore
        var ours = CircuitBreaker.of("prices", b -> b.failsOn(e -> !(e instanceof FileNotFoundException)));
        // end

        var breaker = breaker(theirs);
        breaker.onError(1, TimeUnit.MILLISECONDS, new FileNotFoundException());
        assertThat(breaker.getMetrics().getNumberOfBufferedCalls()).isZero();
        failuresUntilOpen(ours);
        sleep(ofSeconds(10));
        ours.admit(time).failed(new FileNotFoundException());
        assertThat(ours.state()).as("success: the trial has closed it").isEqualTo(CircuitBreaker.State.CLOSED);
    }

    @Test
    void a_result_that_is_a_failure() {
        // theirs: record-result
        var theirs = CircuitBreakerConfig.custom().recordResult(status -> status.equals(503));
        // ours: record-result
        var ours = CircuitBreaker.of("prices", b -> b.failsOn(e -> e instanceof HttpResponseException));
        // end

        var breaker = breaker(theirs);
        breaker.onResult(1, TimeUnit.MILLISECONDS, 503);
        assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isEqualTo(1);
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.CLOSED);
    }

    @Test
    void opened_by_hand() {
        var breaker = breaker(CircuitBreakerConfig.custom());
        var own = CircuitBreaker.of("prices");
        // theirs: forced
        breaker.transitionToForcedOpenState();
        // ours: forced
        own.forceOpen();
        // end

        sleep(ofMinutes(60));
        assertThat(breaker.tryAcquirePermission()).isFalse();
        assertThatThrownBy(() -> own.admit(time)).isInstanceOf(CircuitOpenException.class);
    }

    @Test
    void opened_for_a_while() {
        var breaker = breaker(CircuitBreakerConfig.custom());
        // theirs: open-for
        breaker.transitionToOpenStateFor(ofSeconds(5));
        // end

        assertThat(breaker.tryAcquirePermission()).isFalse();
        sleep(ofMillis(5_001));
        assertThat(breaker.tryAcquirePermission()).isTrue();
    }

    @Test
    void closed_by_hand() {
        var breaker = breaker(CircuitBreakerConfig.custom());
        var own = CircuitBreaker.of("prices");
        breaker.onError(1, TimeUnit.MILLISECONDS, new IOException());
        own.admit(time).failed();
        breaker.transitionToForcedOpenState();
        own.forceOpen();
        // theirs: reset
        breaker.reset();
        // ours: reset
        own.reset();
        // end

        assertThat(breaker.getState()).hasToString("CLOSED");
        assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isZero();
        assertThat(own.counts().failures()).isZero();
        assertThat(own.state()).isEqualTo(CircuitBreaker.State.CLOSED);
    }

    @Test
    void put_out_of_action() {
        var breaker = breaker(CircuitBreakerConfig.custom());
        // theirs: disabled
        breaker.transitionToDisabledState();
        // end

        for (int i = 0; i < 200; i++) {
            breaker.onError(1, TimeUnit.MILLISECONDS, new IOException());
        }
        assertThat(breaker.tryAcquirePermission()).isTrue();
    }

    @Test
    void told_of_changes() {
        var breaker = breaker(CircuitBreakerConfig.custom());
        // theirs: on-transition
        breaker.getEventPublisher()
                .onStateTransition(e -> log.add(e.getStateTransition().getToState() + ""));
        // ours: on-transition
        var ours = CircuitBreaker.of("prices", b -> b.onTransition((from, to) -> log.add(to + "")));
        // end

        breaker.transitionToOpenState();
        ours.forceOpen();
        assertThat(log).containsExactly("OPEN", "OPEN");
    }

    @Test
    void counts() {
        var breaker = breaker(CircuitBreakerConfig.custom());
        var own = CircuitBreaker.of("prices");
        breaker.onError(1, TimeUnit.MILLISECONDS, new IOException());
        own.admit(time).failed();
        // theirs: metrics
        var theirs = breaker.getMetrics().getNumberOfFailedCalls();
        // ours: metrics
        var ours = own.counts().failures();
        // end

        assertThat(theirs).isEqualTo(1);
        assertThat(ours).isEqualTo(1);
    }

    @Test
    void a_breaker_used_alone() {
        var breaker = breaker(CircuitBreakerConfig.custom());
        var own = CircuitBreaker.of("prices");
        // theirs: alone
        breaker.acquirePermission();
        // ours: alone
        var permit = own.admit();
        // end

        breaker.onSuccess(1, TimeUnit.MILLISECONDS);
        permit.succeeded();
        breaker.transitionToOpenState();
        own.forceOpen();
        assertThatThrownBy(breaker::acquirePermission).isInstanceOf(CallNotPermittedException.class);
        assertThatThrownBy(own::admit).isInstanceOf(CircuitOpenException.class);
    }

    @Test
    void an_injected_clock() {
        // theirs: clock
        var theirs = CircuitBreakerConfig.custom().clock(clock);
        // ours: clock
        var ours = scope().clock(time);
        // end

        assertThat(theirs.build().getClock()).isSameAs(clock);
        ours.run(() -> Selvedge.sleep(ofSeconds(5)));
        assertThat(time.elapsed()).isEqualTo(ofSeconds(5));
    }

    @Test
    void one_for_each_name() {
        // theirs: registry
        var theirs = CircuitBreakerRegistry.ofDefaults();
        // ours: registry
        var ours = CircuitBreaker.perKey((String host) -> CircuitBreaker.of(host));
        // end

        assertThat(theirs.circuitBreaker("a")).isSameAs(theirs.circuitBreaker("a"));
        assertThat(ours.get("a")).isSameAs(ours.get("a"));
    }

    // Limiters and bulkheads.

    @Test
    void a_rate() {
        // theirs: limiter
        var theirs = RateLimiterConfig.custom().limitForPeriod(10).limitRefreshPeriod(ofSeconds(60));
        // ours: limiter
        var ours = RateLimiter.of(10, ofSeconds(60), l -> l.burst(10));
        // end

        var limiter = io.github.resilience4j.ratelimiter.RateLimiter.of(
                "a", theirs.timeoutDuration(ZERO).build(), time::nanoTime);
        assertThat(passed(limiter)).isEqualTo(10);
        assertThat(passed(ours)).isEqualTo(10);
        sleep(ofSeconds(6));
        assertThat(passed(limiter)).isZero();
        assertThat(passed(ours)).isEqualTo(1);
        sleep(ofSeconds(54));
        assertThat(passed(limiter)).isEqualTo(10);
    }

    @Test
    void a_longest_wait_for_a_rate() {
        // theirs: limiter-wait
        var theirs = RateLimiterConfig.custom().timeoutDuration(ofMillis(50));
        // ours: limiter-wait
        var ours = RateLimiter.of(10, ofSeconds(1), l -> l.maxWait(ofMillis(50)));
        // end

        assertThat(theirs.build().getTimeoutDuration()).isEqualTo(ofMillis(50));
        assertThat(RateLimiterConfig.ofDefaults().getTimeoutDuration()).isEqualTo(ofSeconds(5));
        var limiter = io.github.resilience4j.ratelimiter.RateLimiter.of(
                "a", theirs.limitForPeriod(1).limitRefreshPeriod(ofSeconds(60)).build());
        assertThat(limiter.acquirePermission()).isTrue();
        long begun = System.nanoTime();
        assertThatThrownBy(() -> limiter.executeRunnable(() -> {})).isInstanceOf(RequestNotPermitted.class);
        assertThat(System.nanoTime() - begun)
                .as("it waits first")
                .isGreaterThan(ofMillis(40).toNanos());
        on(scope().rateLimit(ours)).run(() -> {});
        assertThatThrownBy(() -> on(scope().rateLimit(ours)).run(() -> {})).isInstanceOf(RateLimitedException.class);
        assertThat(time.elapsed()).as("it is refused at once").isZero();
    }

    @Test
    void a_limiter_used_alone() {
        var limiter = io.github.resilience4j.ratelimiter.RateLimiter.ofDefaults("a");
        var own = RateLimiter.of(10, ofSeconds(60));
        // theirs: limiter-alone
        var theirs = limiter.acquirePermission();
        // ours: limiter-alone
        var ours = own.tryAcquire();
        // end

        assertThat(theirs).isTrue();
        assertThat(ours).isTrue();
        assertThat(own.tryAcquire()).isFalse();
    }

    @Test
    void a_call_that_counts_as_several() {
        var limiter = io.github.resilience4j.ratelimiter.RateLimiter.ofDefaults("a");
        var own = RateLimiter.of(10, ofSeconds(60), l -> l.burst(10));
        // theirs: weight
        var theirs = limiter.acquirePermission(3);
        // ours: weight
        var ours = own.tryAcquire(3, time);
        // end

        assertThat(theirs).isTrue();
        assertThat(ours).isTrue();
        assertThat(passed(own)).isEqualTo(7);
    }

    @Test
    void a_limit_that_is_changed() {
        var limiter = io.github.resilience4j.ratelimiter.RateLimiter.ofDefaults("a");
        // theirs: change
        limiter.changeLimitForPeriod(20);
        // end

        assertThat(limiter.getRateLimiterConfig().getLimitForPeriod()).isEqualTo(20);
    }

    @Test
    void slots() {
        // theirs: bulkhead
        var theirs = BulkheadConfig.custom().maxConcurrentCalls(1);
        // ours: bulkhead
        var ours = Bulkhead.of(1, b -> b.maxWait(ZERO));
        // end

        var bulkhead = io.github.resilience4j.bulkhead.Bulkhead.of("a", theirs.build());
        assertThat(bulkhead.tryAcquirePermission()).isTrue();
        assertThatThrownBy(() -> bulkhead.executeRunnable(() -> {}))
                .isInstanceOf(io.github.resilience4j.bulkhead.BulkheadFullException.class);
        assertThat(BulkheadConfig.ofDefaults().getMaxConcurrentCalls()).isEqualTo(25);
        onBusy(ours, ZERO);
    }

    @Test
    void a_longest_wait_for_a_slot() {
        // theirs: bulkhead-wait
        var theirs = BulkheadConfig.custom().maxConcurrentCalls(1).maxWaitDuration(ofMillis(5));
        // ours: bulkhead-wait
        var ours = Bulkhead.of(1, b -> b.maxWait(ofMillis(5)));
        // end

        assertThat(theirs.build().getMaxWaitDuration()).isEqualTo(ofMillis(5));
        assertThat(BulkheadConfig.ofDefaults().getMaxWaitDuration()).isZero();
        onBusy(ours, ofMillis(5));
    }

    /** With its only slot held, it refuses after such a time. */
    private void onBusy(Bulkhead bulkhead, Duration after) {
        on(scope()).run(s -> {
            var unused = s.bulkhead(bulkhead).fork(() -> Selvedge.sleep(ofSeconds(1)));
            Selvedge.sleep(ofMillis(1));
            assertThatThrownBy(() -> scope().bulkhead(bulkhead).run(() -> {}))
                    .isInstanceOf(BulkheadFullException.class);
            assertThat(time.elapsed()).isEqualTo(after.plusMillis(1));
        });
    }

    @Test
    void not_in_the_order_of_coming() {
        // theirs: unfair
        var theirs = BulkheadConfig.custom().fairCallHandlingStrategyEnabled(false);
        // ours: unfair
        var ours = Bulkhead.of(25, b -> b.unfair());
        // end

        assertThat(theirs.build().isFairCallHandlingEnabled()).isFalse();
        assertThat(BulkheadConfig.ofDefaults().isFairCallHandlingEnabled()).isTrue();
        assertThat(ours.free()).isEqualTo(25);
    }

    @Test
    void a_bulkhead_of_threads() throws Exception {
        // theirs: pool
        var theirs = ThreadPoolBulkhead.ofDefaults("prices");
        // ours: pool
        var ours = scope().bulkhead(Bulkhead.of(8));
        // end

        assertThat(theirs.executeSupplier(Thread::currentThread)
                        .toCompletableFuture()
                        .get())
                .isNotSameAs(Thread.currentThread());
        theirs.close();
        assertThat(on(ours).<Thread, RuntimeException>call(Thread::currentThread))
                .isSameAs(Thread.currentThread());
    }

    // Timeouts and fallbacks.

    /** Hands a task over, and comes back when it has begun: one that is cancelled before that never runs. */
    private record Begun(ExecutorService threads, CountDownLatch begun) {

        Future<String> submit(Callable<String> task) {
            Future<String> future = threads.submit(task);
            try {
                begun.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return future;
        }
    }

    @Test
    void a_timeout() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Callable<String> slow = () -> {
            try {
                begun.countDown();
                goOn.await();
                return "late";
            } catch (InterruptedException e) {
                goOn.await();
                ended.countDown();
                throw e;
            }
        };
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Begun pool = new Begun(threads, begun);
            Callable<String> theirs = () -> {
                // theirs: timeout
                return TimeLimiter.of(ofMillis(5)).executeFutureSupplier(() -> pool.submit(slow));
                // end
            };
            assertThatThrownBy(theirs::call).isInstanceOf(TimeoutException.class);
            assertThat(ended.getCount()).as("it runs on").isEqualTo(1);
            goOn.countDown();
            ended.await();
        }
        Callable<String> task = () -> {
            try {
                Selvedge.sleep(ofSeconds(60));
                return "late";
            } finally {
                log.add("ended");
            }
        };
        Callable<String> ours = () -> {
            // ours: timeout
            return scope().timeout(ofMillis(5)).call(task::call);
            // end
        };
        assertThatThrownBy(() -> on(scope()).call(ours::call)).isInstanceOf(AttemptTimeoutException.class);
        assertThat(log).containsExactly("ended");
    }

    @Test
    void a_fallback() throws Exception {
        Callable<String> theirs = () -> {
            // theirs: fallback
            return CallableUtils.recover(() -> load(), e -> "other").call();
            // end
        };
        Callable<String> ours = () -> {
            // ours: fallback
            return scope().call(() -> load(), e -> "other");
            // end
        };

        assertThat(theirs.call()).isEqualTo("other");
        assertThat(ours.call()).isEqualTo("other");
        Callable<String> interrupted = () -> {
            throw new InterruptedException();
        };
        assertThat(CallableUtils.recover(interrupted, e -> "other").call()).isEqualTo("other");
        assertThatThrownBy(() -> scope().call(interrupted, e -> "other"))
                .isInstanceOf(dev.selvedge.ScopeCancelledException.class);
        assertThat(Thread.interrupted()).isTrue();
        Callable<String> error = () -> {
            throw new AssertionError("an error");
        };
        assertThatThrownBy(() -> CallableUtils.recover(error, e -> "other").call())
                .isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> scope().call(error, e -> "other")).isInstanceOf(AssertionError.class);
    }

    @Test
    void a_fallback_for_some_failures() {
        Callable<String> theirs = () -> {
            // theirs: fallback-type
            return CallableUtils.recover(() -> load(), FileNotFoundException.class, e -> "other")
                    .call();
            // end
        };
        Callable<String> ours = () -> {
            // ours: fallback-type
            return scope().call(() -> load(), e -> {
                if (e instanceof FileNotFoundException) {
                    return "other";
                }
                throw e;
            });
            // end
        };

        assertThatThrownBy(theirs::call).isExactlyInstanceOf(IOException.class);
        assertThatThrownBy(ours::call).isExactlyInstanceOf(IOException.class);
    }

    // Together.

    @Test
    void a_breaker_inside_retries() {
        var retry = retry(RetryConfig.custom().waitDuration(ofMillis(1)));
        var breaker = breaker(CircuitBreakerConfig.custom());
        var own = CircuitBreaker.of("prices", b -> b.countAttempts());
        // theirs: inside
        var theirs = retry.decorateCheckedSupplier(breaker.decorateCheckedSupplier(() -> load()));
        // ours: inside
        var ours = scope().retry(Retry.DEFAULT).breaker(own);
        // end

        assertThatThrownBy(theirs::get).isInstanceOf(IOException.class);
        assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isEqualTo(3);
        fail(on(ours));
        assertThat(own.counts().failures()).isEqualTo(3);
        // An open breaker inside: theirs is asked again by the retry.
        breaker.transitionToForcedOpenState();
        assertThatThrownBy(theirs::get).isInstanceOf(CallNotPermittedException.class);
        assertThat(breaker.getMetrics().getNumberOfNotPermittedCalls()).isEqualTo(3);
        own.forceOpen();
        Duration before = time.elapsed();
        assertThatThrownBy(() -> on(ours).run(() -> {})).isInstanceOf(CircuitOpenException.class);
        assertThat(time.elapsed()).isEqualTo(before);
    }

    @Test
    void a_breaker_around_retries() {
        var retry = retry(RetryConfig.custom().waitDuration(ofMillis(1)));
        var breaker = breaker(CircuitBreakerConfig.custom());
        var own = CircuitBreaker.of("prices");
        // theirs: outside
        var theirs = breaker.decorateCheckedSupplier(retry.decorateCheckedSupplier(() -> load()));
        // ours: outside
        var ours = scope().breaker(own).retry(Retry.DEFAULT);
        // end

        assertThatThrownBy(theirs::get).isInstanceOf(IOException.class);
        assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isEqualTo(1);
        fail(on(ours));
        assertThat(own.counts().failures()).isEqualTo(1);
    }

    @Test
    void hedges() {
        // ours: hedge
        var ours = scope().hedge(ofMillis(50));
        // end

        AtomicInteger calls = new AtomicInteger();
        assertThat(on(ours).<Integer, RuntimeException>call(() -> {
                    int n = calls.incrementAndGet();
                    Selvedge.sleep(n == 1 ? ofSeconds(1) : ofMillis(1));
                    return n;
                }))
                .isEqualTo(2);
    }

    // Both sides.

    private static void fail(ScopeSpec spec) {
        assertThatThrownBy(() -> spec.run(() -> {
                    throw new IOException("no");
                }))
                .isInstanceOf(IOException.class);
    }

    private static io.github.resilience4j.retry.Retry retry(RetryConfig.Builder<Object> config) {
        return io.github.resilience4j.retry.Retry.of("a", config.build());
    }

    private io.github.resilience4j.circuitbreaker.CircuitBreaker breaker(CircuitBreakerConfig.Builder config) {
        return io.github.resilience4j.circuitbreaker.CircuitBreaker.of(
                "a", config.clock(clock).build());
    }

    private static int callsOf(RetryConfig.Builder<Object> config, Exception failure) {
        AtomicInteger calls = new AtomicInteger();
        assertThat(catchThrowable(() -> retry(config).executeCallable(() -> {
                    calls.incrementAndGet();
                    throw failure;
                })))
                .isSameAs(failure);
        return calls.get();
    }

    /** In milliseconds; the functions are asked, nothing waits. */
    private static List<Long> waitsOf(RetryConfig.Builder<Object> config, int n) {
        RetryConfig built = config.build();
        List<Long> waits = new ArrayList<>();
        for (int i = 1; i <= n; i++) {
            waits.add(built.getIntervalBiFunction().apply(i, Either.left(new IOException())));
        }
        return waits;
    }

    private static List<Long> waitsOf(Retry policy, int n) {
        return waitsAfter(new IOException(), policy, n).stream()
                .map(Duration::toMillis)
                .toList();
    }

    private int failuresUntilOpen(CircuitBreakerConfig.Builder config) {
        var breaker = breaker(config);
        int n = 0;
        while (breaker.tryAcquirePermission()) {
            breaker.onError(1, TimeUnit.MILLISECONDS, new IOException());
            n++;
        }
        return n;
    }

    private static int passed(io.github.resilience4j.ratelimiter.RateLimiter limiter) {
        int n = 0;
        while (limiter.acquirePermission()) {
            n++;
        }
        return n;
    }
}
