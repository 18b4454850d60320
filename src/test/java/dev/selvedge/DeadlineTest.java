package dev.selvedge;

import static dev.selvedge.Blocks.cancelled;
import static dev.selvedge.Blocks.compute;
import static dev.selvedge.Blocks.flag;
import static dev.selvedge.Blocks.late;
import static dev.selvedge.Blocks.passed;
import static dev.selvedge.Blocks.swallow;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** When a deadline passes, and what it counts for. */
@Timeout(30)
class DeadlineTest {

    private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    @RegisterExtension
    final Lab lab = new Lab();

    private int ran;

    private int countRun() {
        return ++ran;
    }

    @Test
    @Catalogue(54)
    void without_a_deadline_there_is_no_timer() {
        lab.scope().run(this::assertNoDeadlineFor1000Days);
        lab.scope().deadline(lab.clock().never()).run(this::assertNoDeadlineFor1000Days);
        lab.scope().deadline(Deadline.never()).run(this::assertNoDeadlineFor1000Days);

        assertThat(lab.now()).isEqualTo(ofDays(3000));
        assertThat(lab.events(ScopeEvent.DeadlineSet.class)).isEmpty();
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue(58)
    void a_deadline_too_long_to_count_means_none() {
        lab.scope().deadline(ofSeconds(Long.MAX_VALUE)).run(this::assertNoDeadlineFor1000Days);
        lab.scope().deadline(FOREVER).run(this::assertNoDeadlineFor1000Days);
        lab.scope().deadline(ofNanos(Long.MAX_VALUE)).run(this::assertNoDeadlineFor1000Days);

        assertThat(lab.events(ScopeEvent.DeadlineSet.class)).isEmpty();
    }

    private void assertNoDeadlineFor1000Days() {
        assertThat(Selvedge.deadline().isNever()).isTrue();
        assertThat(Selvedge.deadline().passed()).isFalse();
        assertThat(Selvedge.deadline().remaining()).isEqualTo(FOREVER);
        Selvedge.sleep(ofDays(1000));
    }

    @Test
    @Catalogue(58)
    void the_longest_deadline_that_can_be_counted_is_one() {
        Duration longest = ofNanos(Long.MAX_VALUE - 1);

        lab.scope()
                .deadline(longest)
                .run(() -> assertThat(Selvedge.deadline().remaining()).isEqualTo(longest));

        assertThat(lab.events(ScopeEvent.DeadlineSet.class)).hasSize(1);
    }

    @Test
    @Catalogue(54)
    void a_deadline_of_null_is_refused() {
        assertThatThrownBy(() -> lab.scope().deadline((Duration) null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("d");
        assertThatThrownBy(() -> lab.scope().deadline((Deadline) null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("d");
    }

    @Test
    @Catalogue(55)
    void a_long_sleep_is_cut_off_at_exactly_the_deadline() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofMillis(1500)).run(() -> lab.sleep("work", ofDays(1))));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1.5 s (after 1.5 s)");
        assertThat(late.limit()).isEqualTo(ofMillis(1500));
        assertThat(late.elapsed()).isEqualTo(ofMillis(1500));
        assertThat(late.unfinished()).isEmpty();
        assertThat(late.outcomes()).isEmpty();
        assertThat(lab.trail()).containsExactly("1.5s work cut off");
        assertThat(flag()).isFalse();
    }

    static Stream<Duration> passedAlready() {
        return Stream.of(ZERO, ofNanos(-1), ofSeconds(Long.MIN_VALUE));
    }

    @ParameterizedTest
    @MethodSource("passedAlready")
    @Catalogue(56)
    void with_a_deadline_of_zero_or_less_nothing_starts(Duration d) {
        ScopeSpec page = lab.scope("page").deadline(d);

        assertNothingStarts(d, () -> page.run(() -> ran++));
        assertNothingStarts(d, () -> page.run(s -> ran++));
        assertNothingStarts(d, () -> page.gather(this::countRun, this::countRun));
        assertNothingStarts(d, () -> page.race(this::countRun));
        assertNothingStarts(d, () -> page.map(List.of(1, 2), i -> countRun()));
        assertNothingStarts(d, () -> page.fork(this::countRun).gather(a -> a));

        assertThat(lab.events()).isEmpty();
        assertThat(ran).isZero();
    }

    private static void assertNothingStarts(Duration d, ThrowingCallable code) {
        DeadlineExceededException late = late(code);
        assertThat(late)
                .hasMessage("the scope \"page\" exceeded its deadline of " + Deadline.inWords(d) + " (after 0 ns)");
        assertThat(late.limit()).isEqualTo(d);
        assertThat(late.elapsed()).isZero();
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(56)
    void with_a_deadline_of_zero_the_fallback_answers_and_the_outcome_says_so() {
        ScopeSpec page = lab.scope("page").deadline(ZERO);

        String answer = page.call(() -> "value", Throwable::getMessage);
        Outcome<Integer> outcome = page.attempt(this::countRun);

        String message = "the scope \"page\" exceeded its deadline of 0 ns (after 0 ns)";
        assertThat(answer).isEqualTo(message);
        assertThat(outcome).isInstanceOfSatisfying(Outcome.Cancelled.class, cut -> {
            assertThat(cut.reason().kind()).isEqualTo(CancelReason.Kind.DEADLINE);
            assertThat(cut.reason().message()).isEqualTo(message);
        });
        assertThat(ran).isZero();
    }

    @Test
    @Catalogue(56)
    void a_fixed_deadline_that_has_passed_starts_nothing() {
        Deadline past = lab.clock().after(ofSeconds(1));
        lab.scope().run(() -> Selvedge.sleep(ofSeconds(3)));

        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(past).run(() -> ran++));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 0 ns (after 0 ns)");
        assertThat(ran).isZero();
    }

    @Test
    @Catalogue(56)
    void a_pending_cancel_wins_over_a_deadline_of_zero() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            assertThat(s.cancel("stop")).isTrue();
            int unused = Selvedge.scope("page").deadline(ZERO).call(this::countRun);
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(ran).isZero();
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(57)
    void a_value_that_is_there_wins_over_a_join_of_zero() {
        lab.scope().run(s -> {
            Fork<Integer> done = s.fork(() -> 42);
            Selvedge.sleep(ofSeconds(1));

            assertThat(done.join(ZERO)).isEqualTo(42);
            assertThat(done.join(ofSeconds(-1))).isEqualTo(42);
        });
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    @Catalogue(57)
    void a_join_of_zero_of_a_fork_that_is_not_done_is_late() {
        lab.scope("page").run(s -> {
            Fork<Integer> slow = s.fork("slow", () -> {
                lab.sleep("slow", ofSeconds(1));
                return 42;
            });
            Selvedge.sleep(ofMillis(10));

            DeadlineExceededException late = late(() -> slow.join(ZERO));

            assertThat(late)
                    .hasMessage("the join of the fork \"slow\" exceeded its deadline of 0 ns (after 0 ns);"
                            + " not finished: slow");
            assertThat(flag()).isFalse();
        });
        assertThat(lab.trail()).containsExactly("0.01s slow cut off");
    }

    @Test
    @Catalogue(59)
    void a_nanosecond_is_a_deadline_and_not_rounded() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofNanos(1)).run(() -> lab.sleep("work", ofSeconds(1))));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 ns (after 1 ns)");
        assertThat(lab.trail()).containsExactly("0.000000001s work cut off");
    }

    @Test
    @Catalogue(59)
    void work_that_takes_a_nanosecond_less_is_in_time() {
        lab.scope("page").deadline(ofNanos(1_000_001)).run(() -> lab.sleep("work", ofNanos(1_000_000)));

        assertThat(lab.trail()).containsExactly("0.001s work slept");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue(60)
    void a_relative_deadline_counts_from_the_moment_at_which_the_scope_is_opened() {
        ScopeSpec page = lab.scope("page").deadline(ofSeconds(5));
        lab.scope().run(() -> Selvedge.sleep(ofSeconds(3)));

        DeadlineExceededException first = late(() -> page.run(() -> lab.sleep("first", ofDays(1))));
        DeadlineExceededException second = late(() -> page.run(() -> lab.sleep("second", ofDays(1))));

        String message = "the scope \"page\" exceeded its deadline of 5 s (after 5 s)";
        assertThat(first).hasMessage(message);
        assertThat(second).hasMessage(message);
        assertThat(lab.trail()).containsExactly("8s first cut off", "13s second cut off");
    }

    @Test
    @Catalogue(60)
    void a_fixed_deadline_stays_where_it_is() {
        ScopeSpec page = lab.scope("page").deadline(lab.clock().after(ofSeconds(5)));
        lab.scope().run(() -> Selvedge.sleep(ofSeconds(3)));

        DeadlineExceededException late = late(() -> page.run(() -> lab.sleep("work", ofDays(1))));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 2 s (after 2 s)");
        assertThat(lab.trail()).containsExactly("5s work cut off");
    }

    @Test
    @Catalogue(60)
    void a_deadline_of_another_clock_is_refused() {
        ScopeSpec page = lab.scope("page").deadline(Deadline.after(ofSeconds(5)));

        assertThatThrownBy(() -> page.run(() -> ran++))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the deadline of the scope \"page\" is of the system's time,"
                        + " but the scope runs on a virtual clock at 0 s");
        assertThat(ran).isZero();
    }

    @Test
    @Catalogue(61)
    void a_later_inner_deadline_does_not_extend_the_outer_one() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(5));

        DeadlineExceededException late = late(() ->
                outer.run(() -> Selvedge.scope("inner").deadline(ofSeconds(10)).run(() -> {
                    assertThat(Selvedge.deadline().remaining()).isEqualTo(ofSeconds(5));
                    lab.sleep("work", ofDays(1));
                })));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 5 s (after 5 s)");
        assertThat(lab.trail()).containsExactly("5s work cut off");
        assertThat(lab.events(ScopeEvent.DeadlineSet.class))
                .containsExactly(new ScopeEvent.DeadlineSet("outer", ofSeconds(5)));
    }

    @Test
    @Catalogue(61)
    void an_earlier_inner_deadline_counts_inside_only() {
        lab.scope("outer").deadline(ofSeconds(10)).run(() -> {
            Selvedge.scope("inner").deadline(ofSeconds(5)).run(() -> {
                assertThat(Selvedge.deadline().remaining()).isEqualTo(ofSeconds(5));
                Selvedge.sleep(ofSeconds(1));
                assertThat(Selvedge.deadline().remaining()).isEqualTo(ofSeconds(4));
            });

            assertThat(Selvedge.deadline().remaining()).isEqualTo(ofSeconds(9));
        });
        assertThat(Selvedge.deadline().isNever()).isTrue();
    }

    @Test
    @Catalogue(62)
    void a_fork_reads_the_time_left_and_it_shrinks() {
        lab.scope().deadline(ofSeconds(5)).run(s -> {
            Selvedge.sleep(ofSeconds(1));
            Fork<?> unused = s.fork(() -> {
                assertThat(Selvedge.deadline().remaining()).isEqualTo(ofSeconds(4));
                Selvedge.sleep(ofSeconds(2));
                assertThat(Selvedge.deadline().remaining()).isEqualTo(ofSeconds(2));
                assertThat(Selvedge.timeLeft(ofSeconds(3))).isEqualTo(ofSeconds(2));
                assertThat(Selvedge.timeLeft(ofSeconds(1))).isEqualTo(ofSeconds(1));
            });
        });

        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    @Catalogue(62)
    void after_its_deadline_a_fork_has_no_time_left() {
        ScopeSpec page = lab.scope("page").deadline(ofSeconds(5));

        DeadlineExceededException late = late(() -> page.run(s -> {
            Fork<?> unused = s.fork("work", () -> {
                swallow(() -> Selvedge.sleep(ofDays(1)));
                compute(lab, ofSeconds(2));
                assertThat(Selvedge.deadline().remaining()).isZero();
                assertThat(Selvedge.deadline().passed()).isTrue();
                Duration never = Selvedge.timeLeft(ofSeconds(1));
                lab.note("there should be no time left: " + never);
            });
        }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 5 s (after 7 s); not finished: work");
        assertThat(lab.trail()).isEmpty();
    }

    @Test
    @Catalogue(62)
    void after_a_cancel_a_fork_gets_no_time_for_a_client() {
        ScopeCancelledException cancelled =
                cancelled(() -> lab.scope().deadline(ofSeconds(5)).run(s -> {
                    Fork<?> unused = s.fork("work", () -> {
                        swallow(() -> Selvedge.sleep(ofDays(1)));
                        assertThat(cancelled(() -> Selvedge.timeLeft(ofSeconds(1))))
                                .hasMessage("stop");
                        lab.note("work told");
                        Selvedge.checkpoint();
                    });
                    Selvedge.sleep(ofSeconds(1));
                    assertThat(s.cancel("stop")).isTrue();
                }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s work told");
    }

    @Test
    @Catalogue({64, 71})
    void a_value_that_comes_after_the_deadline_is_returned() {
        int ofTask = lab.scope("task").deadline(ofSeconds(1)).call(() -> {
            compute(lab, ofSeconds(2));
            return 42;
        });
        boolean flagAfterTask = flag();
        int ofBody = lab.scope("body").deadline(ofSeconds(1)).call(s -> {
            compute(lab, ofSeconds(2));
            return 43;
        });

        assertThat(ofTask).isEqualTo(42);
        assertThat(ofBody).isEqualTo(43);
        assertThat(flagAfterTask).isFalse();
        assertThat(flag()).isFalse();
        assertThat(passed(lab)).containsExactly("task", "body");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(65)
    void a_body_that_catches_the_interrupt_of_its_deadline_returns_its_value() {
        int value = lab.scope("page").deadline(ofSeconds(1)).call(() -> {
            swallow(() -> lab.sleep("work", ofDays(1)));
            return 42;
        });

        assertThat(value).isEqualTo(42);
        assertThat(flag()).isFalse();
        assertThat(lab.trail()).containsExactly("1s work cut off");
        assertThat(passed(lab)).containsExactly("page");
    }

    @Test
    @Catalogue(66)
    void forks_that_were_done_in_time_are_joined_after_the_deadline() {
        int value = lab.scope("page").deadline(ofSeconds(1)).call(s -> {
            Fork<Integer> a = s.fork("a", () -> valueAfter(ofMillis(500), 20));
            Fork<Integer> b = s.fork("b", () -> valueAfter(ofMillis(999), 22));
            compute(lab, ofSeconds(2));
            int sum = a.join() + b.join();
            assertThat(s.gather(List.of(a, b))).containsExactly(20, 22);
            return sum;
        });

        assertThat(value).isEqualTo(42);
        assertThat(passed(lab)).containsExactly("page");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(66)
    void a_gather_that_is_done_at_the_moment_of_the_deadline_less_one_nanosecond_succeeds() {
        List<Integer> values = lab.scope("page")
                .deadline(ofSeconds(1))
                .gather(() -> valueAfter(ofSeconds(1).minusNanos(1), 1), () -> valueAfter(ZERO, 2));

        assertThat(values).containsExactly(1, 2);
        assertThat(passed(lab)).isEmpty();
    }

    private static int valueAfter(Duration d, int value) {
        Selvedge.sleep(d);
        return value;
    }

    @Test
    @Catalogue(68)
    void one_file_reads_the_wall_clock() throws IOException {
        Pattern wallClock =
                Pattern.compile("Instant\\.now|currentTimeMillis|\\bClock\\.|new Date\\b|LocalDate(Time)?\\.now");
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            assertThat(sources.filter(Files::isRegularFile)
                            .filter(file -> wallClock.matcher(read(file)).find())
                            .map(file -> file.getFileName().toString()))
                    .containsExactly("SystemTime.java");
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Catalogue(68)
    void the_systems_time_is_never_negative_whatever_the_origin_of_the_machines() {
        TimeSource system = TimeSource.system();

        long first = system.nanoTime();
        long second = system.nanoTime();

        assertThat(first).isNotNegative();
        assertThat(second).isGreaterThanOrEqualTo(first);
        assertThat(system.after(ofDays(1)).remaining()).isBetween(ofDays(1).minusSeconds(10), ofDays(1));
    }
}
