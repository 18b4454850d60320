package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.selvedge.CancelReason.Kind;
import dev.selvedge.Outcome.Cancelled;
import dev.selvedge.Outcome.Failure;
import dev.selvedge.Outcome.Success;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** From part I of the catalogue: partial results, and forks that live for themselves. */
@Timeout(30)
class OutcomesTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final IllegalStateException boom = new IllegalStateException("boom");

    @Test
    @Catalogue(116)
    void a_missed_deadline_keeps_what_was_done_and_is_not_thrown() {
        List<Callable<String>> tasks = List.of(slow("a", 1), failing(boom, 2), slow("c", 9));

        Outcomes<Callable<String>, String> outcomes =
                lab.scope("page").deadline(ofSeconds(3)).outcomes(tasks, Callable::call);

        assertThat(outcomes)
                .containsExactly(
                        new Success<>("a"),
                        new Failure<>(boom),
                        new Cancelled<>(new CancelReason(
                                Kind.DEADLINE, "the deadline of 3 s of the scope \"page\" passed", null)));
        assertThat(lab.trail()).containsExactly("1s a slept", "3s c cut off");
        assertThat(lab.unhandled()).isEmpty();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Catalogue(116)
    void a_deadline_that_has_passed_already_starts_nothing_and_leaves_cancelled_everywhere() {
        Outcomes<Integer, String> outcomes = lab.scope()
                .deadline(ZERO)
                .outcomes(List.of(1, 2), n -> slow("t" + n, n).call());

        assertThat(outcomes)
                .hasSize(2)
                .allSatisfy(o -> assertThat(o)
                        .isInstanceOfSatisfying(
                                Cancelled.class,
                                c -> assertThat(c.reason().kind()).isEqualTo(Kind.DEADLINE)));
        assertThat(lab.events(ScopeEvent.ForkStarted.class)).isEmpty();
        assertThat(lab.now()).isEqualTo(ZERO);
    }

    @Test
    @Catalogue({11, 116})
    void an_inherited_deadline_leaves_and_is_the_outer_block_s() {
        assertThatThrownBy(() -> lab.scope("outer").deadline(ofSeconds(2)).call(() -> {
                    var unused = lab.scope("inner")
                            .outcomes(List.of(1, 9), n -> slow("t" + n, n).call());
                    return lab.scope("never").call(() -> "never");
                }))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"outer\" exceeded its deadline of 2 s (after 2 s)");

        assertThat(lab.trail()).containsExactly("1s t1 slept", "2s t9 cut off");
    }

    @Test
    @Catalogue(117)
    void a_value_that_comes_between_the_deadline_and_the_end_is_kept() {
        List<Callable<String>> tasks = List.of(stubborn("a", 1), slow("b", 9));

        Outcomes<Callable<String>, String> outcomes =
                lab.scope().deadline(ofSeconds(3)).outcomes(tasks, Callable::call);

        assertThat(outcomes.get(0)).isEqualTo(new Success<>("a"));
        assertThat(outcomes.get(1)).isInstanceOf(Cancelled.class);
        assertThat(lab.now()).isEqualTo(ofSeconds(4));
    }

    @Test
    @Catalogue({92, 117})
    void a_failure_that_comes_between_the_deadline_and_the_end_is_kept() {
        List<Callable<String>> tasks = List.of(() -> {
            try {
                return slow("a", 9).call();
            } finally {
                failing(boom, 1).call();
            }
        });

        Outcomes<Callable<String>, String> outcomes =
                lab.scope().deadline(ofSeconds(3)).outcomes(tasks, Callable::call);

        assertThat(outcomes).containsExactly(new Failure<>(boom));
    }

    @Test
    @Catalogue(117)
    void if_all_have_a_value_after_the_deadline_a_gather_gives_them() {
        List<String> values = lab.scope().deadline(ofSeconds(1)).gather(stubborn("a", 1), stubborn("b", 2));

        assertThat(values).containsExactly("a", "b");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    @Catalogue(116)
    void a_chain_hands_over_outcomes_of_all_types() {
        List<Object> all = lab.scope()
                .fork(() -> 1)
                .fork(failing(boom, 1))
                .fork(() -> 'c')
                .fork(() -> 4L)
                .fork(() -> null)
                .<List<Object>, RuntimeException>outcomes((a, b, c, d, e) -> List.of(a, b, c, d, e));

        assertThat(all)
                .containsExactly(
                        new Success<>(1),
                        new Failure<>(boom),
                        new Success<>('c'),
                        new Success<>(4L),
                        new Success<>(null));
    }

    @Test
    @Catalogue(116)
    void the_outcomes_of_items_answer_by_place_and_by_kind() {
        IOException other = new IOException("other");
        List<Callable<String>> items = List.of(failing(boom, 2), slow("b", 1), failing(other, 1), slow("d", 9));

        Outcomes<Callable<String>, String> outcomes =
                lab.scope().deadline(ofSeconds(3)).outcomes(items, Callable::call);

        assertThat(outcomes.item(2)).isSameAs(items.get(2));
        assertThat(outcomes.values()).containsExactly("b");
        assertThat(outcomes.failures()).containsExactly(boom, other);
        assertThat(outcomes.cancelled()).isEqualTo(1);
        assertThatThrownBy(() -> outcomes.set(0, null)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> outcomes.values().clear()).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> outcomes.failures().clear()).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @Catalogue(116)
    void all_values_or_the_failures_in_the_order_of_the_items() {
        IOException other = new IOException("other");
        List<Callable<String>> items = List.of(failing(boom, 2), slow("b", 1), failing(other, 1), slow("d", 9));

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope()
                        .deadline(ofSeconds(3))
                        .outcomes(items, Callable::call)
                        .orThrow());

        assertThat(failure)
                .hasMessage("one of 4 items threw java.lang.IllegalStateException: boom (and 1 more failure)");
        assertThat(failure.getCause()).isSameAs(boom);
        assertThat(failure.failures()).isEqualTo(List.of(boom, other));
        assertThat(failure.getSuppressed()).containsExactly(other);
    }

    @Test
    @Catalogue(116)
    void all_values_or_the_cancellation_if_nothing_failed() {
        Outcomes<Integer, String> outcomes = lab.scope()
                .deadline(ofSeconds(3))
                .outcomes(List.of(1, 9), n -> slow("t" + n, n).call());

        assertThatThrownBy(outcomes::orThrow)
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("the deadline of 3 s of the scope passed");
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Catalogue(116)
    void all_values_if_all_succeeded() {
        Outcomes<Integer, String> outcomes = lab.scope().outcomes(Arrays.asList(1, null), n -> n == null ? null : "x");

        assertThat(outcomes.orThrow()).containsExactly("x", null);
        assertThat(outcomes.item(1)).isNull();
    }

    @Test
    @Catalogue({2, 116})
    void no_items_give_no_outcomes_at_once() {
        Outcomes<String, String> none = lab.scope().outcomes(List.<String>of(), n -> n);

        assertThat(none).isEmpty();
        assertThat(none.orThrow()).isEmpty();
        assertThat(lab.events()).isEmpty();
    }

    @Test
    void those_of_a_source_that_was_not_read_to_its_end_are_not_all() {
        Iterator<Integer> slow = new Iterator<>() {
            private int n;

            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public Integer next() {
                n++;
                if (n > 3) {
                    Selvedge.sleep(ofSeconds(10));
                }
                return n;
            }
        };

        Outcomes<Integer, Integer> outcomes =
                scope("s").clock(VirtualClock.jumping()).deadline(ofSeconds(1)).outcomes(() -> slow, i -> i);

        assertThat(outcomes.values()).containsExactly(1, 2, 3);
        assertThat(outcomes.cancelled()).isZero();
        assertThatThrownBy(outcomes::orThrow)
                .isInstanceOfSatisfying(
                        ScopeCancelledException.class,
                        e -> assertThat(e.reason().kind()).isEqualTo(Kind.DEADLINE));
    }

    @Test
    void those_of_a_source_that_was_never_read_are_not_all_either() {
        Iterable<Integer> source = () -> List.of(1).iterator();

        Outcomes<Integer, Integer> outcomes = scope("s").deadline(ZERO).outcomes(source, i -> i);

        assertThat(outcomes).isEmpty();
        assertThatThrownBy(outcomes::orThrow).isInstanceOf(ScopeCancelledException.class);
    }

    @Test
    @Catalogue(121)
    void in_an_isolated_scope_siblings_and_the_body_live_on_and_the_unseen_failure_is_thrown_at_the_end() {
        assertThatThrownBy(() -> lab.scope("page").isolated().call(s -> {
                    var unused = s.fork("a", failing(boom, 1));
                    var unusedToo = s.fork("b", slow("b", 3));
                    lab.sleep("body", ofSeconds(2));
                    return "value";
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"a\" threw java.lang.IllegalStateException: boom")
                .cause()
                .isSameAs(boom);

        assertThat(lab.trail()).containsExactly("2s body slept", "3s b slept");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "page", "value"));
    }

    @Test
    @Catalogue(121)
    void in_an_isolated_scope_failures_that_were_looked_at_are_not_thrown() {
        String value = lab.scope().isolated().call(s -> {
            Fork<String> a = s.fork("a", failing(boom, 1));
            Fork<String> b = s.fork("b", failing(boom, 1));
            Fork<String> c = s.fork("c", slow("c", 2));
            assertThatThrownBy(a::join)
                    .isInstanceOf(ScopeFailedException.class)
                    .hasMessage("the fork \"a\" threw java.lang.IllegalStateException: boom");
            String joined = c.join();
            assertThat(b.outcome()).isEqualTo(new Failure<>(boom));
            return joined;
        });

        assertThat(value).isEqualTo("c");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(121)
    void in_an_isolated_scope_all_unseen_failures_are_thrown_in_the_order_of_time() {
        IOException other = new IOException("other");

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope().isolated().run(s -> {
                    var unused = s.fork("a", failing(boom, 3));
                    var unusedToo = s.fork("b", failing(other, 1));
                    Fork<?> seen = s.fork("c", failing(new IllegalStateException("seen"), 2));
                    assertThatThrownBy(seen::join).isInstanceOf(ScopeFailedException.class);
                }));

        assertThat(failure).hasMessage("the scope failed: \"b\" threw java.io.IOException: other (and 1 more failure)");
        assertThat(failure.failures()).isEqualTo(List.of(other, boom));
    }

    @Test
    @Catalogue(121)
    void the_join_of_a_failed_fork_let_out_of_an_isolated_body_is_what_the_scope_throws() {
        IOException other = new IOException("other");

        assertThatThrownBy(() -> lab.scope().isolated().run(s -> {
                    Fork<?> a = s.fork("a", failing(boom, 1));
                    var unused = s.fork("b", failing(other, 1));
                    Selvedge.sleep(ofSeconds(2));
                    a.join();
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the fork \"a\" threw java.lang.IllegalStateException: boom");

        assertThat(lab.unhandled()).containsExactly(other);
    }

    @Test
    @Catalogue(121)
    void gathering_in_an_isolated_scope_ends_with_the_first_failure() {
        lab.scope().isolated().run(s -> {
            Fork<String> a = s.fork("a", slow("a", 3));
            Fork<String> b = s.fork("b", failing(boom, 1));
            assertThatThrownBy(() -> s.gather(List.of(a, b)))
                    .isInstanceOf(ScopeFailedException.class)
                    .hasMessage("the fork \"b\" threw java.lang.IllegalStateException: boom");
            lab.note("told");
        });

        assertThat(lab.trail()).containsExactly("1s told", "3s a slept");
    }

    @Test
    @Catalogue(121)
    void an_isolated_body_that_throws_cancels_the_forks() {
        IllegalStateException own = new IllegalStateException("body");

        assertThatThrownBy(() -> lab.scope().isolated().run(s -> {
                    var unused = s.fork("a", slow("a", 9));
                    var unusedToo = s.fork("b", failing(boom, 1));
                    Selvedge.sleep(ofSeconds(2));
                    throw own;
                }))
                .isSameAs(own);

        assertThat(lab.trail()).containsExactly("2s a cut off");
        assertThat(lab.unhandled()).containsExactly(boom);
    }

    @Test
    @Catalogue(121)
    void a_cancelled_owner_of_an_isolated_scope_cancels_the_forks() {
        lab.scope("outer").run(outer -> {
            Fork<?> owner = outer.fork(
                    "owner",
                    () -> lab.scope("inner").isolated().run(s -> {
                        var unused = s.fork("a", slow("a", 9));
                        var unusedToo = s.fork("b", failing(boom, 1));
                        lab.sleep("body", ofSeconds(9));
                    }));
            Selvedge.sleep(ofSeconds(2));
            assertThat(owner.cancel()).isTrue();
            assertThatThrownBy(owner::join).isInstanceOf(ScopeCancelledException.class);
        });

        assertThat(lab.trail()).containsExactly("2s body cut off", "2s a cut off");
        assertThat(lab.unhandled()).containsExactly(boom);
    }

    @Test
    @Catalogue({115, 121})
    void a_deadline_of_an_isolated_scope_has_the_failures_as_suppressed() {
        var late = catchThrowableOfType(
                DeadlineExceededException.class,
                () -> lab.scope("page").isolated().deadline(ofSeconds(2)).run(s -> {
                    var unused = s.fork("a", failing(boom, 1));
                    var unusedToo = s.fork("b", slow("b", 9));
                }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 2 s (after 2 s); not finished: b");
        assertThat(late.getSuppressed()).containsExactly(boom);
    }

    @Test
    @Catalogue(122)
    void the_accessor_of_a_failure_throws_the_very_error_each_time() {
        Outcome<String> failure = new Failure<>(boom);
        AssertionError error = new AssertionError("e");
        Outcome<String> bare = new Failure<>(error);

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(failure::orThrow).isSameAs(boom);
            assertThatThrownBy(bare::orThrow).isSameAs(error);
        }
        assertThat(failure.orElse("other")).isEqualTo("other");
    }

    @Test
    @Catalogue(122)
    void the_outcome_of_a_fork_is_the_task_s_own_error_and_stays_so() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    Fork<String> a = s.fork("a", failing(boom, 1));
                    assertThatThrownBy(() -> Selvedge.sleep(ofSeconds(9))).isInstanceOf(ScopeCancelledException.class);
                    assertThat(a.outcome()).isEqualTo(new Failure<>(boom));
                    assertThatThrownBy(() -> a.outcome().orThrow()).isSameAs(boom);
                    assertThatThrownBy(() -> a.outcome().orThrow()).isSameAs(boom);
                }))
                .isInstanceOf(ScopeFailedException.class);
    }

    @Test
    @Catalogue(122)
    void the_accessors_of_a_success_and_of_a_cancelled() throws Exception {
        CancelReason reason = new CancelReason(Kind.CALLER, "enough", boom);
        Outcome<String> success = new Success<>("a");
        Outcome<String> cancelled = new Cancelled<>(reason);

        assertThat(success.orThrow()).isEqualTo("a");
        assertThat(success.orElse("other")).isEqualTo("a");
        assertThat(new Success<String>(null).orElse("other")).isNull();
        assertThat(cancelled.orElse("other")).isEqualTo("other");
        assertThatThrownBy(cancelled::orThrow)
                .isInstanceOfSatisfying(
                        ScopeCancelledException.class,
                        e -> assertThat(e.reason()).isSameAs(reason))
                .hasMessage("enough")
                .hasCause(boom);
    }

    private Callable<String> slow(String name, int seconds) {
        return () -> {
            lab.sleep(name, ofSeconds(seconds));
            return name;
        };
    }

    private static Callable<String> failing(Exception e, int seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            throw e;
        };
    }

    /** Waits until it is cut off, goes on for a while, and gives its value all the same. */
    private static Callable<String> stubborn(String value, int more) {
        return () -> {
            assertThatThrownBy(() -> Selvedge.sleep(ofSeconds(1000))).isInstanceOf(ScopeCancelledException.class);
            Selvedge.sleep(ofSeconds(more));
            return value;
        };
    }
}
