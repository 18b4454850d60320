package dev.selvedge;

import static dev.selvedge.Blocks.after;
import static dev.selvedge.Blocks.cancelAfter;
import static dev.selvedge.Blocks.cancelled;
import static dev.selvedge.Blocks.compute;
import static dev.selvedge.Blocks.failed;
import static dev.selvedge.Blocks.flag;
import static dev.selvedge.Blocks.inner;
import static dev.selvedge.Blocks.late;
import static dev.selvedge.Blocks.passDeadline;
import static dev.selvedge.Blocks.passed;
import static dev.selvedge.Blocks.rawSleep;
import static dev.selvedge.Blocks.swallow;
import static dev.selvedge.Blocks.through;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Cancellations that a block did not ask for itself, and interrupts that the library knows nothing of. */
@Timeout(30)
class OutsideCancelTest {

    private static final String FORK_CANCELLED = "the fork \"work\" was cancelled";

    @RegisterExtension
    final Lab lab = new Lab();

    private final Thread tester = Thread.currentThread();
    private final List<CancelReason> reasons = new ArrayList<>();

    /** Runs a task in a fork, cancels that fork at a moment, and then has the scope go on until the fork has ended. */
    private void cancelForkAfter(Duration d, Task.Void<?> task) {
        lab.scope("owner").run(s -> {
            Fork<?> work = s.fork("work", task);
            Selvedge.sleep(d);
            assertThat(work.cancel()).isTrue();
        });
    }

    private void sleepAndKeepReason(Duration d) {
        try {
            Selvedge.sleep(d);
        } catch (ScopeCancelledException e) {
            reasons.add(e.reason());
            throw e;
        }
    }

    private CancelReason interruptOfTester() {
        return new CancelReason(
                CancelReason.Kind.INTERRUPT, "the thread \"" + tester.getName() + "\" was interrupted", null);
    }

    private void interruptTester() {
        lab.clock().interrupt(tester);
    }

    @Test
    @Catalogue({8, 37})
    void a_cancelled_fork_leaves_a_block_in_it_as_a_cancellation() {
        lab.scope("owner").run(s -> {
            Fork<?> work =
                    s.fork("work", () -> through(lab, inner(ofSeconds(10)), () -> lab.sleep("work", ofSeconds(20))));
            Selvedge.sleep(ofSeconds(1));

            assertThat(work.cancel()).isTrue();

            ScopeCancelledException joined = cancelled(work::join);
            assertThat(joined.reason()).isEqualTo(new CancelReason(CancelReason.Kind.CALLER, FORK_CANCELLED, null));
            assertThat(flag()).isFalse();
        });
        assertThat(lab.trail())
                .containsExactly("1s work cut off", "1s inner left by ScopeCancelledException: " + FORK_CANCELLED);
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue(37)
    void a_cancelled_scope_leaves_a_block_in_its_body_as_a_cancellation() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            through(lab, inner(ofSeconds(10)), () -> lab.sleep("work", ofSeconds(20)));
        }));

        assertThat(cancelled.reason()).isEqualTo(new CancelReason(CancelReason.Kind.CALLER, "stop", null));
        assertThat(cancelled).hasCauseInstanceOf(InterruptedException.class);
        assertThat(lab.trail()).containsExactly("1s work cut off", "1s inner left by ScopeCancelledException: stop");
        assertThat(passed(lab)).isEmpty();
        assertThat(flag()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {500, 1000, 1500})
    @Catalogue(38)
    void a_deadline_and_a_cancel_that_are_delivered_together_leave_as_a_cancellation(long cancelAt) {
        cancelForkAfter(
                ofMillis(cancelAt),
                () -> through(lab, inner(ofSeconds(1)), () -> {
                    compute(lab, ofSeconds(2));
                    lab.sleep("work", ofSeconds(9));
                }));

        assertThat(lab.trail())
                .containsExactly("2s work cut off", "2s inner left by ScopeCancelledException: " + FORK_CANCELLED);
        assertThat(passed(lab)).containsExactly("inner");
    }

    @Test
    @Catalogue(38)
    void a_deadline_that_is_delivered_after_a_cancel_was_swallowed_leaves_as_a_cancellation() {
        cancelForkAfter(
                ofMillis(500),
                () -> through(lab, inner(ofSeconds(1)), () -> {
                    swallow(() -> lab.sleep("work", ofSeconds(9)));
                    lab.sleep("more work", ofSeconds(9));
                }));

        assertThat(lab.trail())
                .containsExactly(
                        "0.5s work cut off",
                        "1s more work cut off",
                        "1s inner left by ScopeCancelledException: " + FORK_CANCELLED);
    }

    @Test
    @Catalogue(39)
    void a_cancel_that_lands_in_the_spinning_cleanup_after_the_own_deadline_leaves_as_a_cancellation() {
        cancelForkAfter(
                ofSeconds(2),
                () -> through(lab, inner(ofSeconds(1)), () -> {
                    try {
                        lab.sleep("work", ofSeconds(9));
                    } finally {
                        compute(lab, ofSeconds(2));
                    }
                }));

        assertThat(lab.trail())
                .containsExactly("1s work cut off", "3s inner left by ScopeCancelledException: " + FORK_CANCELLED);
    }

    @Test
    @Catalogue(39)
    void a_cancel_that_lands_in_the_blocking_cleanup_after_the_own_deadline_leaves_as_a_cancellation() {
        cancelForkAfter(
                ofSeconds(2),
                () -> through(lab, inner(ofSeconds(1)), () -> {
                    try {
                        lab.sleep("work", ofSeconds(9));
                    } finally {
                        swallow(() -> lab.sleep("cleanup", ofSeconds(9)));
                    }
                }));

        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off",
                        "2s cleanup cut off",
                        "2s inner left by ScopeCancelledException: " + FORK_CANCELLED);
    }

    @Test
    @Catalogue(39)
    void a_raw_interrupt_of_the_deadline_with_a_cancel_in_the_cleanup_leaves_as_a_cancellation() {
        cancelForkAfter(
                ofSeconds(2),
                () -> through(lab, inner(ofSeconds(1)), () -> {
                    try {
                        rawSleep(lab, ofSeconds(9));
                    } finally {
                        compute(lab, ofSeconds(2));
                    }
                }));

        assertThat(lab.trail()).containsExactly("3s inner left by ScopeCancelledException: " + FORK_CANCELLED);
    }

    @Test
    @Catalogue(40)
    void after_a_swallowed_cancel_the_first_block_of_a_fork_converts_its_own_deadline() {
        cancelForkAfter(ofSeconds(1), () -> {
            swallow(() -> lab.sleep("work", ofSeconds(9)));
            assertInnerConvertsItsOwn();
        });

        assertThat(lab.trail()).containsExactly("1s work cut off", "3s cleanup cut off");
    }

    @Test
    @Catalogue(40)
    void after_a_swallowed_cancel_a_block_inside_another_converts_its_own_deadline() {
        cancelForkAfter(
                ofSeconds(1),
                () -> Selvedge.scope("around").run(() -> {
                    swallow(() -> lab.sleep("work", ofSeconds(9)));
                    assertInnerConvertsItsOwn();
                }));

        assertThat(lab.trail()).containsExactly("1s work cut off", "3s cleanup cut off");
    }

    private void assertInnerConvertsItsOwn() {
        DeadlineExceededException late = late(() -> inner(ofSeconds(2)).run(() -> lab.sleep("cleanup", ofSeconds(9))));
        assertThat(late).hasMessage("the scope \"inner\" exceeded its deadline of 2 s (after 2 s)");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(40)
    void after_a_swallowed_cancel_of_the_scope_around_a_block_converts_its_own_deadline() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            assertThat(s.cancel("stop")).isTrue();
            swallow(() -> lab.sleep("work", ofSeconds(9)));
            assertInnerConvertsItsOwn();
            Selvedge.checkpoint();
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("0s work cut off", "2s cleanup cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(41)
    void a_second_cancel_inside_a_block_opened_after_the_first_one_leaves_it_as_a_cancellation() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("owner").run(s -> {
            Fork<?> work = s.fork("work", () -> {
                swallow(() -> lab.sleep("work", ofSeconds(9)));
                through(lab, inner(ofSeconds(5)), () -> lab.sleep("cleanup", ofSeconds(9)));
            });
            Selvedge.sleep(ofSeconds(1));
            assertThat(work.cancel()).isTrue();
            Selvedge.sleep(ofSeconds(1));
            assertThat(s.cancel("stop")).isTrue();
            Object unused = work.join();
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off",
                        "2s cleanup cut off",
                        "2s inner left by ScopeCancelledException: " + FORK_CANCELLED);
        assertThat(passed(lab)).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(42)
    void failures_are_thrown_before_a_later_cancel_from_outside_which_stays_pending() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(2));
            ScopeFailedException failed = failed(this::gatherWithSlowSibling);
            lab.note(failed.getMessage());
            assertThat(flag()).isTrue();
            lab.sleep("after", ofSeconds(1));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail())
                .containsExactly(
                        "1s slow cut off",
                        "4s the scope \"inner\" failed: \"fork-1\" threw java.lang.IllegalStateException: boom",
                        "4s after cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(42)
    void failures_are_thrown_before_a_later_foreign_interrupt_which_stays_pending() {
        lab.scope("outer").run(s -> {
            after(s, ofSeconds(2), this::interruptTester);
            ScopeFailedException failed = failed(this::gatherWithSlowSibling);
            assertThat(failed.getCause()).hasMessage("boom");
            assertThat(failed.failures()).hasSize(1);
            assertThat(Thread.interrupted()).isTrue();
        });

        assertThat(lab.now()).isEqualTo(ofSeconds(4));
    }

    private void gatherWithSlowSibling() {
        List<Object> unused = Selvedge.scope("inner").gather(this::boomAfterOneSecond, () -> {
            try {
                lab.sleep("slow", ofSeconds(9));
                return 1;
            } finally {
                Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(3)));
            }
        });
    }

    private Object boomAfterOneSecond() {
        Selvedge.sleep(ofSeconds(1));
        throw new IllegalStateException("boom");
    }

    @Test
    @Catalogue(43)
    void what_the_body_makes_of_a_forks_failure_is_among_the_failures() {
        IllegalStateException mine = new IllegalStateException("mine");

        ScopeFailedException failed = failed(() -> lab.scope("outer").run(s -> {
            Fork<?> unused = s.fork("bad", this::boomAfterOneSecond);
            swallow(() -> lab.sleep("body", ofSeconds(9)));
            throw mine;
        }));

        assertThat(failed)
                .hasMessage("the scope \"outer\" failed: \"bad\" threw java.lang.IllegalStateException: boom"
                        + " (and 1 more failure)");
        assertThat(failed.failures()).hasSize(2);
        assertThat(failed.failures().get(1)).isSameAs(mine);
        assertThat(failed.getSuppressed()).containsExactly(mine);
        assertThat(lab.trail()).containsExactly("1s body cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(43)
    void what_the_body_makes_of_a_cancel_leaves_as_itself_and_the_cancel_is_reported() {
        IllegalStateException mine = new IllegalStateException("mine");

        assertThatThrownBy(() -> lab.scope("outer").run(s -> {
                    assertThat(s.cancel("stop")).isTrue();
                    swallow(() -> lab.sleep("body", ofSeconds(9)));
                    throw mine;
                }))
                .isSameAs(mine)
                .hasNoSuppressedExceptions();

        assertThat(lab.unhandled())
                .singleElement()
                .satisfies(e -> assertThat(e)
                        .isInstanceOf(ScopeCancelledException.class)
                        .hasMessage("stop"));
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(44)
    void of_two_cancels_the_first_reason_is_kept_and_the_body_is_interrupted_once() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), () -> {
                assertThat(s.cancel("first")).isTrue();
                assertThat(s.cancel("second")).isFalse();
            });
            after(s, ofSeconds(2), () -> assertThat(s.cancel("third")).isFalse());
            swallow(() -> lab.sleep("body", ofSeconds(9)));
            lab.sleep("cleanup", ofSeconds(9));
            Selvedge.checkpoint();
        }));

        assertThat(cancelled).hasMessage("first");
        assertThat(lab.events(ScopeEvent.ScopeCancelled.class))
                .containsExactly(new ScopeEvent.ScopeCancelled(
                        "outer", new CancelReason(CancelReason.Kind.CALLER, "first", null)));
        assertThat(lab.trail()).containsExactly("1s body cut off", "10s cleanup slept");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(44)
    void of_two_cancels_of_a_fork_only_the_first_counts() {
        lab.scope("outer").run(s -> {
            Fork<?> work = s.fork("work", () -> {
                swallow(() -> lab.sleep("work", ofSeconds(9)));
                lab.sleep("cleanup", ofSeconds(9));
            });
            Selvedge.sleep(ofSeconds(1));

            assertThat(work.cancel()).isTrue();
            Selvedge.sleep(ofSeconds(1));
            assertThat(work.cancel()).isFalse();
        });

        assertThat(lab.trail()).containsExactly("1s work cut off", "10s cleanup slept");
    }

    @Test
    @Catalogue(45)
    void the_reason_of_a_deadline_can_be_read_where_it_cuts_in() {
        DeadlineExceededException unused =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> sleepAndKeepReason(ofSeconds(9))));

        assertThat(reasons)
                .containsExactly(new CancelReason(
                        CancelReason.Kind.DEADLINE, "the deadline of 1 s of the scope \"outer\" passed", null));
    }

    @Test
    @Catalogue(45)
    void the_reason_of_a_siblings_failure_can_be_read_where_it_cuts_in() {
        ScopeFailedException failed = failed(() -> lab.scope("outer").gather(this::boomAfterOneSecond, () -> {
            sleepAndKeepReason(ofSeconds(9));
            return 1;
        }));

        assertThat(reasons)
                .containsExactly(new CancelReason(
                        CancelReason.Kind.SIBLING_FAILED,
                        "\"fork-1\" failed: java.lang.IllegalStateException: boom",
                        failed.getCause()));
    }

    @Test
    @Catalogue(45)
    void the_reason_of_a_lost_race_can_be_read_where_it_cuts_in() {
        Object won = lab.scope("outer").race(() -> 1, () -> {
            sleepAndKeepReason(ofSeconds(9));
            return 2;
        });

        assertThat(won).isEqualTo(1);
        assertThat(reasons).isEmpty();
    }

    @Test
    @Catalogue(45)
    void the_cause_of_an_explicit_cancel_can_be_read_where_it_cuts_in() {
        IllegalStateException cause = new IllegalStateException("why");

        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), () -> assertThat(s.cancel(cause)).isTrue());
            sleepAndKeepReason(ofSeconds(9));
        }));

        CancelReason why = new CancelReason(
                CancelReason.Kind.CALLER, "cancelled because of java.lang.IllegalStateException: why", cause);
        assertThat(reasons).containsExactly(why);
        assertThat(cancelled.reason()).isEqualTo(why);
    }

    @Test
    @Catalogue({45, 46})
    void a_foreign_interrupt_leaves_as_a_cancellation_and_sets_the_flag_again() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), this::interruptTester);
            through(lab, inner(ofSeconds(10)), () -> sleepAndKeepReason(ofSeconds(20)));
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
        assertThat(cancelled).hasCauseInstanceOf(InterruptedException.class);
        assertThat(reasons).containsExactly(interruptOfTester());
        assertThat(lab.trail())
                .containsExactly("1s inner left by ScopeCancelledException: "
                        + interruptOfTester().message());
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue(46)
    void the_interrupted_exception_of_a_foreign_interrupt_becomes_the_cause_of_a_cancellation() {
        InterruptedException[] raw = {null};

        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), this::interruptTester);
            inner(ofSeconds(10)).run(() -> {
                try {
                    rawSleep(lab, ofSeconds(20));
                } catch (InterruptedException e) {
                    raw[0] = e;
                    throw e;
                }
            });
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.getCause()).isSameAs(raw[0]).isNotNull();
        assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    @Catalogue(46)
    void a_foreign_interrupt_of_a_gather_cancels_the_forks_and_sets_the_flag_again() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), this::interruptTester);
            List<Object> unused = Selvedge.scope("inner").deadline(ofSeconds(5)).gather(() -> {
                lab.sleep("fork", ofSeconds(9));
                return 1;
            });
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
        assertThat(lab.trail()).containsExactly("1s fork cut off");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue(47)
    void a_foreign_interrupt_that_is_unconsumed_when_the_own_deadline_passes_leaves_as_a_cancellation() {
        ScopeSpec scope = lab.scope("outer").deadline(ofSeconds(1));

        ScopeCancelledException cancelled = cancelled(() -> scope.run(() -> {
            tester.interrupt();
            passDeadline();
            lab.sleep("work", ofSeconds(9));
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
        assertThat(lab.trail()).containsExactly("0s work cut off");
    }

    @Test
    @Catalogue({38, 47})
    void a_foreign_interrupt_that_is_unconsumed_when_the_scope_is_cancelled_leaves_the_flag_set() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            tester.interrupt();
            assertThat(s.cancel("stop")).isTrue();
            lab.sleep("work", ofSeconds(9));
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
    }

    @Test
    @Catalogue(47)
    void a_foreign_interrupt_of_a_wait_that_has_not_come_back_yet_is_unconsumed() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), () -> {
                interruptTester();
                letTesterSeeItsInterrupt();
                assertThat(s.cancel("stop")).isTrue();
            });
            lab.sleep("work", ofSeconds(9));
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
        assertThat(lab.trail()).containsExactly("1s work cut off");
    }

    /** The thread, which waits for its turn, has run and waits again; it may have touched its flag meanwhile. */
    private void letTesterSeeItsInterrupt() {
        for (int calm = 0; calm < 10_000; ) {
            calm = tester.getState() == Thread.State.WAITING ? calm + 1 : 0;
            Thread.onSpinWait();
        }
    }

    @Test
    @Catalogue(47)
    void a_foreign_interrupt_that_flies_when_the_own_deadline_passes_in_the_cleanup_leaves_as_a_cancellation() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), this::interruptTester);
            through(lab, inner(ofSeconds(2)), () -> {
                try {
                    lab.sleep("work", ofSeconds(9));
                } finally {
                    compute(lab, ofSeconds(3));
                }
            });
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off",
                        "4s inner left by ScopeCancelledException: "
                                + interruptOfTester().message());
        assertThat(passed(lab)).containsExactly("inner");
    }

    @Test
    @Catalogue(48)
    void a_flag_that_is_set_at_entry_is_still_set_after_a_block_that_never_blocks() {
        tester.interrupt();

        int ofTask = lab.scope("outer").deadline(ofSeconds(1)).call(() -> 1);
        boolean afterTask = flag();
        int ofBody = lab.scope("outer").deadline(ofSeconds(1)).call(s -> 2);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(afterTask).isTrue();
        assertThat(ofTask).isEqualTo(1);
        assertThat(ofBody).isEqualTo(2);
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue(48)
    void a_flag_that_is_set_at_entry_is_still_set_though_the_own_deadline_passes() {
        tester.interrupt();

        int value = lab.scope("outer").deadline(ofSeconds(1)).call(() -> {
            passDeadline();
            return 1;
        });

        assertThat(Thread.interrupted()).isTrue();
        assertThat(value).isEqualTo(1);
    }

    static List<Duration> lengths() {
        return List.of(ofSeconds(-1), ZERO, Duration.ofNanos(1), ofSeconds(1), ofSeconds(Long.MAX_VALUE));
    }

    @ParameterizedTest
    @MethodSource("lengths")
    @Catalogue({49, 56})
    void a_flag_that_is_set_at_entry_leaves_as_a_cancellation_however_long_the_deadline(Duration deadline) {
        tester.interrupt();

        ScopeCancelledException cancelled =
                cancelled(() -> lab.scope("outer").deadline(deadline).run(() -> lab.sleep("work", ofHours(1))));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
        assertThat(cancelled).hasCauseInstanceOf(InterruptedException.class);
        assertThat(lab.now()).isEqualTo(ZERO);
        assertThat(passed(lab)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("lengths")
    @Catalogue({49, 52})
    void a_flag_that_is_set_at_entry_of_a_gather_leaves_as_a_cancellation_however_long_the_deadline(Duration deadline) {
        tester.interrupt();

        ScopeCancelledException cancelled =
                cancelled(() -> lab.scope("outer").deadline(deadline).gather(() -> {
                    lab.sleep("work", ofHours(1));
                    return 1;
                }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
        assertThat(lab.now()).isEqualTo(ZERO);
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue({7, 50})
    void a_foreign_interrupt_of_a_fork_is_a_failure_of_its_task() {
        ScopeFailedException failed = failed(() -> lab.scope("outer").run(s -> {
            Fork<?> unused = s.fork("work", () -> {
                Thread.currentThread().interrupt();
                rawSleep(lab, ofSeconds(9));
            });
            lab.sleep("body", ofSeconds(9));
        }));

        assertThat(failed)
                .hasMessage("the scope \"outer\" failed: \"work\" threw java.lang.InterruptedException")
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(lab.trail()).containsExactly("0s body cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue({7, 50})
    void a_foreign_interrupt_of_a_block_in_a_fork_is_a_failure_of_its_task() {
        ScopeFailedException failed = failed(() -> lab.scope("outer").gather(() -> {
            Thread.currentThread().interrupt();
            inner(ofSeconds(5)).run(() -> lab.sleep("work", ofSeconds(9)));
            return 1;
        }));

        String message = "the thread \"outer/fork-1\" was interrupted";
        assertThat(failed)
                .hasMessage("the scope \"outer\" failed: \"fork-1\" threw dev.selvedge.ScopeCancelledException: "
                        + message);
        assertThat(failed.getCause())
                .isInstanceOfSatisfying(
                        ScopeCancelledException.class,
                        e -> assertThat(e.reason())
                                .isEqualTo(new CancelReason(CancelReason.Kind.INTERRUPT, message, null)));
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(51)
    void join_of_a_fork_that_is_done_gives_its_value_and_leaves_the_flag_set() {
        int value = lab.scope("outer").call(s -> {
            Fork<Integer> work = s.fork("work", () -> 42);
            Selvedge.sleep(ofSeconds(1));
            tester.interrupt();

            assertThat(work.join()).isEqualTo(42);
            assertThat(s.gather(List.of(work, work))).containsExactly(42, 42);
            assertThat(flag()).isTrue();
            return work.join();
        });

        assertThat(Thread.interrupted()).isTrue();
        assertThat(value).isEqualTo(42);
    }

    @Test
    @Catalogue(52)
    void join_of_a_fork_that_is_not_done_throws_and_clears_the_flag() {
        int value = lab.scope("outer").call(s -> {
            Fork<Integer> work = s.fork("work", () -> {
                lab.sleep("work", ofSeconds(1));
                return 42;
            });
            tester.interrupt();

            ScopeCancelledException cancelled = cancelled(work::join);

            assertThat(cancelled.reason()).isEqualTo(interruptOfTester());
            assertThat(cancelled).hasCauseInstanceOf(InterruptedException.class);
            assertThat(flag()).isFalse();
            return work.join();
        });

        assertThat(flag()).isFalse();
        assertThat(value).isEqualTo(42);
        assertThat(lab.trail()).containsExactly("1s work slept");
    }

    @Test
    @Catalogue({10, 53})
    void a_cancel_reaches_the_forks_of_forks_and_the_deepest_end_first() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("top").run(s -> {
            Fork<?> unused = s.fork(
                    "child",
                    () -> scopeWithFork(
                            "middle", () -> scopeWithFork("bottom", () -> lab.sleep("grandchild", ofSeconds(9)))));
            Selvedge.sleep(ofSeconds(1));
            assertThat(s.cancel("stop")).isTrue();
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s grandchild cut off", "1s bottom ended", "1s middle ended");
        assertThat(lab.events(ScopeEvent.ForkEnded.class))
                .extracting(ScopeEvent.ForkEnded::scope)
                .containsExactly("bottom", "middle", "top");
        assertThat(flag()).isFalse();
    }

    private void scopeWithFork(String name, Runnable work) {
        try {
            Selvedge.scope(name).run(s -> {
                Fork<?> unused = s.fork("work", work::run);
            });
        } finally {
            lab.note(name + " ended");
        }
    }

    @Test
    @Catalogue({42, 47})
    void a_raw_interrupt_that_a_failed_scope_keeps_pending_is_not_taken_for_the_next_block_s_deadline() {
        Thread owner = Thread.currentThread();
        List<String> ends = new ArrayList<>();

        lab.scope("outer").run(() -> {
            ends.add(endOf(() -> lab.scope("failing").run(s -> {
                ends.add(endOf(() -> lab.scope("bump").deadline(ofSeconds(1)).run(() -> Selvedge.sleep(ofSeconds(2)))));
                Fork<Integer> unused = s.fork(() -> {
                    Selvedge.sleep(ofSeconds(1));
                    throw new IllegalStateException("boom");
                });
                Fork<Integer> unused2 = s.fork(() -> interruptsInItsCleanup(owner));
            })));
            ends.add(endOf(() -> lab.scope("next").deadline(ofSeconds(1)).run(() -> {
                Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2)));
                Selvedge.sleep(ofSeconds(1));
            })));
        });

        assertThat(ends)
                .containsExactly("DeadlineExceededException", "ScopeFailedException", "ScopeCancelledException");
        assertThat(Thread.interrupted()).isFalse();
    }

    private static int interruptsInItsCleanup(Thread owner) {
        try {
            Selvedge.sleep(ofSeconds(5));
        } finally {
            owner.interrupt();
            Selvedge.sleep(ofSeconds(1));
        }
        return 1;
    }

    private static String endOf(Runnable block) {
        try {
            block.run();
            return "value";
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName();
        }
    }
}
