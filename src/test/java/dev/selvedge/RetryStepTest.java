package dev.selvedge;

import static dev.selvedge.Blocks.flag;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.ScopeEvent.AttemptFailed;
import dev.selvedge.ScopeEvent.RetryGaveUp;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.Retry;
import dev.selvedge.policy.Retry.DelaySource;
import dev.selvedge.policy.Retry.Reason;
import dev.selvedge.policy.RetryBudget;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Retries as a step of a scope: how often, after how long, and what becomes of the failures. */
@Timeout(30)
class RetryStepTest {

    private static final Retry PLAIN = Retry.DEFAULT.withoutJitter();

    @RegisterExtension
    final Lab lab = new Lab();

    private final AtomicInteger calls = new AtomicInteger();
    private final List<IOException> thrown = new ArrayList<>();

    /** Fails so many times, and then gives "value". */
    private Callable<String> failing(int times) {
        return () -> {
            lab.note("attempt " + calls.incrementAndGet());
            if (calls.get() <= times) {
                IOException e = new IOException("no " + calls.get());
                thrown.add(e);
                throw e;
            }
            return "value";
        };
    }

    private String call(ScopeSpec spec, Callable<String> task) throws Exception {
        return spec.call((Task<String, Exception>) task::call);
    }

    @Test
    @Lesson({13, 14, 92})
    void a_task_that_fails_is_called_anew_after_a_wait_that_grows() throws Exception {
        assertThat(call(lab.scope("a").retry(PLAIN), failing(2))).isEqualTo("value");

        assertThat(lab.trail()).containsExactly("0s attempt 1", "0.1s attempt 2", "0.3s attempt 3");
        assertThat(lab.events(AttemptFailed.class))
                .containsExactly(
                        new AttemptFailed("a", "a", 1, thrown.get(0), ofMillis(100), DelaySource.BACKOFF),
                        new AttemptFailed("a", "a", 2, thrown.get(1), ofMillis(200), DelaySource.BACKOFF));
        assertThat(lab.events(RetryGaveUp.class)).isEmpty();
        assertThat(lab.unhandled()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10})
    @Lesson({14, 15, 22, 93})
    void the_last_failure_is_thrown_as_it_is_after_exactly_so_many_attempts(int attempts) {
        Throwable last = catchThrowable(() -> call(lab.scope("a").retry(PLAIN.attempts(attempts)), failing(99)));

        assertThat(calls).hasValue(attempts);
        assertThat(last).isSameAs(thrown.get(attempts - 1)).hasNoCause().hasNoSuppressedExceptions();
        assertThat(lab.events(RetryGaveUp.class))
                .containsExactly(new RetryGaveUp(
                        "a",
                        "a",
                        attempts,
                        Reason.ATTEMPTS,
                        thrown.get(attempts - 1),
                        List.copyOf(thrown.subList(0, attempts - 1))));
    }

    @Test
    @Lesson(22)
    void of_many_failures_the_last_ten_are_kept() {
        Throwable last = catchThrowable(
                () -> call(lab.scope("a").retry(PLAIN.immediately().attempts(300)), failing(300)));

        assertThat(last).hasMessage("no 300");
        assertThat(lab.events(RetryGaveUp.class))
                .containsExactly(new RetryGaveUp(
                        "a", "a", 300, Reason.ATTEMPTS, thrown.get(299), List.copyOf(thrown.subList(289, 299))));
    }

    @Test
    void a_step_refines_the_policy_there_is() throws Exception {
        ScopeSpec base = lab.scope().retry(PLAIN.fixed(ofSeconds(1)));

        assertThat(call(base.retry(r -> r.attempts(5)), failing(4))).isEqualTo("value");

        assertThat(lab.now()).isEqualTo(ofSeconds(4));
    }

    @Test
    void each_task_of_a_fan_out_has_its_own_retries() {
        List<Integer> values = lab.scope("a").retry(PLAIN).map(List.of(0, 1, 2), i -> {
            lab.note(i + " as " + Selvedge.attempt().number());
            if (Selvedge.attempt().number() <= i) {
                throw new IOException("no");
            }
            return i;
        });

        assertThat(values).containsExactly(0, 1, 2);
        assertThat(lab.trail())
                .containsExactly("0s 0 as 1", "0s 1 as 1", "0s 2 as 1", "0.1s 1 as 2", "0.1s 2 as 2", "0.3s 2 as 3");
        assertThat(lab.events(AttemptFailed.class))
                .extracting(AttemptFailed::fork)
                .containsExactly("fork-2", "fork-3", "fork-3");
    }

    @Test
    void in_a_live_scope_a_fork_has_the_policies_of_the_view_it_was_made_by() {
        lab.scope("a").run(s -> {
            Scope patient = s.retry(PLAIN);
            Fork<String> plain = s.fork("plain", () -> Selvedge.attempt().number() + "");
            Fork<String> retried = patient.fork("retried", failing(1));

            assertThat(plain.join() + retried.join()).isEqualTo("1value");
            assertThat(patient.name()).isEqualTo("a");
        });

        assertThat(lab.events(AttemptFailed.class))
                .extracting(AttemptFailed::fork)
                .containsExactly("retried");
    }

    @Test
    void a_live_scope_takes_its_forks_policies_from_its_specification_but_not_its_body() {
        assertThatThrownBy(() -> lab.scope("a").retry(PLAIN).run(s -> {
                    assertThat(s.fork(failing(1)).join()).isEqualTo("value");
                    calls.incrementAndGet();
                    throw new IOException("the body");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("the body");

        assertThat(calls).hasValue(3);
    }

    @Test
    @Lesson(85)
    void an_error_is_not_retried() {
        StackOverflowError error = new StackOverflowError();

        assertThatThrownBy(() -> lab.scope().retry(PLAIN.when(e -> true)).run(() -> {
                    calls.incrementAndGet();
                    throw error;
                }))
                .isSameAs(error);

        assertThat(calls).hasValue(1);
        assertThat(lab.events(RetryGaveUp.class)).isEmpty();
    }

    @Test
    void what_failed_before_an_error_is_told_without_a_listener_too() {
        assertThatThrownBy(() -> lab.scope().retry(PLAIN).run(() -> {
                    if (Selvedge.attempt().number() == 1) {
                        throw new IOException("first");
                    }
                    throw new AssertionError("second");
                }))
                .isInstanceOf(AssertionError.class);

        assertThat(lab.events(AttemptFailed.class))
                .extracting(e -> e.error().getMessage())
                .containsExactly("first");
    }

    // Cut off.

    @Test
    @Lesson({29, 31, 32, 35})
    void an_interrupt_of_the_task_is_not_retried() {
        assertThatThrownBy(() -> lab.scope().retry(PLAIN.when(e -> true)).run(() -> {
                    calls.incrementAndGet();
                    throw new InterruptedException();
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(calls).hasValue(1);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @Lesson({31, 36})
    void an_interrupt_ends_a_back_off_and_carries_the_failure_it_was_for() {
        Throwable cut = catchThrowable(() -> lab.scope("a").run(s -> {
            s.fork("helper", () -> {
                Selvedge.sleep(ofSeconds(1));
                s.cancel("enough");
                return null;
            });
            s.retry(PLAIN.fixed(ofSeconds(5))).fork("worker", failing(9)).join();
        }));

        assertThat(cut).isInstanceOf(ScopeCancelledException.class).hasMessage("enough");
        assertThat(calls).hasValue(1);
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
        assertThat(lab.unhandled()).containsExactly(thrown.get(0));
    }

    @Test
    @Lesson({29, 30})
    void a_failure_with_the_flag_set_ends_the_retries_and_the_flag_stays() {
        IOException failure = new IOException("no");

        assertThatThrownBy(() -> lab.scope("a").retry(PLAIN).run(() -> {
                    Thread.currentThread().interrupt();
                    throw failure;
                }))
                .isSameAs(failure);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.CANCELLED);
    }

    @Test
    @Lesson(30)
    void a_value_with_the_flag_set_is_the_value_and_the_flag_stays() {
        assertThat(lab.scope("a").retry(PLAIN).<String, RuntimeException>call(() -> {
                    Thread.currentThread().interrupt();
                    return "value";
                }))
                .isEqualTo("value");

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @Lesson(33)
    void one_interrupt_ends_nested_retries() {
        Thread me = Thread.currentThread();
        Throwable cut = catchThrowable(() -> lab.scope("outer").retry(PLAIN).run(() -> {
            Selvedge.scope("inner").retry(PLAIN.fixed(ofSeconds(60))).run(() -> {
                calls.incrementAndGet();
                me.interrupt();
                throw new IOException("no");
            });
        }));

        assertThat(cut).isInstanceOf(IOException.class);
        assertThat(calls).hasValue(1);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @Lesson(34)
    void no_fallback_answers_an_interrupt() {
        assertThatThrownBy(() -> lab.scope()
                        .retry(PLAIN)
                        .call(
                                () -> {
                                    throw new InterruptedException();
                                },
                                e -> "fallback"))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void a_cancellation_that_nobody_asked_for_is_a_failure_and_not_retried() {
        CancellationException strange = new CancellationException("of a future");

        assertThatThrownBy(() -> lab.scope().retry(PLAIN).run(() -> {
                    calls.incrementAndGet();
                    throw strange;
                }))
                .isSameAs(strange);

        assertThat(calls).hasValue(1);
        assertThat(lab.scope()
                        .<String, RuntimeException>call(
                                () -> {
                                    throw strange;
                                },
                                Exception::getMessage))
                .isEqualTo("of a future");
    }

    // Time.

    @Test
    @Catalogue(67)
    @Lesson({18, 73})
    void a_wait_that_would_end_after_the_deadline_is_not_begun() {
        assertThatThrownBy(() -> call(lab.scope("a").deadline(ofMillis(250)).retry(PLAIN), failing(9)))
                .isInstanceOf(IOException.class);

        assertThat(lab.trail()).containsExactly("0s attempt 1", "0.1s attempt 2");
        assertThat(lab.now()).isEqualTo(ofMillis(100));
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.DEADLINE);
    }

    @Test
    @Catalogue(67)
    @Lesson(73)
    void an_attempt_has_its_timeout_or_what_is_left_of_the_deadline() {
        List<Duration> left = new ArrayList<>();
        ScopeSpec spec =
                lab.scope("a").deadline(ofSeconds(3)).timeout(ofSeconds(2)).retry(PLAIN.immediately());

        assertThatThrownBy(() -> spec.run(() -> {
                    left.add(Selvedge.attempt().deadline().remaining());
                    lab.sleep("attempt " + Selvedge.attempt().number(), ofSeconds(9));
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(left).containsExactly(ofSeconds(2), ofSeconds(1));
        assertThat(lab.trail()).containsExactly("2s attempt 1 cut off", "3s attempt 2 cut off");
    }

    @Test
    @Lesson({16, 17, 19, 21, 23})
    void a_longest_duration_lifts_the_number_of_attempts_and_cuts_off_the_one_that_runs() {
        ScopeSpec spec = lab.scope("a").retry(PLAIN.fixed(ofMillis(100)).maxDuration(ofSeconds(1)));

        assertThatThrownBy(() -> spec.run(() -> {
                    lab.sleep("attempt", ofMillis(50).multipliedBy(calls.incrementAndGet()));
                    throw new IOException("no");
                }))
                .isInstanceOf(AttemptTimeoutException.class)
                .hasMessage("an attempt of the scope \"a\" exceeded its timeout of 100 ms");

        assertThat(lab.now()).isEqualTo(ofSeconds(1));
        assertThat(calls).hasValue(5);
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.DURATION);
    }

    @Test
    @Lesson({20, 28})
    void a_wait_that_the_failure_asks_for_is_told_as_such() throws Exception {
        Retry asked = PLAIN.retryAfter(e -> Optional.of("7"));

        assertThat(call(lab.scope("a").retry(asked), failing(1))).isEqualTo("value");

        assertThat(lab.now()).isEqualTo(ofSeconds(7));
        assertThat(lab.events(AttemptFailed.class))
                .extracting(AttemptFailed::source)
                .containsExactly(DelaySource.RETRY_AFTER);
    }

    @Test
    @Lesson(20)
    void a_wait_that_the_failure_asks_for_and_the_deadline_does_not_allow_ends_it_at_once() {
        Retry asked = PLAIN.retryAfter(e -> Optional.of("7"));

        assertThatThrownBy(() -> call(lab.scope("a").deadline(ofSeconds(5)).retry(asked), failing(1)))
                .isInstanceOf(IOException.class);

        assertThat(lab.now()).isEqualTo(ZERO);
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.RETRY_AFTER);
    }

    // Not alone.

    @Test
    @Lesson(88)
    void a_budget_that_is_spent_ends_it() {
        Retry sparing = PLAIN.budget(RetryBudget.of(0, 1));

        assertThatThrownBy(() -> call(lab.scope("a").retry(sparing), failing(9)))
                .isInstanceOf(IOException.class);

        assertThat(calls).hasValue(2);
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.BUDGET);
    }

    @Test
    @Lesson(24)
    void retries_inside_retries_do_not_multiply_unless_asked_to() {
        ScopeSpec inner = Selvedge.scope("inner").retry(PLAIN);

        assertThatThrownBy(() -> lab.scope("outer")
                        .retry(PLAIN)
                        .run(() -> inner.run(() -> failing(99).call())))
                .isInstanceOf(IOException.class);
        assertThat(calls).hasValue(3);

        calls.set(0);
        assertThatThrownBy(() -> lab.scope("outer")
                        .retry(PLAIN.on(IOException.class))
                        .run(() -> inner.run(() -> failing(99).call())))
                .isInstanceOf(IOException.class);
        assertThat(calls).hasValue(9);
    }

    @Test
    @Lesson(24)
    void nor_do_they_if_the_inner_ones_are_of_forks() {
        ScopeSpec inner = Selvedge.scope("inner").retry(PLAIN);

        assertThatThrownBy(() -> lab.scope("outer").retry(PLAIN).run(() -> {
                    Object unused = inner.gather(failing(99));
                }))
                .isInstanceOf(ScopeFailedException.class);
        assertThat(calls).hasValue(3);

        calls.set(0);
        assertThatThrownBy(() -> lab.scope("outer")
                        .retry(PLAIN)
                        .run(() -> inner.run(s -> {
                            Object unused = s.fork(failing(99)).join();
                        })))
                .isInstanceOf(ScopeFailedException.class);
        assertThat(calls).hasValue(3);
    }

    @Test
    @Lesson(24)
    void nor_if_the_failure_is_taken_out_of_the_scope_s_or_comes_from_a_hedge() {
        ScopeSpec inner = Selvedge.scope("inner").retry(PLAIN);

        assertThatThrownBy(() -> lab.scope("outer").retry(PLAIN).run(() -> {
                    try {
                        Object unused = inner.gather(failing(99));
                    } catch (ScopeFailedException e) {
                        throw e.rethrow(IOException.class);
                    }
                }))
                .isInstanceOf(IOException.class);
        assertThat(calls).hasValue(3);

        calls.set(0);
        assertThatThrownBy(() -> lab.scope("outer")
                        .retry(PLAIN)
                        .hedge(ofSeconds(60))
                        .run(() -> inner.run(() -> failing(99).call())))
                .isInstanceOf(IOException.class);
        assertThat(calls).hasValue(6);
    }

    @Test
    @Lesson(24)
    void one_that_makes_a_single_attempt_or_has_no_time_multiplies_nothing() {
        ScopeSpec once = Selvedge.scope("once").retry(r -> r.attempts(1));

        assertThatThrownBy(() -> lab.scope("outer")
                        .retry(PLAIN)
                        .run(() -> once.run(() -> failing(99).call())))
                .isInstanceOf(IOException.class);
        assertThat(calls).hasValue(3);

        calls.set(0);
        ScopeSpec slow = Selvedge.scope("slow").retry(PLAIN.fixed(ofSeconds(2)));
        assertThatThrownBy(() -> lab.scope("outer")
                        .retry(PLAIN)
                        .timeout(ofSeconds(1))
                        .run(() -> slow.run(() -> failing(99).call())))
                .isInstanceOf(IOException.class);
        assertThat(calls).hasValue(3);
    }

    @Test
    @Lesson(24)
    void one_call_after_the_other_may_fail_with_the_same_object_and_each_is_retried() {
        IOException cached = new IOException("of a cache");
        ScopeSpec retried = lab.scope().retry(PLAIN.immediately());

        for (int call = 1; call <= 3; call++) {
            assertThatThrownBy(() -> retried.run(() -> {
                        calls.incrementAndGet();
                        throw cached;
                    }))
                    .isSameAs(cached);
            assertThat(calls).hasValue(3 * call);
        }
    }

    @Test
    @Lesson({41, 87})
    void a_predicate_that_throws_ends_it_with_the_failure_and_its_own_error_is_told() {
        IllegalStateException broken = new IllegalStateException("the predicate");

        assertThatThrownBy(() -> call(
                        lab.scope("a").retry(PLAIN.when(e -> {
                            throw broken;
                        })),
                        failing(9)))
                .isInstanceOf(IOException.class);

        assertThat(calls).hasValue(1);
        assertThat(lab.unhandled()).containsExactly(broken);
        assertThat(lab.events(RetryGaveUp.class))
                .extracting(RetryGaveUp::reason)
                .containsExactly(Reason.FAULT);
    }

    @Test
    @Lesson({31, 87})
    void a_deadline_around_that_passes_in_a_predicate_is_not_lost() {
        Throwable late =
                catchThrowable(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    Retry slow = PLAIN.when(e -> {
                        Selvedge.sleep(ofSeconds(2));
                        return true;
                    });
                    call(Selvedge.scope("inner").retry(slow), failing(9));
                }));

        assertThat(late).isInstanceOf(DeadlineExceededException.class).hasMessageStartingWith("the scope \"outer\"");
        assertThat(calls).hasValue(1);
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    @Lesson({57, 86})
    void a_listener_that_throws_changes_nothing() throws Exception {
        ScopeSpec spec = lab.scope("a").retry(PLAIN).listener(e -> {
            if (!(e instanceof ScopeEvent.Unhandled)) {
                throw new IllegalStateException("the listener");
            }
        });

        assertThat(call(spec, failing(2))).isEqualTo("value");
    }

    @Test
    @Lesson(50)
    void an_open_breaker_is_not_retried_even_if_asked() {
        CircuitBreaker open = CircuitBreaker.of("b");
        open.forceOpen();

        assertThatThrownBy(() -> lab.scope("outer").retry(PLAIN.when(e -> true)).run(() -> {
                    calls.incrementAndGet();
                    Selvedge.scope("inner").breaker(open).run(() -> {});
                }))
                .hasMessage("the circuit breaker \"b\" was opened by hand");

        assertThat(calls).hasValue(1);
    }

    // What a task can know.

    @Test
    void a_task_knows_which_attempt_it_is() throws Exception {
        List<Attempt> known = new ArrayList<>();
        Callable<String> failing = failing(2);

        String unused = call(lab.scope("a").deadline(ofSeconds(10)).retry(PLAIN), () -> {
            known.add(Selvedge.attempt());
            return failing.call();
        });

        assertThat(known).extracting(Attempt::number).containsExactly(1, 2, 3);
        assertThat(known).extracting(Attempt::elapsed).containsExactly(ZERO, ofMillis(100), ofMillis(300));
        assertThat(known).extracting(Attempt::lastFailure).containsExactly(null, thrown.get(0), thrown.get(1));
        assertThat(known).noneMatch(Attempt::isTrial).noneMatch(Attempt::isHedge);
        assertThat(known.get(0).deadline().remaining()).isEqualTo(ofMillis(9_700));
        assertThat(Selvedge.attempt().number()).isEqualTo(1);
    }

    @Test
    void a_call_inside_that_is_neither_retried_nor_hedged_is_of_the_same_attempt() throws Exception {
        List<Attempt> known = new ArrayList<>();
        CircuitBreaker tries = CircuitBreaker.of("b", b -> b.failures(1).coolDown(ZERO));
        tries.admit(lab.clock()).failed();
        Callable<String> failing = failing(1);

        String unused = call(lab.scope().retry(PLAIN), () -> {
            String value = failing.call();
            for (ScopeSpec inside : List.of(
                    Selvedge.scope(),
                    Selvedge.scope().timeout(ofSeconds(1)),
                    Selvedge.scope().breaker(tries))) {
                inside.run(() -> known.add(Selvedge.attempt()));
            }
            Selvedge.scope().hedge(ofSeconds(1)).run(() -> known.add(Selvedge.attempt()));
            return value;
        });

        assertThat(known).extracting(Attempt::number).containsExactly(2, 2, 2, 1);
        assertThat(known).extracting(Attempt::isTrial).containsExactly(false, false, true, false);
    }

    @Test
    void a_task_inside_another_counts_for_itself() {
        List<Integer> numbers = new ArrayList<>();

        lab.scope("outer").retry(PLAIN).run(() -> {
            Selvedge.scope("inner").retry(PLAIN).run(() -> {
                numbers.add(Selvedge.attempt().number());
                if (numbers.size() == 2) {
                    throw new IllegalStateException("inner");
                }
            });
            numbers.add(10 * Selvedge.attempt().number());
            if (numbers.size() == 2) {
                throw new IllegalStateException("outer");
            }
        });

        assertThat(numbers).startsWith(1, 10, 1);
        assertThat(flag()).isFalse();
    }
}
