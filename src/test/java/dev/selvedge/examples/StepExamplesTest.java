package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.AttemptTimeoutException;
import dev.selvedge.DeadlineExceededException;
import dev.selvedge.Fork;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.examples.DocExamples.Store;
import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.BulkheadFullException;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitBreaker.State;
import dev.selvedge.policy.CircuitOpenException;
import dev.selvedge.policy.RateLimitedException;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.VirtualTime;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** What the pages about policies say of their examples: counts, exceptions and times. */
@Timeout(30)
@ExtendWith(VirtualTime.class)
class StepExamplesTest {

    private final AtomicInteger calls = new AtomicInteger();
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());

    private final Store broken = key -> {
        throw new IOException("no " + calls.incrementAndGet());
    };

    private final Store hanging = key -> {
        calls.incrementAndGet();
        return slept(key, ofSeconds(60));
    };

    private static String slept(String value, Duration d) {
        Selvedge.sleep(d);
        return value;
    }

    /** Runs the example inside a block with the clock, as a test of an application would. */
    private static <T> T on(VirtualClock clock, Callable<T> example) throws Exception {
        return scope("test").clock(clock).call(example::call);
    }

    private static Throwable thrownOn(VirtualClock clock, Callable<?> example) {
        return catchThrowable(() -> on(clock, example));
    }

    // Retry.

    @Test
    void the_last_of_four_attempts_fails_and_that_is_thrown(VirtualClock clock) {
        Throwable thrown = thrownOn(clock, () -> StepExamples.order(broken, "7"));

        assertThat(calls).hasValue(4);
        assertThat(thrown).isInstanceOf(IOException.class).hasMessage("no 4").hasNoSuppressedExceptions();
        assertThat(clock.elapsed()).isLessThanOrEqualTo(ofMillis(50 + 100 + 200));
    }

    @Test
    void what_lasts_and_what_is_an_error_is_not_tried_again(VirtualClock clock) {
        assertThat(thrownOn(
                        clock,
                        () -> StepExamples.order(
                                key -> {
                                    throw new FileNotFoundException("no " + calls.incrementAndGet());
                                },
                                "7")))
                .hasMessage("no 1");
        assertThat(thrownOn(
                        clock,
                        () -> StepExamples.order(
                                key -> {
                                    throw new AssertionError("error");
                                },
                                "7")))
                .isInstanceOf(AssertionError.class);
    }

    @Test
    void a_listener_hears_of_each_attempt(VirtualClock clock) {
        assertThat(thrownOn(clock, () -> StepExamples.watched(broken, "7", log::add)))
                .hasMessage("no 4");

        assertThat(log).hasSize(4).last().isEqualTo("no further attempt: ATTEMPTS");
        assertThat(log.get(0)).startsWith("attempt 1 failed, next in ").endsWith("no 1");
    }

    @Test
    void a_job_is_asked_for_until_it_is_done(VirtualClock clock) throws Exception {
        assertThat(on(
                        clock,
                        () -> PolicyExamples.whenReady(key -> calls.incrementAndGet() < 5 ? "running" : "done", "job")))
                .isEqualTo("done");
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(4));

        assertThat(thrownOn(clock, () -> PolicyExamples.whenReady(key -> "running", "job")))
                .isInstanceOf(PolicyExamples.NotReadyException.class)
                .hasMessage("still running");
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(4 + 29));
    }

    @Test
    void a_job_that_hangs_is_cut_off_when_the_time_of_the_retries_is_over(VirtualClock clock) {
        assertThat(thrownOn(clock, () -> PolicyExamples.whenReady(hanging, "job")))
                .isInstanceOf(AttemptTimeoutException.class);

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(30));
    }

    @Test
    void an_attempt_knows_its_number(VirtualClock clock) throws Exception {
        assertThat(on(
                        clock,
                        () -> PolicyExamples.numbered(
                                key -> {
                                    if (calls.incrementAndGet() < 3) {
                                        throw new IOException("no");
                                    }
                                    return key;
                                },
                                "a")))
                .isEqualTo("a?attempt=3");
    }

    @Test
    void an_interrupt_ends_a_back_off_and_the_failure_is_kept(VirtualClock clock) {
        ScopeSpec patient = StepExamples.ORDERS.retry(r -> r.fixed(ofSeconds(5)));
        Thread me = Thread.currentThread();
        scope("around").clock(clock).run(s -> {
            Fork<?> other = s.fork(() -> {
                Selvedge.sleep(ofSeconds(1));
                clock.interrupt(me);
            });
            Throwable cut = catchThrowable(() -> patient.call(() -> broken.load("7")));
            boolean unused = Thread.interrupted();
            other.join();

            assertThat(cut).isInstanceOf(ScopeCancelledException.class).hasCauseInstanceOf(InterruptedException.class);
            assertThat(cut.getCause().getSuppressed()).singleElement().isInstanceOf(IOException.class);
        });

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(1));
    }

    // Breaker.

    @Test
    void a_task_counts_once_and_the_breaker_opens_at_half_of_the_last_ten(VirtualClock clock) throws Exception {
        for (int i = 0; i < 5; i++) {
            String unused = on(clock, () -> StepExamples.stock(key -> key, "a"));
        }
        for (int i = 0; i < 5; i++) {
            assertThat(StepExamples.STOCK_BREAKER.state()).isEqualTo(State.CLOSED);
            assertThat(thrownOn(clock, () -> StepExamples.stock(broken, "a"))).isInstanceOf(IOException.class);
        }

        assertThat(StepExamples.STOCK_BREAKER.state()).isEqualTo(State.OPEN);
        assertThat(calls).hasValue(15);
        assertThat(thrownOn(clock, () -> StepExamples.stock(broken, "a")))
                .isInstanceOf(CircuitOpenException.class)
                .hasMessage("the circuit breaker \"stock\" is open for another 10 s");
        assertThat(calls).hasValue(15);
    }

    @Test
    void the_first_call_after_the_cool_down_is_the_trial(VirtualClock clock) throws Exception {
        for (int i = 0; i < 10; i++) {
            assertThat(thrownOn(clock, () -> StepExamples.stock(broken, "a"))).isInstanceOf(IOException.class);
        }
        calls.set(0);
        on(clock, () -> slept("", ofSeconds(10)));

        assertThat(StepExamples.STOCK_BREAKER.state()).isEqualTo(State.OPEN);
        assertThat(thrownOn(clock, () -> StepExamples.stock(broken, "a"))).hasMessage("no 1");
        assertThat(StepExamples.STOCK_BREAKER.remainingCoolDown()).isEqualTo(ofSeconds(10));

        on(clock, () -> slept("", ofSeconds(10)));
        assertThat(on(clock, () -> StepExamples.stock(key -> key, "a"))).isEqualTo("a");
        assertThat(StepExamples.STOCK_BREAKER.state()).isEqualTo(State.CLOSED);
    }

    @Test
    void slow_successes_open_it_too_and_a_hanging_service_does_by_the_deadline(VirtualClock clock) {
        for (int i = 0; i < 10; i++) {
            assertThat(thrownOn(clock, () -> StepExamples.stock(key -> slept(key, ofMillis(1_500)), "a")))
                    .isNull();
        }
        assertThat(StepExamples.STOCK_BREAKER.state()).isEqualTo(State.OPEN);

        StepExamples.STOCK_BREAKER.reset();
        for (int i = 0; i < 10; i++) {
            assertThat(thrownOn(clock, () -> StepExamples.stock(hanging, "a")))
                    .isInstanceOf(DeadlineExceededException.class);
        }
        assertThat(StepExamples.STOCK_BREAKER.state()).isEqualTo(State.OPEN);
    }

    // Limiter.

    @Test
    void three_letters_go_at_once_and_two_in_turn_and_none_waits_longer_than_it_may(VirtualClock clock)
            throws Exception {
        Store post = letter -> {
            log.add(clock.elapsed().toMillis() + " " + letter);
            return letter;
        };

        assertThat(on(clock, () -> StepExamples.send(post, List.of("a", "b", "c", "d", "e"))))
                .containsExactly("a", "b", "c", "d", "e");
        assertThat(log).containsExactly("0 a", "0 b", "0 c", "100 d", "200 e");

        on(clock, () -> slept("", ofSeconds(1)));
        Throwable sixth = thrownOn(clock, () -> StepExamples.send(post, List.of("a", "b", "c", "d", "e", "f")));
        assertThat(sixth).isInstanceOf(ScopeFailedException.class).hasRootCauseInstanceOf(RateLimitedException.class);
        assertThat(((RateLimitedException) sixth.getCause()).retryAfter()).isEqualTo(ofMillis(300));
        assertThat(clock.elapsed()).isEqualTo(ofMillis(1_200));
    }

    // Bulkhead.

    @Test
    void a_third_report_waits_for_a_second_and_is_refused(VirtualClock clock) throws Exception {
        Store slow = name -> slept(name, ofSeconds(5));
        on(
                clock,
                () -> scope("requests").call(s -> {
                    Fork<String> a = s.fork(() -> StepExamples.report(slow, "a"));
                    Fork<String> b = s.fork(() -> StepExamples.report(slow, "b"));
                    Selvedge.sleep(ofSeconds(1));
                    assertThat(StepExamples.REPORTS.free()).isZero();
                    assertThatThrownBy(() -> StepExamples.report(slow, "c"))
                            .isInstanceOf(BulkheadFullException.class)
                            .hasMessage("the bulkhead of 2 slots had none free in time");
                    assertThat(clock.elapsed()).isEqualTo(ofSeconds(2));
                    return a.join() + b.join();
                }));

        assertThat(StepExamples.REPORTS.free()).isEqualTo(2);
    }

    @Test
    void a_task_that_ignores_its_deadline_keeps_its_slot(VirtualClock clock) throws Exception {
        Store stubborn = name -> Selvedge.shielded(() -> slept(name, ofSeconds(60)));
        on(
                clock,
                () -> scope("requests").call(s -> {
                    Fork<String> report = s.fork(() -> StepExamples.report(stubborn, "a"));
                    Selvedge.sleep(ofSeconds(45));
                    assertThat(StepExamples.REPORTS.free()).isEqualTo(1);
                    return report.join();
                }));

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(60));
    }

    // Timeout of an attempt.

    @Test
    void each_attempt_has_its_time_and_the_last_one_throws(VirtualClock clock) {
        assertThat(thrownOn(clock, () -> StepExamples.rate(hanging, "CHF")))
                .isInstanceOf(AttemptTimeoutException.class)
                .hasMessage("an attempt of the scope \"rates\" exceeded its timeout of 200 ms");
        assertThat(calls).hasValue(3);
        assertThat(clock.elapsed()).isEqualTo(ofMillis(600));
    }

    @Test
    void a_value_that_comes_late_is_the_value(VirtualClock clock) throws Exception {
        assertThat(on(
                        clock,
                        () -> StepExamples.rate(key -> Selvedge.shielded(() -> slept("0.95", ofMillis(400))), "CHF")))
                .isEqualTo("0.95");
        assertThat(clock.elapsed()).isEqualTo(ofMillis(400));
    }

    @Test
    void the_task_can_ask_for_the_time_of_its_attempt(VirtualClock clock) throws Exception {
        assertThat(on(
                        clock,
                        () -> StepExamples.rate(
                                key -> Selvedge.deadline().remaining() + " " + Selvedge.timeLeft(ofSeconds(9)), "CHF")))
                .isEqualTo("PT0.2S PT0.2S");
    }

    @Test
    void an_attempt_with_less_time_left_is_cut_off_by_the_deadline(VirtualClock clock) {
        ScopeSpec five = StepExamples.RATES.retry(r -> r.attempts(9));
        assertThat(thrownOn(clock, () -> five.call(() -> hanging.load("CHF"))))
                .isInstanceOf(DeadlineExceededException.class);
        assertThat(calls).hasValue(5);
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(1));
    }

    @Test
    void a_retry_that_names_its_failures_must_name_the_timeout(VirtualClock clock) {
        ScopeSpec forgetful = StepExamples.RATES.retry(r -> r.on(IOException.class));
        assertThat(thrownOn(clock, () -> forgetful.call(() -> hanging.load("CHF"))))
                .isInstanceOf(AttemptTimeoutException.class);
        assertThat(calls).hasValue(1);

        assertThat(thrownOn(clock, () -> StepExamples.STRICT.call(() -> hanging.load("CHF"))))
                .isInstanceOf(AttemptTimeoutException.class);
        assertThat(calls).hasValue(1 + 3);
    }

    @Test
    void what_the_attempt_throws_of_its_own_when_cut_off_is_thrown(VirtualClock clock) {
        assertThat(thrownOn(
                        clock,
                        () -> StepExamples.rate(
                                key -> {
                                    calls.incrementAndGet();
                                    try {
                                        return slept(key, ofSeconds(60));
                                    } finally {
                                        explode();
                                    }
                                },
                                "CHF")))
                .isInstanceOf(IOException.class)
                .hasMessage("while closing");
        assertThat(calls).hasValue(3);
    }

    private static void explode() throws IOException {
        throw new IOException("while closing");
    }

    // Hedge.

    @Test
    void a_second_attempt_joins_a_slow_one_and_the_first_value_wins(VirtualClock clock) throws Exception {
        Thread caller = Thread.currentThread();
        Store replicas = words -> {
            int n = calls.incrementAndGet();
            log.add(n + (Thread.currentThread() == caller ? " here" : " in a fork"));
            return slept(words + n, n == 1 ? ofSeconds(1) : ofMillis(20));
        };

        assertThat(on(clock, () -> StepExamples.find(replicas, "x"))).isEqualTo("x2");
        assertThat(clock.elapsed()).isEqualTo(ofMillis(70));
        assertThat(log).containsExactly("1 in a fork", "2 in a fork");
        assertThat(on(clock, () -> PolicyExamples.hedged(key -> key, "y"))).isEqualTo("y");
    }

    @Test
    void one_that_fails_is_joined_at_once_and_the_failure_of_the_first_is_thrown(VirtualClock clock) {
        assertThat(thrownOn(clock, () -> StepExamples.find(broken, "x"))).hasMessage("no 1");
        assertThat(calls).hasValue(2);
        assertThat(clock.elapsed()).isZero();
    }

    @Test
    void a_hedge_that_is_refused_is_not_started_and_is_no_error(VirtualClock clock) throws Exception {
        Bulkhead one = Bulkhead.of(1, b -> b.maxWait(ZERO));
        ScopeSpec single = StepExamples.SEARCH.bulkhead(one);
        assertThat(on(
                        clock,
                        () -> single.call(() -> {
                            calls.incrementAndGet();
                            return slept("value", ofSeconds(1));
                        })))
                .isEqualTo("value");
        assertThat(calls).hasValue(1);
    }

    // Fallback.

    @Test
    void a_fallback_answers_failures_and_the_deadline(VirtualClock clock) throws Exception {
        assertThat(on(clock, () -> StepExamples.forecast(broken, "Bern"))).isEqualTo("no forecast");
        assertThat(on(clock, () -> StepExamples.forecast(hanging, "Bern"))).isEqualTo("no forecast");
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(1));
        assertThat(on(
                        clock,
                        () -> StepExamples.forecast(
                                key -> {
                                    throw new CancellationException("nobody of ours");
                                },
                                "Bern")))
                .isEqualTo("no forecast");
    }

    @Test
    void but_no_error_no_interrupt_and_no_cancellation(VirtualClock clock) {
        assertThat(thrownOn(
                        clock,
                        () -> StepExamples.forecast(
                                key -> {
                                    throw new AssertionError("error");
                                },
                                "Bern")))
                .isInstanceOf(AssertionError.class);
        assertThat(thrownOn(
                        clock,
                        () -> StepExamples.forecast(
                                key -> {
                                    Thread.currentThread().interrupt();
                                    return slept(key, ofMillis(1));
                                },
                                "Bern")))
                .isInstanceOf(ScopeCancelledException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThatThrownBy(() -> scope("around")
                        .clock(clock)
                        .deadline(ofMillis(500))
                        .call(() -> StepExamples.forecast(hanging, "Bern")))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageContaining("\"around\"");
    }

    @Test
    void a_fallback_by_kind_throws_on_what_it_does_not_know(VirtualClock clock) throws Exception {
        CircuitBreaker open = CircuitBreaker.of("weather", b -> b.failures(1));
        ScopeSpec spec = scope("weather").breaker(open).timeout(ofSeconds(1));
        assertThat(thrownOn(clock, () -> StepExamples.byKind(spec, broken, "Bern")))
                .hasMessage("no 1");
        assertThat(on(clock, () -> StepExamples.byKind(spec, broken, "Bern"))).isEqualTo("down, back in 10 s");
        assertThat(on(clock, () -> StepExamples.byKind(scope().timeout(ofSeconds(1)), hanging, "Bern")))
                .isEqualTo("slow");
        assertThat(on(clock, () -> StepExamples.byKind(scope().deadline(ofSeconds(1)), hanging, "Bern")))
                .isEqualTo("late");
    }

    // All together.

    @Test
    void a_price_has_a_default(VirtualClock clock) throws Exception {
        assertThat(on(clock, () -> PolicyExamples.price(hanging, "a"))).isEqualTo("unknown");
        assertThat(calls).hasValue(3);
        assertThat(on(clock, () -> PolicyExamples.perFork(key -> key))).isEqualTo("name: price");
    }

    @Test
    void the_worked_example_of_the_order(VirtualClock clock) throws Exception {
        List<Integer> held = new ArrayList<>();
        Throwable first = on(
                clock,
                () -> scope("observed").call(s -> {
                    Fork<Throwable> call = s.fork(() -> catchThrowable(() -> StepExamples.ARCHIVE.call(this::hangs)));
                    for (Selvedge.sleep(ofMillis(50)); !call.isDone(); Selvedge.sleep(ofMillis(100))) {
                        if (StepExamples.ARCHIVE_SLOTS.free() == 0) {
                            held.add((int) clock.elapsed().toMillis());
                        }
                    }
                    return call.join();
                }));

        assertThat(first).isInstanceOf(AttemptTimeoutException.class);
        assertThat(log).containsExactly("0", "500", "1000");
        assertThat(held).containsExactly(50, 150, 350, 450, 550, 650, 850, 950, 1050, 1150);
        assertThat(StepExamples.ARCHIVE_BREAKER.counts().failures()).isEqualTo(1);

        assertThat(thrownOn(clock, () -> StepExamples.ARCHIVE.call(this::hangs)))
                .isInstanceOf(AttemptTimeoutException.class);
        assertThat(thrownOn(clock, () -> StepExamples.ARCHIVE.call(this::hangs)))
                .isInstanceOf(CircuitOpenException.class);
        assertThat(calls).hasValue(6);
    }

    @Test
    void the_worked_example_with_a_breaker_that_counts_attempts(VirtualClock clock) {
        assertThat(thrownOn(clock, () -> StepExamples.EACH_ATTEMPT.call(this::hangs)))
                .isInstanceOf(AttemptTimeoutException.class);

        assertThat(log).containsExactly("0", "500");
        assertThat(clock.elapsed()).isEqualTo(ofMillis(700));
        assertThat(thrownOn(clock, () -> StepExamples.EACH_ATTEMPT.call(this::hangs)))
                .isInstanceOf(CircuitOpenException.class);
        assertThat(calls).hasValue(2);
    }

    private String hangs() {
        log.add(Selvedge.deadline().clock().nanoTime() / 1_000_000 + "");
        calls.incrementAndGet();
        return slept("late", ofSeconds(60));
    }
}
