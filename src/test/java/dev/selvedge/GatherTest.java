package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Part A of the catalogue: all together, and what one failure does to the others. */
@Timeout(30)
class GatherTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    @Catalogue(1)
    void values_come_in_the_order_asked_whoever_ends_first() {
        List<String> values = lab.scope().gather(slow("a", 3), slow("b", 2), slow("c", 1));

        assertThat(values).containsExactly("a", "b", "c");
        assertThat(lab.trail()).containsExactly("1s c slept", "2s b slept", "3s a slept");
    }

    @Test
    @Catalogue(1)
    void a_chain_combines_values_of_five_types_in_the_order_asked() {
        String all = lab.scope()
                .fork(slow("a", 5))
                .fork(() -> 2)
                .fork("third", () -> 3L)
                .fork(() -> 'd')
                .fork(() -> List.of("e"))
                .gather((String a, Integer b, Long c, Character d, List<String> e) -> a + b + c + d + e);

        assertThat(all).isEqualTo("a23d[e]");
        assertThat(lab.events(ScopeEvent.ForkStarted.class))
                .extracting(ScopeEvent.ForkStarted::fork)
                .containsExactly("fork-1", "fork-2", "third", "fork-4", "fork-5");
    }

    @Test
    @Catalogue(1)
    void the_combiner_runs_after_the_scope_has_closed_and_outside_its_deadline() {
        String all = lab.scope()
                .deadline(ofSeconds(2))
                .fork(slow("a", 1))
                .fork(slow("b", 1))
                .gather((a, b) -> {
                    assertThat(lab.events()).last().isEqualTo(new ScopeEvent.ScopeClosed("scope", ofSeconds(1), null));
                    assertThat(Selvedge.deadline().isNever()).isTrue();
                    return a + b;
                });

        assertThat(all).isEqualTo("ab");
    }

    /** An array of these holds nothing else. */
    private record One(int value) implements Callable<Integer> {

        @Override
        public Integer call() {
            return value;
        }
    }

    @Test
    @Catalogue(1)
    void an_array_may_be_made_for_tasks_of_one_class() {
        One[] tasks = {new One(1), new One(2)};

        assertThat(lab.scope().gather(tasks)).containsExactly(1, 2);
        assertThat(lab.scope().race(tasks)).isEqualTo(1);
        assertThat(lab.scope().quorum(2, tasks)).containsExactly(1, 2);
        assertThat(tasks).containsExactly(new One(1), new One(2));
    }

    @Test
    @Catalogue(1)
    void a_value_may_be_null() {
        List<String> values = lab.scope().gather(() -> null, slow("b", 1));

        assertThat(values).containsExactly(null, "b");
    }

    @Test
    @Catalogue(2)
    void nothing_gathered_is_an_empty_list_at_once_without_a_scope() {
        List<String> none = lab.scope().deadline(ofSeconds(1)).gather();

        assertThat(none).isEmpty();
        assertThat(lab.events()).isEmpty();
        assertThat(lab.now()).isEqualTo(ZERO);
        assertThatThrownBy(() -> none.add("x")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @Catalogue({1, 2})
    void the_list_of_values_is_unmodifiable() {
        List<String> values = lab.scope().gather(slow("a", 1));

        assertThatThrownBy(() -> values.set(0, "x")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @Catalogue(3)
    void tasks_run_at_the_same_time() {
        List<String> values =
                lab.scope().map(List.of("a", "b", "c"), name -> slow(name, 1).call());

        assertThat(values).containsExactly("a", "b", "c");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    @Catalogue(4)
    void a_failure_is_thrown_only_after_the_siblings_have_cleaned_up() {
        ScopeSpec scope = lab.scope("page");

        assertThatThrownBy(() -> scope.gather(tidy("a", 2), failing("b", 1), tidy("c", 3)))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"fork-2\" threw java.lang.IllegalStateException: b")
                .hasNoSuppressedExceptions();

        assertThat(lab.trail()).containsExactly("1s a cut off", "1s c cut off", "3s a cleaned up", "4s c cleaned up");
        assertThat(lab.now()).isEqualTo(ofSeconds(4));
    }

    @Test
    @Catalogue(4)
    void a_sibling_that_was_cut_off_knows_whose_failure_it_was() {
        AtomicInteger told = new AtomicInteger();

        assertThatThrownBy(() -> lab.scope()
                        .fork(() -> {
                            var cut = catchThrowableOfType(
                                    ScopeCancelledException.class, () -> Selvedge.sleep(ofSeconds(9)));
                            assertThat(cut).hasMessage("\"b\" failed: java.lang.IllegalStateException: b");
                            assertThat(cut.reason().kind()).isEqualTo(CancelReason.Kind.SIBLING_FAILED);
                            assertThat(cut.reason().cause()).isInstanceOf(IllegalStateException.class);
                            assertThat(cut.getCause()).isInstanceOf(InterruptedException.class);
                            told.incrementAndGet();
                            throw cut;
                        })
                        .fork("b", failing("b", 1))
                        .gather((a, b) -> a + b))
                .hasMessage("the scope failed: \"b\" threw java.lang.IllegalStateException: b");

        assertThat(told).hasValue(1);
    }

    @Test
    @Catalogue(5)
    void the_first_failure_in_time_is_the_cause_not_the_first_by_place() {
        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope().gather(shieldedFailing("a", 2), slow("b", 9), shieldedFailing("c", 1)));

        assertThat(failure)
                .hasMessage(
                        "the scope failed: \"fork-3\" threw java.lang.IllegalStateException: c (and 1 more failure)");
        assertThat(failure.getCause()).hasMessage("c");
        assertThat(failure.failures()).extracting(Throwable::getMessage).containsExactly("c", "a");
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    @Catalogue(5)
    void a_failure_is_noticed_while_tasks_before_it_run_forever() {
        assertThatThrownBy(() -> lab.scope().gather(slow("a", Long.MAX_VALUE), failing("b", 1)))
                .isInstanceOf(ScopeFailedException.class);

        assertThat(lab.trail()).containsExactly("1s a cut off");
    }

    @Test
    @Catalogue(6)
    void a_value_given_after_the_cancel_is_told_as_discarded() {
        assertThatThrownBy(() -> lab.scope("page").gather(stubborn("a", 2), failing("b", 1), slow("c", 1)))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"fork-2\" threw java.lang.IllegalStateException: b");

        assertThat(lab.trail()).containsExactly("1s a cut off", "1s c cut off", "3s a cleaned up");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "fork-1", "a"));
    }

    @Test
    @Catalogue(7)
    void an_interrupt_that_a_task_makes_up_is_its_failure() {
        InterruptedException own = new InterruptedException("mine");

        assertThatThrownBy(() -> lab.scope().gather(slow("a", 1), () -> {
                    throw own;
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope failed: \"fork-2\" threw java.lang.InterruptedException: mine")
                .cause()
                .isSameAs(own);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(lab.trail()).containsExactly("0s a cut off");
    }

    @Test
    @Catalogue(7)
    void a_made_up_interrupt_of_a_fork_is_no_cancellation_for_blocks_around() {
        assertThatThrownBy(() -> lab.scope("outer")
                        .deadline(ofSeconds(5))
                        .call(() -> lab.scope("inner").gather(() -> {
                            throw new InterruptedException("mine");
                        })))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"inner\" failed: \"fork-1\" threw java.lang.InterruptedException: mine");
    }

    @Test
    @Catalogue({7, 92})
    void a_made_up_interrupt_in_the_cleanup_of_a_fork_that_was_cut_off_is_a_failure_too() {
        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope().gather(failing("a", 1), () -> {
                    try {
                        return slow("b", 9).call();
                    } finally {
                        lab.scope("cleanup").gather(() -> {
                            throw new InterruptedException("mine");
                        });
                    }
                }));

        assertThat(failure.failures())
                .extracting(Throwable::getMessage)
                .containsExactly(
                        "a", "the scope \"cleanup\" failed: \"fork-1\" threw java.lang.InterruptedException: mine");
    }

    @Test
    @Catalogue({7, 80})
    void a_checkpoint_in_a_fork_of_the_cleanup_s_own_scope_ends_that_scope_with_the_cancellation() {
        lab.scope("outer").run(s -> {
            assertThat(s.cancel("enough")).isTrue();
            assertThatThrownBy(() -> Selvedge.sleep(ofSeconds(1))).hasMessage("enough");
            leftByTheCancel(() -> lab.scope("all").gather(GatherTest::atCheckpoint, slow("a", 1)));
            leftByTheCancel(() -> lab.scope("first").race(GatherTest::atCheckpoint));
            leftByTheCancel(() ->
                    lab.scope("live").call(i -> i.fork(GatherTest::atCheckpoint).join()));
            leftByTheCancel(() -> lab.scope("each").outcomes(List.of(1), n -> atCheckpoint()));
            lab.note("done");
        });

        assertThat(lab.trail()).endsWith("0s done");
    }

    @Test
    @Catalogue(8)
    void a_fork_cancelled_by_its_handle_is_no_failure_of_the_scope() {
        String value = lab.scope().call(s -> {
            Fork<String> a = s.fork("a", slow("a", 5));
            Fork<String> b = s.fork(slow("b", 3));
            Selvedge.sleep(ofSeconds(1));
            assertThat(a.cancel()).isTrue();
            assertThatThrownBy(a::join)
                    .isInstanceOfSatisfying(ScopeCancelledException.class, GatherTest::isTheCancelOfA);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return b.join();
        });

        assertThat(value).isEqualTo("b");
        assertThat(lab.trail()).containsExactly("1s a cut off", "3s b slept");
    }

    @Test
    @Catalogue(8)
    void gathering_a_fork_cancelled_by_its_handle_throws_the_cancellation_and_leaves_the_flag_clear() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    Fork<String> a = s.fork("a", slow("a", 5));
                    Fork<String> b = s.fork(slow("b", 5));
                    Selvedge.sleep(ofSeconds(1));
                    assertThat(a.cancel()).isTrue();
                    s.gather(List.of(a, b));
                }))
                .isInstanceOfSatisfying(ScopeCancelledException.class, GatherTest::isTheCancelOfA);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(lab.trail()).containsExactly("1s a cut off", "1s b cut off");
    }

    @Test
    @Catalogue(8)
    void a_cancelled_fork_that_nobody_joins_does_not_disturb_the_scope() {
        String value = lab.scope().call(s -> {
            Fork<String> a = s.fork("a", slow("a", 5));
            Selvedge.sleep(ofSeconds(1));
            a.cancel();
            return "body";
        });

        assertThat(value).isEqualTo("body");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    @Catalogue(9)
    void in_outcomes_a_failure_does_not_cancel_the_others() {
        String slots = lab.scope()
                .deadline(ofSeconds(3))
                .fork(slow("a", 2))
                .fork(failing("b", 1))
                .fork("late", slow("c", 5))
                .outcomes((a, b, c) -> word(a) + ", " + word(b) + ", " + word(c));

        assertThat(slots).isEqualTo("Success a, Failure b, Cancelled DEADLINE");
        assertThat(lab.trail()).containsExactly("2s a slept", "3s c cut off");
    }

    @Test
    @Catalogue(10)
    void a_cancelled_gather_leaves_after_its_tasks_have_cleaned_up() {
        cancelAfterOneSecond(() -> lab.scope("inner").gather(tidy("a", 2), tidy("b", 3)));

        assertThat(lab.trail())
                .containsExactly(
                        "1s a cut off",
                        "1s b cut off",
                        "3s a cleaned up",
                        "4s b cleaned up",
                        "4s left by the fork \"asker\" was cancelled");
    }

    @Test
    @Catalogue(11)
    void cancelled_outcomes_are_no_list_of_cancelled() {
        cancelAfterOneSecond(() ->
                lab.scope("inner").outcomes(List.of(1, 2), n -> tidy("t" + n, n).call()));

        assertThat(lab.trail())
                .containsExactly(
                        "1s t1 cut off",
                        "1s t2 cut off",
                        "2s t1 cleaned up",
                        "3s t2 cleaned up",
                        "3s left by the fork \"asker\" was cancelled");
    }

    @Test
    @Catalogue({6, 10})
    void values_of_a_gather_that_was_cancelled_from_outside_are_told_as_discarded() {
        cancelAfterOneSecond(() -> Selvedge.scope("inner").gather(() -> "early", tidy("b", 1)));

        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("inner", "fork-1", "early"));
    }

    @Test
    @Catalogue({6, 11})
    void values_of_outcomes_that_were_cancelled_from_outside_are_told_as_discarded() {
        cancelAfterOneSecond(() -> lab.scope("inner")
                .outcomes(List.of(0, 2), n -> n == 0 ? "early" : tidy("b", n).call()));

        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("inner", "fork-1", "early"));
    }

    @Test
    @Catalogue({10, 11})
    void a_gather_that_has_all_its_values_gives_them_and_the_cancel_stays_pending() {
        cancelAfterOneSecond(() -> {
            List<String> values = lab.scope("inner").gather(stubborn("a", 1), stubborn("b", 2));
            lab.note("has " + values);
            Selvedge.sleep(ZERO);
            return values;
        });

        assertThat(lab.trail())
                .containsExactly(
                        "1s a cut off",
                        "1s b cut off",
                        "2s a cleaned up",
                        "3s b cleaned up",
                        "3s has [a, b]",
                        "3s left by the fork \"asker\" was cancelled");
    }

    @Test
    @Catalogue(11)
    void outcomes_of_which_none_was_cut_off_are_given_and_the_cancel_stays_pending() {
        cancelAfterOneSecond(() -> {
            var outcomes = lab.scope("inner")
                    .outcomes(List.of(1, 2), n -> stubborn("t" + n, n).call());
            lab.note("has " + outcomes.values());
            Selvedge.sleep(ZERO);
            return outcomes;
        });

        assertThat(lab.trail()).endsWith("3s has [t1, t2]", "3s left by the fork \"asker\" was cancelled");
    }

    @Test
    @Catalogue(12)
    void the_same_fork_gathered_twice_runs_once_and_gives_its_value_twice() {
        List<String> values = lab.scope().call(s -> {
            Fork<String> a = s.fork(slow("a", 1));
            return s.gather(List.of(a, a));
        });

        assertThat(values).containsExactly("a", "a");
        assertThat(lab.trail()).containsExactly("1s a slept");
    }

    @Test
    @Catalogue(12)
    void the_same_task_given_twice_runs_twice() {
        Callable<String> a = slow("a", 1);

        List<String> values = lab.scope().gather(a, a);

        assertThat(values).containsExactly("a", "a");
        assertThat(lab.trail()).containsExactly("1s a slept", "1s a slept");
    }

    @Test
    @Catalogue(13)
    void a_null_among_the_tasks_starts_nothing() {
        assertThatThrownBy(() -> lab.scope().gather(slow("a", 1), slow("b", 1), null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("tasks[2]");
        assertThatThrownBy(
                        () -> lab.scope().fork(slow("a", 1)).fork(slow("b", 1)).fork(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("task");

        assertThat(lab.events()).isEmpty();
    }

    @Test
    @Catalogue(14)
    void of_two_failures_in_the_same_instant_one_is_the_cause_and_the_other_is_kept() {
        var failure = catchThrowableOfType(
                ScopeFailedException.class, () -> lab.scope().gather(shieldedFailing("a", 1), shieldedFailing("b", 1)));

        assertThat(failure.failures()).extracting(Throwable::getMessage).containsExactly("a", "b");
        assertThat(failure.getCause()).isSameAs(failure.failures().get(0));
        assertThat(failure.getSuppressed()).containsExactly(failure.failures().get(1));
    }

    @Test
    @Tag("real")
    @Catalogue(14)
    void in_real_time_failures_at_once_are_all_kept_each_once() {
        for (int round = 0; round < 200; round++) {
            CountDownLatch together = new CountDownLatch(3);
            Callable<Object> failing = () -> {
                together.countDown();
                await(together);
                throw new IllegalStateException("x");
            };

            var failure = catchThrowableOfType(
                    ScopeFailedException.class, () -> Selvedge.scope().gather(failing, failing, failing));

            assertThat(failure.failures()).hasSize(3).doesNotHaveDuplicates();
            assertThat(failure.getCause()).isSameAs(failure.failures().get(0));
        }
    }

    @Test
    @Catalogue(15)
    void a_body_that_throws_cancels_its_forks_and_leaves_as_itself() {
        IllegalStateException own = new IllegalStateException("body");

        assertThatThrownBy(() -> lab.scope().run(s -> {
                    var unused = s.fork(tidy("a", 2));
                    Selvedge.sleep(ofSeconds(1));
                    throw own;
                }))
                .isSameAs(own)
                .hasNoSuppressedExceptions();

        assertThat(lab.trail()).containsExactly("1s a cut off", "3s a cleaned up");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(15)
    void failures_after_the_body_threw_are_reported() {
        IllegalStateException own = new IllegalStateException("body");

        assertThatThrownBy(() -> lab.scope().run(s -> {
                    var unused = s.fork(shieldedFailing("a", 2));
                    Selvedge.sleep(ofSeconds(1));
                    throw own;
                }))
                .isSameAs(own)
                .hasNoSuppressedExceptions();

        assertThat(lab.unhandled()).extracting(Throwable::getMessage).containsExactly("a");
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    @Catalogue({15, 43})
    void a_body_that_throws_after_a_fork_failed_is_among_the_failures() {
        IllegalStateException own = new IllegalStateException("body");

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope("page").run(s -> {
                    var unused = s.fork("a", failing("a", 1));
                    assertThatThrownBy(() -> Selvedge.sleep(ofSeconds(9))).isInstanceOf(ScopeCancelledException.class);
                    throw own;
                }));

        assertThat(failure)
                .hasMessage("the scope \"page\" failed: \"a\" threw java.lang.IllegalStateException: a"
                        + " (and 1 more failure)");
        assertThat(failure.failures().get(1)).isSameAs(own);
        assertThat(failure.getSuppressed()).containsExactly(own);
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(16)
    void a_failing_fork_wakes_the_body() {
        assertThatThrownBy(() -> lab.scope("page").run(s -> {
                    var unused = s.fork("a", failing("a", 1));
                    lab.sleep("body", ofSeconds(9));
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"a\" threw java.lang.IllegalStateException: a")
                .hasNoSuppressedExceptions();

        assertThat(lab.trail()).containsExactly("1s body cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    @Catalogue({5, 16})
    void gathering_forks_throws_the_failure_to_the_body_as_soon_as_it_happens() {
        assertThatThrownBy(() -> lab.scope("page").run(s -> {
                    Fork<String> a = s.fork("a", slow("a", 9));
                    Fork<String> b = s.fork("b", failing("b", 1));
                    assertThatThrownBy(() -> s.gather(List.of(a, b)))
                            .isInstanceOf(ScopeFailedException.class)
                            .hasMessage("the scope \"page\" failed: \"b\" threw java.lang.IllegalStateException: b");
                    lab.note("told");
                }))
                .isInstanceOf(ScopeFailedException.class);

        assertThat(lab.trail()).containsExactly("1s a cut off", "1s told");
    }

    @Test
    @Catalogue(16)
    void a_fork_that_fails_after_the_body_has_returned_fails_the_scope() {
        assertThatThrownBy(() -> lab.scope("page").call(s -> {
                    var unused = s.fork("a", failing("a", 1));
                    return "body";
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"a\" threw java.lang.IllegalStateException: a");

        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "page", "body"));
    }

    @Test
    @Catalogue(17)
    void after_the_scope_has_thrown_the_flag_is_clear_and_the_next_sleep_works() {
        lab.scope("outer").run(() -> {
            assertThatThrownBy(() -> lab.scope().run(s -> {
                        var unused = s.fork(failing("a", 1));
                        Selvedge.sleep(ofSeconds(9));
                    }))
                    .isInstanceOf(ScopeFailedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            lab.sleep("next", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("2s next slept");
    }

    @Test
    @Catalogue(17)
    void the_flag_is_clear_though_the_body_never_noticed_the_failure() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    var unused = s.fork(failing("a", 1));
                    Selvedge.shielded(() -> lab.sleep("body", ofSeconds(2)));
                }))
                .isInstanceOf(ScopeFailedException.class);

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(lab.trail()).containsExactly("2s body slept");
    }

    @Test
    @Tag("real")
    @Catalogue({1, 4, 6})
    void in_real_time_messages_and_events_name_the_same_forks() {
        CountDownLatch bothWait = new CountDownLatch(2);

        assertThatThrownBy(() -> lab.realScope()
                        .named("page")
                        .fork(() -> waitForever(bothWait))
                        .fork("failing", () -> {
                            await(bothWait);
                            throw new IllegalStateException("b");
                        })
                        .fork(() -> waitForever(bothWait))
                        .gather((a, b, c) -> "never"))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"failing\" threw java.lang.IllegalStateException: b")
                .hasNoSuppressedExceptions();

        assertThat(lab.events(ScopeEvent.ForkCreated.class))
                .extracting(ScopeEvent.ForkCreated::fork)
                .containsExactly("fork-1", "failing", "fork-3");
        assertThat(lab.events(ScopeEvent.ForkEnded.class))
                .extracting(ScopeEvent.ForkEnded::fork)
                .containsExactlyInAnyOrder("fork-1", "failing", "fork-3");
    }

    /** Runs {@code ask} in a fork, cancels the fork after a second, and notes how {@code ask} was left. */
    private void cancelAfterOneSecond(Callable<?> ask) {
        lab.scope("outer").run(s -> {
            Fork<?> asker = s.fork("asker", () -> {
                try {
                    return ask.call();
                } catch (ScopeCancelledException e) {
                    lab.note("left by " + e.getMessage());
                    assertThat(e.reason().kind()).isEqualTo(CancelReason.Kind.CALLER);
                    assertThat(e.getCause()).isInstanceOf(InterruptedException.class);
                    throw e;
                }
            });
            Selvedge.sleep(ofSeconds(1));
            assertThat(asker.cancel()).isTrue();
            assertThatThrownBy(asker::join).hasMessage("the fork \"asker\" was cancelled");
        });
    }

    private static String atCheckpoint() {
        Selvedge.checkpoint();
        return "went on";
    }

    private static void leftByTheCancel(Callable<?> block) {
        assertThatThrownBy(block::call)
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");
    }

    private static void isTheCancelOfA(ScopeCancelledException e) {
        assertThat(e.reason())
                .isEqualTo(new CancelReason(CancelReason.Kind.CALLER, "the fork \"a\" was cancelled", null));
        assertThat(e).hasMessage("the fork \"a\" was cancelled");
    }

    private Callable<String> slow(String name, long seconds) {
        return () -> {
            lab.sleep(name, ofSeconds(seconds));
            return name;
        };
    }

    private static Callable<String> failing(String message, long seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            throw new IllegalStateException(message);
        };
    }

    /** Fails at its time, whatever happens before. */
    private static Callable<String> shieldedFailing(String message, long seconds) {
        return () -> {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(seconds)));
            throw new IllegalStateException(message);
        };
    }

    /** Waits until it is cut off, and takes its time to clean up. */
    private Callable<String> tidy(String name, long cleanup) {
        return () -> {
            try {
                lab.sleep(name, ofSeconds(1000));
                return name;
            } finally {
                Selvedge.sleep(ofSeconds(cleanup));
                lab.note(name + " cleaned up");
            }
        };
    }

    /** Waits until it is cut off, and then gives its value all the same. */
    private Callable<String> stubborn(String name, long more) {
        return () -> {
            try {
                return tidy(name, more).call();
            } catch (ScopeCancelledException e) {
                return name;
            }
        };
    }

    private static String word(Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Success<?>(var value) -> "Success " + value;
            case Outcome.Failure<?>(var error) -> "Failure " + error.getMessage();
            case Outcome.Cancelled<?>(var reason) -> "Cancelled " + reason.kind();
        };
    }

    private static String waitForever(CountDownLatch waiting) throws InterruptedException {
        waiting.countDown();
        new CountDownLatch(1).await();
        return "never";
    }

    /** Waits in a way that no interrupt cuts off. */
    private static void await(CountDownLatch latch) {
        boolean open = false;
        while (!open) {
            try {
                latch.await();
                open = true;
            } catch (InterruptedException e) {
                // it fails in its own way, a moment later
            }
        }
    }
}
