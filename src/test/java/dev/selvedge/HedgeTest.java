package dev.selvedge;

import static dev.selvedge.Blocks.compute;
import static dev.selvedge.Blocks.flag;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.BulkheadFullException;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.Retry;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Attempts of one task at the same time: when they start, who wins, and what becomes of the others. */
@Timeout(30)
class HedgeTest {

    private static final Duration AFTER = ofMillis(50);

    @RegisterExtension
    final Lab lab = new Lab();

    private final AtomicInteger started = new AtomicInteger();
    private final List<Object> discarded = new CopyOnWriteArrayList<>();

    /** The n-th attempt that starts takes the n-th time; a negative one throws after it. */
    private Task<String, IOException> taking(int... millis) {
        return () -> {
            int n = started.getAndIncrement();
            lab.note("start " + (n + 1));
            lab.sleep("attempt " + (n + 1), ofMillis(Math.abs(millis[n])));
            if (millis[n] < 0) {
                throw new IOException("no " + (n + 1));
            }
            return "value " + (n + 1);
        };
    }

    private ScopeSpec hedged() {
        return lab.scope("a").hedge(AFTER).onDiscard(discarded::add);
    }

    @Test
    void a_task_that_is_fast_is_run_once() throws Exception {
        assertThat(hedged().call(taking(50 - 1))).isEqualTo("value 1");

        assertThat(lab.trail()).containsExactly("0s start 1", "0.049s attempt 1 slept");
    }

    @Test
    @Lesson(82)
    void a_slow_one_is_joined_by_another_and_the_first_value_wins() throws Exception {
        assertThat(hedged().call(taking(1000, 100))).isEqualTo("value 2");

        assertThat(lab.trail())
                .containsExactly("0s start 1", "0.05s start 2", "0.15s attempt 2 slept", "0.15s attempt 1 cut off");
        assertThat(lab.unhandled()).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    void the_first_attempt_can_still_win() throws Exception {
        assertThat(hedged().call(taking(100, 100))).isEqualTo("value 1");

        assertThat(lab.trail()).contains("0.1s attempt 1 slept", "0.1s attempt 2 cut off");
    }

    @Test
    @Lesson(81)
    void a_failure_starts_the_next_at_once() throws Exception {
        assertThat(hedged().call(taking(-10, 10))).isEqualTo("value 2");

        assertThat(lab.trail())
                .containsExactly("0s start 1", "0.01s attempt 1 slept", "0.01s start 2", "0.02s attempt 2 slept");
        assertThat(lab.unhandled()).isEmpty();
    }

    /** In real time the first attempt may have failed before its owner looks: with an hour to wait, that would be a hang. */
    @Test
    @Tag("real")
    @Lesson(81)
    void so_it_does_however_soon_it_comes() {
        for (boolean virtual : new boolean[] {false, true}) {
            Runnable calls = () -> {
                for (int i = 0; i < 1_000; i++) {
                    AtomicInteger begun = new AtomicInteger();
                    assertThatThrownBy(
                                    () -> Selvedge.scope().hedge(ofHours(1), 2).run(() -> {
                                        begun.incrementAndGet();
                                        throw new IOException("no");
                                    }))
                            .isInstanceOf(IOException.class);
                    assertThat(begun).hasValue(3);
                }
            };
            try (Log log = Log.of("dev.selvedge")) {
                if (virtual) {
                    Selvedge.scope().run(s -> s.fork(calls::run).join());
                } else {
                    calls.run();
                }
                assertThat(log.thrown()).hasSize(2_000);
            }
        }
    }

    @Test
    @Lesson({80, 82})
    void if_all_fail_the_first_attempt_s_failure_is_thrown_as_soon_as_the_last_has_ended() {
        assertThatThrownBy(() -> hedged().call(taking(-100, -20)))
                .isInstanceOf(IOException.class)
                .hasMessage("no 1")
                .hasNoSuppressedExceptions();

        assertThat(lab.now()).isEqualTo(ofMillis(100));
        assertThat(lab.unhandled()).extracting(Throwable::getMessage).containsExactly("no 2");
    }

    @Test
    void several_may_join_one_after_the_other() throws Exception {
        assertThat(lab.scope("a").hedge(AFTER, 3).call(taking(1000, 1000, 1000, 10)))
                .isEqualTo("value 4");

        assertThat(lab.trail())
                .startsWith("0s start 1", "0.05s start 2", "0.1s start 3", "0.15s start 4", "0.16s attempt 4 slept");
    }

    @Test
    void all_may_start_at_once() throws Exception {
        assertThat(lab.scope("a").hedge(ZERO, 2).call(taking(30, 20, 10))).isEqualTo("value 3");

        assertThat(lab.now()).isEqualTo(ofMillis(10));
    }

    @Test
    @Lesson(84)
    void a_value_that_comes_too_late_is_discarded() throws Exception {
        Task<String, IOException> deaf = () -> {
            int n = started.incrementAndGet();
            compute(lab, ofMillis(n == 1 ? 200 : 10));
            return "value " + n;
        };

        assertThat(hedged().call(deaf)).isEqualTo("value 2");

        assertThat(discarded).containsExactly("value 1");
        assertThat(lab.now()).isEqualTo(ofMillis(200));
    }

    @Test
    void a_failure_that_comes_too_late_is_told() throws Exception {
        Task<String, IOException> deaf = () -> {
            int n = started.incrementAndGet();
            compute(lab, ofMillis(n == 1 ? 200 : 10));
            if (n == 1) {
                throw new IOException("late");
            }
            return "value " + n;
        };

        assertThat(hedged().call(deaf)).isEqualTo("value 2");

        assertThat(lab.unhandled()).extracting(Throwable::getMessage).containsExactly("late");
    }

    @Test
    void an_error_leaves_at_once_and_bare() {
        assertThatThrownBy(() -> lab.scope("a").hedge(AFTER).run(() -> {
                    if (started.incrementAndGet() == 2) {
                        throw new AssertionError("no");
                    }
                    lab.sleep("first", ofSeconds(9));
                }))
                .isExactlyInstanceOf(AssertionError.class)
                .hasMessage("no");

        assertThat(lab.trail()).containsExactly("0.05s first cut off");
    }

    /** The owner may look while the attempt that failed is not done with telling it: its words take as long as the owner needs. */
    @Test
    @Tag("stress")
    void no_attempt_joins_after_an_error() {
        for (int i = 0; i < 1_000; i++) {
            started.set(0);
            Thread owner = Thread.currentThread();
            AssertionError slowToTell = new AssertionError("no") {
                @Override
                public String getMessage() {
                    while (Thread.currentThread() != owner
                            && started.get() == 1
                            && owner.getState() != Thread.State.TIMED_WAITING) {
                        Thread.yield();
                    }
                    return "no";
                }
            };

            assertThatThrownBy(() -> Selvedge.scope().hedge(ofHours(1)).run(() -> {
                        started.getAndIncrement();
                        throw slowToTell;
                    }))
                    .isSameAs(slowToTell);

            assertThat(started).hasValue(1);
        }
    }

    @Test
    void an_attempt_knows_that_it_is_a_hedge() throws Exception {
        List<Attempt> known = new CopyOnWriteArrayList<>();
        Task<String, IOException> task = taking(1000, -10, 1000, 10);

        String value = lab.scope("a")
                .hedge(AFTER)
                .timeout(ofMillis(500))
                .retry(r -> r.fixed(ofSeconds(1)))
                .call(() -> {
                    known.add(Selvedge.attempt());
                    return task.call();
                });

        assertThat(value).isEqualTo("value 4");
        assertThat(known).extracting(Attempt::number).containsExactly(1, 1, 2, 2);
        assertThat(known).extracting(Attempt::isHedge).containsExactly(false, true, false, true);
        assertThat(known.get(3).lastFailure()).isInstanceOf(AttemptTimeoutException.class);
        assertThat(known).extracting(Attempt::elapsed).containsExactly(ZERO, AFTER, ofMillis(1500), ofMillis(1550));
    }

    @Test
    void each_attempt_has_its_own_timeout_and_the_retry_comes_after_all_of_them() throws Exception {
        assertThat(hedged().timeout(ofMillis(100))
                        .retry(r -> r.fixed(ofSeconds(1)))
                        .call(taking(999, 999, 5)))
                .isEqualTo("value 3");

        assertThat(lab.trail())
                .containsExactly(
                        "0s start 1",
                        "0.05s start 2",
                        "0.1s attempt 1 cut off",
                        "0.15s attempt 2 cut off",
                        "1.15s start 3",
                        "1.155s attempt 3 slept");
    }

    // Inside policies.

    @Test
    @Lesson(80)
    void a_hedge_that_is_refused_is_not_started_and_no_error() throws Exception {
        Bulkhead one = Bulkhead.of(1, b -> b.maxWait(ZERO));

        assertThat(lab.scope("a").hedge(AFTER, 3).bulkhead(one).call(taking(500)))
                .isEqualTo("value 1");

        assertThat(started).hasValue(1);
        assertThat(one.free()).isEqualTo(1);
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Lesson(80)
    void if_the_attempt_it_was_to_join_fails_that_is_the_failure() {
        Bulkhead one = Bulkhead.of(1, b -> b.maxWait(ZERO));

        assertThatThrownBy(() -> lab.scope("a").hedge(AFTER, 3).bulkhead(one).call(taking(-500)))
                .isInstanceOf(IOException.class)
                .hasMessage("no 1");
        assertThat(lab.now()).isEqualTo(ofMillis(500));
    }

    @Test
    @Lesson(80)
    void if_the_first_attempt_is_refused_that_is_all() {
        Bulkhead one = Bulkhead.of(1, b -> b.maxWait(ZERO));

        lab.scope("a").run(s -> {
            Fork<?> holder = s.bulkhead(one).fork(() -> Selvedge.sleep(ofSeconds(1)));
            Selvedge.sleep(ofMillis(500));
            assertThatThrownBy(
                            () -> Selvedge.scope("b").hedge(AFTER).bulkhead(one).run(started::incrementAndGet))
                    .isInstanceOf(BulkheadFullException.class);
            holder.join();
        });

        assertThat(started).hasValue(0);
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void a_hedge_that_waits_for_a_slot_takes_the_place_of_none() throws Exception {
        Bulkhead one = Bulkhead.of(1);

        assertThat(hedged().bulkhead(one).call(taking(200))).isEqualTo("value 1");

        assertThat(started).hasValue(1);
        assertThat(one.free()).isEqualTo(1);
        assertThat(one.waiting()).isZero();
    }

    @Test
    void a_lost_race_is_nothing_to_a_breaker_that_counts_attempts() throws Exception {
        CircuitBreaker counting =
                CircuitBreaker.of("c", b -> b.failureRate(1, 10).minimumCalls(1).countAttempts());

        assertThat(hedged().breaker(counting).call(taking(1000, 10))).isEqualTo("value 2");

        assertThat(counting.counts()).isEqualTo(new CircuitBreaker.Counts(1, 0, 0));
    }

    @Test
    void a_call_with_hedges_counts_once_for_a_breaker() {
        CircuitBreaker breaker = CircuitBreaker.of("b");

        assertThatThrownBy(() -> hedged().breaker(breaker).call(taking(-100, -100)))
                .isInstanceOf(IOException.class);

        assertThat(breaker.counts().failures()).isEqualTo(1);
    }

    // Cut off.

    @Test
    void the_deadline_of_the_scope_ends_all_attempts() {
        Throwable late = catchThrowable(() -> hedged().deadline(ofMillis(100)).call(taking(1000, 1000)));

        assertThat(late)
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"a\" exceeded its deadline of 100 ms (after 100 ms)");
        assertThat(lab.trail())
                .containsExactly("0s start 1", "0.05s start 2", "0.1s attempt 1 cut off", "0.1s attempt 2 cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    void so_does_a_cancel_around_before_the_hedge_has_started() {
        Throwable cut = catchThrowable(() -> lab.scope("outer").run(s -> {
            Fork<?> worker = s.hedge(ofSeconds(5)).retry(Retry.DEFAULT).fork(() -> {
                started.incrementAndGet();
                lab.sleep("worker", ofSeconds(9));
            });
            Selvedge.sleep(ofSeconds(1));
            s.cancel("enough");
            worker.join();
        }));

        assertThat(cut).isInstanceOf(ScopeCancelledException.class).hasMessage("enough");
        assertThat(started).hasValue(1);
        assertThat(lab.trail()).containsExactly("1s worker cut off");
    }

    @Test
    void an_interrupt_of_the_caller_ends_all_attempts_and_stays() {
        Thread me = Thread.currentThread();

        assertThatThrownBy(() -> hedged().run(() -> {
                    if (started.incrementAndGet() == 2) {
                        lab.clock().interrupt(me); // a raw one would race with the clock
                    }
                    lab.sleep("attempt", ofSeconds(9));
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(lab.trail()).containsExactly("0.05s attempt cut off", "0.05s attempt cut off");
    }

    @Test
    void what_is_propagated_reaches_all_attempts_and_thread_locals_do_not() {
        ThreadLocal<String> local = new ThreadLocal<>();
        ThreadLocal<String> carried = new ThreadLocal<>();
        AtomicInteger captured = new AtomicInteger();
        List<String> seen = new CopyOnWriteArrayList<>();
        local.set("local");
        carried.set("carried");

        lab.scope("a")
                .hedge(AFTER)
                .propagate(() -> carried.get() + captured.incrementAndGet(), v -> {
                    carried.set(v);
                    return carried::remove;
                })
                .run(() -> {
                    seen.add(local.get() + " " + carried.get());
                    if (started.incrementAndGet() == 1) {
                        Selvedge.sleep(ofSeconds(1));
                    }
                });

        assertThat(seen).containsExactly("null carried1", "null carried1");
    }

    @Test
    void attempts_run_in_threads_of_the_scope_s_factory() {
        List<Boolean> virtual = new CopyOnWriteArrayList<>();

        lab.scope("a").threads(Thread.ofPlatform().factory()).hedge(ZERO).run(() -> {
            virtual.add(Thread.currentThread().isVirtual());
            Selvedge.sleep(ofSeconds(1));
        });

        assertThat(virtual).containsExactly(false, false);
    }

    @Test
    void the_threads_of_attempts_have_names_if_the_scope_has_one() {
        List<String> names = new CopyOnWriteArrayList<>();
        for (ScopeSpec named : List.of(lab.scope("a"), lab.realScope().named("b"), lab.scope())) {
            named.hedge(ZERO, 2).run(() -> {
                names.add(Thread.currentThread().getName());
                Selvedge.sleep(ofMillis(names.size() % 3 == 0 ? 1 : 100));
            });
        }

        assertThat(names.subList(0, 3)).containsExactly("a/hedge/attempt", "a/hedge/hedge-1", "a/hedge/hedge-2");
        assertThat(names.subList(3, 6))
                .containsExactlyInAnyOrder("b/hedge/attempt", "b/hedge/hedge-1", "b/hedge/hedge-2");
        assertThat(names.subList(6, 9)).containsOnly("");
    }

    @Test
    void in_a_fan_out_each_task_has_its_hedges() {
        List<String> values = lab.scope("a").hedge(AFTER).map(List.of("x", "y"), item -> {
            boolean slow = item.equals("y") && !Selvedge.attempt().isHedge();
            Selvedge.sleep(slow ? ofSeconds(9) : ofMillis(10));
            return item + Selvedge.attempt().isHedge();
        });

        assertThat(values).containsExactly("xfalse", "ytrue");
        assertThat(lab.now()).isEqualTo(ofMillis(60));
    }
}
