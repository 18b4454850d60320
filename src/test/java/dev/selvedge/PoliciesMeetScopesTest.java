package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.Retry;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Policies in races, live scopes, shields and cleanup: what they have to do with the rest of the library. */
@Timeout(60)
class PoliciesMeetScopesTest {

    private static final Retry PLAIN = Retry.DEFAULT.withoutJitter();

    @RegisterExtension
    final Lab lab = new Lab();

    private final AtomicInteger calls = new AtomicInteger();

    private Callable<String> flaky(String name, int failures, int millis) {
        AtomicInteger mine = new AtomicInteger();
        return () -> {
            int n = mine.incrementAndGet();
            lab.sleep(name + n, ofMillis(millis));
            if (n <= failures) {
                throw new IOException(name + n);
            }
            return name;
        };
    }

    @Test
    void a_racer_may_win_by_its_second_attempt_and_a_loser_ends_in_its_back_off() {
        String winner = lab.scope("race").retry(PLAIN).race(flaky("a", 1, 10), flaky("b", 9, 100), flaky("c", 0, 500));

        assertThat(winner).isEqualTo("a");
        assertThat(lab.trail())
                .containsExactly("0.01s a1 slept", "0.1s b1 slept", "0.12s a2 slept", "0.12s c1 cut off");
        assertThat(lab.now()).isEqualTo(ofMillis(120));
        assertThat(lab.unhandled()).extracting(Throwable::getMessage).containsExactly("b1");
    }

    @Test
    void a_quorum_counts_what_retries_come_to() {
        List<String> first = lab.scope().retry(PLAIN).quorum(2, flaky("a", 1, 10), flaky("b", 2, 10), flaky("c", 9, 1));

        assertThat(first).containsExactly("a", "b");
    }

    @Test
    void in_gather_a_sibling_that_gives_up_ends_the_others_wherever_they_are() {
        Bulkhead one = Bulkhead.of(1);

        assertThatThrownBy(() -> lab.scope()
                        .gather(
                                () -> Selvedge.scope().retry(PLAIN).call(flaky("fails", 9, 10), e -> {
                                    throw new IllegalStateException(e);
                                }),
                                () -> Selvedge.scope()
                                        .bulkhead(one)
                                        .<String, Exception>call(flaky("holds", 0, 60_000)::call),
                                () -> Selvedge.scope()
                                        .bulkhead(one)
                                        .<String, Exception>call(flaky("queues", 0, 10)::call),
                                () -> Selvedge.scope()
                                        .hedge(ofSeconds(50))
                                        .<String, Exception>call(flaky("hedges", 0, 60_000)::call)))
                .isInstanceOf(ScopeFailedException.class)
                .hasRootCauseMessage("fails3");

        assertThat(lab.now()).isEqualTo(ofMillis(330));
        assertThat(one.free()).isEqualTo(1);
        assertThat(one.waiting()).isZero();
    }

    @Test
    void outcomes_hold_what_retries_came_to_and_what_the_deadline_cut_off() {
        List<Outcome<String>> outcomes = lab.scope("job")
                .deadline(ofSeconds(1))
                .retry(PLAIN)
                .timeout(ofSeconds(2))
                .outcomes(List.of(flaky("a", 2, 10), flaky("b", 9, 10), flaky("c", 0, 5000)));

        assertThat(outcomes.get(0)).isEqualTo(new Outcome.Success<>("a"));
        assertThat(((Outcome.Failure<String>) outcomes.get(1)).error()).hasMessage("b3");
        assertThat(((Outcome.Cancelled<String>) outcomes.get(2)).reason().message())
                .isEqualTo("the deadline of 1 s of the scope \"job\" passed");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void in_an_isolated_scope_a_fork_that_gives_up_is_a_failure_like_any_other() {
        lab.scope().isolated().retry(PLAIN).run(s -> {
            Fork<String> bad = s.fork(flaky("bad", 9, 1));
            Fork<String> good = s.fork(flaky("good", 1, 1));

            assertThat(good.join()).isEqualTo("good");
            assertThatThrownBy(bad::join).hasRootCauseMessage("bad3");
        });
    }

    @Test
    void daemons_and_actions_run_without_policies() {
        lab.scope().retry(PLAIN).run(s -> {
            s.onCancel(() -> {
                calls.addAndGet(10);
                throw new IOException("action");
            });
            s.daemon(() -> {
                calls.incrementAndGet();
                Selvedge.sleep(ofSeconds(60));
            });
            Selvedge.sleep(ofSeconds(1));
            s.cancel("enough");
        });

        assertThat(calls).hasValue(11);
    }

    @Test
    void a_view_of_a_scope_is_the_scope() {
        AtomicReference<@Nullable Scope> kept = new AtomicReference<>();
        lab.scope("a").run(s -> {
            Scope view = s.retry(PLAIN).timeout(ofSeconds(1));
            kept.set(view);
            s.fork(() -> assertThatThrownBy(() -> view.fork(() -> {})).isInstanceOf(WrongThreadException.class))
                    .join();
            assertThat(view.gather(List.of(s.fork(flaky("x", 0, 1))))).containsExactly("x");
            assertThat(view).hasToString(s.toString());
        });

        Scope ended = Objects.requireNonNull(kept.get());
        assertThatThrownBy(() -> ended.fork(() -> {})).isInstanceOf(IllegalStateException.class);
        assertThat(ended.retry(PLAIN).isCancelled()).isFalse();
    }

    @Test
    void a_shielded_task_has_its_retries_timeouts_and_hedges_though_all_around_is_cancelled() {
        lab.scope("outer").run(s -> {
            s.cancel("enough");
            String value = Selvedge.shielded(() -> Selvedge.scope("cleanup")
                    .retry(PLAIN)
                    .timeout(ofSeconds(1))
                    .hedge(ofMillis(500))
                    .call(() -> {
                        if (calls.incrementAndGet() < 4) {
                            Selvedge.sleep(ofSeconds(9));
                        }
                        return "clean";
                    }));
            assertThat(value).isEqualTo("clean");
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        });

        assertThat(calls).hasValue(4);
    }

    @Test
    void forks_inside_an_attempt_are_tasks_of_their_own() throws IOException {
        List<Integer> numbers = new CopyOnWriteArrayList<>();

        lab.scope().retry(PLAIN).run(() -> {
            List<Integer> unused = Selvedge.scope()
                    .map(List.of(1, 2), i -> numbers.add(Selvedge.attempt().number()) ? i : 0);
            if (calls.incrementAndGet() == 1) {
                throw new IOException("again");
            }
            numbers.add(Selvedge.attempt().number());
        });

        assertThat(numbers).containsExactly(1, 1, 1, 1, 2);
    }

    @Test
    void an_exception_that_wraps_an_interrupt_is_one() {
        for (Exception wrapped : List.of(
                new RuntimeException(new InterruptedException()),
                new IOException("Closed by interrupt"),
                new ClosedByInterruptException())) {
            CircuitBreaker breaker = CircuitBreaker.of("b");
            calls.set(0);

            Throwable thrown = catchThrowable(
                    () -> lab.scope().retry(PLAIN).breaker(breaker).run(() -> {
                        calls.incrementAndGet();
                        throw wrapped;
                    }));

            assertThat(thrown).isNotNull();
            assertThat(calls).hasValue(1);
            assertThat(breaker.counts().failures()).isZero();
            Thread.interrupted();
        }
    }

    @Test
    void a_full_stack_leaves_nothing_behind() {
        ScopeSpec spec = Selvedge.scope("deep")
                .retry(PLAIN)
                .breaker(CircuitBreaker.of("b"))
                .bulkhead(Bulkhead.of(3))
                .timeout(ofSeconds(60));
        Bulkhead one = Bulkhead.of(1);

        assertThatThrownBy(() -> deeper(spec.bulkhead(one), 0)).isInstanceOf(StackOverflowError.class);

        assertThat(Here.ledger()).isNull();
        assertThat(Selvedge.attempt().number()).isEqualTo(1);
        assertThat(one.free()).isEqualTo(1);
        assertThat(spec.<String, RuntimeException>call(() -> "value")).isEqualTo("value");
    }

    private int deeper(ScopeSpec spec, int n) {
        return spec.<Integer, RuntimeException>call(() -> recurse(n)) + 1;
    }

    @SuppressWarnings("InfiniteRecursion")
    private int recurse(int n) {
        return recurse(n + 1) + 1;
    }

    @Test
    void nothing_is_retained_of_a_call_that_gave_up() {
        List<WeakReference<Object>> references = new ArrayList<>();
        ScopeSpec spec = Selvedge.scope()
                .retry(PLAIN.immediately())
                .breaker(CircuitBreaker.of("b"))
                .hedge(ofSeconds(1));
        giveUp(spec, references);

        assertThat(references).hasSize(12);
        Blocks.awaitCollected(references);
    }

    /** In a method of its own, whose variables are gone when it has ended. */
    private static void giveUp(ScopeSpec spec, List<WeakReference<Object>> references) {
        try (Log log = Log.of("dev.selvedge")) {
            callThatGivesUp(spec, references);
            assertThat(log.thrown())
                    .hasSize(3); // of each hedge; those of the first rounds say the same as the last one
        }
    }

    private static void callThatGivesUp(ScopeSpec spec, List<WeakReference<Object>> references) {
        try {
            spec.run(() -> {
                Object big = new byte[1000];
                IOException failure = new IOException("no");
                synchronized (references) {
                    references.add(new WeakReference<>(big));
                    references.add(new WeakReference<>(failure));
                }
                throw failure;
            });
        } catch (IOException expected) {
            // it is not kept here either
        }
    }
}
