package dev.selvedge.policy;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.failsafe.CircuitBreakerBuilder;
import dev.failsafe.CircuitBreakerOpenException;
import dev.failsafe.Failsafe;
import dev.failsafe.FailsafeException;
import dev.failsafe.Fallback;
import dev.failsafe.RateLimitExceededException;
import dev.failsafe.RetryPolicy;
import dev.failsafe.RetryPolicyBuilder;
import dev.failsafe.Timeout;
import dev.failsafe.TimeoutExceededException;
import dev.selvedge.AttemptTimeoutException;
import dev.selvedge.ScopeEvent.AttemptFailed;
import dev.selvedge.ScopeEvent.RetryGaveUp;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.time.VirtualClock;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * What {@code docs/how-to/migrate-from-failsafe.md} says, run against Failsafe itself. Failsafe has no clock to inject, so its
 * side takes a few milliseconds of real time.
 */
@org.junit.jupiter.api.Timeout(30)
class FailsafeMigrationTest extends OurSide {

    private final List<String> log = Collections.synchronizedList(new ArrayList<>());
    private final VirtualClock clock = time;

    @Test
    void the_page_shows_the_rows_that_are_run() {
        List<MigrationRows.Row> shown = MigrationRows.shownIn("docs/how-to/migrate-from-failsafe.md");

        assertThat(shown).hasSizeGreaterThan(40).containsExactlyElementsOf(MigrationRows.runBy(getClass()));
    }

    // Retries.

    @Test
    void retries() {
        // theirs: max-retries
        var theirs = RetryPolicy.builder().withMaxRetries(2);
        // ours: max-retries
        var ours = Retry.DEFAULT.attempts(3);
        // end

        assertThat(callsOf(theirs, new IOException())).isEqualTo(3);
        assertThat(callsOf(ours, new IOException())).isEqualTo(3);
    }

    @Test
    void attempts() {
        // theirs: max-attempts
        var theirs = RetryPolicy.builder().withMaxAttempts(4);
        // ours: max-attempts
        var ours = Retry.DEFAULT.attempts(4);
        // end

        assertThat(callsOf(theirs, new IOException())).isEqualTo(4);
        assertThat(callsOf(ours, new IOException())).isEqualTo(4);
    }

    @Test
    void defaults() {
        // theirs: defaults
        var theirs = RetryPolicy.builder();
        // ours: defaults
        var ours = Retry.DEFAULT.immediately();
        // end

        assertThat(callsOf(theirs, new IOException())).isEqualTo(3);
        assertThat(callsOf(ours, new IOException())).isEqualTo(3);
        assertThat(waitsOf(theirs, 2)).containsExactly(ZERO, ZERO);
        assertThat(waitsOf(ours, 2)).containsExactly(ZERO, ZERO);
        assertThat(waitsOf(Retry.DEFAULT.withoutJitter(), 2)).containsExactly(ofMillis(100), ofMillis(200));
    }

    @Test
    void a_fixed_wait() {
        // theirs: fixed
        var theirs = RetryPolicy.builder().withDelay(ofMillis(3));
        // ours: fixed
        var ours = Retry.DEFAULT.fixed(ofMillis(3));
        // end

        assertThat(waitsOf(theirs, 3)).containsOnly(ofMillis(3));
        assertThat(waitsOf(ours, 3)).containsOnly(ofMillis(3));
    }

    @Test
    void a_wait_between_two_bounds() {
        // theirs: random
        var theirs = RetryPolicy.builder().withDelay(ofMillis(2), ofMillis(4));
        // ours: random
        var ours = Retry.DEFAULT.fixed(ofMillis(4)).withEqualJitter();
        // end

        assertThat(waitsOf(theirs, 20)).allSatisfy(d -> assertThat(d).isBetween(ofMillis(2), ofMillis(4)));
        assertThat(waitsOf(ours, 20)).allSatisfy(d -> assertThat(d).isBetween(ofMillis(2), ofMillis(4)));
    }

    @Test
    void waits_that_grow() {
        // theirs: backoff
        var theirs = RetryPolicy.builder().withBackoff(ofMillis(1), ofMillis(6));
        // ours: backoff
        var ours = Retry.DEFAULT.backoff(ofMillis(1), ofMillis(6)).withoutJitter();
        // end

        assertThat(waitsOf(theirs, 5)).containsExactly(ofMillis(1), ofMillis(2), ofMillis(4), ofMillis(6), ofMillis(6));
        assertThat(waitsOf(ours, 5)).containsExactly(ofMillis(1), ofMillis(2), ofMillis(4), ofMillis(6), ofMillis(6));
    }

    @Test
    void waits_that_grow_by_a_factor() {
        // theirs: factor
        var theirs = RetryPolicy.builder().withBackoff(ofMillis(1), ofMillis(20), 3);
        // ours: factor
        var ours = Retry.DEFAULT.backoff(ofMillis(1), ofMillis(20)).factor(3).withoutJitter();
        // end

        assertThat(waitsOf(theirs, 4)).containsExactly(ofMillis(1), ofMillis(3), ofMillis(9), ofMillis(20));
        assertThat(waitsOf(ours, 4)).containsExactly(ofMillis(1), ofMillis(3), ofMillis(9), ofMillis(20));
    }

    @Test
    void jitter_by_a_share() {
        // theirs: jitter-share
        var theirs = RetryPolicy.builder().withDelay(ofMillis(4)).withJitter(0.5);
        // ours: jitter-share
        var ours = Retry.DEFAULT.fixed(ofMillis(6)).withFullJitter();
        // end

        assertThat(waitsOf(theirs, 40))
                .allSatisfy(d -> assertThat(d).isBetween(ofMillis(2), ofMillis(6)))
                .anySatisfy(d -> assertThat(d).isGreaterThan(ofMillis(4)));
        assertThat(waitsOf(ours, 40)).allSatisfy(d -> assertThat(d).isBetween(ZERO, ofMillis(6)));
    }

    @Test
    void jitter_by_a_time() {
        // theirs: jitter-time
        var theirs = RetryPolicy.builder().withDelay(ofMillis(4)).withJitter(ofMillis(2));
        // ours: jitter-time
        var ours = Retry.DEFAULT.fixed(ofMillis(6)).withEqualJitter();
        // end

        assertThat(waitsOf(theirs, 40))
                .allSatisfy(d -> assertThat(d).isBetween(ofMillis(2), ofMillis(6)))
                .anySatisfy(d -> assertThat(d).isGreaterThan(ofMillis(4)));
        assertThat(waitsOf(ours, 40)).allSatisfy(d -> assertThat(d).isBetween(ofMillis(3), ofMillis(6)));
    }

    @Test
    void a_longest_duration() throws Exception {
        // theirs: max-duration
        var theirs = RetryPolicy.builder().withMaxAttempts(-1).withMaxDuration(ofMillis(50));
        // ours: max-duration
        var ours = Retry.DEFAULT.maxDuration(ofMillis(50));
        // end

        AtomicInteger calls = new AtomicInteger();
        assertThatThrownBy(() -> Failsafe.with(theirs.build()).run(attempt -> {
                    calls.incrementAndGet();
                    while (attempt.getElapsedTime().compareTo(ofMillis(50)) <= 0) {
                        Thread.onSpinWait();
                    }
                    throw new IOException("at the end of a long attempt");
                }))
                .hasRootCauseMessage("at the end of a long attempt");
        assertThat(calls).hasValue(1);
        assertThat(callsOf(RetryPolicy.builder().withMaxDuration(ofSeconds(50)), new IOException()))
                .isEqualTo(3);

        assertThatThrownBy(() -> on(scope().retry(ours)).run(() -> Selvedge.sleep(ofMillis(80))))
                .isInstanceOf(AttemptTimeoutException.class);
        assertThat(clock.elapsed()).isEqualTo(ofMillis(50));
        assertThat(callsOf(Retry.DEFAULT.fixed(ofMillis(1)).maxDuration(ofMillis(50)), new IOException()))
                .isEqualTo(50);
    }

    @Test
    void for_some_failures() {
        // theirs: handle
        var theirs = RetryPolicy.builder().handle(IOException.class);
        // ours: handle
        var ours = Retry.DEFAULT.on(IOException.class);
        // end

        assertThat(callsOf(theirs, new FileNotFoundException())).isEqualTo(3);
        assertThat(callsOf(ours, new FileNotFoundException())).isEqualTo(3);
        assertThat(callsOf(theirs, new IllegalStateException())).isEqualTo(1);
        assertThat(callsOf(ours, new IllegalStateException())).isEqualTo(1);
    }

    @Test
    void for_failures_that_a_predicate_accepts() {
        // theirs: handle-if
        var theirs = RetryPolicy.builder().handleIf(e -> e.getMessage().equals("busy"));
        // ours: handle-if
        var ours = Retry.DEFAULT.when(e -> e.getMessage().equals("busy"));
        // end

        assertThat(callsOf(theirs, new IOException("busy"))).isEqualTo(3);
        assertThat(callsOf(ours, new IOException("busy"))).isEqualTo(3);
        assertThat(callsOf(theirs, new IOException("gone"))).isEqualTo(1);
        assertThat(callsOf(ours, new IOException("gone"))).isEqualTo(1);
        // A predicate that throws accepts nothing, on both sides.
        assertThat(callsOf(theirs, new IOException())).isEqualTo(1);
        assertThat(callsOf(ours, new IOException())).isEqualTo(1);
    }

    @Test
    void not_for_some_failures() {
        // theirs: abort-on
        var theirs = RetryPolicy.builder().abortOn(FileNotFoundException.class);
        // ours: abort-on
        var ours = Retry.DEFAULT.never(FileNotFoundException.class);
        // end

        assertThat(callsOf(theirs, new FileNotFoundException())).isEqualTo(1);
        assertThat(callsOf(ours, new FileNotFoundException())).isEqualTo(1);
        assertThat(callsOf(theirs, new IOException())).isEqualTo(3);
        assertThat(callsOf(ours, new IOException())).isEqualTo(3);
    }

    @Test
    void for_errors() {
        // theirs: errors
        var theirs = RetryPolicy.builder().handle(Error.class);
        // ours: errors
        var ours = Retry.DEFAULT.on(Exception.class);
        // end

        assertThat(callsOf(theirs, new AssertionError())).isEqualTo(3);
        assertThat(callsOf(RetryPolicy.builder(), new AssertionError())).isEqualTo(3);
        assertThat(callsOf(ours, new AssertionError())).isEqualTo(1);
    }

    /** A result that is no exception, but not what was wanted. */
    private static final class NotReadyException extends Exception {
        private static final long serialVersionUID = 1;
    }

    @Test
    void for_a_result() {
        // theirs: result
        var theirs = RetryPolicy.builder().handleResult("running");
        // ours: result
        var ours = Retry.DEFAULT.on(NotReadyException.class);
        // end

        AtomicInteger calls = new AtomicInteger();
        assertThat(Failsafe.with(theirs.build()).get(() -> {
                    calls.incrementAndGet();
                    return "running";
                }))
                .isEqualTo("running");
        assertThat(calls).hasValue(3);
        assertThat(thrownBy(ours, new NotReadyException())).isInstanceOf(NotReadyException.class);
        assertThat(callsOf(ours, new NotReadyException())).isEqualTo(3);
        // Once a result is handled, exceptions still are.
        assertThat(callsOf(theirs, new IOException())).isEqualTo(3);
    }

    /** A refusal that says for how long. */
    private static final class BusyException extends Exception {
        private static final long serialVersionUID = 1;

        String seconds() {
            return "1";
        }
    }

    private static Duration delayOf(Throwable e) {
        return e instanceof BusyException ? ofMillis(7) : ZERO;
    }

    private static Optional<String> headerOf(Exception e) {
        return e instanceof BusyException busy ? Optional.of(busy.seconds()) : Optional.empty();
    }

    @Test
    void after_what_the_failure_asks_for() {
        // theirs: delay-function
        var theirs = RetryPolicy.builder().withDelayFn(context -> delayOf(context.getLastException()));
        // ours: delay-function
        var ours = Retry.DEFAULT.fixed(ofMillis(5)).retryAfter(e -> headerOf(e));
        // end

        assertThat(waitsOf(theirs, 2, new BusyException())).containsOnly(ofMillis(7));
        assertThat(waitsAfter(new BusyException(), ours, 2)).containsOnly(ofSeconds(1));
        assertThat(waitsAfter(new IOException(), ours, 2)).containsOnly(ofMillis(5));
        assertThat(ours.decide(1, new BusyException(), ZERO, time.after(ofMillis(900))))
                .isEqualTo(new Retry.GiveUp(Retry.Reason.RETRY_AFTER, null));
    }

    @Test
    void told_of_each_retry() {
        // theirs: on-retry
        var theirs = RetryPolicy.builder().onRetryScheduled(e -> log.add("failed: " + e.getAttemptCount()));
        // ours: on-retry
        var ours = scope().retry(Retry.DEFAULT).listener(e -> {
            if (e instanceof AttemptFailed f) {
                log.add("failed: " + f.attempt());
            }
        });
        // end

        assertThat(callsOf(theirs, new IOException())).isEqualTo(3);
        assertThat(log).containsExactly("failed: 1", "failed: 2");
        log.clear();
        fail(on(ours));
        assertThat(log).containsExactly("failed: 1", "failed: 2");
    }

    @Test
    void told_of_the_end() {
        // theirs: exceeded
        var theirs = RetryPolicy.builder().onRetriesExceeded(e -> log.add("gave up"));
        // ours: exceeded
        var ours = scope().retry(Retry.DEFAULT).listener(e -> {
            if (e instanceof RetryGaveUp g && g.reason() == Retry.Reason.ATTEMPTS) {
                log.add("gave up");
            }
        });
        // end

        assertThat(callsOf(theirs, new IOException())).isEqualTo(3);
        fail(on(ours));
        assertThat(log).containsExactly("gave up", "gave up");
    }

    private static String load() throws IOException {
        throw new IOException("no");
    }

    @Test
    void a_call() {
        Callable<String> theirs = () -> {
            // theirs: call
            return Failsafe.with(RetryPolicy.ofDefaults()).get(() -> load());
            // end
        };
        Callable<String> ours = () -> {
            // ours: call
            return scope().retry(Retry.DEFAULT).call(() -> load());
            // end
        };

        assertThatThrownBy(theirs::call).isInstanceOf(FailsafeException.class).hasRootCauseMessage("no");
        assertThatThrownBy(() -> on(scope()).call(ours::call))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("no");
    }

    @Test
    void which_attempt_it_is() {
        Callable<Integer> theirs = () -> {
            // theirs: attempt-number
            return Failsafe.with(RetryPolicy.ofDefaults()).get(context -> context.getAttemptCount());
            // end
        };
        Callable<Integer> ours = () -> {
            // ours: attempt-number
            return scope().retry(Retry.DEFAULT).call(() -> Selvedge.attempt().number());
            // end
        };

        assertThat(valueOf(theirs)).isEqualTo(0);
        assertThat(valueOf(ours)).isEqualTo(1);
    }

    // Breakers.

    @Test
    void failures_in_a_row() {
        // theirs: failures
        var theirs = dev.failsafe.CircuitBreaker.builder().withFailureThreshold(3);
        // ours: failures
        var ours = CircuitBreaker.of("prices", b -> b.failures(3));
        // end

        assertThat(failuresUntilOpen(theirs)).isEqualTo(3);
        assertThat(failuresUntilOpen(ours)).isEqualTo(3);
        assertThat(failuresUntilOpen(dev.failsafe.CircuitBreaker.builder())).isEqualTo(1);
        assertThat(failuresUntilOpen(CircuitBreaker.of("default"))).isEqualTo(5);
    }

    @Test
    void a_share_of_the_last_calls() {
        // theirs: failures-of-calls
        var theirs = dev.failsafe.CircuitBreaker.builder().withFailureThreshold(5, 10);
        // ours: failures-of-calls
        var ours = CircuitBreaker.of("prices", b -> b.failureRate(0.5, 10));
        // end

        assertThat(failuresUntilOpen(theirs)).isEqualTo(5);
        assertThat(failuresUntilOpen(ours)).isEqualTo(10);
    }

    @Test
    void so_many_in_a_while() {
        // theirs: failures-in-a-while
        var theirs = dev.failsafe.CircuitBreaker.builder().withFailureThreshold(3, ofMinutes(1));
        // ours: failures-in-a-while
        var ours = CircuitBreaker.of(
                "prices", b -> b.failureRate(0.3, ofMinutes(1)).minimumCalls(3));
        // end

        dev.failsafe.CircuitBreaker<Object> breaker = theirs.build();
        for (int i = 0; i < 50; i++) {
            breaker.recordSuccess();
            ours.admit(time).succeeded();
        }
        for (int i = 0; i < 3; i++) {
            breaker.recordFailure();
            ours.admit(time).failed();
        }
        assertThat(breaker.isOpen()).isTrue();
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.CLOSED);
    }

    @Test
    void a_rate_in_a_while() {
        // theirs: rate
        var theirs = dev.failsafe.CircuitBreaker.builder().withFailureRateThreshold(50, 10, ofMinutes(1));
        // ours: rate
        var ours = CircuitBreaker.of(
                "prices", b -> b.failureRate(0.5, ofMinutes(1)).minimumCalls(10));
        // end

        assertThat(failuresUntilOpen(theirs)).isEqualTo(10);
        assertThat(failuresUntilOpen(ours)).isEqualTo(10);
    }

    @Test
    void a_cool_down() {
        // theirs: delay
        var theirs = dev.failsafe.CircuitBreaker.builder().withDelay(ofSeconds(5));
        // ours: delay
        var ours = CircuitBreaker.of("prices", b -> b.coolDown(ofSeconds(5)));
        // end

        dev.failsafe.CircuitBreaker<Object> breaker = theirs.build();
        breaker.recordFailure();
        assertThat(breaker.getRemainingDelay()).isBetween(ofSeconds(1), ofSeconds(5));
        assertThat(failuresUntilOpen(ours)).isEqualTo(5);
        assertThat(ours.remainingCoolDown()).isEqualTo(ofSeconds(5));
        assertThat(dev.failsafe.CircuitBreaker.ofDefaults().getConfig().getDelay())
                .isEqualTo(ofMinutes(1));
    }

    @Test
    void a_cool_down_by_a_function() {
        // theirs: breaker-delay-function
        var theirs = dev.failsafe.CircuitBreaker.builder().withDelayFn(context -> delayOf(context.getLastException()));
        // ours: breaker-delay-function
        var ours = CircuitBreaker.of("prices", b -> b.failures(1).coolDown(opening -> ofSeconds(1L << opening)));
        // end

        dev.failsafe.CircuitBreaker<Object> breaker = theirs.build();
        assertThatThrownBy(() -> Failsafe.with(breaker).run(() -> {
                    throw new BusyException();
                }))
                .hasCauseInstanceOf(BusyException.class);
        assertThat(breaker.getRemainingDelay()).isLessThanOrEqualTo(ofMillis(7));
        assertThat(failuresUntilOpen(ours)).isEqualTo(1);
        assertThat(ours.remainingCoolDown()).isEqualTo(ofSeconds(2));
    }

    @Test
    void trials() {
        // theirs: trials
        var theirs = dev.failsafe.CircuitBreaker.builder().withSuccessThreshold(2);
        // ours: trials
        var ours = CircuitBreaker.of("prices", b -> b.trials(2));
        // end

        dev.failsafe.CircuitBreaker<Object> breaker = theirs.build();
        breaker.halfOpen();
        assertThat(List.of(breaker.tryAcquirePermit(), breaker.tryAcquirePermit(), breaker.tryAcquirePermit()))
                .containsExactly(true, true, false);
        breaker.recordSuccess();
        assertThat(breaker.isHalfOpen()).isTrue();
        breaker.recordSuccess();
        assertThat(breaker.isClosed()).isTrue();
        breaker.halfOpen();
        breaker.recordFailure();
        assertThat(breaker.isOpen()).isTrue();

        assertThat(failuresUntilOpen(ours)).isEqualTo(5);
        sleep(ofSeconds(10));
        CircuitBreaker.Permit first = ours.admit(time);
        CircuitBreaker.Permit second = ours.admit(time);
        assertThatThrownBy(() -> ours.admit(time)).isInstanceOf(CircuitOpenException.class);
        first.succeeded();
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.HALF_OPEN);
        second.succeeded();
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.CLOSED);
    }

    @Test
    void what_a_breaker_takes_for_a_failure() {
        // theirs: breaker-handle
        var theirs = dev.failsafe.CircuitBreaker.builder().handle(IOException.class);
        // ours: breaker-handle
        var ours = CircuitBreaker.of("prices", b -> b.failures(1).failsOn(e -> e instanceof IOException));
        // end

        dev.failsafe.CircuitBreaker<Object> breaker = theirs.build();
        breaker.recordException(new IllegalStateException());
        ours.admit(time).failed(new IllegalStateException());
        assertThat(breaker.isClosed()).isTrue();
        assertThat(breaker.getSuccessCount()).isEqualTo(1);
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.CLOSED);
        breaker.recordException(new IOException());
        ours.admit(time).failed(new IOException());
        assertThat(breaker.isOpen()).isTrue();
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.OPEN);
    }

    @Test
    void slow_calls() {
        // ours: slow
        var ours = CircuitBreaker.of("prices", b -> b.failureRate(0.5, 10).slowCalls(ofSeconds(1), 0.5));
        // end

        for (int i = 0; i < 10; i++) {
            CircuitBreaker.Permit permit = ours.admit(time);
            sleep(ofSeconds(2));
            permit.succeeded();
        }
        assertThat(ours.state()).isEqualTo(CircuitBreaker.State.OPEN);
    }

    @Test
    void opened_by_hand() throws Exception {
        var breaker =
                dev.failsafe.CircuitBreaker.builder().withDelay(ofMillis(1)).build();
        var own = CircuitBreaker.of("prices", b -> b.coolDown(ofMillis(1)));
        // theirs: open
        breaker.open();
        // ours: open
        own.forceOpen();
        // end

        while (!breaker.getRemainingDelay().isZero()) {
            Thread.onSpinWait();
        }
        assertThat(breaker.tryAcquirePermit()).isTrue();
        sleep(ofSeconds(10));
        assertThatThrownBy(() -> own.admit(time)).isInstanceOf(CircuitOpenException.class);
    }

    @Test
    void closed_by_hand() {
        var breaker = dev.failsafe.CircuitBreaker.ofDefaults();
        var own = CircuitBreaker.of("prices");
        breaker.recordFailure();
        own.admit(time).failed();
        breaker.open();
        own.forceOpen();
        // theirs: close
        breaker.close();
        // ours: close
        own.reset();
        // end

        assertThat(breaker.getFailureCount()).isZero();
        assertThat(own.counts().failures()).isZero();
        assertThat(breaker.isClosed()).isTrue();
        assertThat(own.state()).isEqualTo(CircuitBreaker.State.CLOSED);
    }

    @Test
    void half_opened_by_hand() {
        var breaker = dev.failsafe.CircuitBreaker.ofDefaults();
        // theirs: half-open
        breaker.halfOpen();
        // end

        assertThat(breaker.isHalfOpen()).isTrue();
        assertThat(CircuitBreaker.class.getMethods()).noneMatch(m -> m.getName().contains("half"));
    }

    @Test
    void told_of_changes() {
        // theirs: on-open
        var theirs = dev.failsafe.CircuitBreaker.builder().onOpen(e -> log.add(e.getPreviousState() + " to OPEN"));
        // ours: on-open
        var ours = CircuitBreaker.of("prices", b -> b.onTransition((from, to) -> log.add(from + " to " + to)));
        // end

        theirs.build().open();
        ours.forceOpen();
        ours.reset();
        assertThat(log).containsExactly("CLOSED to OPEN", "CLOSED to OPEN", "OPEN to CLOSED");
    }

    @Test
    void a_breaker_used_alone() {
        var breaker = dev.failsafe.CircuitBreaker.ofDefaults();
        var own = CircuitBreaker.of("prices");
        // theirs: alone
        breaker.acquirePermit();
        // ours: alone
        var permit = own.admit();
        // end

        breaker.recordSuccess();
        permit.succeeded();
        breaker.open();
        own.forceOpen();
        assertThatThrownBy(breaker::acquirePermit).isInstanceOf(CircuitBreakerOpenException.class);
        assertThatThrownBy(own::admit).isInstanceOf(CircuitOpenException.class);
        // A trial that is never told of: theirs holds its permit, ours is given back by close.
        breaker.halfOpen();
        breaker.acquirePermit();
        assertThat(breaker.tryAcquirePermit()).isFalse();
    }

    // Limiters and bulkheads.

    @Test
    void an_even_rate() {
        // theirs: smooth
        var theirs = dev.failsafe.RateLimiter.smoothBuilder(10, ofMinutes(1));
        // ours: smooth
        var ours = RateLimiter.of(10, ofMinutes(1), l -> l.maxWait(ZERO));
        // end

        assertThat(passed(theirs.build())).isEqualTo(1);
        assertThat(passed(ours)).isEqualTo(1);
        assertThatThrownBy(() -> Failsafe.with(limiterThatIsUsed()).run(() -> {}))
                .isInstanceOf(RateLimitExceededException.class);
        assertThatThrownBy(() -> on(scope().rateLimit(ours)).run(() -> {})).isInstanceOf(RateLimitedException.class);
        // Without maxWait ours waits.
        RateLimiter patient = RateLimiter.of(10, ofMinutes(1));
        assertThat(patient.tryAcquire(time)).isTrue();
        on(scope().rateLimit(patient)).run(() -> {});
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(6));
    }

    private static dev.failsafe.RateLimiter<Object> limiterThatIsUsed() {
        dev.failsafe.RateLimiter<Object> limiter =
                dev.failsafe.RateLimiter.smoothBuilder(10, ofMinutes(1)).build();
        assertThat(limiter.tryAcquirePermit()).isTrue();
        return limiter;
    }

    @Test
    void so_many_at_once() {
        // theirs: bursty
        var theirs = dev.failsafe.RateLimiter.burstyBuilder(10, ofMinutes(1));
        // ours: bursty
        var ours = RateLimiter.of(10, ofMinutes(1), l -> l.burst(10).maxWait(ZERO));
        // end

        assertThat(passed(theirs.build())).isEqualTo(10);
        assertThat(passedInEachOfTwoPeriods()).containsExactly(10, 10);
        assertThat(passed(ours)).isEqualTo(10);
        sleep(ofSeconds(6));
        assertThat(passed(ours)).isEqualTo(1);
    }

    /** How many a limiter of 10 in half a second lets pass in one period and the next; measured anew if the machine stalls. */
    private List<Integer> passedInEachOfTwoPeriods() {
        while (true) {
            long begun = System.nanoTime();
            var quick =
                    dev.failsafe.RateLimiter.burstyBuilder(10, ofMillis(500)).build();
            int first = passed(quick);
            boolean stalled = System.nanoTime() - begun > ofMillis(400).toNanos();
            while (!quick.tryAcquirePermit()) {
                Thread.onSpinWait();
            }
            long next = System.nanoTime();
            int second = 1 + passed(quick);
            stalled |= System.nanoTime() - next > ofMillis(400).toNanos();
            if (!stalled) {
                return List.of(first, second);
            }
        }
    }

    @Test
    void a_longest_wait_for_a_rate() {
        // theirs: limiter-wait
        var theirs = dev.failsafe.RateLimiter.smoothBuilder(100, ofSeconds(1)).withMaxWaitTime(ofMillis(15));
        // ours: limiter-wait
        var ours = RateLimiter.of(100, ofSeconds(1), l -> l.maxWait(ofMillis(15)));
        // end

        dev.failsafe.RateLimiter<Object> limiter = theirs.build();
        Failsafe.with(limiter).run(() -> {});
        Failsafe.with(limiter).run(() -> {}); // waits for 10 ms
        on(scope().rateLimit(ours)).run(() -> {});
        on(scope().rateLimit(ours)).run(() -> {});
        assertThat(clock.elapsed()).isEqualTo(ofMillis(10));
    }

    @Test
    void a_limiter_used_alone() {
        var limiter = dev.failsafe.RateLimiter.smoothBuilder(10, ofMinutes(1)).build();
        var own = RateLimiter.of(10, ofMinutes(1));
        // theirs: limiter-alone
        var theirs = limiter.tryAcquirePermit();
        // ours: limiter-alone
        var ours = own.tryAcquire();
        // end

        assertThat(theirs).isTrue();
        assertThat(ours).isTrue();
        assertThat(limiter.tryAcquirePermit()).isFalse();
        assertThat(own.tryAcquire()).isFalse();
    }

    @Test
    void slots() {
        // theirs: bulkhead
        var theirs = dev.failsafe.Bulkhead.builder(2);
        // ours: bulkhead
        var ours = Bulkhead.of(2, b -> b.maxWait(ZERO));
        // end

        dev.failsafe.Bulkhead<Object> bulkhead = theirs.build();
        assertThat(List.of(bulkhead.tryAcquirePermit(), bulkhead.tryAcquirePermit()))
                .containsOnly(true);
        assertThatThrownBy(() -> Failsafe.with(bulkhead).run(() -> {}))
                .isInstanceOf(dev.failsafe.BulkheadFullException.class);
        on(scope().bulkhead(ours)).run(s -> {
            s.bulkhead(ours).fork(() -> Selvedge.sleep(ofSeconds(1)));
            s.bulkhead(ours).fork(() -> Selvedge.sleep(ofSeconds(1)));
            Selvedge.sleep(ofMillis(1));
            assertThatThrownBy(() -> scope().bulkhead(ours).run(() -> {})).isInstanceOf(BulkheadFullException.class);
        });
    }

    @Test
    void a_longest_wait_for_a_slot() {
        // theirs: bulkhead-wait
        var theirs = dev.failsafe.Bulkhead.builder(1).withMaxWaitTime(ofMillis(5));
        // ours: bulkhead-wait
        var ours = Bulkhead.of(1, b -> b.maxWait(ofMillis(5)));
        // end

        dev.failsafe.Bulkhead<Object> bulkhead = theirs.build();
        assertThat(bulkhead.tryAcquirePermit()).isTrue();
        assertThatThrownBy(() -> Failsafe.with(bulkhead).run(() -> {}))
                .isInstanceOf(dev.failsafe.BulkheadFullException.class);
        on(scope()).run(s -> {
            s.bulkhead(ours).fork(() -> Selvedge.sleep(ofSeconds(1)));
            Selvedge.sleep(ofMillis(1));
            assertThatThrownBy(() -> scope().bulkhead(ours).run(() -> {})).isInstanceOf(BulkheadFullException.class);
            assertThat(clock.elapsed()).isEqualTo(ofMillis(6));
        });
    }

    // Timeouts.

    @Test
    void a_timeout() {
        // theirs: timeout
        var theirs = Timeout.of(ofMillis(5));
        // ours: timeout
        var ours = scope().timeout(ofMillis(5));
        // end

        AtomicInteger done = new AtomicInteger();
        assertThatThrownBy(() -> Failsafe.with(theirs).get(attempt -> {
                    while (!attempt.isCancelled()) { // it can know that it was timed out
                        Thread.onSpinWait();
                    }
                    done.incrementAndGet();
                    return "late";
                }))
                .isInstanceOf(TimeoutExceededException.class);
        assertThat(done).as("it was not interrupted, and was awaited").hasValue(1);
        assertThatThrownBy(() -> on(ours).run(() -> Selvedge.sleep(ofMillis(50))))
                .isInstanceOf(AttemptTimeoutException.class);
        assertThat(clock.elapsed()).isEqualTo(ofMillis(5));
        assertThat(on(ours).<String, RuntimeException>call(() -> Selvedge.shielded(() -> {
                    Selvedge.sleep(ofMillis(50));
                    return "late";
                })))
                .isEqualTo("late");
    }

    @Test
    void a_timeout_that_interrupts() {
        // theirs: timeout-interrupt
        var theirs = Timeout.builder(ofMillis(5)).withInterrupt();
        // ours: timeout-interrupt
        var ours = scope().timeout(ofMillis(5));
        // end

        CountDownLatch never = new CountDownLatch(1);
        assertThatThrownBy(() -> Failsafe.with(theirs.build()).run(() -> never.await()))
                .isInstanceOf(TimeoutExceededException.class);
        assertThatThrownBy(() -> on(ours).run(() -> Selvedge.sleep(ofMillis(50))))
                .isInstanceOf(AttemptTimeoutException.class);
    }

    @Test
    void a_timeout_of_the_whole() {
        // theirs: timeout-of-all
        var theirs = Failsafe.with(
                Timeout.builder(ofMillis(300)).withInterrupt().build(),
                RetryPolicy.builder().withDelay(ofSeconds(10)).build());
        // ours: timeout-of-all
        var ours = scope().deadline(ofMillis(300)).retry(r -> r.fixed(ofSeconds(10)));
        // end

        AtomicInteger calls = new AtomicInteger();
        assertThatThrownBy(() -> theirs.run(() -> {
                    calls.incrementAndGet();
                    throw new IOException("no");
                }))
                .isInstanceOf(TimeoutExceededException.class);
        assertThat(calls).hasValue(1);
        assertThat(fail(on(ours))).isInstanceOf(IOException.class);
        assertThat(clock.elapsed()).as("no wait is begun").isZero();
    }

    // Fallbacks.

    @Test
    void a_fallback() {
        Callable<String> theirs = () -> {
            // theirs: fallback
            return Failsafe.with(Fallback.of("other")).get(() -> load());
            // end
        };
        Callable<String> ours = () -> {
            // ours: fallback
            return scope().call(() -> load(), e -> "other");
            // end
        };

        assertThat(valueOf(theirs)).isEqualTo("other");
        assertThat(valueOf(ours)).isEqualTo("other");
        assertThat((Object) Failsafe.with(Fallback.of("other")).get(() -> {
                    throw new AssertionError("an error");
                }))
                .isEqualTo("other");
        assertThatThrownBy(() -> scope().call(
                                () -> {
                                    throw new AssertionError("an error");
                                },
                                e -> "other"))
                .isInstanceOf(AssertionError.class);
        assertThat((Object) Failsafe.with(Fallback.of("other")).get(() -> {
                    throw new InterruptedException();
                }))
                .isEqualTo("other");
    }

    @Test
    void a_fallback_for_some_failures() {
        Callable<Object> theirs = () -> {
            // theirs: fallback-handle
            return Failsafe.with(Fallback.builder("other")
                            .handle(FileNotFoundException.class)
                            .build())
                    .get(() -> load());
            // end
        };
        Callable<String> ours = () -> {
            // ours: fallback-handle
            return scope().call(() -> load(), e -> {
                if (e instanceof FileNotFoundException) {
                    return "other";
                }
                throw e;
            });
            // end
        };

        assertThatThrownBy(theirs::call).hasRootCauseMessage("no");
        assertThatThrownBy(ours::call).isInstanceOf(IOException.class).hasMessage("no");
    }

    @Test
    void another_exception() {
        Callable<Object> theirs = () -> {
            // theirs: fallback-exception
            return Failsafe.with(Fallback.ofException(e -> new IllegalStateException(e.getLastException())))
                    .get(() -> load());
            // end
        };
        Callable<String> ours = () -> {
            // ours: fallback-exception
            return scope().call(() -> load(), e -> {
                throw new IllegalStateException(e);
            });
            // end
        };

        assertThatThrownBy(theirs::call)
                .isInstanceOf(IllegalStateException.class)
                .hasRootCauseMessage("no");
        assertThatThrownBy(ours::call).isInstanceOf(IllegalStateException.class).hasRootCauseMessage("no");
    }

    // More.

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

    @Test
    void a_breaker_around_retries() {
        var breaker =
                dev.failsafe.CircuitBreaker.builder().withFailureThreshold(2).build();
        var own = CircuitBreaker.of("prices", b -> b.failures(2));
        // theirs: breaker-outside
        var theirs = Failsafe.with(breaker, RetryPolicy.ofDefaults());
        // ours: breaker-outside
        var ours = scope().breaker(own).retry(Retry.DEFAULT);
        // end

        AtomicInteger calls = new AtomicInteger();
        assertThatThrownBy(() -> theirs.run(() -> {
                    calls.incrementAndGet();
                    throw new IOException("no");
                }))
                .isInstanceOf(FailsafeException.class);
        assertThat(calls).hasValue(3);
        assertThat(breaker.getFailureCount()).isEqualTo(1);
        fail(on(ours));
        assertThat(own.counts().failures()).isEqualTo(1);
    }

    @Test
    void a_breaker_inside_retries() {
        var breaker =
                dev.failsafe.CircuitBreaker.builder().withFailureThreshold(2).build();
        var own = CircuitBreaker.of("prices", b -> b.failures(2).countAttempts());
        // theirs: breaker-inside
        var theirs = Failsafe.with(RetryPolicy.ofDefaults(), breaker);
        // ours: breaker-inside
        var ours = scope().retry(Retry.DEFAULT).breaker(own);
        // end

        assertThatThrownBy(() -> theirs.run(() -> {
                    throw new IOException("no");
                }))
                .isInstanceOf(CircuitBreakerOpenException.class);
        assertThat(fail(on(ours))).isExactlyInstanceOf(IOException.class);
        assertThat(own.state()).isEqualTo(CircuitBreaker.State.OPEN);
    }

    @Test
    void a_future() throws Exception {
        Callable<CompletableFuture<String>> theirs = () -> {
            // theirs: async
            return Failsafe.with(RetryPolicy.ofDefaults()).getAsync(() -> "value");
            // end
        };
        Callable<String> ours = () -> {
            // ours: async
            return scope().retry(Retry.DEFAULT).call(s -> s.fork(() -> "value").join());
            // end
        };

        assertThat(theirs.call().get()).isEqualTo("value");
        assertThat(valueOf(ours)).isEqualTo("value");
    }

    @Test
    void an_interrupt() {
        var breaker = dev.failsafe.CircuitBreaker.ofDefaults();
        var own = CircuitBreaker.of("prices", b -> b.failures(1));
        // theirs: interrupt
        var theirs = Failsafe.with(RetryPolicy.ofDefaults(), breaker);
        // ours: interrupt
        var ours = scope().retry(Retry.DEFAULT).breaker(own);
        // end

        assertThatThrownBy(() -> theirs.run(() -> {
                    throw new InterruptedException();
                }))
                .isInstanceOf(FailsafeException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(breaker.isOpen()).as("it counts as a failure").isTrue();
        assertThatThrownBy(() -> on(ours).run(() -> {
                    throw new InterruptedException();
                }))
                .isInstanceOf(dev.selvedge.ScopeCancelledException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(own.state()).isEqualTo(CircuitBreaker.State.CLOSED);
    }

    // Both sides.

    private static Throwable fail(ScopeSpec spec) {
        return catchThrowable(() -> spec.run(() -> {
            throw new IOException("no");
        }));
    }

    private <T> T valueOf(Callable<T> call) {
        try {
            return scope().clock(clock).call(call::call);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static int callsOf(RetryPolicyBuilder<Object> policy, Throwable failure) {
        AtomicInteger calls = new AtomicInteger();
        assertThat(catchThrowable(() -> Failsafe.with(policy.build()).run(() -> {
                    calls.incrementAndGet();
                    throw failure;
                })))
                .isNotNull();
        return calls.get();
    }

    private Throwable thrownBy(Retry policy, Exception failure) {
        return catchThrowable(() -> scope().clock(clock).retry(policy).run(() -> {
            throw failure;
        }));
    }

    private static List<Duration> waitsOf(RetryPolicyBuilder<Object> policy, int n) {
        return waitsOf(policy, n, new IOException());
    }

    private static List<Duration> waitsOf(RetryPolicyBuilder<Object> policy, int n, Exception failure) {
        List<Duration> waits = new ArrayList<>();
        RetryPolicy<Object> built = policy.withMaxRetries(n)
                .onRetryScheduled(e -> waits.add(e.getDelay()))
                .build();
        assertThat(catchThrowable(() -> Failsafe.with(built).run(() -> {
                    throw failure;
                })))
                .isNotNull();
        return waits;
    }

    private static List<Duration> waitsOf(Retry policy, int n) {
        return waitsAfter(new IOException(), policy, n);
    }

    private static int failuresUntilOpen(CircuitBreakerBuilder<Object> settings) {
        dev.failsafe.CircuitBreaker<Object> breaker = settings.build();
        int n = 0;
        while (!breaker.isOpen()) {
            breaker.recordFailure();
            n++;
        }
        return n;
    }

    private static int passed(dev.failsafe.RateLimiter<Object> limiter) {
        int n = 0;
        while (limiter.tryAcquirePermit()) {
            n++;
        }
        return n;
    }
}
