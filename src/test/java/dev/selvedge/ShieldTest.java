package dev.selvedge;

import static dev.selvedge.Blocks.after;
import static dev.selvedge.Blocks.cancelAfter;
import static dev.selvedge.Blocks.cancelled;
import static dev.selvedge.Blocks.compute;
import static dev.selvedge.Blocks.flag;
import static dev.selvedge.Blocks.inner;
import static dev.selvedge.Blocks.late;
import static dev.selvedge.Blocks.passed;
import static dev.selvedge.Blocks.swallow;
import static dev.selvedge.Blocks.through;
import static dev.selvedge.Selvedge.shielded;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Cleanup that must not be cut off. */
@Timeout(30)
class ShieldTest {

    private static final String LEFT =
            "left by ScopeCancelledException: the deadline of 1 s of the scope \"outer\" passed";

    @RegisterExtension
    final Lab lab = new Lab();

    private final Thread tester = Thread.currentThread();

    private void interruptTester() {
        lab.clock().interrupt(tester);
    }

    @Test
    @Catalogue(149)
    void a_cancel_waits_until_the_shield_has_ended_and_comes_at_the_next_blocking_call() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            shielded(() -> {
                lab.sleep("shielded", ofSeconds(2));
                assertThat(flag()).isFalse();
                Selvedge.checkpoint();
            });
            assertThat(flag()).isTrue();
            lab.sleep("after", ofSeconds(1));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("2s shielded slept", "2s after cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(149)
    void a_deadline_waits_until_the_shield_has_ended_and_comes_at_the_next_blocking_call() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    shielded(() -> lab.sleep("shielded", ofSeconds(2)));
                    assertThat(flag()).isTrue();
                    lab.sleep("after", ofSeconds(1));
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 2 s)");
        assertThat(lab.trail()).containsExactly("2s shielded slept", "2s after cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(149)
    void a_cancel_of_the_fork_waits_until_its_shield_has_ended() {
        lab.scope("outer").run(s -> {
            Fork<?> work = s.fork("work", () -> {
                shielded(() -> lab.sleep("shielded", ofSeconds(2)));
                lab.sleep("after", ofSeconds(1));
            });
            Selvedge.sleep(ofSeconds(1));
            assertThat(work.cancel()).isTrue();
            assertThat(cancelled(work::join)).hasMessage("the fork \"work\" was cancelled");
        });

        assertThat(lab.trail()).containsExactly("2s shielded slept", "2s after cut off");
    }

    @Test
    @Catalogue(149)
    void a_body_that_ends_with_its_shield_keeps_its_value_and_the_flag_is_clear() {
        int value = lab.scope("outer")
                .deadline(ofSeconds(1))
                .call(() -> shielded(() -> {
                    Selvedge.sleep(ofSeconds(2));
                    return 42;
                }));

        assertThat(value).isEqualTo(42);
        assertThat(flag()).isFalse();
        assertThat(passed(lab)).containsExactly("outer");
    }

    @Test
    @Catalogue(149)
    void an_exception_of_the_shielded_task_leaves_it_and_the_cancel_still_comes() {
        IOException broken = new IOException("broken");

        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            assertThatThrownBy(() -> shielded(() -> {
                        Selvedge.sleep(ofSeconds(2));
                        throw broken;
                    }))
                    .isSameAs(broken);
            assertThat(flag()).isTrue();
            lab.sleep("after", ofSeconds(1));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("2s after cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(149)
    void a_request_that_is_pending_at_entry_waits_until_the_shield_has_ended() {
        tester.interrupt();

        shielded(() -> {
            assertThat(flag()).isFalse();
            lab.scope().run(() -> lab.sleep("shielded", ofSeconds(1)));
        });

        assertThat(Thread.interrupted()).isTrue();
        assertThat(lab.trail()).containsExactly("1s shielded slept");
    }

    @Test
    @Catalogue(149)
    void a_scope_inside_the_shield_lives_on_with_its_forks() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            List<Integer> values = shielded(() -> Selvedge.scope("inner")
                    .gather(
                            () -> {
                                lab.sleep("fork", ofSeconds(2));
                                Selvedge.checkpoint();
                                return 1;
                            },
                            () -> 2));
            assertThat(values).containsExactly(1, 2);
            Selvedge.checkpoint();
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("2s fork slept");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(150)
    void shielded_cleanup_after_a_deadline_is_not_cut_off_by_a_cancel_which_leaves_the_block() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(2));
            through(lab, inner(ofSeconds(1)), () -> {
                try {
                    lab.sleep("work", ofSeconds(9));
                } finally {
                    shielded(() -> lab.sleep("cleanup", ofSeconds(3)));
                }
            });
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off", "4s cleanup slept", "4s inner left by ScopeCancelledException: stop");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(151)
    void a_deadline_inside_the_shield_passes_though_a_cancel_waits_outside() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            shielded(this::assertInnerDeadlineOf2s);
            lab.sleep("after", ofSeconds(1));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("2s shielded cut off", "2s after cut off");
        assertThat(passed(lab)).containsExactly("inner");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(151)
    void a_deadline_inside_the_shield_passes_though_an_earlier_one_waits_outside() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    shielded(this::assertInnerDeadlineOf2s);
                    lab.sleep("after", ofSeconds(1));
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 2 s)");
        assertThat(lab.trail()).containsExactly("2s shielded cut off", "2s after cut off");
        assertThat(passed(lab)).containsExactly("inner", "outer");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(151)
    void a_deadline_inside_the_shield_passes_in_cleanup_after_the_one_outside() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    try {
                        lab.sleep("work", ofSeconds(9));
                    } finally {
                        shielded(this::assertInnerDeadlineOf2s);
                    }
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("1s work cut off", "3s shielded cut off");
        assertThat(flag()).isFalse();
    }

    private void assertInnerDeadlineOf2s() {
        DeadlineExceededException own = late(() -> inner(ofSeconds(2)).run(() -> lab.sleep("shielded", ofSeconds(9))));
        assertThat(own).hasMessage("the scope \"inner\" exceeded its deadline of 2 s (after 2 s)");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(151)
    void a_cancel_of_a_scope_inside_the_shield_comes_at_once() {
        lab.scope("outer")
                .run(() -> shielded(() -> {
                    ScopeCancelledException cancelled =
                            cancelled(() -> Selvedge.scope("inner").run(s -> {
                                cancelAfter(s, ofSeconds(1));
                                lab.sleep("shielded", ofSeconds(9));
                            }));
                    assertThat(cancelled).hasMessage("stop");
                    assertThat(flag()).isFalse();
                }));

        assertThat(flag()).isFalse();
        assertThat(lab.trail()).containsExactly("1s shielded cut off");
    }

    @Test
    @Catalogue({25, 151})
    void what_a_shield_keeps_away_is_not_taken_for_delivered_by_a_block_inside_it() {
        assertDeadlineOf1sComesAfter(() -> {
            lab.sleep("shielded", ofSeconds(2));
            inner(ofSeconds(5)).run(() -> lab.sleep("inner", ofSeconds(1)));
        });

        assertThat(lab.trail())
                .containsExactly("2s shielded slept", "3s inner slept", "3s after cut off", "3s next " + LEFT);
    }

    @Test
    @Catalogue({25, 152})
    void what_a_shield_keeps_away_is_not_taken_for_delivered_by_a_block_after_a_shield_inside_it() {
        assertDeadlineOf1sComesAfter(() -> {
            lab.sleep("shielded", ofSeconds(2));
            shielded(() -> lab.sleep("shielded twice", ofSeconds(1)));
            inner(ofSeconds(5)).run(() -> lab.sleep("inner", ofSeconds(1)));
        });

        assertThat(lab.trail())
                .containsExactly(
                        "2s shielded slept",
                        "3s shielded twice slept",
                        "4s inner slept",
                        "4s after cut off",
                        "4s next " + LEFT);
    }

    /** The deadline passes while the shield stands; the block that is open when it comes must not claim it. */
    private void assertDeadlineOf1sComesAfter(Task.Void<RuntimeException> shieldedCode) {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    shielded(shieldedCode);
                    through(lab, Selvedge.scope("next").deadline(ofSeconds(7)), () -> lab.sleep("after", ofSeconds(1)));
                }));

        assertThat(late.limit()).isEqualTo(ofSeconds(1));
        assertThat(passed(lab)).containsExactly("outer");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(152)
    void of_nested_shields_only_leaving_the_last_delivers() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            shielded(() -> {
                shielded(() -> {
                    shielded(() -> lab.sleep("third", ofSeconds(2)));
                    lab.sleep("second", ofSeconds(2));
                });
                lab.sleep("first", ofSeconds(2));
            });
            lab.sleep("after", ofSeconds(2));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail())
                .containsExactly("2s third slept", "4s second slept", "6s first slept", "6s after cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(152)
    void the_deadline_of_a_block_between_two_shields_waits_for_the_inner_shield_only() {
        lab.scope("outer").run(() -> {
            shielded(() -> {
                DeadlineExceededException own = late(() -> inner(ofSeconds(1)).run(() -> {
                    shielded(() -> lab.sleep("shielded", ofSeconds(2)));
                    lab.sleep("between", ofSeconds(9));
                }));
                assertThat(own).hasMessage("the scope \"inner\" exceeded its deadline of 1 s (after 2 s)");
                assertThat(flag()).isFalse();
            });
            assertThat(flag()).isFalse();
            lab.sleep("after", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("2s shielded slept", "2s between cut off", "3s after slept");
    }

    @Test
    @Catalogue(152)
    void a_request_that_is_pending_at_entry_of_the_inner_shield_is_not_delivered_twice() {
        lab.scope("outer").run(() -> {
            shielded(() -> {
                DeadlineExceededException own = late(() -> inner(ofSeconds(1)).run(() -> {
                    compute(lab, ofSeconds(2));
                    shielded(() -> lab.sleep("shielded", ofSeconds(1)));
                    lab.sleep("between", ofSeconds(9));
                }));
                assertThat(own).hasMessage("the scope \"inner\" exceeded its deadline of 1 s (after 3 s)");
                assertThat(flag()).isFalse();
            });
            assertThat(flag()).isFalse();
            lab.sleep("after", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("3s shielded slept", "3s between cut off", "4s after slept");
    }

    @Test
    @Catalogue(153)
    void the_forks_of_a_cancelled_scope_are_interrupted_though_its_owner_is_shielded() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            Fork<?> unused = s.fork("fork", () -> lab.sleep("fork", ofSeconds(9)));
            cancelAfter(s, ofSeconds(1));
            shielded(() -> lab.sleep("owner", ofSeconds(3)));
            lab.sleep("after", ofSeconds(1));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s fork cut off", "3s owner slept", "3s after cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(154)
    void a_block_in_a_shield_that_was_not_cancelled_does_not_claim_an_interrupt_in_flight() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            through(lab, inner(ofSeconds(8)), () -> {
                try {
                    lab.sleep("work", ofSeconds(9));
                } finally {
                    shielded(() -> Selvedge.scope("cleanup")
                            .deadline(ofSeconds(2))
                            .run(() -> lab.sleep("cleanup", ofSeconds(1))));
                }
            });
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off", "2s cleanup slept", "2s inner left by ScopeCancelledException: stop");
        assertThat(passed(lab)).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(154)
    void a_swallowed_interrupt_does_not_come_back_after_a_shield() {
        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    swallow(() -> lab.sleep("work", ofSeconds(9)));
                    shielded(() -> lab.sleep("shielded", ofSeconds(1)));
                    assertThat(flag()).isFalse();
                    lab.sleep("cleanup", ofSeconds(1));
                    Selvedge.checkpoint();
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("1s work cut off", "2s shielded slept", "3s cleanup slept");
    }

    @Test
    @Catalogue(156)
    void a_foreign_interrupt_cannot_be_kept_away() {
        lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), this::interruptTester);
            shielded(() -> {
                ScopeCancelledException cut = cancelled(() -> lab.sleep("shielded", ofSeconds(9)));
                assertThat(cut.reason())
                        .isEqualTo(new CancelReason(
                                CancelReason.Kind.INTERRUPT,
                                "the thread \"" + tester.getName() + "\" was interrupted",
                                null));
            });
            lab.sleep("after", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("1s shielded cut off", "2s after slept");
        assertThat(flag()).isFalse();
    }
}
