package dev.selvedge.policy;

import static dev.selvedge.policy.CircuitBreaker.State.CLOSED;
import static dev.selvedge.policy.CircuitBreaker.State.HALF_OPEN;
import static dev.selvedge.policy.CircuitBreaker.State.OPEN;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.selvedge.Lesson;
import dev.selvedge.policy.CircuitBreaker.Counts;
import dev.selvedge.policy.CircuitBreaker.Permit;
import dev.selvedge.policy.CircuitBreaker.Settings;
import dev.selvedge.time.VirtualClock;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A breaker used alone: what it counts, when it opens, who is let through. */
@Timeout(60)
class CircuitBreakerTest {

    private final VirtualClock clock = VirtualClock.manual();
    private final List<String> told = new ArrayList<>();

    private CircuitBreaker breaker(UnaryOperator<Settings> settings) {
        return CircuitBreaker.of("db", s -> settings.apply(s.onTransition((from, to) -> told.add(from + " -> " + to))));
    }

    private Permit admit(CircuitBreaker breaker) {
        return breaker.admit(clock);
    }

    private void succeed(CircuitBreaker breaker) {
        admit(breaker).succeeded();
    }

    private void fail(CircuitBreaker breaker) {
        admit(breaker).failed(new IOException("down"));
    }

    private CircuitOpenException refusal(CircuitBreaker breaker) {
        return catchThrowableOfType(CircuitOpenException.class, () -> admit(breaker));
    }

    /** Open, with its cool-down of 10 s just over. */
    private CircuitBreaker cooledDown(UnaryOperator<Settings> settings) {
        CircuitBreaker breaker = breaker(s -> settings.apply(s.failures(1)));
        fail(breaker);
        clock.advance(ofSeconds(10));
        told.clear();
        return breaker;
    }

    // Failures in a row.

    @Test
    void the_fifth_failure_in_a_row_opens_it() {
        CircuitBreaker breaker = breaker(s -> s);

        for (int i = 0; i < 4; i++) {
            fail(breaker);
        }
        assertThat(breaker.state()).isEqualTo(CLOSED);
        assertThat(breaker.counts()).isEqualTo(new Counts(4, 4, 0));
        fail(breaker);

        assertThat(breaker.state()).isEqualTo(OPEN);
        assertThat(told).containsExactly("CLOSED -> OPEN");
    }

    @Test
    void a_success_begins_the_row_anew() {
        CircuitBreaker breaker = breaker(s -> s.failures(2));

        fail(breaker);
        succeed(breaker);
        fail(breaker);

        assertThat(breaker.state()).isEqualTo(CLOSED);
    }

    @Test
    @Lesson(53)
    void a_refusal_says_for_how_long_and_why_and_has_no_stack_of_its_own() {
        CircuitBreaker breaker = breaker(s -> s.failures(1));
        fail(breaker);
        clock.advance(ofMillis(500));

        CircuitOpenException refused = refusal(breaker);

        assertThat(refused)
                .hasMessage("the circuit breaker \"db\" is open for another 9.5 s")
                .hasCauseInstanceOf(IOException.class);
        assertThat(refused.breaker()).isEqualTo("db");
        assertThat(refused.retryAfter()).isEqualTo(ofMillis(9_500));
        assertThat(refused.getStackTrace()).isEmpty();
        assertThat(refusal(breaker)).isNotSameAs(refused);
        assertThat(breaker.remainingCoolDown()).isEqualTo(ofMillis(9_500));
    }

    // Trials.

    @Test
    @Lesson({47, 48})
    void after_the_cool_down_it_stays_open_until_a_call_comes_and_asking_changes_nothing() {
        CircuitBreaker breaker = cooledDown(s -> s);

        for (int i = 0; i < 3; i++) {
            assertThat(breaker.state()).isEqualTo(OPEN);
            assertThat(breaker.remainingCoolDown()).isEqualTo(ZERO);
            assertThat(breaker.counts()).isEqualTo(new Counts(0, 0, 0));
        }
        Permit trial = admit(breaker);

        assertThat(trial.isTrial()).isTrue();
        assertThat(breaker.state()).isEqualTo(HALF_OPEN);
    }

    @Test
    void a_trial_that_succeeds_closes_it() {
        CircuitBreaker breaker = cooledDown(s -> s);

        Permit trial = admit(breaker);
        assertThat(refusal(breaker)).hasMessage("the circuit breaker \"db\" is half-open, and a trial runs");
        trial.succeeded();

        assertThat(breaker.state()).isEqualTo(CLOSED);
        assertThat(admit(breaker).isTrial()).isFalse();
        assertThat(told).containsExactly("OPEN -> HALF_OPEN", "HALF_OPEN -> CLOSED");
    }

    @Test
    void a_trial_that_fails_opens_it_for_a_full_cool_down() {
        CircuitBreaker breaker = cooledDown(s -> s);

        Permit trial = admit(breaker);
        clock.advance(ofSeconds(3));
        trial.failed(new IOException("still down"));

        assertThat(breaker.state()).isEqualTo(OPEN);
        assertThat(breaker.remainingCoolDown()).isEqualTo(ofSeconds(10));
        assertThat(refusal(breaker)).hasRootCauseMessage("still down");
        assertThat(told).containsExactly("OPEN -> HALF_OPEN", "HALF_OPEN -> OPEN");
    }

    @Test
    @Lesson({37, 38, 39, 40})
    void a_trial_that_comes_to_nothing_is_given_back_and_neither_closes_nor_opens() {
        CircuitBreaker breaker = cooledDown(s -> s);

        Permit first = admit(breaker);
        first.close();

        assertThat(breaker.state()).isEqualTo(HALF_OPEN);
        Permit second = admit(breaker);
        assertThat(second.isTrial()).isTrue();
        first.close(); // gives nothing back twice
        assertThat(refusal(breaker)).isNotNull();
        second.succeeded();
        assertThat(breaker.state()).isEqualTo(CLOSED);
    }

    static Stream<Exception> nothingAboutTheService() {
        return Stream.of(
                new InterruptedException(),
                new CancellationException(),
                new CircuitOpenException("other", "open", ZERO, null),
                new RateLimitedException("limited", ofSeconds(1)),
                new BulkheadFullException("full", 1));
    }

    @ParameterizedTest
    @MethodSource("nothingAboutTheService")
    @Lesson({35, 40, 52})
    void cancellations_and_refusals_count_for_nothing_and_the_predicate_is_not_asked(Exception e) {
        CircuitBreaker closed = breaker(s -> s.failures(1).failsOn(asked -> {
            throw new AssertionError("asked");
        }));
        CircuitBreaker trying = cooledDown(s -> s);

        admit(closed).failed(e);
        admit(trying).failed(e);

        assertThat(closed.state()).isEqualTo(CLOSED);
        assertThat(closed.counts()).isEqualTo(new Counts(0, 0, 0));
        assertThat(trying.state()).isEqualTo(HALF_OPEN);
        assertThat(admit(trying).isTrial()).isTrue();
    }

    @Test
    @Lesson({41, 45})
    void the_predicate_that_judges_failures_judges_those_of_trials_too() {
        CircuitBreaker breaker = cooledDown(s -> s.failsOn(e -> !(e instanceof FileNotFoundException)));

        admit(breaker).failed(new FileNotFoundException());

        assertThat(breaker.state()).isEqualTo(CLOSED);
    }

    @Test
    @Lesson(41)
    void a_predicate_that_throws_gives_the_trial_back() {
        boolean[] throwing = {false};
        CircuitBreaker breaker = cooledDown(s -> s.failsOn(e -> {
            if (throwing[0]) {
                throw new IllegalStateException("predicate");
            }
            return true;
        }));
        throwing[0] = true;

        admit(breaker).failed(new IOException());

        assertThat(breaker.state()).isEqualTo(HALF_OPEN);
        assertThat(admit(breaker).isTrial()).isTrue();
    }

    @Test
    @Lesson(44)
    void a_trial_that_never_reports_is_replaced_after_another_cool_down_and_its_late_result_is_stale() {
        CircuitBreaker breaker = cooledDown(s -> s);
        Permit lost = admit(breaker);

        clock.advance(ofSeconds(10).minusNanos(1));
        assertThat(refusal(breaker).retryAfter()).isEqualTo(ofNanos(1));
        clock.advance(ofNanos(1));
        Permit second = admit(breaker);
        lost.failed(new IOException("late"));

        assertThat(breaker.state()).isEqualTo(HALF_OPEN);
        second.succeeded();
        assertThat(breaker.state()).isEqualTo(CLOSED);
        lost.failed(new IOException("later"));
        assertThat(breaker.state()).isEqualTo(CLOSED);
    }

    @Test
    void several_trials_may_run_at_a_time_and_all_must_succeed() {
        CircuitBreaker breaker = cooledDown(s -> s.trials(2));

        Permit first = admit(breaker);
        Permit second = admit(breaker);
        assertThat(refusal(breaker)).isNotNull();
        first.succeeded();
        assertThat(breaker.state()).isEqualTo(HALF_OPEN);
        assertThat(refusal(breaker)).isNotNull();
        second.succeeded();

        assertThat(breaker.state()).isEqualTo(CLOSED);
    }

    @Test
    void the_first_of_several_trials_that_fails_opens_it() {
        CircuitBreaker breaker = cooledDown(s -> s.trials(2));
        Permit first = admit(breaker);
        Permit second = admit(breaker);

        second.failed(new IOException());
        first.succeeded();

        assertThat(breaker.state()).isEqualTo(OPEN);
    }

    @Test
    @Lesson({42, 52})
    void results_of_calls_admitted_before_it_opened_count_for_nothing() {
        CircuitBreaker breaker = breaker(s -> s.failures(2));
        Permit early = admit(breaker);
        Permit alsoEarly = admit(breaker);
        fail(breaker);
        fail(breaker);
        clock.advance(ofSeconds(10));
        Permit trial = admit(breaker);
        told.clear();

        early.succeeded();
        alsoEarly.failed(new IOException());
        assertThat(breaker.state()).isEqualTo(HALF_OPEN);
        trial.succeeded();
        alsoEarly.failed(new IOException());
        early.failed(new IOException());

        assertThat(breaker.state()).isEqualTo(CLOSED);
        assertThat(breaker.counts()).isEqualTo(new Counts(0, 0, 0));
        assertThat(told).containsExactly("HALF_OPEN -> CLOSED");
    }

    @Test
    @Lesson(46)
    void with_a_cool_down_of_nothing_the_next_call_is_a_trial() {
        CircuitBreaker breaker = breaker(s -> s.failures(1).coolDown(ZERO));

        for (int i = 0; i < 10_000; i++) {
            fail(breaker);
            assertThat(breaker.state()).isEqualTo(OPEN);
        }
        succeed(breaker);

        assertThat(breaker.state()).isEqualTo(CLOSED);
    }

    /** Under real threads, many at once, each time the cool-down is over. */
    @Test
    @Tag("real")
    @Lesson(43)
    void of_many_callers_at_once_exactly_one_is_the_trial() throws Exception {
        int callers = 4;
        int rounds = 10_000;
        CircuitBreaker breaker = breaker(s -> s.failures(1));
        fail(breaker);
        AtomicReference<Permit> trial = new AtomicReference<>();
        AtomicInteger more = new AtomicInteger();
        AtomicInteger all = new AtomicInteger();
        CyclicBarrier allThere = new CyclicBarrier(callers, () -> {
            Permit last = trial.getAndSet(null);
            if (last != null) {
                last.failed(new IOException());
            }
            clock.advance(ofSeconds(10));
        });
        RealThreads.each(callers, c -> () -> {
            for (int round = 0; round < rounds; round++) {
                allThere.await();
                try {
                    more.addAndGet(trial.getAndSet(admit(breaker)) == null ? 0 : 1);
                    all.incrementAndGet();
                } catch (CircuitOpenException e) {
                    // one of the others
                }
            }
        });

        assertThat(more).hasValue(0);
        assertThat(all).hasValue(rounds);
    }

    // The cool-down.

    @Test
    void the_cool_down_can_grow_with_each_opening_and_begins_anew_once_it_was_closed() {
        List<Integer> asked = new ArrayList<>();
        CircuitBreaker breaker = breaker(s -> s.failures(1).coolDown(opening -> {
            asked.add(opening);
            return ofSeconds(1L << opening);
        }));

        fail(breaker);
        assertThat(breaker.remainingCoolDown()).isEqualTo(ofSeconds(2));
        clock.advance(ofSeconds(2));
        fail(breaker);
        assertThat(breaker.remainingCoolDown()).isEqualTo(ofSeconds(4));
        clock.advance(ofSeconds(4));
        succeed(breaker);
        fail(breaker);

        assertThat(breaker.remainingCoolDown()).isEqualTo(ofSeconds(2));
        assertThat(asked).containsExactly(1, 2, 1);
    }

    static Stream<UnaryOperator<Settings>> brokenFunctions() {
        return Stream.of(
                s -> s.coolDown(opening -> {
                    throw new IllegalStateException("function");
                }),
                s -> s.coolDown(opening -> null),
                s -> s.coolDown(opening -> ofSeconds(-1)));
    }

    @ParameterizedTest
    @MethodSource("brokenFunctions")
    void a_function_of_the_cool_down_that_fails_leaves_ten_seconds(UnaryOperator<Settings> broken) {
        CircuitBreaker breaker = breaker(s -> broken.apply(s.failures(1)));

        fail(breaker);

        assertThat(breaker.remainingCoolDown()).isEqualTo(ofSeconds(10));
    }

    @Test
    @Lesson(54)
    void the_cool_down_can_be_lengthened_by_chance() {
        CircuitBreaker least = breaker(s -> s.failures(1).coolDownJitter(0.5).random(() -> 0L));
        CircuitBreaker some = breaker(s -> s.failures(1).coolDownJitter(0.5).random(() -> Long.MAX_VALUE));

        fail(least);
        fail(some);

        assertThat(least.remainingCoolDown()).isEqualTo(ofSeconds(10));
        assertThat(some.remainingCoolDown()).isBetween(ofSeconds(10).plusNanos(1), ofSeconds(15));
    }

    // Rates.

    @Test
    void a_share_of_the_last_calls_opens_it_once_there_were_enough() {
        CircuitBreaker breaker = breaker(s -> s.failureRate(0.5, 10));

        for (int i = 0; i < 9; i++) {
            fail(breaker);
        }
        assertThat(breaker.state()).isEqualTo(CLOSED);
        fail(breaker);

        assertThat(breaker.state()).isEqualTo(OPEN);
    }

    @Test
    void only_the_last_calls_are_looked_at() {
        CircuitBreaker breaker = breaker(s -> s.failureRate(0.5, 10).minimumCalls(2));
        succeed(breaker);
        for (int i = 0; i < 100; i++) {
            for (int k = 0; k < 5; k++) {
                succeed(breaker);
            }
            for (int k = 0; k < 4; k++) {
                fail(breaker); // 4 of the last 10 at the most
            }
            succeed(breaker);
        }

        assertThat(breaker.state()).isEqualTo(CLOSED);
        assertThat(breaker.counts()).isEqualTo(new Counts(10, 4, 0));
        fail(breaker); // 5 of the last 10: the first of the calls above is out
        assertThat(breaker.state()).isEqualTo(OPEN);
    }

    @Test
    void a_share_of_the_calls_of_the_last_while_opens_it() {
        CircuitBreaker breaker = breaker(s -> s.failureRate(0.5, ofSeconds(10)).minimumCalls(4));

        fail(breaker);
        fail(breaker);
        clock.advance(ofSeconds(10)); // those are forgotten
        succeed(breaker);
        succeed(breaker);
        succeed(breaker);
        fail(breaker);
        assertThat(breaker.counts()).isEqualTo(new Counts(4, 1, 0));
        clock.advance(ofSeconds(5));
        fail(breaker);
        assertThat(breaker.state()).isEqualTo(CLOSED);
        fail(breaker);

        assertThat(breaker.state()).isEqualTo(OPEN);
    }

    @Test
    void slow_calls_open_it_too_and_a_slow_trial_has_failed() {
        CircuitBreaker breaker =
                breaker(s -> s.failureRate(1, 4).slowCalls(ofSeconds(1), 0.5).minimumCalls(4));
        slowly(breaker, ofMillis(999));
        slowly(breaker, ofMillis(999));
        slowly(breaker, ofSeconds(1));
        assertThat(breaker.counts()).isEqualTo(new Counts(3, 0, 1));
        slowly(breaker, ofSeconds(1));

        assertThat(breaker.state()).isEqualTo(OPEN);
        clock.advance(ofSeconds(10));
        slowly(breaker, ofSeconds(1));
        assertThat(breaker.state()).isEqualTo(OPEN);
        clock.advance(ofSeconds(10));
        slowly(breaker, ofMillis(999));
        assertThat(breaker.state()).isEqualTo(CLOSED);
    }

    private void slowly(CircuitBreaker breaker, Duration d) {
        Permit permit = admit(breaker);
        clock.advance(d);
        permit.succeeded();
    }

    /** Exact, whatever the number of calls: against a plain list of the last results. */
    @Test
    void the_window_of_the_last_calls_is_exact() {
        java.util.Random dice = new java.util.Random(7);
        for (int size : new int[] {1, 2, 3, 10, 64, 100}) {
            Window window = new Window.LastCalls(size, new Window.Limits(2, 2, 1));
            List<Integer> all = new ArrayList<>();
            for (int i = 0; i < 2_000; i++) {
                int result = dice.nextInt(new int[] {3, 20, 400}[i / 250 % 3]);
                boolean unused = switch (result) {
                    case 0 -> window.failed(0);
                    case 1 -> window.slow(0);
                    default -> {
                        window.succeeded(0);
                        yield false;
                    }
                };
                all.add(result);
                List<Integer> last = all.subList(Math.max(0, all.size() - size), all.size());
                assertThat(window.counts(0))
                        .isEqualTo(new Counts(
                                last.size(),
                                last.stream().filter(r -> r == 0).count(),
                                last.stream().filter(r -> r == 1).count()));
            }
        }
    }

    // By hand.

    @Test
    void opened_by_hand_it_stays_so_on_any_clock_until_it_is_reset() {
        CircuitBreaker breaker = breaker(s -> s);
        Permit running = admit(breaker);

        fail(breaker);
        breaker.forceOpen();
        breaker.forceOpen();
        assertThat(breaker.counts()).isEqualTo(new Counts(0, 0, 0));
        clock.advance(Duration.ofDays(1_000));

        assertThat(breaker.state()).isEqualTo(OPEN);
        assertThat(breaker.remainingCoolDown()).isEqualTo(ChronoUnit.FOREVER.getDuration());
        assertThat(refusal(breaker))
                .hasMessage("the circuit breaker \"db\" was opened by hand")
                .hasNoCause();
        assertThatThrownBy(() -> breaker.admit(VirtualClock.manual())).isInstanceOf(CircuitOpenException.class);
        breaker.reset();
        running.failed(new IOException());
        assertThat(breaker.state()).isEqualTo(CLOSED);
        assertThat(breaker.counts()).isEqualTo(new Counts(0, 0, 0));
        assertThat(told).containsExactly("CLOSED -> OPEN", "OPEN -> CLOSED");
    }

    @Test
    void a_reset_closes_it_and_forgets() {
        CircuitBreaker breaker = cooledDown(s -> s);
        Permit trial = admit(breaker);

        breaker.reset();
        trial.failed(new IOException());

        assertThat(breaker.state()).isEqualTo(CLOSED);
        assertThat(told).containsExactly("OPEN -> HALF_OPEN", "HALF_OPEN -> CLOSED");
    }

    @Test
    void on_another_clock_it_starts_fresh() {
        CircuitBreaker breaker = breaker(s -> s.failures(1));
        fail(breaker);

        Permit other = breaker.admit(VirtualClock.manual());

        assertThat(other.isTrial()).isFalse();
        assertThat(breaker.state()).isEqualTo(CLOSED);
    }

    // Arguments, listeners.

    @Test
    void a_listener_that_throws_changes_nothing() {
        CircuitBreaker breaker = CircuitBreaker.of(
                "db",
                s -> s.failures(1).onTransition((from, to) -> {
                    throw new IllegalStateException("listener");
                }));

        fail(breaker);
        clock.advance(ofSeconds(10));
        succeed(breaker);

        assertThat(breaker.state()).isEqualTo(CLOSED);
    }

    @Test
    void an_observer_hears_of_all_breakers_and_one_that_throws_keeps_nothing_from_the_others() {
        CircuitBreaker a = breaker(s -> s.failures(1));
        CircuitBreaker b = CircuitBreaker.of("other", s -> s.failures(1));
        List<String> heard = new ArrayList<>();
        CircuitBreaker.onAnyTransition((breaker, from, to) -> {
            if (breaker == a || breaker == b) {
                throw new IllegalStateException("observer");
            }
        });
        CircuitBreaker.onAnyTransition((breaker, from, to) -> {
            if (breaker == a || breaker == b) {
                heard.add(breaker.name() + " " + from + " -> " + to);
            }
        });

        fail(a);
        b.forceOpen();
        clock.advance(ofSeconds(10));
        succeed(a);

        assertThat(heard)
                .containsExactly(
                        "db CLOSED -> OPEN", "other CLOSED -> OPEN", "db OPEN -> HALF_OPEN", "db HALF_OPEN -> CLOSED");
        assertThat(told).hasSize(3);
    }

    @Test
    void settings_out_of_range_are_refused_with_their_value() {
        assertThatThrownBy(() -> breaker(s -> s.failures(0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("failures must be at least 1: 0");
        for (double ratio : new double[] {0, -1, 1.01, Double.NaN}) {
            assertThatThrownBy(() -> breaker(s -> s.failureRate(ratio, 10)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("ratio must be more than 0, and 1 at the most: " + ratio);
            assertThatThrownBy(() -> breaker(s -> s.slowCalls(ofSeconds(1), ratio)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> breaker(s -> s.failureRate(0.5, 0))).hasMessage("calls must be at least 1: 0");
        assertThatThrownBy(() -> breaker(s -> s.failureRate(0.5, ZERO))).hasMessage("last must be positive: PT0S");
        assertThatThrownBy(() -> breaker(s -> s.minimumCalls(0))).hasMessage("calls must be at least 1: 0");
        assertThatThrownBy(() -> breaker(s -> s.failureRate(0.5, 10).minimumCalls(11)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("minimumCalls must not be more than the calls that are looked at: 11 > 10");
        assertThatThrownBy(() -> breaker(s -> s.slowCalls(ZERO, 1))).hasMessage("after must be positive: PT0S");
        assertThatThrownBy(() -> breaker(s -> s.slowCalls(ofSeconds(1), 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("slowCalls needs a failureRate, whose calls it looks at: PT1S");
        assertThatThrownBy(() -> breaker(s -> s.coolDown(ofNanos(-1))))
                .hasMessage("coolDown must not be negative: PT-0.000000001S");
        assertThatThrownBy(() -> breaker(s -> s.coolDownJitter(1.1))).hasMessage("ratio must be between 0 and 1: 1.1");
        assertThatThrownBy(() -> breaker(s -> s.trials(0))).hasMessage("trials must be at least 1: 0");
        assertThatThrownBy(() -> CircuitBreaker.of("db", s -> null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("settings gave null");
    }

    @Test
    void the_least_and_the_greatest_durations_are_fine_where_they_make_sense() {
        CircuitBreaker huge = breaker(s -> s.failures(1).coolDown(ofSeconds(Long.MAX_VALUE)));
        fail(huge);
        clock.advance(Duration.ofDays(36_499));
        assertThat(refusal(huge)).isNotNull();

        CircuitBreaker tiny =
                breaker(s -> s.failureRate(1, ofNanos(1)).minimumCalls(1).coolDown(ofNanos(1)));
        fail(tiny);
        assertThat(refusal(tiny)).isNotNull();
        clock.advance(ofNanos(1));
        assertThat(admit(tiny).isTrial()).isTrue();
    }
}
