package dev.selvedge;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of an interrupt that leaves the code which a call over items runs besides its tasks. */
@Timeout(60)
class CallbackInterruptTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private static final List<Integer> ITEMS = List.of(1, 2, 3);

    /** Throws once, then gives the numbers from 1 to 3. */
    private static Iterable<Integer> source(Supplier<Throwable> thrown) {
        Iterator<Integer> items = ITEMS.iterator();
        return () -> new Iterator<>() {
            @Override
            public boolean hasNext() {
                throw Sneaky.sneak(thrown.get());
            }

            @Override
            public Integer next() {
                return items.next();
            }
        };
    }

    @Test
    void one_that_nobody_sent_is_told_from_no_other_and_leaves_as_it_does_from_a_task() {
        InterruptedException own = new InterruptedException("mine");
        Task<Void, RuntimeException> task = () -> {
            throw own;
        };
        Task.VoidOf2<Integer, Outcome<Integer>, RuntimeException> callback = (i, outcome) -> {
            throw own;
        };
        List<ThrowingCallable> ways = List.of(
                () -> lab.scope().call(task),
                () -> lab.scope().eachCompleted(ITEMS, i -> i, callback),
                () -> lab.scope().map(source(() -> own), i -> i),
                () -> lab.scope().deadline(Duration.ZERO).eachCompleted(ITEMS, i -> i, callback));

        for (var way : ways) {
            var cancelled = Blocks.cancelled(way);

            assertThat(cancelled.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
            assertThat(cancelled).hasCause(own);
            assertThat(Thread.interrupted())
                    .as("it may have been sent from outside")
                    .isTrue();
        }
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void one_that_a_callback_has_made_into_something_else_leaves_as_that_with_the_flag_clear() {
        IOException answered = new IOException("stopped", new InterruptedException());

        var thrown = catchThrowable(() -> lab.scope().eachCompleted(ITEMS, i -> i, (i, outcome) -> {
            throw answered;
        }));

        assertThat(thrown).isSameAs(answered);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void one_that_a_source_has_made_into_something_else_is_a_failure_of_the_source() {
        IllegalStateException answered = new IllegalStateException("stopped", new InterruptedException());

        var failed = Blocks.failed(() -> lab.scope("job").forEach(source(() -> answered), i -> {}));

        assertThat(failed)
                .hasMessage("the source of the scope \"job\" threw " + answered)
                .hasCause(answered);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void a_source_and_a_callback_that_are_interrupted_by_the_deadline_are_cut_off_whatever_they_make_of_it() {
        var source =
                Blocks.late(() -> lab.scope().deadline(ofSeconds(1)).map(source(CallbackInterruptTest::slept), i -> i));
        var callback =
                Blocks.late(() -> lab.scope().deadline(ofSeconds(1)).eachCompleted(ITEMS, i -> i, (i, outcome) -> {
                    lab.note(i + " " + outcome.getClass().getSimpleName());
                    if (i == 1) {
                        throw Sneaky.sneak(slept());
                    }
                }));

        assertThat(source.limit()).isEqualTo(ofSeconds(1));
        assertThat(callback.limit()).isEqualTo(ofSeconds(1));
        assertThat(lab.trail()).containsExactly("1s 1 Success", "2s 2 Success", "2s 3 Success");
        assertThat(lab.unhandled()).isEmpty();
    }

    /** What somebody makes of an interrupt that comes while he sleeps. */
    private static Throwable slept() {
        try {
            Selvedge.sleep(ofSeconds(9));
            return new AssertionError("was not interrupted");
        } catch (ScopeCancelledException e) {
            return new IllegalStateException("stopped", e);
        }
    }

    @Test
    void an_interrupt_of_a_callback_that_gets_what_is_left_ends_the_call_and_the_rest_is_told() {
        List<Progress> told = new ArrayList<>();
        List<String> discarded = new ArrayList<>();
        var cancelled = Blocks.cancelled(() -> lab.scope()
                .deadline(ofSeconds(2))
                .progress(told::add)
                .onDiscard(value -> discarded.add("value " + value))
                .eachCompleted(
                        ITEMS,
                        i -> Selvedge.shielded(() -> {
                            Selvedge.sleep(ofSeconds(i + 2));
                            return i;
                        }),
                        (i, outcome) -> {
                            lab.note(i + " " + outcome.getClass().getSimpleName());
                            throw new InterruptedException("mine");
                        }));

        assertThat(cancelled.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
        assertThat(lab.trail()).containsExactly("5s 1 Success");
        assertThat(discarded).containsExactly("value 2", "value 3");
        assertThat(told.get(told.size() - 1).over()).isTrue();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void what_such_a_callback_makes_of_its_own_interrupt_leaves_as_it_is_though_the_deadline_had_passed() {
        IOException answered = new IOException("stopped", new InterruptedException());

        var thrown = catchThrowable(() -> lab.scope()
                .deadline(ofSeconds(2))
                .eachCompleted(
                        List.of(1),
                        i -> Selvedge.shielded(() -> {
                            Selvedge.sleep(ofSeconds(3));
                            return i;
                        }),
                        (i, outcome) -> {
                            throw answered;
                        }));

        assertThat(thrown).isSameAs(answered);
        assertThat(lab.unhandled()).hasOnlyElementsOfType(DeadlineExceededException.class);
    }

    @Test
    void one_that_a_question_for_what_is_known_answers_with_is_a_cut_off_if_somebody_has_asked() {
        var late = Blocks.late(() -> lab.scope().deadline(ofSeconds(1)).map(ITEMS, recorded(true)));
        assertThat(late).hasMessageContaining("not finished: fork-1, fork-2, fork-3");
        assertThat(lab.unhandled()).isEmpty();

        var failed = Blocks.failed(() -> lab.scope("job").concurrency(1).map(ITEMS, recorded(false)));
        assertThat(failed)
                .hasMessageStartingWith("what is known of an item of the scope \"job\" threw")
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    private static Task.Recorded<Integer, Integer, RuntimeException> recorded(boolean sleeps) {
        return new Task.Recorded<>() {
            @Override
            public Outcome.@Nullable Success<Integer> known(Integer item) {
                throw Sneaky.sneak(sleeps ? slept() : new InterruptedException("mine"));
            }

            @Override
            public Integer work(Integer item) {
                return item;
            }

            @Override
            public void record(Integer item, Outcome<Integer> outcome) {}
        };
    }

    @Test
    void one_that_leaves_a_consumer_of_the_progress_is_reported_and_ends_nothing() {
        lab.scope()
                .progress(p -> {
                    throw Sneaky.sneak(new InterruptedException("mine"));
                })
                .forEach(ITEMS, i -> {});

        assertThat(lab.unhandled()).isNotEmpty().allMatch(InterruptedException.class::isInstance);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    // Calls in a block that was asked to stop.

    @Test
    void a_call_over_items_or_tasks_begun_in_a_block_that_is_to_stop_starts_nothing() {
        List<Task.VoidOf<ScopeSpec, RuntimeException>> calls = List.of(
                spec -> spec.forEach(ITEMS, i -> lab.note("ran")),
                spec -> spec.forEach(() -> ITEMS.iterator(), i -> lab.note("ran")),
                spec -> lab.note("" + spec.map(ITEMS, i -> i)),
                spec -> lab.note("" + spec.outcomes(ITEMS, i -> i)),
                spec -> spec.eachCompleted(ITEMS, i -> i, (i, outcome) -> lab.note("ran")),
                spec -> lab.note("" + spec.gather(() -> 1, () -> 2)),
                spec -> lab.note("" + spec.race(() -> 1, () -> 2)));
        for (var call : calls) {
            for (ScopeSpec spec : List.of(lab.scope(), Selvedge.scope())) {
                var cancelled = Blocks.cancelled(() -> spec.run(s -> {
                    s.cancel("enough");
                    call.run(Selvedge.scope());
                }));

                assertThat(cancelled).hasMessage("enough");
            }
        }
        assertThat(lab.trail()).isEmpty();
    }

    @Test
    void so_does_one_in_a_fork_that_is_to_stop() {
        var cancelled = Blocks.cancelled(() -> lab.scope().run(s -> {
            Fork<?> fork = s.fork(() -> {
                Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2)));
                Selvedge.scope().forEach(ITEMS, i -> lab.note("ran"));
                return null;
            });
            Selvedge.sleep(ofSeconds(1));
            s.cancel("enough");
            fork.join();
        }));

        assertThat(cancelled).hasMessage("enough");
        assertThat(lab.trail()).isEmpty();
    }

    @Test
    void in_cleanup_after_the_block_was_told_it_works_as_any_call_does() {
        var late = Blocks.late(() -> lab.scope().deadline(ofSeconds(1)).run(s -> {
            try {
                Selvedge.sleep(ofSeconds(9));
            } finally {
                Selvedge.scope().forEach(ITEMS, i -> lab.sleep("cleanup " + i, ofSeconds(i)));
            }
        }));

        assertThat(late.limit()).isEqualTo(ofSeconds(1));
        assertThat(lab.trail()).containsExactly("2s cleanup 1 slept", "3s cleanup 2 slept", "4s cleanup 3 slept");
    }
}
