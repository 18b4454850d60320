package dev.selvedge;

import static dev.selvedge.Blocks.after;
import static dev.selvedge.Blocks.cancelAfter;
import static dev.selvedge.Blocks.cancelled;
import static dev.selvedge.Blocks.compute;
import static dev.selvedge.Blocks.failed;
import static dev.selvedge.Blocks.flag;
import static dev.selvedge.Blocks.inner;
import static dev.selvedge.Blocks.late;
import static dev.selvedge.Blocks.passed;
import static dev.selvedge.Blocks.through;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.time.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a guide of an event loop promises of timeouts, of waiting for one task and of gathering many; times to the nanosecond. */
@Timeout(30)
class EventLoopGuideTest {

    private static final String PAGE_LATE = "the scope \"page\" exceeded its deadline of 1 s (after 1 s)";
    private static final String INNER_LATE = "the scope \"inner\" exceeded its deadline of 1 s (after 1 s)";
    private static final String OUTER_PASSED = "the deadline of 1 s of the scope \"outer\" passed";
    private static final String SLOW_LATE =
            "the join of the fork \"slow\" exceeded its deadline of 1 s (after 1 s); not finished: slow";

    @RegisterExtension
    final Lab lab = new Lab();

    private final Thread tester = Thread.currentThread();

    // 1. A long sleep inside a short timeout ends exactly at the limit.

    @ParameterizedTest
    @ValueSource(longs = {1, 999_999_999, 1_000_000_000, 3_599_999_999_999L})
    void a_long_sleep_inside_a_short_timeout_ends_exactly_at_the_limit(long nanos) {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofNanos(nanos)).run(() -> Selvedge.sleep(ofDays(1))));

        assertThat(late.limit()).isEqualTo(ofNanos(nanos));
        assertThat(late.elapsed()).isEqualTo(ofNanos(nanos));
        assertThat(late).hasCauseInstanceOf(InterruptedException.class).hasNoSuppressedExceptions();
        assertThat(lab.now()).isEqualTo(ofNanos(nanos));
        assertThat(flag()).isFalse();
    }

    @Test
    void a_sleep_that_never_ends_is_cut_off_at_the_limit_too() {
        DeadlineExceededException late = late(() ->
                lab.scope("page").deadline(ofSeconds(1)).run(() -> lab.sleep("work", ofSeconds(Long.MAX_VALUE))));

        assertThat(late).hasMessage(PAGE_LATE);
        assertThat(lab.trail()).containsExactly("1s work cut off");
    }

    @Test
    void the_body_of_a_live_scope_and_its_forks_end_exactly_at_the_limit() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(s -> {
                    Fork<?> unused = s.fork("a", slow("a", 9));
                    lab.sleep("body", ofSeconds(9));
                }));

        assertThat(late).hasMessage(PAGE_LATE + "; not finished: a");
        assertThat(lab.trail()).containsExactlyInAnyOrder("1s body cut off", "1s a cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void a_gather_inside_a_short_timeout_ends_exactly_at_the_limit_and_names_those_that_were_late() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).gather(slow("a", 9), () -> "b", slow("c", 9)));

        assertThat(late).hasMessage(PAGE_LATE + "; not finished: fork-1, fork-3");
        assertThat(late.outcomes()).hasSize(3).element(1).isEqualTo(new Outcome.Success<>("b"));
        assertThat(lab.trail()).containsExactly("1s a cut off", "1s c cut off");
    }

    @Test
    void a_sleep_that_ends_at_the_very_limit_is_late_as_the_limit_was_set_first() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> lab.sleep("work", ofSeconds(1))));

        assertThat(late).hasMessage(PAGE_LATE);
        assertThat(lab.trail()).containsExactly("1s work cut off");
    }

    @Test
    void a_limit_is_of_the_block_and_not_of_each_sleep_in_it() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> {
                    lab.sleep("first", ofMillis(400));
                    lab.sleep("second", ofMillis(400));
                    lab.sleep("third", ofMillis(400));
                }));

        assertThat(late).hasMessage(PAGE_LATE);
        assertThat(lab.trail()).containsExactly("0.4s first slept", "0.8s second slept", "1s third cut off");
    }

    @Test
    void timeouts_one_after_the_other_end_each_at_its_own_limit() {
        for (int i = 1; i <= 3; i++) {
            String who = "work " + i;
            assertThat(late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> lab.sleep(who, ofSeconds(9)))))
                    .hasMessage(PAGE_LATE);
        }

        assertThat(lab.trail()).containsExactly("1s work 1 cut off", "2s work 2 cut off", "3s work 3 cut off");
        assertThat(passed(lab)).containsExactly("page", "page", "page");
    }

    @Test
    void timeouts_side_by_side_in_forks_end_each_at_its_own_limit() {
        List<String> ends = lab.scope().map(List.of(3, 1, 2), n -> {
            DeadlineExceededException late =
                    late(() -> Selvedge.scope("t" + n).deadline(ofSeconds(n)).run(() -> lab.sleep("t" + n, ofDays(1))));
            return late.getMessage();
        });

        assertThat(ends)
                .containsExactly(
                        "the scope \"t3\" exceeded its deadline of 3 s (after 3 s)",
                        "the scope \"t1\" exceeded its deadline of 1 s (after 1 s)",
                        "the scope \"t2\" exceeded its deadline of 2 s (after 2 s)");
        assertThat(lab.trail()).containsExactly("1s t1 cut off", "2s t2 cut off", "3s t3 cut off");
    }

    @Test
    void a_timeout_inside_a_shield_ends_at_its_limit_though_the_block_around_was_asked_to_stop_before() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    Selvedge.shielded(() -> {
                        assertThat(late(() -> inner(ofSeconds(3)).run(() -> lab.sleep("inner", ofSeconds(9)))))
                                .hasMessage("the scope \"inner\" exceeded its deadline of 3 s (after 3 s)");
                    });
                    lab.sleep("outer", ofSeconds(9));
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("3s inner cut off", "3s outer cut off");
        assertThat(flag()).isFalse();
    }

    // 2. A quick block leaves normally.

    @Test
    void a_quick_block_leaves_normally_and_moves_the_clock_by_its_own_sleep_only() throws Exception {
        String value = lab.scope("page").deadline(ofSeconds(9)).call(slow("work", 1)::call);

        assertThat(value).isEqualTo("work");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
        assertThat(passed(lab)).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    void a_block_that_does_not_sleep_does_not_move_the_clock() {
        String value = lab.scope("page").deadline(ofNanos(1)).call(() -> "at once");

        assertThat(value).isEqualTo("at once");
        assertThat(lab.now()).isEqualTo(ZERO);
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void a_quick_block_with_forks_moves_the_clock_by_the_longest_of_them_only() {
        String value = lab.scope("page").deadline(ofSeconds(9)).call(s -> {
            Fork<String> a = s.fork("a", slow("a", 2));
            Fork<String> b = s.fork("b", slow("b", 1));
            return a.join() + b.join();
        });

        assertThat(value).isEqualTo("ab");
        assertThat(lab.trail()).containsExactly("1s b slept", "2s a slept");
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    void a_block_that_ends_a_nanosecond_before_its_limit_leaves_normally() {
        lab.scope("page").deadline(ofSeconds(1)).run(() -> lab.sleep("work", ofNanos(999_999_999)));

        assertThat(lab.trail()).containsExactly("0.999999999s work slept");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void an_exception_of_a_quick_block_leaves_as_it_is() {
        IllegalStateException own = new IllegalStateException("own");

        assertThatThrownBy(() -> lab.scope("page").deadline(ofSeconds(9)).run(() -> {
                    lab.sleep("work", ofSeconds(1));
                    throw own;
                }))
                .isSameAs(own)
                .hasNoSuppressedExceptions();

        assertThat(lab.now()).isEqualTo(ofSeconds(1));
        assertThat(lab.unhandled()).isEmpty();
    }

    // 3. No limit never fires.

    @Test
    void without_a_limit_nothing_fires_however_long_it_takes() {
        lab.scope("page").run(() -> lab.sleep("work", ofDays(10_000)));

        assertThat(lab.now()).isEqualTo(ofDays(10_000));
        assertThat(lab.events(ScopeEvent.DeadlineSet.class)).isEmpty();
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void a_limit_too_long_to_count_is_none() {
        lab.scope("page").deadline(ofSeconds(Long.MAX_VALUE)).run(() -> {
            assertThat(Selvedge.deadline().isNever()).isTrue();
            lab.sleep("work", ofDays(100_000));
        });

        assertThat(lab.now()).isEqualTo(ofDays(100_000));
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void a_deadline_that_never_comes_takes_no_part_and_the_one_around_counts() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(1));
        ScopeSpec inner = Selvedge.scope("inner").deadline(lab.clock().never());

        DeadlineExceededException late =
                late(() -> outer.run(() -> through(lab, inner, () -> lab.sleep("work", ofSeconds(9)))));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(lab.trail())
                .containsExactly("1s work cut off", "1s inner left by ScopeCancelledException: " + OUTER_PASSED);
        assertThat(passed(lab)).containsExactly("outer");
    }

    @Test
    void a_join_without_a_limit_waits_as_long_as_it_takes() {
        lab.scope().run(s -> {
            Fork<String> slow = s.fork("slow", slow("slow", 1_000_000));

            assertThat(slow.join(ofSeconds(Long.MAX_VALUE))).isEqualTo("slow");
        });

        assertThat(lab.now()).isEqualTo(ofSeconds(1_000_000));
    }

    // 4. The finally of the timed-out block runs.

    @Test
    void the_finally_of_the_timed_out_block_runs_at_the_limit() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> {
                    try {
                        lab.sleep("work", ofSeconds(9));
                    } finally {
                        lab.note("finally");
                    }
                }));

        assertThat(late).hasMessage(PAGE_LATE);
        assertThat(lab.trail()).containsExactly("1s work cut off", "1s finally");
    }

    @Test
    void a_finally_that_sleeps_runs_to_its_end_and_the_timeout_is_thrown_after_it() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> {
                    try {
                        lab.sleep("work", ofSeconds(9));
                    } finally {
                        lab.sleep("finally", ofSeconds(2));
                    }
                }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("1s work cut off", "3s finally slept");
        assertThat(flag()).isFalse();
    }

    @Test
    void the_finallys_of_nested_blocks_run_from_the_inside_out() {
        DeadlineExceededException late = late(() -> lab.scope("outer")
                .deadline(ofSeconds(1))
                .run(() -> cleaning(
                        "outer",
                        () -> Selvedge.scope("middle")
                                .run(() -> cleaning(
                                        "middle",
                                        () -> inner(ofSeconds(9))
                                                .run(() ->
                                                        cleaning("inner", () -> lab.sleep("work", ofSeconds(20)))))))));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 4 s)");
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off", "2s inner cleaned up", "3s middle cleaned up", "4s outer cleaned up");
    }

    @Test
    void the_finallys_of_forks_run_side_by_side_and_the_timeout_is_thrown_after_the_longest() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).gather(tidy("a", 3), tidy("b", 2)));

        assertThat(late)
                .hasMessage(
                        "the scope \"page\" exceeded its deadline of 1 s (after 4 s); not finished: fork-1, fork-2");
        assertThat(lab.trail()).containsExactly("1s a cut off", "1s b cut off", "3s b cleaned up", "4s a cleaned up");
    }

    @Test
    void a_timeout_in_the_finally_of_a_timed_out_block_is_its_own() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> {
                    try {
                        lab.sleep("work", ofSeconds(9));
                    } finally {
                        assertThat(late(() -> inner(ofSeconds(1)).run(() -> lab.sleep("finally", ofSeconds(9)))))
                                .hasMessage(INNER_LATE);
                    }
                }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 2 s)");
        assertThat(lab.trail()).containsExactly("1s work cut off", "2s finally cut off");
        assertThat(passed(lab)).containsExactly("inner", "page");
    }

    @Test
    void a_gather_in_the_finally_of_a_timed_out_block_runs_to_its_end() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> {
                    try {
                        lab.sleep("work", ofSeconds(9));
                    } finally {
                        assertThat(Selvedge.scope("cleanup").gather(slow("a", 2), slow("b", 1)))
                                .containsExactly("a", "b");
                    }
                }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("1s work cut off", "2s b slept", "3s a slept");
    }

    @Test
    void a_return_in_the_finally_is_a_value_and_leaves_no_flag() {
        String value = lab.scope("page").deadline(ofSeconds(1)).call(() -> {
            try {
                lab.sleep("work", ofSeconds(9));
                return "never";
            } catch (ScopeCancelledException e) {
                lab.sleep("catch", ofSeconds(1));
                return "kept";
            }
        });

        assertThat(value).isEqualTo("kept");
        assertThat(lab.trail()).containsExactly("1s work cut off", "2s catch slept");
        assertThat(flag()).isFalse();
    }

    // 5. A cancel from outside stays a cancel.

    @Test
    void a_cancel_from_another_fork_stays_a_cancel_and_is_no_timeout() {
        ScopeCancelledException cancelled =
                cancelled(() -> lab.scope("outer").deadline(ofSeconds(9)).run(s -> {
                    cancelAfter(s, ofSeconds(1));
                    through(lab, inner(ofSeconds(5)), () -> lab.sleep("work", ofSeconds(20)));
                }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(cancelled.reason()).isEqualTo(new CancelReason(CancelReason.Kind.CALLER, "stop", null));
        assertThat(lab.trail()).containsExactly("1s work cut off", "1s inner left by ScopeCancelledException: stop");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
        assertThat(passed(lab)).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    void a_cancel_at_the_very_moment_of_the_limit_stays_a_cancel_if_it_was_to_come_first() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            Selvedge.sleep(ofNanos(1));
            through(lab, inner(ofNanos(999_999_999)), () -> lab.sleep("work", ofSeconds(20)));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s work cut off", "1s inner left by ScopeCancelledException: stop");
        assertThat(passed(lab)).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    void a_cancel_at_the_very_moment_of_the_limit_comes_after_the_timeout_if_the_limit_was_set_first() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            assertThat(late(() -> inner(ofSeconds(1)).run(() -> lab.sleep("work", ofSeconds(20)))))
                    .hasMessage(INNER_LATE);
            lab.sleep("outer", ofSeconds(20));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s work cut off", "1s outer cut off");
        assertThat(passed(lab)).containsExactly("inner");
        assertThat(flag()).isFalse();
    }

    @Test
    void a_cancel_after_which_the_limit_passes_in_the_cleanup_stays_a_cancel() {
        ScopeCancelledException cancelled =
                cancelled(() -> lab.scope("page").deadline(ofSeconds(2)).run(s -> {
                    cancelAfter(s, ofSeconds(1));
                    try {
                        lab.sleep("work", ofSeconds(20));
                    } finally {
                        lab.sleep("finally", ofSeconds(5));
                    }
                }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s work cut off", "6s finally slept");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void a_limit_before_the_cancel_stays_a_timeout() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(s -> {
                    after(s, ofSeconds(2), () -> assertThat(s.cancel("stop")).isFalse());
                    try {
                        lab.sleep("work", ofSeconds(20));
                    } finally {
                        lab.sleep("finally", ofSeconds(5));
                    }
                }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 6 s)");
        assertThat(lab.trail()).containsExactly("1s work cut off", "6s finally slept");
    }

    @Test
    void a_cancel_of_the_scope_of_a_fork_stays_a_cancel_in_the_timeout_blocks_of_that_fork() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            Fork<?> unused =
                    s.fork("work", () -> through(lab, inner(ofSeconds(5)), () -> lab.sleep("work", ofSeconds(20))));
            lab.sleep("body", ofSeconds(1));
            assertThat(s.cancel("stop")).isTrue();
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail())
                .containsExactly("1s body slept", "1s work cut off", "1s inner left by ScopeCancelledException: stop");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void a_cancel_is_answered_by_no_fallback_and_is_no_outcome() {
        List<String> left = new ArrayList<>();

        lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            left.add(cancelled(() -> inner(ofSeconds(5)).call(slow("first", 9), failure -> "answer"))
                    .getMessage());
        });
        lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            left.add(cancelled(() -> inner(ofSeconds(5)).attempt(slow("second", 9)))
                    .getMessage());
        });

        assertThat(left).containsExactly("stop", "stop");
        assertThat(lab.trail()).containsExactly("1s first cut off", "2s second cut off");
    }

    @Test
    void a_raw_interrupt_stays_a_cancel_and_is_no_timeout() {
        ScopeCancelledException cancelled =
                cancelled(() -> lab.scope("outer").deadline(ofSeconds(9)).run(s -> {
                    after(s, ofSeconds(1), () -> lab.clock().interrupt(tester));
                    through(lab, inner(ofSeconds(5)), () -> lab.sleep("work", ofSeconds(20)));
                }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
        assertThat(cancelled).hasCauseInstanceOf(InterruptedException.class);
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off", "1s inner left by ScopeCancelledException: " + cancelled.getMessage());
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void a_raw_interrupt_stays_a_cancel_though_the_limit_passes_in_the_cleanup() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), () -> lab.clock().interrupt(tester));
            through(lab, inner(ofSeconds(2)), () -> {
                try {
                    lab.sleep("work", ofSeconds(20));
                } finally {
                    compute(lab, ofSeconds(5));
                }
            });
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off", "6s inner left by ScopeCancelledException: " + cancelled.getMessage());
    }

    @Test
    void a_raw_interrupt_of_one_who_gathers_is_no_timeout_and_cancels_the_forks() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), () -> lab.clock().interrupt(tester));
            List<String> unused = inner(ofSeconds(5)).gather(tidy("a", 2), slow("b", 9));
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
        assertThat(lab.trail()).containsExactly("1s a cut off", "1s b cut off", "3s a cleaned up");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void a_raw_interrupt_of_one_who_waits_for_a_fork_is_no_late_join() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), () -> lab.clock().interrupt(tester));
            Fork<String> slow = s.fork("slow", tidy("slow", 2));
            String unused = slow.join(ofSeconds(5));
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
        assertThat(lab.trail()).containsExactly("1s slow cut off", "3s slow cleaned up");
    }

    // 6. Nested timeouts.

    @Test
    void the_inner_timeout_fires_at_the_inner_block_only_and_the_outer_goes_on() {
        lab.scope("outer").deadline(ofSeconds(5)).run(() -> {
            assertThat(late(() -> inner(ofSeconds(1)).run(() -> lab.sleep("inner", ofSeconds(9)))))
                    .hasMessage(INNER_LATE);
            assertThat(flag()).isFalse();
            lab.sleep("outer", ofSeconds(3));
        });

        assertThat(lab.trail()).containsExactly("1s inner cut off", "4s outer slept");
        assertThat(passed(lab)).containsExactly("inner");
    }

    @Test
    void the_outer_timeout_fires_at_the_outer_block_only_and_the_inner_passes_it_on() {
        DeadlineExceededException late = late(() -> lab.scope("outer")
                .deadline(ofSeconds(1))
                .run(() -> through(lab, inner(ofSeconds(5)), () -> lab.sleep("inner", ofSeconds(9)))));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(lab.trail())
                .containsExactly("1s inner cut off", "1s inner left by ScopeCancelledException: " + OUTER_PASSED);
        assertThat(passed(lab)).containsExactly("outer");
    }

    @Test
    void first_the_inner_and_then_the_outer_timeout_fire_each_at_its_own_block() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(3)).run(() -> {
                    assertThat(late(() -> inner(ofSeconds(1)).run(() -> lab.sleep("inner", ofSeconds(9)))))
                            .hasMessage(INNER_LATE);
                    lab.sleep("outer", ofSeconds(9));
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 3 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("1s inner cut off", "3s outer cut off");
        assertThat(passed(lab)).containsExactly("inner", "outer");
    }

    @ParameterizedTest
    @ValueSource(strings = {"outer", "middle", "inner"})
    void of_three_levels_each_fires_at_its_own_block_only(String first) {
        List<String> names = List.of("outer", "middle", "inner");
        List<ScopeSpec> specs = names.stream()
                .map(n -> lab.scope(n).deadline(ofSeconds(n.equals(first) ? 1 : 5)))
                .toList();

        DeadlineExceededException late = late(() -> through(
                lab,
                specs.get(0),
                () -> through(
                        lab, specs.get(1), () -> through(lab, specs.get(2), () -> lab.sleep("work", ofSeconds(9))))));

        String message = "the scope \"" + first + "\" exceeded its deadline of 1 s (after 1 s)";
        List<String> trail = new ArrayList<>(List.of("1s work cut off"));
        for (int i = 2; i >= 0; i--) {
            trail.add("1s " + names.get(i) + " left by "
                    + (i > names.indexOf(first)
                            ? "ScopeCancelledException: the deadline of 1 s of the scope \"" + first + "\" passed"
                            : "DeadlineExceededException: " + message));
        }
        assertThat(late).hasMessage(message);
        assertThat(lab.trail()).containsExactlyElementsOf(trail);
        assertThat(passed(lab)).containsExactly(first);
        assertThat(flag()).isFalse();
    }

    @Test
    void three_levels_fire_one_after_the_other_from_the_inside_out() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(3)).run(() -> {
                    assertThat(late(() -> Selvedge.scope("middle")
                                    .deadline(ofSeconds(2))
                                    .run(() -> {
                                        assertThat(late(() -> inner(ofSeconds(1))
                                                        .run(() -> lab.sleep("inner", ofSeconds(9)))))
                                                .hasMessage(INNER_LATE);
                                        lab.sleep("middle", ofSeconds(9));
                                    })))
                            .hasMessage("the scope \"middle\" exceeded its deadline of 2 s (after 2 s)");
                    lab.sleep("outer", ofSeconds(9));
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 3 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("1s inner cut off", "2s middle cut off", "3s outer cut off");
        assertThat(passed(lab)).containsExactly("inner", "middle", "outer");
    }

    @Test
    void of_three_equal_limits_the_outermost_fires_alone() {
        DeadlineExceededException late = late(() -> lab.scope("outer")
                .deadline(ofSeconds(1))
                .run(() -> through(
                        lab,
                        Selvedge.scope("middle").deadline(ofSeconds(1)),
                        () -> through(lab, inner(ofSeconds(1)), () -> lab.sleep("work", ofSeconds(9))))));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off",
                        "1s inner left by ScopeCancelledException: " + OUTER_PASSED,
                        "1s middle left by ScopeCancelledException: " + OUTER_PASSED);
        assertThat(passed(lab)).containsExactly("outer");
    }

    @Test
    void limits_that_were_set_at_different_times_and_meet_fire_at_the_outer_block() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(3)).run(() -> {
                    Selvedge.sleep(ofSeconds(2));
                    through(lab, inner(ofSeconds(1)), () -> lab.sleep("work", ofSeconds(9)));
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 3 s (after 3 s)");
        assertThat(lab.trail())
                .containsExactly(
                        "3s work cut off",
                        "3s inner left by ScopeCancelledException: the deadline of 3 s of the scope \"outer\" passed");
        assertThat(passed(lab)).containsExactly("outer");
    }

    @Test
    void an_inner_limit_a_nanosecond_before_the_outer_one_fires_at_the_inner_block() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    DeadlineExceededException own =
                            late(() -> inner(ofNanos(999_999_999)).run(() -> lab.sleep("inner", ofSeconds(9))));
                    assertThat(own.elapsed()).isEqualTo(ofNanos(999_999_999));
                    lab.sleep("outer", ofNanos(1));
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(lab.trail()).containsExactly("0.999999999s inner cut off", "1s outer cut off");
    }

    @Test
    void the_inner_timeout_in_a_fork_fires_in_that_fork_only() {
        List<String> values = lab.scope("outer")
                .deadline(ofSeconds(5))
                .gather(() -> inner(ofSeconds(1)).call(slow("a", 9), Throwable::getMessage), slow("b", 2));

        assertThat(values).containsExactly(INNER_LATE, "b");
        assertThat(lab.trail()).containsExactly("1s a cut off", "2s b slept");
        assertThat(passed(lab)).containsExactly("inner");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 5})
    void the_outer_timeout_passes_through_the_timeout_blocks_of_forks(long seconds) {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(s -> {
                    Fork<?> unused = s.fork(
                            "work",
                            () -> through(lab, inner(ofSeconds(seconds)), () -> lab.sleep("work", ofSeconds(9))));
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 1 s); not finished: work");
        assertThat(lab.trail())
                .containsExactly("1s work cut off", "1s inner left by ScopeCancelledException: " + OUTER_PASSED);
        assertThat(passed(lab)).containsExactly("outer");
    }

    @Test
    void of_three_levels_of_scopes_with_forks_the_middle_one_throws_its_own_timeout() {
        DeadlineExceededException late = late(() -> lab.scope("outer")
                .deadline(ofSeconds(5))
                .call(() -> Selvedge.scope("middle")
                        .deadline(ofSeconds(1))
                        .gather(() -> inner(ofSeconds(3)).gather(tidy("a", 1), tidy("b", 2)), tidy("c", 1))));

        assertThat(late)
                .hasMessage("the scope \"middle\" exceeded its deadline of 1 s (after 3 s);"
                        + " not finished: fork-1, fork-2");
        assertThat(lab.trail())
                .containsExactlyInAnyOrder(
                        "1s a cut off",
                        "1s b cut off",
                        "1s c cut off",
                        "2s a cleaned up",
                        "2s c cleaned up",
                        "3s b cleaned up");
        assertThat(passed(lab)).containsExactly("middle");
    }

    // 7. A late timer does nothing.

    @Test
    void the_timer_of_a_block_that_has_ended_does_nothing_when_time_goes_past_its_limit() {
        lab.scope("outer").run(() -> {
            inner(ofSeconds(2)).run(() -> lab.sleep("inner", ofSeconds(1)));
            assertThat(lab.clock().pending()).isEmpty();

            lab.sleep("outer", ofSeconds(9));
            assertThat(flag()).isFalse();
            Selvedge.checkpoint();
        });

        assertThat(lab.trail()).containsExactly("1s inner slept", "10s outer slept");
        assertThat(passed(lab)).isEmpty();
        assertThat(lab.clock().pending()).isEmpty();
    }

    @Test
    void on_a_clock_moved_by_hand_nothing_is_pending_after_a_block_and_time_past_its_limit_leaves_the_flag_clean() {
        VirtualClock clock = VirtualClock.manual();
        ScopeSpec page = Selvedge.scope("page").clock(clock).listener(lab).deadline(ofSeconds(5));

        page.run(() -> assertThat(clock.pending())
                .containsExactly(new VirtualClock.Pending("the deadline of the scope \"page\"", ofSeconds(5))));
        List<VirtualClock.Pending> left = clock.pending();
        clock.advance(ofSeconds(60));

        assertThat(left).isEmpty();
        assertThat(flag()).isFalse();
        assertThat(passed(lab)).isEmpty();
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(60));
    }

    @Test
    void the_timer_of_a_timed_out_block_does_not_fire_twice() {
        lab.scope("outer").run(() -> {
            assertThat(late(() -> inner(ofSeconds(1)).run(() -> lab.sleep("inner", ofSeconds(9)))))
                    .hasMessage(INNER_LATE);
            assertThat(lab.clock().pending()).isEmpty();
            lab.sleep("outer", ofSeconds(20));
        });

        assertThat(lab.trail()).containsExactly("1s inner cut off", "21s outer slept");
        assertThat(passed(lab)).containsExactly("inner");
    }

    @Test
    void the_timer_of_a_block_that_failed_or_was_cancelled_does_nothing_either() {
        lab.scope("outer").run(() -> {
            assertThatThrownBy(() -> inner(ofSeconds(3)).call(failing("own", 1)::call))
                    .hasMessage("own");
            assertThat(cancelled(() -> inner(ofSeconds(3)).run(s -> {
                        cancelAfter(s, ofSeconds(1));
                        lab.sleep("inner", ofSeconds(9));
                    })))
                    .hasMessage("stop");
            assertThat(lab.clock().pending()).isEmpty();
            lab.sleep("outer", ofSeconds(9));
        });

        assertThat(lab.trail()).containsExactly("2s inner cut off", "11s outer slept");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void the_timer_of_a_join_that_was_in_time_does_nothing() {
        lab.scope("page").run(s -> {
            Fork<String> quick = s.fork("quick", slow("quick", 1));
            assertThat(quick.join(ofSeconds(5))).isEqualTo("quick");
            assertThat(lab.clock().pending()).isEmpty();
            lab.sleep("body", ofSeconds(9));
        });

        assertThat(lab.trail()).containsExactly("1s quick slept", "10s body slept");
        assertThat(flag()).isFalse();
    }

    @Test
    void the_timer_of_a_block_does_not_hit_the_next_block_of_the_same_fork() {
        lab.scope("outer").run(s -> {
            Fork<?> unused = s.fork("work", () -> {
                inner(ofSeconds(2)).run(() -> lab.sleep("first", ofSeconds(1)));
                inner(ofSeconds(9)).run(() -> lab.sleep("second", ofSeconds(5)));
            });
        });

        assertThat(lab.trail()).containsExactly("1s first slept", "6s second slept");
        assertThat(passed(lab)).isEmpty();
    }

    // 8. A timed wait for one fork.

    @Test
    void a_timed_wait_returns_the_value_in_time() {
        lab.scope("page").run(s -> {
            Fork<String> quick = s.fork("quick", slow("quick", 1));

            assertThat(quick.join(ofSeconds(5))).isEqualTo("quick");
            assertThat(lab.now()).isEqualTo(ofSeconds(1));
        });

        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void a_timed_wait_that_is_late_says_so_at_the_limit_names_the_fork_and_has_cancelled_it() {
        lab.scope("page").run(s -> {
            Fork<String> slow = s.fork("slow", slow("slow", 9));

            DeadlineExceededException late = late(() -> slow.join(ofSeconds(1)));

            assertThat(late).hasMessage(SLOW_LATE).hasNoCause().hasNoSuppressedExceptions();
            assertThat(late.limit()).isEqualTo(ofSeconds(1));
            assertThat(late.elapsed()).isEqualTo(ofSeconds(1));
            assertThat(late.unfinished()).containsExactly("slow");
            assertThat(slow.isDone()).isTrue();
            assertThat(slow.outcome()).isEqualTo(new Outcome.Cancelled<>(wasLate()));
            assertThat(s.isCancelled()).isFalse();
            assertThat(flag()).isFalse();
            lab.sleep("body", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("1s slow cut off", "2s body slept");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void a_late_fork_has_ended_with_its_cleanup_before_the_timed_wait_throws() {
        lab.scope("page").run(s -> {
            Fork<String> slow = s.fork("slow", tidy("slow", 3));

            DeadlineExceededException late = late(() -> slow.join(ofSeconds(1)));

            assertThat(late)
                    .hasMessage("the join of the fork \"slow\" exceeded its deadline of 1 s (after 4 s);"
                            + " not finished: slow");
            assertThat(slow.isDone()).isTrue();
            lab.note("told");
        });

        assertThat(lab.trail()).containsExactly("1s slow cut off", "4s slow cleaned up", "4s told");
    }

    @Test
    void a_value_that_arrives_in_the_meantime_is_returned() {
        lab.scope("page").run(s -> {
            Fork<String> slow = s.fork("slow", stubborn("slow", 2));

            assertThat(slow.join(ofSeconds(1))).isEqualTo("slow");
            assertThat(slow.outcome()).isEqualTo(new Outcome.Success<>("slow"));
            assertThat(flag()).isFalse();
        });

        assertThat(lab.trail()).containsExactly("1s slow cut off", "3s slow cleaned up");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class)).isEmpty();
    }

    @Test
    void a_value_of_a_shielded_fork_arrives_after_the_limit_and_is_returned() {
        lab.scope("page").run(s -> {
            Fork<String> slow =
                    s.fork("slow", () -> Selvedge.shielded(() -> slow("slow", 4).call()));

            assertThat(slow.join(ofSeconds(1))).isEqualTo("slow");
        });

        assertThat(lab.trail()).containsExactly("4s slow slept");
    }

    @Test
    void siblings_of_a_late_fork_go_on() {
        String value = lab.scope("page").call(s -> {
            Fork<String> slow = s.fork("slow", slow("slow", 9));
            Fork<String> other = s.fork("other", slow("other", 3));
            assertThat(late(() -> slow.join(ofSeconds(1)))).hasMessage(SLOW_LATE);
            return other.join(ofSeconds(5));
        });

        assertThat(value).isEqualTo("other");
        assertThat(lab.trail()).containsExactly("1s slow cut off", "3s other slept");
    }

    @Test
    void the_limit_of_a_timed_wait_counts_from_the_wait_and_not_from_the_fork() {
        lab.scope("page").run(s -> {
            Fork<String> slow = s.fork("slow", slow("slow", 9));
            Selvedge.sleep(ofSeconds(5));

            assertThat(late(() -> slow.join(ofSeconds(1)))).hasMessage(SLOW_LATE);
        });

        assertThat(lab.trail()).containsExactly("6s slow cut off");
    }

    @Test
    void a_fork_that_ends_at_the_very_limit_is_late_if_the_wait_began_before_the_fork() {
        lab.scope("page").run(s -> {
            Fork<String> slow = s.fork("slow", slow("slow", 1));

            assertThat(late(() -> slow.join(ofSeconds(1)))).hasMessage(SLOW_LATE);
        });

        assertThat(lab.trail()).containsExactly("1s slow cut off");
    }

    @Test
    void a_fork_that_ends_at_the_very_limit_is_in_time_if_it_began_before_the_wait() {
        lab.scope("page").run(s -> {
            Fork<String> slow = s.fork("slow", slow("slow", 2));
            Selvedge.sleep(ofSeconds(1));

            assertThat(slow.join(ofSeconds(1))).isEqualTo("slow");
        });

        assertThat(lab.trail()).containsExactly("2s slow slept");
    }

    @Test
    void a_timed_wait_for_a_fork_that_fails_in_time_throws_its_failure_and_not_a_timeout() {
        ScopeFailedException failed = failed(() -> lab.scope("page").run(s -> {
            Fork<String> bad = s.fork("bad", failing("bad", 1));
            String unused = bad.join(ofSeconds(5));
        }));

        assertThat(failed).hasMessage("the scope \"page\" failed: \"bad\" threw java.lang.IllegalStateException: bad");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void a_late_fork_that_fails_in_its_cleanup_is_the_cause_of_the_timeout() {
        DeadlineExceededException[] seen = {null};

        lab.scope("page").isolated().run(s -> {
            Fork<String> slow = s.fork("slow", failingInCleanup("slow", 2));
            seen[0] = late(() -> slow.join(ofSeconds(1)));
        });

        assertThat(seen[0])
                .hasMessage("the join of the fork \"slow\" exceeded its deadline of 1 s (after 3 s);"
                        + " not finished: slow");
        assertThat(seen[0].getCause()).isInstanceOf(IllegalStateException.class).hasMessage("slow cleanup");
        assertThat(lab.trail()).containsExactly("1s slow cut off");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void a_second_wait_for_a_late_fork_says_why_it_was_cancelled() {
        lab.scope("page").run(s -> {
            Fork<String> slow = s.fork("slow", slow("slow", 9));
            assertThat(late(() -> slow.join(ofSeconds(1)))).hasMessage(SLOW_LATE);

            ScopeCancelledException again = cancelled(() -> slow.join(ofSeconds(1)));

            assertThat(again).hasMessage("the fork \"slow\" was late");
            assertThat(again.reason()).isEqualTo(wasLate());
            assertThat(flag()).isFalse();
        });

        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void of_two_who_wait_for_one_fork_the_one_with_the_shorter_limit_is_told_of_a_timeout() {
        AtomicReference<ScopeCancelledException> other = new AtomicReference<>();

        lab.scope("page").run(s -> {
            Fork<String> slow = s.fork("slow", slow("slow", 9));
            Fork<?> unused = s.fork("other", () -> other.set(cancelled(() -> slow.join(ofSeconds(5)))));
            assertThat(late(() -> slow.join(ofSeconds(1)))).hasMessage(SLOW_LATE);
        });

        assertThat(other.get()).hasMessage("the fork \"slow\" was late");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void a_fork_may_wait_for_its_sibling_for_a_limited_time() {
        List<String> values = lab.scope("page").call(s -> {
            Fork<String> slow = s.fork("slow", slow("slow", 9));
            Fork<String> waiting =
                    s.fork("waiting", () -> late(() -> slow.join(ofSeconds(1))).getMessage());
            return s.gather(List.of(waiting));
        });

        assertThat(values).containsExactly(SLOW_LATE);
        assertThat(lab.trail()).containsExactly("1s slow cut off");
    }

    @Test
    void the_limit_of_the_block_around_at_the_very_moment_of_a_timed_wait_counts_first() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(s -> {
                    Fork<String> slow = s.fork("slow", slow("slow", 9));
                    String unused = slow.join(ofSeconds(1));
                }));

        assertThat(late).hasMessage(PAGE_LATE + "; not finished: slow");
        assertThat(lab.trail()).containsExactly("1s slow cut off");
        assertThat(passed(lab)).containsExactly("page");
    }

    @Test
    void the_limit_of_the_block_around_passes_while_a_late_fork_cleans_up() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(2)).run(s -> {
                    Fork<String> slow = s.fork("slow", () -> {
                        try {
                            return slow("slow", 9).call();
                        } finally {
                            Selvedge.shielded(() -> lab.sleep("cleanup", ofSeconds(5)));
                        }
                    });
                    String unused = slow.join(ofSeconds(1));
                }));

        assertThat(late).hasMessageStartingWith("the scope \"page\" exceeded its deadline of 2 s (after 6 s)");
        assertThat(lab.trail()).containsExactly("1s slow cut off", "6s cleanup slept");
        assertThat(flag()).isFalse();
    }

    @Test
    void a_late_join_that_the_body_lets_out_leaves_the_scope_as_it_is() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(9)).run(s -> {
                    Fork<String> slow = s.fork("slow", slow("slow", 20));
                    Fork<?> unused = s.fork("other", tidy("other", 1));
                    String unusedValue = slow.join(ofSeconds(1));
                }));

        assertThat(late).hasMessage(SLOW_LATE);
        assertThat(lab.trail()).containsExactly("1s slow cut off", "1s other cut off", "2s other cleaned up");
        assertThat(passed(lab)).isEmpty();
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void a_late_join_is_answered_by_a_fallback_of_the_scope_around() {
        String value = lab.scope("outer")
                .call(
                        () -> Selvedge.scope("page")
                                .call(s -> s.fork("slow", slow("slow", 9)).join(ofSeconds(1))),
                        failure -> "answer to " + failure.getMessage());

        assertThat(value).isEqualTo("answer to " + SLOW_LATE);
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void a_late_fork_that_waits_in_scopes_of_its_own_takes_them_along() {
        lab.scope("page").run(s -> {
            Fork<List<String>> slow = s.fork("slow", () -> inner(ofSeconds(7)).gather(tidy("a", 1), tidy("b", 2)));

            assertThat(late(() -> slow.join(ofSeconds(1))).elapsed()).isEqualTo(ofSeconds(3));
        });

        assertThat(lab.trail()).containsExactly("1s a cut off", "1s b cut off", "2s a cleaned up", "3s b cleaned up");
    }

    @Test
    void a_timed_wait_inside_a_shield_is_late_at_its_limit_though_the_block_around_was_asked_to_stop() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    Selvedge.shielded(() -> Selvedge.scope("page").run(s -> {
                        Fork<String> slow = s.fork("slow", slow("slow", 9));
                        assertThat(late(() -> slow.join(ofSeconds(3))).elapsed())
                                .isEqualTo(ofSeconds(3));
                    }));
                    lab.sleep("outer", ofSeconds(9));
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("3s slow cut off", "3s outer cut off");
    }

    // 9. Gather.

    @Test
    void a_gather_of_tasks_keeps_the_order_and_runs_them_side_by_side() {
        List<String> values = lab.scope().gather(List.of(slow("a", 1), slow("b", 1), slow("c", 1)));

        assertThat(values).containsExactly("a", "b", "c");
        assertThat(lab.trail()).containsExactly("1s a slept", "1s b slept", "1s c slept");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void a_gather_of_running_forks_keeps_the_order_asked_and_runs_them_side_by_side() {
        List<String> values = lab.scope().call(s -> {
            Fork<String> a = s.fork(slow("a", 1));
            Fork<String> b = s.fork(slow("b", 1));
            Fork<String> c = s.fork(slow("c", 1));
            return s.gather(List.of(c, a, b));
        });

        assertThat(values).containsExactly("c", "a", "b");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void values_stand_in_the_order_asked_whoever_ends_first() {
        List<String> ofTasks = lab.scope().gather(slow("a", 3), slow("b", 2), slow("c", 1));
        List<String> ofForks = lab.scope().call(s -> s.gather(List.of(s.fork(slow("d", 2)), s.fork(slow("e", 1)))));

        assertThat(ofTasks).containsExactly("a", "b", "c");
        assertThat(ofForks).containsExactly("d", "e");
        assertThat(lab.trail()).containsExactly("1s c slept", "2s b slept", "3s a slept", "4s e slept", "5s d slept");
    }

    @Test
    void an_empty_gather_is_an_empty_list_and_does_not_move_the_clock() {
        List<Object> ofTasks = lab.scope().deadline(ofSeconds(1)).gather(List.of());
        List<Object> ofForks = lab.scope().deadline(ofSeconds(1)).call(s -> s.gather(List.of()));
        List<Object> mapped = lab.scope().deadline(ofSeconds(1)).map(List.of(), x -> x);

        assertThat(ofTasks).isEmpty();
        assertThat(ofForks).isEmpty();
        assertThat(mapped).isEmpty();
        assertThat(lab.now()).isEqualTo(ZERO);
    }

    @Test
    void a_gather_of_forks_that_have_ended_does_not_move_the_clock() {
        lab.scope().run(s -> {
            Fork<String> a = s.fork(slow("a", 1));
            Fork<String> b = s.fork(() -> "b");
            Selvedge.sleep(ofSeconds(5));

            assertThat(s.gather(List.of(b, a, b))).containsExactly("b", "a", "b");
            assertThat(lab.now()).isEqualTo(ofSeconds(5));
        });
    }

    @Test
    void gathers_inside_gathers_run_side_by_side() {
        List<List<String>> values = lab.scope()
                .gather(
                        () -> lab.scope().gather(slow("a", 1), slow("b", 2)),
                        () -> lab.scope().gather(slow("c", 2), slow("d", 1)));

        assertThat(values).containsExactly(List.of("a", "b"), List.of("c", "d"));
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    void the_first_failure_cancels_the_siblings_at_once_and_their_finally_runs() {
        ScopeFailedException failed =
                failed(() -> lab.scope("page").gather(tidy("a", 2), failing("b", 1), tidy("c", 3)));

        assertThat(failed).hasMessage("the scope \"page\" failed: \"fork-2\" threw java.lang.IllegalStateException: b");
        assertThat(failed.failures()).hasSize(1);
        assertThat(lab.trail()).containsExactly("1s a cut off", "1s c cut off", "3s a cleaned up", "4s c cleaned up");
        assertThat(lab.now()).isEqualTo(ofSeconds(4));
    }

    @Test
    void the_first_failure_among_running_forks_cancels_the_siblings_at_once_and_their_finally_runs() {
        ScopeFailedException failed = failed(() -> lab.scope("page").run(s -> {
            Fork<String> a = s.fork("a", tidy("a", 2));
            Fork<String> b = s.fork("b", failing("b", 1));
            Fork<?> unused = s.fork("c", tidy("c", 3));
            List<String> unusedValue = s.gather(List.of(a, b));
        }));

        assertThat(failed).hasMessage("the scope \"page\" failed: \"b\" threw java.lang.IllegalStateException: b");
        assertThat(failed.failures()).hasSize(1);
        assertThat(lab.trail()).containsExactly("1s a cut off", "1s c cut off", "3s a cleaned up", "4s c cleaned up");
    }

    @Test
    void a_failure_of_a_fork_that_is_not_gathered_ends_the_gather_too() {
        ScopeFailedException failed = failed(() -> lab.scope("page").run(s -> {
            Fork<String> a = s.fork("a", slow("a", 9));
            Fork<?> unused = s.fork("b", failing("b", 1));
            ScopeCancelledException cut = cancelled(() -> s.gather(List.of(a)));
            assertThat(cut).hasMessage("\"b\" failed: java.lang.IllegalStateException: b");
            throw cut;
        }));

        assertThat(failed).hasMessage("the scope \"page\" failed: \"b\" threw java.lang.IllegalStateException: b");
        assertThat(lab.trail()).containsExactly("1s a cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    void in_an_isolated_scope_a_gather_throws_the_first_failure_at_once_and_the_siblings_go_on() {
        lab.scope("page").isolated().run(s -> {
            Fork<String> a = s.fork("a", slow("a", 3));
            Fork<String> b = s.fork("b", failing("b", 1));

            assertThat(failed(() -> s.gather(List.of(a, b))))
                    .hasMessage("the fork \"b\" threw java.lang.IllegalStateException: b");
            lab.note("told");
        });

        assertThat(lab.trail()).containsExactly("1s told", "3s a slept");
    }

    @Test
    void a_failure_at_the_very_moment_at_which_a_sibling_ends_leaves_that_sibling_its_value() {
        ScopeFailedException failed = failed(() -> lab.scope("page").gather(slow("a", 1), failing("b", 1)));

        assertThat(failed.failures()).extracting(Throwable::getMessage).containsExactly("b");
        assertThat(lab.trail()).containsExactly("1s a slept");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "fork-1", "a"));
    }

    @Test
    void a_sibling_that_would_end_at_the_moment_of_the_failure_but_comes_after_it_is_cut_off() {
        ScopeFailedException failed = failed(() -> lab.scope("page").gather(failing("a", 1), slow("b", 1)));

        assertThat(failed.failures()).extracting(Throwable::getMessage).containsExactly("a");
        assertThat(lab.trail()).containsExactly("1s b cut off");
    }

    @Test
    void a_task_that_fails_at_once_keeps_the_others_from_running() {
        ScopeFailedException failed = failed(() -> lab.scope("page").gather(failing("a", 0), slow("b", 9)));

        assertThat(failed.getCause()).hasMessage("a");
        assertThat(lab.now()).isEqualTo(ZERO);
    }

    @Test
    void errors_are_collected_the_first_in_time_first() {
        ScopeFailedException failed = failed(
                () -> lab.scope("page").gather(failingInCleanup("a", 3), failing("b", 1), failingInCleanup("c", 2)));

        assertThat(failed)
                .hasMessage("the scope \"page\" failed: \"fork-2\" threw java.lang.IllegalStateException: b"
                        + " (and 2 more failures)");
        assertThat(failed.getCause()).hasMessage("b").hasNoSuppressedExceptions();
        assertThat(failed.failures()).extracting(Throwable::getMessage).containsExactly("b", "c cleanup", "a cleanup");
        assertThat(failed.getSuppressed()).extracting(Throwable::getMessage).containsExactly("c cleanup", "a cleanup");
        assertThat(lab.trail()).containsExactly("1s a cut off", "1s c cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(4));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void errors_of_running_forks_are_collected_the_first_in_time_first() {
        ScopeFailedException failed = failed(() -> lab.scope("page").run(s -> {
            Fork<String> a = s.fork("a", failingInCleanup("a", 3));
            Fork<String> b = s.fork("b", failing("b", 1));
            Fork<String> c = s.fork("c", failingInCleanup("c", 2));
            List<String> unusedValue = s.gather(List.of(a, b, c));
        }));

        assertThat(failed)
                .hasMessage("the scope \"page\" failed: \"b\" threw java.lang.IllegalStateException: b"
                        + " (and 2 more failures)");
        assertThat(failed.failures()).extracting(Throwable::getMessage).containsExactly("b", "c cleanup", "a cleanup");
        assertThat(failed.getSuppressed()).extracting(Throwable::getMessage).containsExactly("c cleanup", "a cleanup");
        assertThat(lab.now()).isEqualTo(ofSeconds(4));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void errors_of_gathers_inside_a_gather_are_found_through_both() {
        ScopeFailedException failed = failed(() -> lab.scope("outer")
                .gather(
                        () -> lab.scope("inner").gather(failing("a", 1), failingInCleanup("b", 1)),
                        failingInCleanup("c", 5)));

        assertThat(failed.all(IllegalStateException.class))
                .extracting(Throwable::getMessage)
                .containsExactly("a", "b cleanup", "c cleanup");
        assertThat(failed.getCause())
                .hasMessage("the scope \"inner\" failed: \"fork-1\" threw java.lang.IllegalStateException: a"
                        + " (and 1 more failure)");
        assertThat(lab.trail()).containsExactly("1s b cut off", "2s c cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(7));
    }

    @Test
    void a_gather_that_is_cancelled_itself_cancels_all_its_children_and_awaits_them() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            List<String> unusedValue = Selvedge.scope("inner").gather(tidy("a", 2), tidy("b", 1), slow("c", 9));
        }));

        assertThat(cancelled).hasMessage("stop").hasNoSuppressedExceptions();
        assertThat(lab.trail())
                .containsExactly("1s a cut off", "1s b cut off", "1s c cut off", "2s b cleaned up", "3s a cleaned up");
        assertThat(flag()).isFalse();
    }

    @Test
    void a_gather_of_running_forks_that_is_cancelled_itself_cancels_them_and_they_are_awaited() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("page").run(s -> {
            cancelAfter(s, ofSeconds(1));
            Fork<String> a = s.fork("a", tidy("a", 2));
            Fork<String> b = s.fork("b", slow("b", 9));
            try {
                List<String> unusedValue = s.gather(List.of(a, b));
            } finally {
                lab.note("gather left");
            }
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail())
                .containsExactlyInAnyOrder("1s a cut off", "1s b cut off", "1s gather left", "3s a cleaned up");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    void a_gather_in_a_fork_that_is_cancelled_by_its_handle_cancels_all_its_children() {
        lab.scope("outer").run(s -> {
            Fork<?> gathering = s.fork("gathering", () -> inner(ofSeconds(9)).gather(tidy("a", 1), tidy("b", 2)));
            Selvedge.sleep(ofSeconds(1));
            assertThat(gathering.cancel()).isTrue();

            assertThat(cancelled(gathering::join)).hasMessage("the fork \"gathering\" was cancelled");
            lab.note("told");
        });

        assertThat(lab.trail())
                .containsExactly("1s a cut off", "1s b cut off", "2s a cleaned up", "3s b cleaned up", "3s told");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void a_cancel_reaches_the_children_of_gathers_inside_gathers() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            List<List<String>> unusedValue = Selvedge.scope("middle")
                    .gather(
                            () -> inner(ofSeconds(9)).gather(tidy("a", 1), tidy("b", 2)),
                            () -> inner(ofSeconds(9)).gather(tidy("c", 3)));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail())
                .containsExactlyInAnyOrder(
                        "1s a cut off",
                        "1s b cut off",
                        "1s c cut off",
                        "2s a cleaned up",
                        "3s b cleaned up",
                        "4s c cleaned up");
        assertThat(lab.now()).isEqualTo(ofSeconds(4));
    }

    @Test
    void a_gather_inside_a_shield_is_not_cancelled_and_the_cancel_comes_after_it() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            Selvedge.shielded(() -> assertThat(lab.scope("inner").gather(slow("a", 2), slow("b", 3)))
                    .containsExactly("a", "b"));
            lab.sleep("after", ofSeconds(9));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("2s a slept", "3s b slept", "3s after cut off");
    }

    @Test
    void errors_in_the_cleanup_after_a_cancel_are_suppressed_in_what_leaves_the_gather() {
        List<ScopeCancelledException> left = new ArrayList<>();

        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            left.add(cancelled(() ->
                    Selvedge.scope("inner").gather(failingInCleanup("a", 2), failingInCleanup("b", 1), slow("c", 9))));
            throw left.get(0);
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(left.get(0)).hasMessage("stop");
        assertThat(secondary(left.get(0))).containsExactly("b cleanup", "a cleanup");
        assertThat(lab.trail()).containsExactly("1s a cut off", "1s b cut off", "1s c cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    void errors_in_the_cleanup_of_running_forks_after_a_cancel_are_suppressed_in_it() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("page").run(s -> {
            cancelAfter(s, ofSeconds(1));
            Fork<String> a = s.fork("a", failingInCleanup("a", 2));
            Fork<String> b = s.fork("b", failingInCleanup("b", 1));
            List<String> unusedValue = s.gather(List.of(a, b));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(secondary(cancelled)).containsExactly("b cleanup", "a cleanup");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void errors_in_the_cleanup_after_a_timeout_are_suppressed_in_it() {
        DeadlineExceededException late = late(() -> lab.scope("page")
                .deadline(ofSeconds(1))
                .gather(failingInCleanup("a", 2), failingInCleanup("b", 1), slow("c", 9)));

        assertThat(late)
                .hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 3 s); not finished: fork-3");
        assertThat(secondary(late)).containsExactly("b cleanup", "a cleanup");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void a_failure_at_the_very_moment_of_the_limit_is_after_it() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).gather(failing("a", 1), slow("b", 9)));

        assertThat(late).hasMessage(PAGE_LATE + "; not finished: fork-1, fork-2");
        assertThat(late).hasNoSuppressedExceptions();
        assertThat(lab.trail()).containsExactly("1s b cut off");
    }

    @Test
    void a_failure_a_nanosecond_before_the_limit_is_a_failure_though_the_limit_passes_in_the_cleanup() {
        ScopeFailedException failed = failed(() -> lab.scope("page")
                .deadline(ofSeconds(1))
                .gather(
                        () -> {
                            Selvedge.sleep(ofNanos(999_999_999));
                            throw new IllegalStateException("a");
                        },
                        tidy("b", 5)));

        assertThat(failed).hasMessage("the scope \"page\" failed: \"fork-1\" threw java.lang.IllegalStateException: a");
        assertThat(lab.trail()).containsExactly("0.999999999s b cut off", "5.999999999s b cleaned up");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    void errors_in_the_cleanup_of_the_losers_of_a_race_are_reported_as_unhandled() {
        String first = lab.scope("fastest").race(failingInCleanup("a", 2), slow("b", 1), failingInCleanup("c", 1));

        assertThat(first).isEqualTo("b");
        assertThat(lab.events(ScopeEvent.Unhandled.class))
                .extracting(e -> e.scope() + ": " + e.error().getMessage())
                .containsExactly("fastest: c cleanup", "fastest: a cleanup");
        assertThat(lab.trail()).containsExactly("1s b slept", "1s a cut off", "1s c cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    void errors_before_the_win_and_in_the_cleanup_after_it_are_reported_in_their_order() {
        String first = lab.scope("fastest").race(failing("early", 1), slow("b", 2), failingInCleanup("late", 1));

        assertThat(first).isEqualTo("b");
        assertThat(lab.unhandled()).extracting(Throwable::getMessage).containsExactly("early", "late cleanup");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    void if_all_fail_in_a_race_the_errors_are_collected_and_none_is_reported() {
        ScopeFailedException failed =
                failed(() -> lab.scope("fastest").race(failing("a", 3), failing("b", 1), failing("c", 2)));

        assertThat(failed)
                .hasMessage("the scope \"fastest\" failed: \"fork-2\" threw java.lang.IllegalStateException: b"
                        + " (and 2 more failures)");
        assertThat(failed.failures()).extracting(Throwable::getMessage).containsExactly("b", "c", "a");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
        assertThat(lab.unhandled()).isEmpty();
    }

    /** Runs code that sleeps for a second when it is left. */
    private void cleaning(String who, Runnable code) {
        try {
            code.run();
        } finally {
            Selvedge.sleep(ofSeconds(1));
            lab.note(who + " cleaned up");
        }
    }

    private static CancelReason wasLate() {
        return new CancelReason(CancelReason.Kind.DEADLINE, "the fork \"slow\" was late", null);
    }

    private static List<String> secondary(Throwable thrown) {
        List<String> messages = new ArrayList<>();
        for (Throwable t : thrown.getSuppressed()) {
            messages.add(t.getMessage());
        }
        return messages;
    }

    private Callable<String> slow(String name, long seconds) {
        return () -> {
            lab.sleep(name, ofSeconds(seconds));
            return name;
        };
    }

    private static Callable<String> failing(String message, long seconds) {
        return () -> {
            Duration d = ofSeconds(seconds);
            if (!d.isZero()) {
                Selvedge.sleep(d);
            }
            throw new IllegalStateException(message);
        };
    }

    /** Waits until it is cut off, and takes its time to clean up. */
    private Callable<String> tidy(String name, long cleanup) {
        return () -> {
            try {
                lab.sleep(name, ofDays(1));
                return name;
            } finally {
                Selvedge.sleep(ofSeconds(cleanup));
                lab.note(name + " cleaned up");
            }
        };
    }

    /** Waits until it is cut off, and then gives its value all the same. */
    private Callable<String> stubborn(String name, long cleanup) {
        return () -> {
            try {
                return tidy(name, cleanup).call();
            } catch (ScopeCancelledException e) {
                return name;
            }
        };
    }

    /** Waits until it is cut off, and fails when it has cleaned up. */
    private Callable<String> failingInCleanup(String name, long cleanup) {
        return () -> {
            try {
                lab.sleep(name, ofDays(1));
                return name;
            } finally {
                failing(name + " cleanup", cleanup).call();
            }
        };
    }
}
