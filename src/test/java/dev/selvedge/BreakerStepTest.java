package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.ScopeEvent.RetryGaveUp;
import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitBreaker.State;
import dev.selvedge.policy.CircuitOpenException;
import dev.selvedge.policy.RateLimitedException;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import dev.selvedge.policy.Retry.Reason;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Circuit breakers as a step of a scope: what is counted, what a trial is, and how retries see it. */
@Timeout(30)
class BreakerStepTest {

    private static final Retry PLAIN = Retry.DEFAULT.withoutJitter();

    @RegisterExtension
    final Lab lab = new Lab();

    private final AtomicInteger calls = new AtomicInteger();
    private final CircuitBreaker breaker = breaker(2);

    private static CircuitBreaker breaker(int failures) {
        return CircuitBreaker.of("b", b -> b.failures(failures).coolDown(ofSeconds(10)));
    }

    private void fail(ScopeSpec spec) {
        assertThatThrownBy(() -> spec.run(() -> {
                    calls.incrementAndGet();
                    throw new IOException("no");
                }))
                .isInstanceOf(IOException.class);
    }

    private ScopeSpec spec() {
        return lab.scope("a").breaker(breaker);
    }

    /** Opens the breaker, and lets the cool-down go by. */
    private void openAndCoolDown() {
        fail(spec());
        fail(spec());
        calls.set(0);
        lab.scope().run(() -> Selvedge.sleep(ofSeconds(10)));
        assertThat(breaker.state()).isEqualTo(State.OPEN);
        assertThat(breaker.remainingCoolDown()).isZero();
    }

    @Test
    void after_so_many_failures_the_task_is_not_run() {
        fail(spec());
        fail(spec());

        CircuitOpenException open = (CircuitOpenException) catchThrowable(() -> spec().run(calls::incrementAndGet));
        assertThat(open).hasMessage("the circuit breaker \"b\" is open for another 10 s");
        assertThat(open.retryAfter()).isEqualTo(ofSeconds(10));
        assertThat(calls).hasValue(2);
    }

    @Test
    void a_refusal_is_answered_by_a_fallback_and_is_an_outcome() {
        breaker.forceOpen();

        assertThat(spec().<String, RuntimeException>call(
                                () -> "value", e -> e.getClass().getSimpleName()))
                .isEqualTo("CircuitOpenException");
        assertThat(spec().attempt(() -> "value")).isInstanceOf(Outcome.Failure.class);
    }

    @Test
    @Lesson(55)
    void it_counts_a_task_once_however_many_attempts_it_took() {
        fail(spec().retry(PLAIN));
        assertThat(breaker.counts().failures()).isEqualTo(1);
        fail(spec().retry(PLAIN));

        assertThat(breaker.state()).isEqualTo(State.OPEN);
        assertThat(calls).hasValue(6);
    }

    @Test
    @Lesson(55)
    void one_that_counts_attempts_counts_each() {
        CircuitBreaker counting = CircuitBreaker.of(
                "c", b -> b.failures(2).coolDown(ofSeconds(10)).countAttempts());

        fail(lab.scope("a").breaker(counting).retry(PLAIN));

        assertThat(counting.state()).isEqualTo(State.OPEN);
        assertThat(calls).hasValue(2);
        assertThat(lab.now()).isEqualTo(ofMillis(100));
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.BREAKER_OPENED);
    }

    @Test
    void retries_end_with_the_last_failure_once_others_have_opened_the_breaker() {
        lab.scope("a").run(s -> {
            Fork<?> other = s.fork(() -> {
                Selvedge.sleep(ofMillis(50));
                fail(Selvedge.scope("other").breaker(breaker));
                fail(Selvedge.scope("other").breaker(breaker));
            });
            Throwable last = catchThrowable(
                    () -> Selvedge.scope("mine").breaker(breaker).retry(PLAIN).run(() -> {
                        calls.incrementAndGet();
                        throw new IOException("mine");
                    }));
            other.join();

            assertThat(last).isInstanceOf(IOException.class).hasMessage("mine");
        });

        assertThat(calls).hasValue(3);
        assertThat(lab.now()).isEqualTo(ofMillis(100));
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.BREAKER_OPENED);
    }

    // Trials.

    @Test
    void a_trial_is_one_attempt_without_retries_and_hedges_and_knows_it() {
        openAndCoolDown();

        fail(spec().retry(PLAIN).hedge(ofMillis(1)));
        assertThat(calls).hasValue(1);
        assertThat(breaker.state()).isEqualTo(State.OPEN);
        assertThat(breaker.remainingCoolDown()).isEqualTo(ofSeconds(10));
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.BREAKER_OPENED);

        lab.scope().run(() -> Selvedge.sleep(ofSeconds(10)));
        boolean trial = spec().retry(PLAIN).hedge(ofMillis(1)).call(() -> {
            lab.sleep("trial", ofSeconds(1));
            return Selvedge.attempt().isTrial();
        });
        assertThat(trial).isTrue();
        assertThat(breaker.state()).isEqualTo(State.CLOSED);
        assertThat(spec().<Boolean, RuntimeException>call(
                                () -> Selvedge.attempt().isTrial()))
                .isFalse();
    }

    @Test
    void one_that_counts_attempts_tries_with_one_attempt_of_the_retries() {
        CircuitBreaker counting = CircuitBreaker.of(
                "c", b -> b.failures(1).coolDown(ofMillis(500)).countAttempts());
        ScopeSpec spec = lab.scope("a").breaker(counting).retry(PLAIN.fixed(ofSeconds(1)));
        fail(spec);
        lab.scope().run(() -> Selvedge.sleep(ofSeconds(1)));

        assertThat(spec.<Boolean, RuntimeException>call(() -> Selvedge.attempt().isTrial()))
                .isTrue();
        assertThat(counting.state()).isEqualTo(State.CLOSED);
    }

    /** How a trial may end without telling anything about the service. */
    static Stream<ThrowingTask> silent_ends() {
        return Stream.of(
                new ThrowingTask("an error", () -> {
                    throw new AssertionError("no");
                }),
                new ThrowingTask("an interrupt", () -> {
                    throw new InterruptedException();
                }),
                new ThrowingTask("a cancellation", () -> {
                    throw new CancellationException();
                }),
                new ThrowingTask("another breaker", () -> {
                    CircuitBreaker other = CircuitBreaker.of("other");
                    other.forceOpen();
                    Selvedge.scope().breaker(other).run(() -> {});
                }));
    }

    record ThrowingTask(String name, Task.Void<Exception> task) {
        @Override
        public String toString() {
            return name;
        }
    }

    @ParameterizedTest
    @MethodSource("silent_ends")
    @Lesson({35, 37, 38, 39, 45})
    void a_trial_that_tells_nothing_is_given_back_and_the_next_call_is_the_trial(ThrowingTask end) {
        openAndCoolDown();

        Throwable thrown = catchThrowable(() -> spec().run(end.task()));

        assertThat(thrown).isNotNull();
        assertThat(Thread.interrupted()).isEqualTo(thrown instanceof ScopeCancelledException);
        assertThat(breaker.state()).isEqualTo(State.HALF_OPEN);
        spec().run(calls::incrementAndGet);
        assertThat(breaker.state()).isEqualTo(State.CLOSED);
        assertThat(calls).hasValue(1);
    }

    @Test
    @Lesson(40)
    void a_trial_that_is_refused_further_in_is_given_back() {
        openAndCoolDown();
        RateLimiter used = RateLimiter.of(1, ofSeconds(60));
        assertThat(used.tryAcquire(lab.clock())).isTrue();

        assertThatThrownBy(() -> spec().deadline(ofSeconds(1)).rateLimit(used).run(calls::incrementAndGet))
                .isInstanceOf(RateLimitedException.class);

        spec().run(calls::incrementAndGet);
        assertThat(breaker.state()).isEqualTo(State.CLOSED);
        assertThat(calls).hasValue(1);
    }

    @Test
    @Lesson(41)
    void a_trial_whose_predicate_throws_is_given_back() {
        AtomicInteger asked = new AtomicInteger();
        CircuitBreaker judging = CircuitBreaker.of(
                "judging",
                b -> b.failures(1).coolDown(ofSeconds(10)).failsOn(e -> {
                    if (asked.incrementAndGet() == 2) {
                        throw new IllegalStateException("the predicate");
                    }
                    return true;
                }));
        ScopeSpec spec = lab.scope("a").breaker(judging);
        fail(spec);
        lab.scope().run(() -> Selvedge.sleep(ofSeconds(10)));

        fail(spec);

        assertThat(judging.state()).isEqualTo(State.HALF_OPEN);
        spec.run(() -> {});
        assertThat(judging.state()).isEqualTo(State.CLOSED);
    }

    // Cut off.

    @Test
    @Lesson({31, 41})
    void a_deadline_around_that_passes_in_a_predicate_or_a_listener_is_not_lost() {
        CircuitBreaker slow = CircuitBreaker.of(
                "slow",
                b -> b.failures(1).failsOn(e -> {
                    Selvedge.sleep(ofSeconds(2));
                    return true;
                }));
        CircuitBreaker told =
                CircuitBreaker.of("told", b -> b.failures(1).onTransition((from, to) -> Selvedge.sleep(ofSeconds(2))));

        try (Log log = Log.of("dev.selvedge.policy")) {
            for (CircuitBreaker breaker : List.of(slow, told)) {
                assertThatThrownBy(() -> lab.scope("outer")
                                .deadline(ofSeconds(1))
                                .run(() -> {
                                    fail(Selvedge.scope("inner").breaker(breaker));
                                    Selvedge.sleep(ofSeconds(9));
                                }))
                        .isInstanceOf(DeadlineExceededException.class);
            }
            assertThat(log.thrown()).hasSize(2);
        }

        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    void a_service_that_only_hangs_opens_its_breaker_with_a_deadline_alone() {
        ScopeSpec hanging = spec().deadline(ofSeconds(1));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> hanging.run(() -> Selvedge.sleep(ofSeconds(60))))
                    .isInstanceOf(DeadlineExceededException.class);
        }

        assertThat(breaker.state()).isEqualTo(State.OPEN);
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    void so_it_does_in_forks_one_failure_for_each() {
        assertThatThrownBy(() -> spec().deadline(ofSeconds(1)).gather(() -> hang(), () -> hang()))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(breaker.state()).isEqualTo(State.OPEN);
    }

    @Test
    void and_with_hedges_one_failure_for_all_of_them() {
        assertThatThrownBy(
                        () -> spec().deadline(ofSeconds(1)).hedge(ofMillis(1)).run(() -> Selvedge.sleep(ofSeconds(60))))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(breaker.counts().failures()).isEqualTo(1);
        assertThat(breaker.state()).isEqualTo(State.CLOSED);
    }

    private static String hang() {
        Selvedge.sleep(ofSeconds(60));
        return "late";
    }

    @Test
    @Lesson(35)
    void a_deadline_around_tells_nothing_about_the_service() {
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> lab.scope("outer")
                            .deadline(ofSeconds(1))
                            .run(() -> Selvedge.scope("inner")
                                    .deadline(ofSeconds(5))
                                    .breaker(breaker)
                                    .run(() -> Selvedge.sleep(ofSeconds(60)))))
                    .isInstanceOf(DeadlineExceededException.class)
                    .hasMessageStartingWith("the scope \"outer\"");
        }

        assertThat(breaker.counts().failures()).isZero();
    }

    @Test
    void nor_does_a_deadline_that_passes_in_a_back_off_or_a_queue() {
        CircuitBreaker first = breaker(1);
        Bulkhead full = Bulkhead.of(1);

        lab.scope("a").run(s -> {
            Fork<?> holder = s.bulkhead(full).fork(() -> Selvedge.sleep(ofSeconds(9)));
            Selvedge.sleep(ofSeconds(1));
            assertThatThrownBy(() -> Selvedge.scope("b")
                            .deadline(ofSeconds(1))
                            .breaker(first)
                            .bulkhead(full)
                            .run(calls::incrementAndGet))
                    .isInstanceOf(DeadlineExceededException.class);
            holder.join();
        });

        assertThat(first.counts().failures()).isZero();
        assertThat(calls).hasValue(0);
        assertThat(full.free()).isEqualTo(1);
    }

    @Test
    void nor_does_a_sibling_that_fails() {
        assertThatThrownBy(() -> spec().gather(() -> hang(), () -> {
                    Selvedge.sleep(ofSeconds(1));
                    throw new IOException("sibling");
                }))
                .isInstanceOf(ScopeFailedException.class);

        assertThat(breaker.counts().failures()).isEqualTo(1);
    }

    /** The task catches the request to stop, and throws what it likes instead. */
    @Test
    @Lesson(35)
    void what_a_task_throws_because_it_was_asked_to_stop_tells_nothing() {
        CircuitBreaker first = breaker(1);
        Callable<String> aborts = () -> {
            try {
                Selvedge.sleep(ofSeconds(60));
            } catch (ScopeCancelledException e) {
                throw new IOException("aborted");
            }
            return "late";
        };
        Callable<String> wins = () -> {
            Selvedge.sleep(ofSeconds(1));
            return "value";
        };

        assertThat(lab.scope().breaker(first).race(aborts, wins)).isEqualTo("value");
        assertThat(first.state()).isEqualTo(State.CLOSED);

        assertThatThrownBy(() -> lab.scope("outer")
                        .deadline(ofSeconds(1))
                        .run(() -> Selvedge.scope("inner").breaker(first).run(() -> aborts.call())))
                .isInstanceOf(IOException.class);
        assertThat(first.state()).isEqualTo(State.CLOSED);

        assertThatThrownBy(() -> lab.scope("a").breaker(first).run(() -> {
                    Thread.currentThread().interrupt();
                    throw new IOException("aborted");
                }))
                .isInstanceOf(IOException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(first.state()).isEqualTo(State.CLOSED);

        assertThatThrownBy(() ->
                        lab.scope("own").deadline(ofSeconds(1)).breaker(first).run(() -> aborts.call()))
                .isInstanceOf(IOException.class);
        assertThat(first.state()).isEqualTo(State.OPEN);
    }

    @Test
    void what_a_future_throws_when_the_own_deadline_cuts_it_off_is_a_failure() {
        CircuitBreaker first = breaker(1);

        assertThatThrownBy(() -> lab.scope("own")
                        .deadline(ofSeconds(1))
                        .breaker(first)
                        .run(() -> {
                            try {
                                Selvedge.sleep(ofSeconds(60));
                            } catch (ScopeCancelledException e) {
                                throw new CancellationException("of a future");
                            }
                        }))
                .isInstanceOf(CancellationException.class);

        assertThat(first.state()).isEqualTo(State.OPEN);
    }

    @Test
    @Lesson(40)
    void a_refusal_inside_a_gather_tells_nothing_and_is_not_retried() {
        CircuitBreaker outer = breaker(1);
        CircuitBreaker open = CircuitBreaker.of("open");
        open.forceOpen();

        assertThatThrownBy(() -> lab.scope("a").breaker(outer).retry(PLAIN).run(() -> {
                    calls.incrementAndGet();
                    Object unused = Selvedge.scope("in").breaker(open).gather(() -> 1);
                }))
                .isInstanceOf(ScopeFailedException.class);

        assertThat(calls).hasValue(1);
        assertThat(outer.state()).isEqualTo(State.CLOSED);
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.NOT_RETRYABLE);
    }

    @Test
    void an_attempt_that_times_out_is_a_failure() {
        ScopeSpec timed = spec().timeout(ofSeconds(1));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> timed.run(() -> Selvedge.sleep(ofSeconds(60))))
                    .isInstanceOf(AttemptTimeoutException.class);
        }

        assertThat(breaker.state()).isEqualTo(State.OPEN);
    }

    @Test
    void a_block_inside_that_exceeds_its_deadline_is_a_failure() {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> spec().run(() ->
                            Selvedge.scope("inner").deadline(ofSeconds(1)).run(() -> Selvedge.sleep(ofSeconds(60)))))
                    .isInstanceOf(DeadlineExceededException.class);
        }

        assertThat(breaker.state()).isEqualTo(State.OPEN);
    }

    @Test
    void a_call_that_has_waited_is_not_slow_for_that() {
        CircuitBreaker slow = CircuitBreaker.of(
                "slow", b -> b.failureRate(1, 10).slowCalls(ofSeconds(1), 1).minimumCalls(1));
        Bulkhead one = Bulkhead.of(1);
        RateLimiter pace = RateLimiter.of(1, ofSeconds(3));
        ScopeSpec waiting =
                lab.scope("a").breaker(slow).bulkhead(one).rateLimit(pace).retry(PLAIN.fixed(ofSeconds(5)));

        List<Object> unused = waiting.map(List.of(1, 2), i -> {
            if (calls.incrementAndGet() == 1) {
                throw new IOException("no");
            }
            Selvedge.sleep(ofMillis(500));
            return i;
        });
        List<Object> unusedToo = waiting.hedge(ofSeconds(60)).map(List.of(1, 2), i -> {
            Selvedge.sleep(ofMillis(500));
            return i;
        });
        assertThat(slow.counts()).isEqualTo(new CircuitBreaker.Counts(4, 0, 0));

        waiting.run(() -> Selvedge.sleep(ofSeconds(2)));
        assertThat(slow.counts().slow()).isEqualTo(1);
    }

    @Test
    void on_another_clock_it_starts_fresh() {
        fail(spec());
        fail(spec());
        assertThat(breaker.state()).isEqualTo(State.OPEN);

        Selvedge.scope().clock(new Lab().clock()).breaker(breaker).run(calls::incrementAndGet);

        assertThat(breaker.state()).isEqualTo(State.CLOSED);
    }
}
