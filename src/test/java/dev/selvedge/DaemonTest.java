package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What runs in the background of a scope. */
@Timeout(60)
class DaemonTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    void it_ends_when_the_body_and_all_forks_have_ended() {
        String value = lab.scope().call(s -> {
            s.daemon(() -> lab.sleep("daemon", ofSeconds(100)));
            Fork<?> unused = s.fork(() -> lab.sleep("fork", ofSeconds(3)));
            lab.sleep("body", ofSeconds(1));
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(lab.trail()).containsExactly("1s body slept", "3s fork slept", "3s daemon cut off");
        assertThat(lab.events(ScopeEvent.ScopeCancelled.class)).isEmpty();
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void it_knows_why_it_ends() {
        AtomicReference<CancelReason> reason = new AtomicReference<>();

        lab.scope("page").run(s -> {
            s.daemon(() -> {
                var cut = catchThrowableOfType(ScopeCancelledException.class, () -> Selvedge.sleep(ofSeconds(9)));
                reason.set(cut.reason());
                throw cut;
            });
            Selvedge.sleep(ofSeconds(1));
        });

        assertThat(reason)
                .hasValue(new CancelReason(
                        CancelReason.Kind.CALLER, "the body and the forks of the scope \"page\" have ended", null));
        assertThat(lab.events(ScopeEvent.ForkEnded.class))
                .containsExactly(new ScopeEvent.ForkEnded("page", "daemon-1", new Outcome.Cancelled<>(reason.get())));
    }

    @Test
    void with_nothing_else_it_ends_at_once() {
        lab.scope().run(s -> s.daemon(() -> lab.sleep("daemon", ofSeconds(1))));

        assertThat(lab.now()).isEqualTo(ZERO);
        assertThat(lab.trail()).doesNotContain("1s daemon slept");
    }

    @Test
    void one_that_is_done_before_is_no_trouble() {
        lab.scope().run(s -> {
            s.daemon(() -> lab.sleep("daemon", ofSeconds(1)));
            lab.sleep("body", ofSeconds(2));
        });

        assertThat(lab.trail()).containsExactly("1s daemon slept", "2s body slept");
    }

    @Test
    void several_end_together() {
        lab.scope().run(s -> {
            s.daemon(() -> lab.sleep("first", ofSeconds(100)));
            s.daemon(() -> lab.sleep("second", ofSeconds(100)));
            lab.sleep("body", ofSeconds(2));
        });

        assertThat(lab.trail()).containsExactly("2s body slept", "2s first cut off", "2s second cut off");
    }

    @Test
    void one_among_many_forks_that_were_swept_ends_too() {
        lab.scope().run(s -> {
            s.daemon(() -> lab.sleep("daemon", ofSeconds(100)));
            for (int i = 0; i < 50; i++) {
                Fork<Integer> fork = s.fork(() -> 1);
                assertThat(fork.join()).isEqualTo(1);
            }
            Fork<?> unused = s.fork(() -> lab.sleep("last", ofSeconds(1)));
        });

        assertThat(lab.trail()).containsExactly("1s last slept", "1s daemon cut off");
    }

    @Test
    void its_cleanup_is_awaited() {
        lab.scope().run(s -> {
            s.use(() -> lab.note("closed"));
            s.daemon(() -> {
                try {
                    lab.sleep("daemon", ofSeconds(100));
                } finally {
                    lab.sleep("cleanup", ofSeconds(2));
                }
            });
            lab.sleep("body", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("1s body slept", "1s daemon cut off", "3s cleanup slept", "3s closed");
    }

    @Test
    void one_that_ignores_the_interrupt_is_awaited() {
        String value = lab.scope().call(s -> {
            s.daemon(() -> {
                Selvedge.shielded(() -> lab.sleep("shielded", ofSeconds(5)));
                lab.note("daemon returns");
            });
            lab.sleep("body", ofSeconds(1));
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(lab.trail()).containsExactly("1s body slept", "5s shielded slept", "5s daemon returns");
    }

    @Test
    void its_failure_makes_the_scope_fail() {
        IOException boom = new IOException("boom");

        var e = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope("page").run(s -> {
                    s.daemon(() -> {
                        Selvedge.sleep(ofSeconds(1));
                        throw boom;
                    });
                    Fork<?> unused = s.fork(() -> lab.sleep("fork", ofSeconds(9)));
                    lab.sleep("body", ofSeconds(9));
                }));

        assertThat(e)
                .hasMessage("the scope \"page\" failed: \"daemon-1\" threw java.io.IOException: boom")
                .hasCause(boom);
        assertThat(lab.trail()).containsExactlyInAnyOrder("1s fork cut off", "1s body cut off");
    }

    @Test
    void its_failure_counts_too_while_only_forks_are_left() {
        IOException boom = new IOException("boom");

        assertThatThrownBy(() -> lab.scope().run(s -> {
                    s.daemon(() -> {
                        Selvedge.sleep(ofSeconds(1));
                        throw boom;
                    });
                    Fork<?> unused = s.fork(() -> lab.sleep("fork", ofSeconds(9)));
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasCause(boom);

        assertThat(lab.trail()).containsExactly("1s fork cut off");
    }

    @Test
    void an_error_of_a_daemon_leaves_bare() {
        Error own = new AssertionError("own");

        Throwable thrown = catchThrowable(() -> lab.scope().run(s -> {
            s.daemon(() -> {
                throw own;
            });
            lab.sleep("body", ofSeconds(9));
        }));

        assertThat(thrown).isSameAs(own);
        assertThat(lab.trail()).containsExactly("0s body cut off");
    }

    @Test
    void in_an_isolated_scope_its_failure_is_thrown_at_the_end() {
        IOException boom = new IOException("boom");

        assertThatThrownBy(() -> lab.scope().isolated().run(s -> {
                    s.daemon(() -> {
                        throw boom;
                    });
                    lab.sleep("body", ofSeconds(9));
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasCause(boom);

        assertThat(lab.trail()).containsExactly("9s body slept");
    }

    @Test
    void what_it_throws_while_it_cleans_up_is_not_lost() {
        IOException cleanup = new IOException("cleanup");

        assertThatThrownBy(() -> lab.scope("page").run(s -> {
                    s.daemon(() -> {
                        try {
                            lab.sleep("daemon", ofSeconds(100));
                        } finally {
                            throwIt(cleanup);
                        }
                    });
                    lab.sleep("body", ofSeconds(1));
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"daemon-1\" threw java.io.IOException: cleanup")
                .hasCause(cleanup);

        assertThat(lab.trail()).containsExactly("1s body slept", "1s daemon cut off");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void a_failing_fork_cancels_it() {
        IOException boom = new IOException("boom");

        assertThatThrownBy(() -> lab.scope().run(s -> {
                    s.daemon(() -> lab.sleep("daemon", ofSeconds(100)));
                    Fork<?> unused = s.fork(() -> {
                        Selvedge.sleep(ofSeconds(2));
                        throw boom;
                    });
                    lab.sleep("body", ofSeconds(9));
                }))
                .hasCause(boom);

        assertThat(lab.trail()).containsExactlyInAnyOrder("2s daemon cut off", "2s body cut off");
    }

    @Test
    void the_scope_s_deadline_cancels_it() {
        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(2)).run(s -> {
                    s.daemon(() -> lab.sleep("daemon", ofSeconds(100)));
                    lab.sleep("body", ofSeconds(9));
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactlyInAnyOrder("2s daemon cut off", "2s body cut off");
    }

    @Test
    void an_owner_that_is_interrupted_from_outside_ends_it() {
        lab.scope("outer").run(s -> {
            Fork<?> owner = s.fork(
                    "owner",
                    () -> lab.scope("inner").run(inner -> {
                        inner.daemon(() -> {
                            try {
                                lab.sleep("daemon", ofSeconds(100));
                            } finally {
                                lab.sleep("cleanup", ofSeconds(1));
                            }
                        });
                        Fork<?> unused = inner.fork(() -> lab.sleep("fork", ofSeconds(50)));
                    }));
            Selvedge.sleep(ofSeconds(3));
            assertThat(owner.cancel()).isTrue();
            assertThatThrownBy(owner::join).hasMessage("the fork \"owner\" was cancelled");
        });

        assertThat(lab.trail())
                .containsExactlyInAnyOrder("3s fork cut off", "3s daemon cut off", "4s cleanup slept")
                .last()
                .isEqualTo("4s cleanup slept");
    }

    @Test
    void an_interrupt_that_comes_while_only_it_cleans_up_stays_pending() {
        lab.scope("outer").run(s -> {
            Fork<?> owner = s.fork("owner", () -> {
                String value = lab.scope("inner").call(inner -> {
                    inner.daemon(() -> {
                        try {
                            lab.sleep("daemon", ofSeconds(100));
                        } finally {
                            lab.sleep("cleanup", ofSeconds(4));
                        }
                    });
                    Selvedge.sleep(ofSeconds(1));
                    return "value";
                });
                lab.note("has " + value);
                lab.sleep("next", ZERO);
            });
            Selvedge.sleep(ofSeconds(3));
            assertThat(owner.cancel()).isTrue();
        });

        assertThat(lab.trail())
                .containsExactly("1s daemon cut off", "3s cleanup cut off", "3s has value", "3s next cut off");
    }

    @Test
    @Tag("real")
    void a_raw_interrupt_of_the_owner_in_real_time_ends_it() throws Exception {
        CountDownLatch running = new CountDownLatch(2);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        AtomicReference<Boolean> flag = new AtomicReference<>();

        Thread owner = Thread.ofPlatform().start(() -> {
            thrown.set(catchThrowable(() -> lab.realScope().run(s -> {
                s.daemon(() -> waitForever(running));
                Fork<?> unused = s.fork(() -> waitForever(running));
            })));
            flag.set(Thread.interrupted());
        });
        running.await();
        owner.interrupt();
        owner.join();

        assertThat(thrown.get()).isInstanceOf(ScopeCancelledException.class);
        assertThat(flag).hasValue(true);
    }

    @Test
    void one_that_is_started_after_a_cancel_never_runs() {
        assertThatThrownBy(() -> lab.scope("page").run(s -> {
                    assertThat(s.cancel("enough")).isTrue();
                    s.daemon(() -> lab.note("daemon"));
                    lab.sleep("body", ofSeconds(1));
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");

        assertThat(lab.trail()).containsExactly("0s body cut off");
    }

    @Test
    void a_fork_that_its_handle_has_cancelled_is_not_waited_for_twice_and_cuts_nothing_off() {
        String value = lab.scope().call(s -> {
            s.daemon(() -> lab.sleep("daemon", ofSeconds(100)));
            Fork<?> fork = s.fork(() -> lab.sleep("fork", ofSeconds(50)));
            Selvedge.sleep(ofSeconds(1));
            assertThat(fork.cancel()).isTrue();
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(lab.trail()).containsExactly("1s fork cut off", "1s daemon cut off");
    }

    @Test
    void a_body_that_returns_after_a_cancel_keeps_its_value_though_a_fork_was_cancelled_by_its_handle() {
        String value = lab.scope().call(s -> {
            Fork<?> fork = s.fork(() -> lab.sleep("fork", ofSeconds(50)));
            Selvedge.sleep(ofSeconds(1));
            assertThat(fork.cancel()).isTrue();
            assertThatThrownBy(fork::join).isInstanceOf(ScopeCancelledException.class);
            assertThat(s.cancel("enough")).isTrue();
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void a_body_that_returns_after_the_deadline_keeps_its_value_though_a_daemon_was_cut_off() {
        String value = lab.scope().deadline(ofSeconds(2)).call(s -> {
            s.daemon(() -> lab.sleep("daemon", ofSeconds(100)));
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(3)));
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(lab.trail()).containsExactly("2s daemon cut off");
    }

    @Test
    void a_daemon_is_not_among_what_a_deadline_left_unfinished() {
        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(2)).run(s -> {
                    s.daemon(() -> lab.sleep("daemon", ofSeconds(100)));
                    Fork<?> unused = s.fork("page", () -> lab.sleep("page", ofSeconds(100)));
                }))
                .isInstanceOfSatisfying(
                        DeadlineExceededException.class,
                        e -> assertThat(e.unfinished()).containsExactly("page"));
    }

    @Test
    void its_cleanup_is_not_cut_off_again_when_the_cancelled_forks_have_ended() {
        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(1)).run(s -> {
                    s.daemon(() -> {
                        try {
                            lab.sleep("daemon", ofSeconds(100));
                        } finally {
                            lab.sleep("cleanup", ofSeconds(5));
                        }
                    });
                    Fork<?> unused = s.fork(() -> {
                        try {
                            lab.sleep("fork", ofSeconds(100));
                        } finally {
                            lab.sleep("cleanup of fork", ofSeconds(2));
                        }
                    });
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail())
                .containsExactly(
                        "1s daemon cut off", "1s fork cut off", "3s cleanup of fork slept", "6s cleanup slept");
    }

    @Test
    void those_that_have_ended_are_not_held_while_the_scope_goes_on() {
        List<WeakReference<Object>> held = new ArrayList<>();
        lab.scope().run(s -> {
            for (int i = 0; i < 100; i++) {
                Object big = new Object();
                held.add(new WeakReference<>(big));
                s.daemon(() -> Objects.requireNonNull(big));
                Selvedge.sleep(ofSeconds(1));
            }
            System.gc();
            assertThat(held).filteredOn(ref -> ref.get() != null).hasSizeLessThan(20);
        });
    }

    @Test
    void a_daemon_may_open_scopes_of_its_own() {
        lab.scope().run(s -> {
            s.daemon(() -> {
                List<Integer> unused = lab.scope("inner").gather(() -> {
                    lab.sleep("inner", ofSeconds(100));
                    return 1;
                });
            });
            lab.sleep("body", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("1s body slept", "1s inner cut off");
    }

    @Test
    void only_the_owner_can_start_one_and_only_in_the_body() {
        AtomicReference<Scope> kept = new AtomicReference<>();
        lab.scope("page").run(s -> {
            kept.set(s);
            Fork<?> fork = s.fork(() -> {
                assertThatThrownBy(() -> s.daemon(() -> {}))
                        .isInstanceOf(WrongThreadException.class)
                        .hasMessage("only the thread that opened the scope \"page\" can start a daemon in it:"
                                + " open a scope of its own here, scope().run(s -> ...)");
            });
            fork.join();
            assertThatThrownBy(() -> s.daemon(null))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("task");
        });

        assertThatThrownBy(() -> kept.get().daemon(() -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot start a daemon in the scope \"page\": its body has ended");
    }

    private static void waitForever(CountDownLatch running) throws InterruptedException {
        running.countDown();
        new CountDownLatch(1).await();
    }

    private static void throwIt(IOException e) throws IOException {
        throw e;
    }
}
