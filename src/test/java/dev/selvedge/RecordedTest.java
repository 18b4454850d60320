package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.policy.RateLimiter;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Work over items whose outcomes are kept somewhere. */
@Timeout(60)
class RecordedTest {

    @RegisterExtension
    final Lab lab = new Lab();

    /** Keeps outcomes in a list. */
    private static class Book implements Task.Recorded<Integer, String, IOException> {

        final Map<Integer, String> known = new HashMap<>();
        final List<String> recorded = Collections.synchronizedList(new ArrayList<>());
        final AtomicInteger calls = new AtomicInteger();

        @Override
        public Outcome.@Nullable Success<String> known(Integer item) {
            return known.containsKey(item) ? new Outcome.Success<>(known.get(item)) : null;
        }

        @Override
        public String work(Integer item) throws IOException {
            calls.getAndIncrement();
            if (item == 13) {
                throw new IOException("thirteen");
            }
            return "did " + item;
        }

        @Override
        public void record(Integer item, Outcome<String> outcome) {
            recorded.add(item + " " + outcome);
        }
    }

    private static List<Integer> upTo(int n) {
        return IntStream.range(0, n).boxed().toList();
    }

    private static IllegalStateException full() {
        return new IllegalStateException("the disk is full");
    }

    @Test
    void what_is_known_is_taken_and_not_worked_on_whatever_the_policies_say() {
        Book book = new Book();
        book.known.put(1, "knew 1");
        RateLimiter one = RateLimiter.of(1, ofSeconds(10));

        List<String> values = lab.scope().concurrency(1).rateLimit(one).map(upTo(3), book);

        assertThat(values).containsExactly("did 0", "knew 1", "did 2");
        assertThat(lab.now()).isEqualTo(ofSeconds(10));
        assertThat(book.recorded).containsExactly("0 Success[value=did 0]", "2 Success[value=did 2]");
    }

    /** Fails for all but the last of 31 items, and hangs there until a deadline around cuts it off. */
    private static Throwable cutOffFromOutside(Task.Of<Integer, String, IOException> work) {
        return catchThrowable(() -> scope("around")
                .clock(VirtualClock.jumping())
                .deadline(ofSeconds(1))
                .run(() -> {
                    Object unused = scope("items").concurrency(1).outcomes(upTo(31), work);
                }));
    }

    private static String failAndHang(Integer item) throws IOException {
        if (item == 30) {
            Selvedge.sleep(ofSeconds(10));
        }
        throw new IOException(item < 20 ? "down" : "no " + item);
    }

    @Test
    void failures_for_which_a_cancellation_has_no_room_are_counted_in_one_entry_of_the_log() {
        try (Log log = Log.of("dev.selvedge")) {
            Throwable thrown = cutOffFromOutside(RecordedTest::failAndHang);

            assertThat(thrown).isInstanceOf(DeadlineExceededException.class);
            assertThat(log.thrown()).hasSize(1);
            assertThat(log.thrown().get(0))
                    .hasMessageStartingWith("20 further failures: 10 × java.io.IOException: down, "
                            + "1 × java.io.IOException: no 20, ")
                    .hasMessageEndingWith("1 × java.io.IOException: no 28 and 1 more");
        }
    }

    @Test
    void failures_that_are_recorded_are_not_told_again_when_the_job_is_cancelled() {
        List<Integer> recorded = new ArrayList<>();
        Task.Recorded<Integer, String, IOException> work = new Task.Recorded<>() {
            @Override
            public Outcome.@Nullable Success<String> known(Integer item) {
                return null;
            }

            @Override
            public String work(Integer item) throws IOException {
                return failAndHang(item);
            }

            @Override
            public void record(Integer item, Outcome<String> outcome) {
                recorded.add(item);
            }
        };
        try (Log log = Log.of("dev.selvedge")) {
            Throwable thrown = cutOffFromOutside(work);

            assertThat(thrown).isInstanceOf(DeadlineExceededException.class).hasNoSuppressedExceptions();
            assertThat(log.thrown()).isEmpty();
            assertThat(recorded).containsExactlyElementsOf(upTo(30));
        }
    }

    @Test
    void a_null_that_is_known_is_a_value() {
        Book book = new Book();
        book.known.put(0, null);

        assertThat(lab.scope().map(upTo(1), book)).containsExactly((String) null);
        assertThat(book.calls).hasValue(0);
    }

    @Test
    void the_final_outcome_is_recorded_once_after_all_attempts() {
        Book book = new Book();

        Outcomes<Integer, String> outcomes =
                lab.scope().retry(r -> r.attempts(3)).concurrency(1).outcomes(List.of(12, 13, 14), book);

        assertThat(outcomes.values()).containsExactly("did 12", "did 14");
        assertThat(book.calls).hasValue(5);
        assertThat(book.recorded)
                .containsExactly(
                        "12 Success[value=did 12]",
                        "13 Failure[error=java.io.IOException: thirteen]",
                        "14 Success[value=did 14]");
    }

    @Test
    void what_is_cut_off_is_not_recorded() {
        Book book = new Book() {
            @Override
            public String work(Integer item) throws IOException {
                Selvedge.sleep(ofSeconds(item));
                return super.work(item);
            }
        };

        Outcomes<Integer, String> outcomes = lab.scope().deadline(ofSeconds(2)).outcomes(List.of(1, 5), book);

        assertThat(outcomes.cancelled()).isEqualTo(1);
        assertThat(book.recorded).containsExactly("1 Success[value=did 1]");
    }

    @Test
    void what_was_done_is_recorded_even_if_the_job_is_being_cancelled() {
        Book book = new Book() {
            @Override
            public String work(Integer item) {
                assertThat(catchThrowable(() -> Selvedge.sleep(ofSeconds(9)))).isNotNull();
                return "done all the same";
            }

            @Override
            public void record(Integer item, Outcome<String> outcome) {
                assertThat(Thread.currentThread().isInterrupted()).isFalse();
                super.record(item, outcome);
            }
        };

        List<String> values = lab.scope().deadline(ofSeconds(2)).map(upTo(2), book);

        assertThat(values).hasSize(2);
        assertThat(book.recorded).hasSize(2);
    }

    @Test
    void what_cannot_be_recorded_ends_the_job_in_each_call() {
        AtomicInteger times = new AtomicInteger();
        Book book = new Book() {
            @Override
            public void record(Integer item, Outcome<String> outcome) {
                if (times.incrementAndGet() == 3) {
                    throw full();
                }
            }
        };
        ScopeSpec one =
                lab.scope("job").concurrency(1).retry(r -> r.attempts(5)).maxFailures(1000);

        var mapped = Blocks.failed(() -> one.map(upTo(100), book));
        assertThat(mapped).hasMessage("the record of an outcome of the scope \"job\" threw " + full());
        assertThat(mapped.outcomes()).hasSize(100);
        assertThat(mapped.outcomes().get(1)).isEqualTo(new Outcome.Success<>("did 1"));
        assertThat(mapped.outcomes().get(2)).isInstanceOf(Outcome.Cancelled.class);
        assertThat(book.calls).hasValue(3);

        times.set(0);
        var outcomes = Blocks.failed(() -> one.outcomes(upTo(100), book));
        assertThat(outcomes.getCause()).hasMessage("the disk is full");
        assertThat(outcomes.outcomes().get(0)).isEqualTo(new Outcome.Success<>("did 0"));

        times.set(0);
        List<Integer> handed = new ArrayList<>();
        var each = Blocks.failed(() -> one.eachCompleted(upTo(100), book, (i, o) -> {
            if (o instanceof Outcome.Success<?>) {
                handed.add(i);
            }
        }));
        assertThat(each.getCause()).hasMessage("the disk is full");
        assertThat(handed).containsExactly(0, 1);
    }

    @Test
    @Tag("real")
    void workers_end_when_something_cannot_be_recorded() {
        for (int round = 0; round < 50; round++) {
            Book book = new Book() {
                @Override
                public String work(Integer item) {
                    return "did " + item;
                }

                @Override
                public void record(Integer item, Outcome<String> outcome) {
                    if (item == 500) {
                        throw full();
                    }
                }
            };

            var failed = Blocks.failed(
                    () -> lab.realScope().concurrency(4).map(() -> upTo(1000).iterator(), book));

            assertThat(failed.getCause()).hasMessage("the disk is full");
        }
    }

    /** Each finds the same disk full, all at the same time; every second one has something else to say. */
    private static ScopeFailedException fullForAll(ScopeSpec spec, int items, boolean othersToo) {
        IOException disk = new IOException("the disk is full");
        CountDownLatch all = new CountDownLatch(items);
        Book book = new Book() {
            @Override
            public String work(Integer item) {
                return "did " + item;
            }

            @Override
            public void record(Integer item, Outcome<String> outcome) {
                all.countDown();
                awaitWhateverComes(all);
                throw othersToo && item % 2 == 1
                        ? new IllegalStateException("odd")
                        : new UncheckedIOException("cannot write the key " + item, disk);
            }
        };
        return Blocks.failed(() -> spec.concurrency(items).map(upTo(items), book));
    }

    private static void awaitWhateverComes(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @Tag("real")
    void what_comes_to_many_threads_from_one_cause_is_told_once() {
        try (Log log = Log.of("dev.selvedge")) {
            ScopeFailedException failed = fullForAll(Selvedge.scope("job"), 8, false);

            assertThat(failed.getCause()).hasMessageStartingWith("cannot write the key ");
            assertThat(log.thrown()).isEmpty();
        }
    }

    @Test
    @Tag("real")
    void what_is_of_another_cause_is_counted_in_one_entry() {
        try (Log log = Log.of("dev.selvedge")) {
            ScopeFailedException failed = fullForAll(Selvedge.scope("job"), 8, true);

            boolean isOdd = failed.getCause() instanceof IllegalStateException;
            assertThat(log.thrown())
                    .singleElement()
                    .satisfies(e -> assertThat(e)
                            .hasMessageStartingWith("4 further failures: ")
                            .hasMessageContaining(isOdd ? "cannot write the key" : "4 × java.lang.IllegalState"));
        }
    }

    @Test
    @Tag("real")
    void a_listener_is_told_of_each() {
        ScopeFailedException failed = fullForAll(lab.realScope().named("job"), 8, true);

        assertThat(lab.unhandled()).hasSize(7).doesNotContain(failed.getCause());
    }

    @Test
    @Tag("real")
    void if_a_callback_has_ended_the_job_before_it_is_told_in_one_entry() {
        IOException disk = new IOException("the disk is full");
        CountDownLatch others = new CountDownLatch(3);
        Book book = new Book() {
            @Override
            public String work(Integer item) {
                return "did " + item;
            }

            @Override
            public void record(Integer item, Outcome<String> outcome) {
                if (item > 0) {
                    others.countDown();
                    try {
                        int unused = Blocks.untilInterrupted();
                    } catch (InterruptedException e) {
                        throw new UncheckedIOException("cannot write the key " + item, disk);
                    }
                }
            }
        };
        try (Log log = Log.of("dev.selvedge")) {
            assertThatThrownBy(() -> Selvedge.scope("job").concurrency(4).eachCompleted(upTo(4), book, (i, o) -> {
                        others.await();
                        throw new IOException("enough");
                    }))
                    .hasMessage("enough");

            assertThat(log.thrown())
                    .singleElement()
                    .satisfies(e -> assertThat(e)
                            .hasMessageStartingWith("cannot write the key ")
                            .hasCause(disk));
        }
    }

    @Test
    void a_question_for_what_is_known_that_fails_ends_the_job_too() {
        Book book = new Book() {
            @Override
            public Outcome.@Nullable Success<String> known(Integer item) {
                throw full();
            }
        };

        assertThatThrownBy(() -> lab.scope("job").concurrency(1).map(upTo(3), book))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("what is known of an item of the scope \"job\" threw " + full());
        assertThat(book.calls).hasValue(0);
    }

    @Test
    void called_by_itself_it_does_the_three_steps() throws Exception {
        Book book = new Book();
        book.known.put(1, "knew 1");

        assertThat(book.call(1)).isEqualTo("knew 1");
        assertThat(book.call(2)).isEqualTo("did 2");
        assertThatThrownBy(() -> book.call(13)).hasMessage("thirteen");

        assertThat(book.recorded)
                .containsExactly("2 Success[value=did 2]", "13 Failure[error=java.io.IOException: thirteen]");
    }

    @Test
    void the_progress_tells_known_ones_apart() {
        Book book = new Book();
        book.known.put(1, "knew 1");
        ProgressMeter meter = ProgressMeter.create();

        List<String> values = lab.scope().progress(meter).map(upTo(3), book);

        assertThat(values).hasSize(3);
        assertThat(meter.now().succeeded()).isEqualTo(3);
        assertThat(meter.now().known()).isEqualTo(1);
    }
}
