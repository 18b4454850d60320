package dev.selvedge;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Outcomes in the order in which they come, on the owner's thread. */
@Timeout(60)
class EachCompletedTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private static int slow(int seconds) {
        Selvedge.sleep(ofSeconds(seconds));
        return seconds;
    }

    private static String word(Object outcome) {
        return switch ((Outcome<?>) outcome) {
            case Outcome.Success<?>(var value) -> "gave " + value;
            case Outcome.Failure<?>(var error) -> "threw " + error.getMessage();
            case Outcome.Cancelled<?>(var why) -> "cut off: " + why.kind();
        };
    }

    @Test
    void a_deadline_that_has_passed_before_leaves_each_cancelled_and_is_told_to_whoever_watches() {
        for (Duration passed : List.of(Duration.ZERO, Duration.ofMillis(-5))) {
            List<String> handed = new ArrayList<>();
            List<Progress> told = new ArrayList<>();
            ProgressMeter meter = ProgressMeter.create();

            assertThatThrownBy(() -> Selvedge.scope("late")
                            .deadline(passed)
                            .progress(told::add)
                            .eachCompleted(
                                    List.of(1, 2),
                                    i -> i,
                                    (i, outcome) -> handed.add(
                                            i + " " + outcome.getClass().getSimpleName())))
                    .isInstanceOf(DeadlineExceededException.class);
            assertThatThrownBy(() -> Selvedge.scope("late")
                            .deadline(passed)
                            .progress(meter)
                            .forEach(List.of(1, 2), i -> {}))
                    .isInstanceOf(DeadlineExceededException.class);

            assertThat(handed).containsExactly("1 Cancelled", "2 Cancelled");
            assertThat(told).containsExactly(new Progress(2, 0, 0, 0, 2, 0, 0, Duration.ZERO, true));
            assertThat(meter.now()).isEqualTo(told.get(0));
        }
    }

    @Test
    void a_callback_may_throw_what_it_likes_then_too() {
        assertThatThrownBy(() -> Selvedge.scope("late")
                        .deadline(Duration.ZERO)
                        .eachCompleted(List.of(1, 2), i -> i, (i, outcome) -> {
                            throw new IOException("no " + i);
                        }))
                .isInstanceOf(IOException.class)
                .hasMessage("no 1");
    }

    @Test
    @Catalogue(123)
    void outcomes_come_in_the_order_of_the_ends_and_at_one_moment_in_that_of_the_items() {
        lab.scope().eachCompleted(List.of(3, 1, 2, 1), EachCompletedTest::slow, (i, o) -> lab.note(i + " " + word(o)));

        assertThat(lab.trail()).containsExactly("1s 1 gave 1", "1s 1 gave 1", "2s 2 gave 2", "3s 3 gave 3");
    }

    @Test
    @Catalogue(123)
    void at_the_same_moment_the_first_forked_comes_first() {
        lab.scope()
                .eachCompleted(
                        List.of("a", "b", "c"),
                        name -> {
                            Selvedge.sleep(ofSeconds(1));
                            return name;
                        },
                        (name, o) -> lab.note(name));

        assertThat(lab.trail()).containsExactly("1s a", "1s b", "1s c");
    }

    @Test
    @Catalogue(124)
    void what_the_deadline_cuts_off_comes_as_cancelled_before_it_is_thrown() {
        var late = Blocks.late(() -> lab.scope("page")
                .deadline(ofSeconds(2))
                .concurrency(2)
                .eachCompleted(List.of(1, 5, 9, 7), EachCompletedTest::slow, (i, o) -> lab.note(i + " " + word(o))));

        assertThat(lab.trail())
                .containsExactly(
                        "1s 1 gave 1", "2s 5 cut off: DEADLINE", "2s 9 cut off: DEADLINE", "2s 7 cut off: DEADLINE");
        assertThat(late)
                .hasMessage(
                        "the scope \"page\" exceeded its deadline of 2 s (after 2 s); not finished: fork-2, fork-3");
    }

    @Test
    @Catalogue(125)
    void a_callback_that_throws_ends_the_job_and_leaves_as_it_is() {
        IOException full = new IOException("the disk is full");

        var thrown = catchThrowable(() -> lab.scope()
                .eachCompleted(
                        List.of(1, 2, 9),
                        i -> {
                            lab.sleep("task " + i, ofSeconds(i));
                            return i;
                        },
                        (i, o) -> {
                            lab.note("wrote " + i);
                            if (i == 2) {
                                throw full;
                            }
                        }));

        assertThat(thrown).isSameAs(full);
        assertThat(lab.trail())
                .containsExactly("1s task 1 slept", "1s wrote 1", "2s task 2 slept", "2s wrote 2", "2s task 9 cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(126)
    void each_item_comes_once_also_if_it_is_there_twice() {
        List<String> seen = Collections.synchronizedList(new ArrayList<>());

        lab.scope().eachCompleted(List.of("a", "a", "b"), s -> s + "!", (s, o) -> seen.add(s + word(o)));

        assertThat(seen).containsExactlyInAnyOrder("agave a!", "agave a!", "bgave b!");
    }

    @Test
    void failures_are_outcomes_and_the_others_go_on() {
        lab.scope()
                .eachCompleted(
                        List.of(1, 2, 3),
                        i -> {
                            Selvedge.sleep(ofSeconds(i));
                            if (i == 2) {
                                throw new IOException("two");
                            }
                            return i;
                        },
                        (i, o) -> lab.note(word(o)));

        assertThat(lab.trail()).containsExactly("1s gave 1", "2s threw two", "3s gave 3");
    }

    @Test
    void the_callback_runs_on_the_owners_thread_and_is_cut_off_with_it() {
        Thread me = Thread.currentThread();

        var late = Blocks.late(() -> lab.scope()
                .deadline(ofSeconds(3))
                .eachCompleted(List.of(1, 2), EachCompletedTest::slow, (i, o) -> {
                    assertThat(Thread.currentThread()).isSameAs(me);
                    lab.sleep("callback " + i, ofSeconds(9));
                }));

        assertThat(late.limit()).isEqualTo(ofSeconds(3));
        assertThat(lab.trail()).containsExactly("3s callback 1 cut off", "12s callback 2 slept");
        assertThat(Blocks.flag()).isFalse();
    }

    @Test
    void starting_goes_before_calling_back() {
        lab.scope()
                .concurrency(2)
                .eachCompleted(
                        List.of("a", "b", "c", "d"),
                        i -> {
                            lab.note("began " + i);
                            Selvedge.sleep(ofSeconds(1));
                            return i;
                        },
                        (i, o) -> lab.sleep("called for " + i, ofSeconds(10)));

        assertThat(lab.trail().subList(0, 4))
                .containsExactly("0s began a", "0s began b", "1s began c", "11s called for a slept");
    }

    @Test
    @Tag("real")
    void only_so_many_outcomes_wait() {
        AtomicInteger ended = new AtomicInteger();
        AtomicInteger called = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Iterable<Integer> items = () -> IntStream.range(0, 20_000).iterator();

        lab.realScope()
                .concurrency(4)
                .eachCompleted(
                        items,
                        i -> {
                            most.accumulateAndGet(ended.incrementAndGet() - called.get(), Math::max);
                            return i;
                        },
                        (i, o) -> called.incrementAndGet());

        assertThat(called).hasValue(20_000);
        assertThat(most.get()).isLessThanOrEqualTo(4 + PulledFeed.READ_AHEAD + 1);
    }

    @Test
    void what_ends_while_the_scope_around_is_cancelled_is_handed_on_and_what_is_cut_off_is_not() {
        var cancelled = catchThrowableOfType(
                ScopeCancelledException.class,
                () -> lab.scope().run(s -> {
                    Blocks.cancelAfter(s, ofSeconds(2));
                    lab.scope()
                            .eachCompleted(
                                    List.of(1, 3, 9),
                                    i -> i == 3
                                            ? Selvedge.shielded(() -> slow(i)) // it cannot be cut off
                                            : slow(i),
                                    (i, o) -> lab.note(i + " " + word(o)));
                }));

        assertThat(cancelled.reason().kind()).isEqualTo(CancelReason.Kind.CALLER);
        assertThat(lab.trail()).containsExactly("1s 1 gave 1", "3s 3 gave 3");
        assertThat(Blocks.flag()).isFalse();
    }

    @Test
    void when_the_error_budget_is_spent_the_rest_comes_as_cancelled_before_that_is_thrown() {
        var spent = catchThrowableOfType(
                ErrorBudgetExceededException.class,
                () -> lab.scope()
                        .concurrency(1)
                        .maxFailures(1)
                        .eachCompleted(
                                List.of("a", "b", "c", "d"),
                                i -> {
                                    Selvedge.sleep(ofSeconds(1));
                                    throw new IOException(i);
                                },
                                (i, o) -> lab.note(i + " " + word(o))));

        assertThat(spent.failed()).isEqualTo(2);
        assertThat(lab.trail())
                .containsExactly(
                        "1s a threw a", "2s b threw b", "2s c cut off: ERROR_BUDGET", "2s d cut off: ERROR_BUDGET");
    }

    @Test
    void a_source_that_throws_comes_after_what_has_ended() {
        Iterable<Integer> broken = () -> Stream.of(1, 0).map(i -> 1 / i).iterator();

        var failed = Blocks.failed(() -> lab.scope().eachCompleted(broken, i -> i, (i, o) -> lab.note(word(o))));

        assertThat(failed).hasMessageStartingWith("the source of the scope threw java.lang.ArithmeticException");
        assertThat(failed.outcomes()).isEmpty();
        assertThat(lab.trail()).hasSize(1);
    }

    @Test
    @Tag("real")
    void an_endless_source_can_be_left_by_throwing() {
        Iterable<Integer> endless = () -> Stream.iterate(0, i -> i + 1).iterator();

        assertThatThrownBy(() -> lab.realScope()
                        .concurrency(2)
                        .deadline(ofMinutes(1))
                        .eachCompleted(endless, i -> i, (i, o) -> {
                            if (i == 100) {
                                throw new IllegalStateException("enough");
                            }
                        }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("enough");
    }
}
