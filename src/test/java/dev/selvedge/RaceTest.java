package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Part H of the catalogue: the first success. */
@Timeout(30)
class RaceTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    @Catalogue(107)
    void the_first_value_is_given_after_the_others_have_cleaned_up() {
        String first = lab.scope().race(tidy("a", 3), slow("b", 1), tidy("c", 2));

        assertThat(first).isEqualTo("b");
        assertThat(lab.trail())
                .containsExactly("1s b slept", "1s a cut off", "1s c cut off", "3s c cleaned up", "4s a cleaned up");
        assertThat(lab.now()).isEqualTo(ofSeconds(4));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(107)
    void the_losers_know_that_they_have_lost() {
        AtomicReference<CancelReason> reason = new AtomicReference<>();

        String first = lab.scope().race(slow("a", 1), () -> {
            var cut = catchThrowableOfType(ScopeCancelledException.class, () -> Selvedge.sleep(ofSeconds(9)));
            reason.set(cut.reason());
            throw cut;
        });

        assertThat(first).isEqualTo("a");
        assertThat(reason).hasValue(new CancelReason(CancelReason.Kind.RACE_LOST, "\"fork-1\" was first", null));
        assertThat(lab.events(ScopeEvent.ForkEnded.class))
                .last()
                .isEqualTo(new ScopeEvent.ForkEnded("scope", "fork-2", new Outcome.Cancelled<>(reason.get())));
    }

    @Test
    @Catalogue(107)
    void the_flag_of_the_caller_stays_clear() {
        String first = lab.scope().race(slow("a", 1), slow("b", 2));

        lab.scope().run(() -> lab.sleep("next", ofSeconds(1)));

        assertThat(first).isEqualTo("a");
        assertThat(lab.trail()).containsExactly("1s a slept", "1s b cut off", "2s next slept");
    }

    @Test
    @Catalogue(108)
    void null_is_a_success() {
        String first = lab.scope().race(slow("a", 2), () -> {
            Selvedge.sleep(ofSeconds(1));
            return null;
        });

        assertThat(first).isNull();
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    @Catalogue(109)
    void a_failure_does_not_decide_while_others_run() {
        Exception early = new IllegalStateException("a");

        String first = lab.scope().race(failing(early, 1), slow("b", 2));

        assertThat(first).isEqualTo("b");
        assertThat(lab.unhandled()).containsExactly(early);
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    @Catalogue(109)
    void if_all_fail_the_first_in_time_is_the_cause() {
        Exception a = new IllegalStateException("a");
        Exception b = new IllegalStateException("b");
        Exception c = new IllegalStateException("c");

        var failure = catchThrowableOfType(
                ScopeFailedException.class, () -> lab.scope("page").race(failing(a, 3), failing(b, 1), failing(c, 2)));

        assertThat(failure)
                .hasMessage("the scope \"page\" failed: \"fork-2\" threw java.lang.IllegalStateException: b"
                        + " (and 2 more failures)");
        assertThat(failure.getCause()).isSameAs(b);
        assertThat(failure.failures()).isEqualTo(List.of(b, c, a));
        assertThat(failure.getSuppressed()).containsExactly(c, a);
        assertThat(lab.unhandled()).isEmpty();
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    @Catalogue({7, 109})
    void an_interrupt_that_a_task_makes_up_is_a_failure_of_that_task() {
        String first = lab.scope().race(failing(new InterruptedException("mine"), 1), slow("b", 2));

        assertThat(first).isEqualTo("b");
        assertThat(lab.unhandled()).extracting(Throwable::getMessage).containsExactly("mine");
    }

    @Test
    @Catalogue(110)
    void a_race_of_nobody_is_an_error_at_once() {
        ScopeSpec scope = lab.scope().deadline(ofSeconds(1));

        assertThatThrownBy(scope::race)
                .isInstanceOf(NoSuchElementException.class)
                .hasMessage("a race needs at least one task, and tasks is empty");
        assertThatThrownBy(() -> scope.race(List.of())).isInstanceOf(NoSuchElementException.class);

        assertThat(lab.events()).isEmpty();
    }

    @Test
    @Catalogue(111)
    void of_two_values_at_once_the_first_wins_and_the_other_is_told_as_discarded() {
        String first = lab.scope("page").race(shielded("a", 1), shielded("b", 1));

        assertThat(first).isEqualTo("a");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "fork-2", "b"));
    }

    @Test
    @Tag("real")
    @Catalogue(111)
    void in_real_time_each_value_wins_or_is_told_as_discarded() {
        for (int round = 0; round < 200; round++) {
            CountDownLatch together = new CountDownLatch(3);
            List<String> names = List.of("a", "b", "c");
            Lab watch = new Lab();

            String first = watch.realScope()
                    .race(names.stream().map(n -> atOnce(together, n)).toList());

            assertThat(watch.events(ScopeEvent.ValueDiscarded.class))
                    .extracting(ScopeEvent.ValueDiscarded::value)
                    .hasSize(2)
                    .doesNotContain(first)
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    @Catalogue(112)
    void an_error_in_a_loser_s_cleanup_is_reported_and_the_value_given() {
        Exception cleanup = new IllegalStateException("cleanup");

        String first = lab.scope().race(slow("a", 1), () -> {
            try {
                return slow("b", 9).call();
            } finally {
                failing(cleanup, 1).call();
            }
        });

        assertThat(first).isEqualTo("a");
        assertThat(lab.unhandled()).containsExactly(cleanup);
        assertThat(lab.trail()).containsExactly("1s a slept", "1s b cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    @Catalogue(113)
    void a_cancel_in_the_instant_of_the_win_stays_pending() {
        AtomicReference<Fork<?>> caller = new AtomicReference<>();

        lab.scope("outer").run(s -> {
            caller.set(s.fork("caller", () -> {
                String first = lab.scope("race").race(slow("a", 9), () -> {
                    Selvedge.sleep(ofSeconds(1));
                    assertThat(caller.get().cancel()).isTrue();
                    return "b";
                });
                lab.note("has " + first);
                lab.sleep("next", ofSeconds(1));
            }));
            assertThatThrownBy(() -> caller.get().join())
                    .isInstanceOf(ScopeCancelledException.class)
                    .hasMessage("the fork \"caller\" was cancelled");
        });

        assertThat(lab.trail()).containsExactly("1s a cut off", "1s has b", "1s next cut off");
    }

    @Test
    @Catalogue(113)
    void a_cancel_while_the_losers_clean_up_stays_pending() {
        lab.scope("outer").run(s -> {
            Fork<?> caller = s.fork("caller", () -> {
                String first = lab.scope("race").race(slow("a", 1), tidy("b", 5));
                lab.note("has " + first);
                lab.sleep("next", ZERO);
            });
            Selvedge.sleep(ofSeconds(3));
            assertThat(caller.cancel()).isTrue();
        });

        assertThat(lab.trail())
                .containsExactly("1s a slept", "1s b cut off", "6s b cleaned up", "6s has a", "6s next cut off");
    }

    @Test
    @Catalogue({10, 113})
    void a_race_that_is_cancelled_before_anybody_won_is_left_by_the_cancellation() {
        lab.scope("outer").run(s -> {
            Fork<String> caller = s.fork("caller", () -> lab.scope("race").race(tidy("a", 1), tidy("b", 2)));
            Selvedge.sleep(ofSeconds(1));
            assertThat(caller.cancel()).isTrue();
            assertThatThrownBy(caller::join)
                    .isInstanceOf(ScopeCancelledException.class)
                    .hasMessage("the fork \"caller\" was cancelled");
        });

        assertThat(lab.trail()).containsExactly("1s a cut off", "1s b cut off", "2s a cleaned up", "3s b cleaned up");
    }

    @Test
    @Catalogue(114)
    void the_first_to_finish_successful_or_not_is_a_race_of_attempts() {
        Exception early = new IllegalStateException("a");
        Callable<Outcome<String>> a = () -> lab.scope().attempt(failing(early, 1));
        Callable<Outcome<String>> b = () -> lab.scope().attempt(slow("b", 2));

        Outcome<String> first = lab.scope().race(a, b);

        assertThat(first).isEqualTo(new Outcome.Failure<>(early));
        assertThat(lab.trail()).containsExactly("1s b cut off");
    }

    @Test
    @Catalogue(115)
    void a_deadline_that_passes_has_the_failures_until_then_as_suppressed() {
        Exception early = new IllegalStateException("a");

        var late = catchThrowableOfType(
                DeadlineExceededException.class,
                () -> lab.scope("page").deadline(ofSeconds(2)).race(failing(early, 1), slow("b", 9)));

        assertThat(late)
                .hasMessage("the scope \"page\" exceeded its deadline of 2 s (after 2 s); not finished: fork-2");
        assertThat(late.getSuppressed()).containsExactly(early);
        assertThat(late.outcomes()).hasSize(2).first().isEqualTo(new Outcome.Failure<>(early));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue({66, 115})
    void a_value_that_comes_after_the_deadline_is_given() {
        String first = lab.scope().deadline(ofSeconds(1)).race(shielded("a", 2), slow("b", 9));

        assertThat(first).isEqualTo("a");
        assertThat(lab.trail()).containsExactly("1s b cut off");
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Catalogue(95)
    void an_error_ends_the_race_and_leaves_bare() {
        Error own = new AssertionError("a");
        Exception early = new IllegalStateException("early");

        Throwable thrown = catchThrowable(() -> lab.scope().race(throwing(own, 2), failing(early, 1), slow("c", 9)));

        assertThat(thrown).isSameAs(own).hasNoSuppressedExceptions();
        assertThat(lab.unhandled()).containsExactly(early);
        assertThat(lab.trail()).containsExactly("2s c cut off");
    }

    @Test
    @Catalogue(95)
    void a_value_after_an_error_does_not_hide_the_error() {
        Error own = new AssertionError("a");

        Throwable thrown = catchThrowable(() -> lab.scope("page").race(throwing(own, 1), shielded("b", 2)));

        assertThat(thrown).isSameAs(own);
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "fork-2", "b"));
    }

    @Test
    @Catalogue({95, 112})
    void an_error_of_a_loser_is_reported_and_the_value_given() {
        Error cleanup = new AssertionError("cleanup");

        String first = lab.scope().race(slow("a", 1), () -> {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2)));
            throw cleanup;
        });

        assertThat(first).isEqualTo("a");
        assertThat(lab.unhandled()).containsExactly(cleanup);
    }

    private Callable<String> slow(String name, int seconds) {
        return () -> {
            lab.sleep(name, ofSeconds(seconds));
            return name;
        };
    }

    /** Gives its value at its time, whatever happens before. */
    private static Callable<String> shielded(String value, int seconds) {
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
                    // another one has won; this one has a value all the same
                }
            }
            return value;
        };
    }
}
