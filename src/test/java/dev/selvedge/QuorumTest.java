package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The first so many successes. */
@Timeout(60)
class QuorumTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    void the_values_come_in_the_order_of_arrival_and_the_others_are_cut_off() {
        List<String> first = lab.scope().quorum(2, slow("a", 3), slow("b", 2), slow("c", 1), slow("d", 9));

        assertThat(first).containsExactly("c", "b");
        assertThat(lab.trail()).containsExactly("1s c slept", "2s b slept", "2s a cut off", "2s d cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void the_losers_are_awaited() {
        List<String> first = lab.scope().quorum(2, List.of(slow("a", 1), tidy("b", 3), slow("c", 2)));

        assertThat(first).containsExactly("a", "c");
        assertThat(lab.trail()).containsExactly("1s a slept", "2s c slept", "2s b cut off", "5s b cleaned up");
    }

    @Test
    void the_losers_know_who_was_first() {
        var reasons = new ArrayList<CancelReason>();

        List<String> first = lab.scope().quorum(2, slow("a", 1), slow("b", 2), () -> {
            var cut = catchThrowableOfType(ScopeCancelledException.class, () -> Selvedge.sleep(ofSeconds(9)));
            reasons.add(cut.reason());
            throw cut;
        });

        assertThat(first).containsExactly("a", "b");
        assertThat(reasons)
                .containsExactly(new CancelReason(
                        CancelReason.Kind.RACE_LOST, "2 were first, the last of them \"fork-2\"", null));
    }

    @Test
    void of_values_at_the_same_moment_those_forked_first_are_taken() {
        List<String> first = lab.scope("page").quorum(2, stubborn("a", 1), stubborn("b", 1), stubborn("c", 1));

        assertThat(first).containsExactly("a", "b");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "fork-3", "c"));
    }

    @Test
    @Tag("real")
    void in_real_time_each_value_is_given_or_told_as_discarded() {
        for (int round = 0; round < 200; round++) {
            CountDownLatch together = new CountDownLatch(4);
            Lab watch = new Lab();

            List<String> first = watch.realScope()
                    .quorum(
                            2,
                            List.of("a", "b", "c", "d").stream()
                                    .map(n -> atOnce(together, n))
                                    .toList());

            List<Object> all = new ArrayList<>(first);
            watch.events(ScopeEvent.ValueDiscarded.class).forEach(e -> all.add(e.value()));
            assertThat(first).hasSize(2);
            assertThat(all).containsExactlyInAnyOrder("a", "b", "c", "d");
        }
    }

    @Test
    void null_is_a_success() {
        List<String> first = lab.scope().quorum(2, slow("a", 2), () -> null, slow("c", 1));

        assertThat(first).containsExactly(null, "c");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void the_list_cannot_be_modified() {
        List<String> first = lab.scope().quorum(1, slow("a", 1));

        assertThatThrownBy(() -> first.add("b")).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> first.set(0, "b")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void a_quorum_of_one_is_a_race() {
        List<String> first = lab.scope("quorum").quorum(1, slow("a", 2), slow("b", 1));
        String winner = lab.scope("race").race(slow("a", 2), slow("b", 1));

        assertThat(first).containsExactly(winner);
        assertThat(lab.trail()).containsExactly("1s b slept", "1s a cut off", "2s b slept", "2s a cut off");
        assertThat(lab.events(ScopeEvent.ScopeCancelled.class))
                .extracting(e -> e.reason().message())
                .containsExactly("\"fork-2\" was first", "\"fork-2\" was first");
    }

    @Test
    void a_quorum_of_all_waits_for_all() {
        List<String> all = lab.scope().quorum(3, slow("a", 3), slow("b", 1), slow("c", 2));

        assertThat(all).containsExactly("b", "c", "a");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    void a_quorum_of_all_ends_with_the_first_failure() {
        IOException boom = new IOException("boom");

        var e = catchThrowableOfType(
                ScopeFailedException.class, () -> lab.scope("page").quorum(2, slow("a", 9), failing(boom, 1)));

        assertThat(e).hasMessage("the scope \"page\" failed: \"fork-2\" threw java.io.IOException: boom");
        assertThat(e.failures()).isEqualTo(List.of(boom));
        assertThat(lab.trail()).containsExactly("1s a cut off");
    }

    @Test
    void once_it_cannot_succeed_any_more_the_rest_is_cancelled_at_once() {
        IOException a = new IOException("a");
        IOException b = new IOException("b");

        var e = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope("page").quorum(3, failing(a, 3), slow("c", 1), failing(b, 2), slow("d", 9)));

        assertThat(e)
                .hasMessage("the scope \"page\" failed: \"fork-3\" threw java.io.IOException: b (and 1 more failure)")
                .hasCause(b);
        assertThat(e.failures()).isEqualTo(List.of(b, a));
        assertThat(e.getSuppressed()).containsExactly(a);
        assertThat(lab.trail()).containsExactly("1s c slept", "3s d cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "fork-2", "c"));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void failures_that_leave_enough_are_reported() {
        IOException a = new IOException("a");

        List<String> first = lab.scope().quorum(2, failing(a, 1), slow("b", 2), slow("c", 3));

        assertThat(first).containsExactly("b", "c");
        assertThat(lab.unhandled()).containsExactly(a);
    }

    @Test
    void so_are_those_of_the_losers_cleanup() {
        IOException cleanup = new IOException("cleanup");

        List<String> first = lab.scope().quorum(2, slow("a", 1), slow("b", 1), () -> {
            try {
                return slow("c", 9).call();
            } finally {
                failing(cleanup, 1).call();
            }
        });

        assertThat(first).containsExactly("a", "b");
        assertThat(lab.unhandled()).containsExactly(cleanup);
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    void an_error_ends_it_and_leaves_bare() {
        Error own = new AssertionError("own");
        IOException early = new IOException("early");

        Throwable thrown = catchThrowable(() -> lab.scope("page")
                .quorum(2, slow("a", 1), failing(early, 1), throwing(own, 2), slow("d", 9), slow("e", 9)));

        assertThat(thrown).isSameAs(own).hasNoSuppressedExceptions();
        assertThat(lab.unhandled()).containsExactly(early);
        assertThat(lab.trail()).containsExactly("1s a slept", "2s d cut off", "2s e cut off");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "fork-1", "a"));
    }

    @Test
    void an_error_after_enough_values_is_reported() {
        Error own = new AssertionError("own");

        List<String> first = lab.scope().quorum(1, slow("a", 1), () -> {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2)));
            throw own;
        });

        assertThat(first).containsExactly("a");
        assertThat(lab.unhandled()).containsExactly(own);
    }

    @Test
    void a_deadline_that_passes_before_there_are_enough_is_thrown_with_what_there_is() {
        IOException early = new IOException("early");

        var late = catchThrowableOfType(
                DeadlineExceededException.class,
                () -> lab.scope("page")
                        .deadline(ofSeconds(3))
                        .quorum(2, slow("a", 1), failing(early, 2), slow("c", 9), slow("d", 8)));

        assertThat(late)
                .hasMessage("the scope \"page\" exceeded its deadline of 3 s (after 3 s);"
                        + " not finished: fork-3, fork-4");
        assertThat(late.outcomes()).hasSize(4).startsWith(new Outcome.Success<>("a"), new Outcome.Failure<>(early));
        assertThat(late.getSuppressed()).containsExactly(early);
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class)).isEmpty();
    }

    @Test
    void values_that_are_enough_after_the_deadline_are_given() {
        List<String> first =
                lab.scope().deadline(ofSeconds(1)).quorum(2, stubborn("a", 2), stubborn("b", 3), slow("c", 9));

        assertThat(first).containsExactly("a", "b");
        assertThat(lab.trail()).containsExactly("1s c cut off");
    }

    @Test
    void with_no_time_nothing_is_started() {
        assertThatThrownBy(() -> lab.scope("page").deadline(ZERO).quorum(1, slow("a", 1)))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"page\" exceeded its deadline of 0 ns (after 0 ns)");
        assertThat(lab.events(ScopeEvent.ForkCreated.class)).isEmpty();
    }

    @Test
    void a_cancellation_from_outside_passes_through_it() {
        lab.scope("outer").run(s -> {
            Fork<List<String>> caller =
                    s.fork("caller", () -> lab.scope("quorum").quorum(2, slow("a", 1), tidy("b", 1), tidy("c", 2)));
            Selvedge.sleep(ofSeconds(3));
            assertThat(caller.cancel()).isTrue();
            assertThatThrownBy(caller::join)
                    .isInstanceOf(ScopeCancelledException.class)
                    .hasMessage("the fork \"caller\" was cancelled");
        });

        assertThat(lab.trail())
                .containsExactly("1s a slept", "3s b cut off", "3s c cut off", "4s b cleaned up", "5s c cleaned up");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("quorum", "fork-1", "a"));
    }

    @Test
    void a_cancellation_once_there_are_enough_stays_pending() {
        lab.scope("outer").run(s -> {
            Fork<?> caller = s.fork("caller", () -> {
                List<String> first = lab.scope("quorum").quorum(2, slow("a", 1), slow("b", 2), tidy("c", 5));
                lab.note("has " + first);
                lab.sleep("next", ZERO);
            });
            Selvedge.sleep(ofSeconds(3));
            assertThat(caller.cancel()).isTrue();
        });

        assertThat(lab.trail())
                .containsExactly(
                        "1s a slept",
                        "2s b slept",
                        "2s c cut off",
                        "7s c cleaned up",
                        "7s has [a, b]",
                        "7s next cut off");
    }

    @Test
    void a_number_that_cannot_be_is_refused_before_anything_starts() {
        ScopeSpec scope = lab.scope();
        List<Callable<String>> tasks = List.of(slow("a", 1), slow("b", 1));

        assertThatThrownBy(() -> scope.quorum(0, tasks))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("n must be from 1 to the number of tasks, which is 2: 0");
        assertThatThrownBy(() -> scope.quorum(3, tasks))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("n must be from 1 to the number of tasks, which is 2: 3");
        assertThatThrownBy(() -> scope.quorum(-1, slow("a", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("n must be from 1 to the number of tasks, which is 1: -1");
        assertThatThrownBy(() -> scope.quorum(1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("n must be from 1 to the number of tasks, which is 0: 1");
        assertThatThrownBy(() -> scope.quorum(0, List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("n must be from 1 to the number of tasks, which is 0: 0");
        assertThat(lab.events()).isEmpty();
    }

    @Test
    void a_null_among_the_tasks_is_refused_before_anything_starts() {
        ScopeSpec scope = lab.scope();
        List<Callable<String>> tasks = new ArrayList<>();
        tasks.add(slow("a", 1));
        tasks.add(null);

        assertThatThrownBy(() -> scope.quorum(1, tasks))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("tasks[1]");
        assertThatThrownBy(() -> scope.quorum(1, null, slow("a", 1)))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("tasks[0]");
        assertThatThrownBy(() -> scope.quorum(1, (List<Callable<String>>) null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("tasks");
        assertThat(lab.events()).isEmpty();
    }

    private Callable<String> slow(String name, int seconds) {
        return () -> {
            lab.sleep(name, ofSeconds(seconds));
            return name;
        };
    }

    /** Gives its value at its time, whatever happens before. */
    private static Callable<String> stubborn(String value, int seconds) {
        return () -> {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(seconds)));
            return value;
        };
    }

    private static Callable<String> failing(Exception e, int seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            throw e;
        };
    }

    private static Callable<String> throwing(Error e, int seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            throw e;
        };
    }

    /** Waits until it is cut off, and takes its time to clean up. */
    private Callable<String> tidy(String name, int cleanup) {
        return () -> {
            try {
                return slow(name, 1000).call();
            } finally {
                Selvedge.sleep(ofSeconds(cleanup));
                lab.note(name + " cleaned up");
            }
        };
    }

    private static Callable<String> atOnce(CountDownLatch together, String value) {
        return () -> {
            together.countDown();
            boolean open = false;
            while (!open) {
                try {
                    together.await();
                    open = true;
                } catch (InterruptedException e) {
                    // there are enough already; this one has a value all the same
                }
            }
            return value;
        };
    }
}
