package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.time.StuckClockError;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is done when a scope is asked to stop. */
@Timeout(120)
class OnCancelTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    void actions_run_last_first() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    onCancel(s, "first");
                    onCancel(s, "second");
                    onCancel(s, "third");
                    assertThat(s.cancel("enough")).isTrue();
                    Selvedge.sleep(ofSeconds(1));
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");

        assertThat(lab.trail()).containsExactly("0s third", "0s second", "0s first");
    }

    @Test
    void they_run_on_one_platform_thread_of_their_own_outside_the_scope() {
        List<Thread> threads = new CopyOnWriteArrayList<>();

        assertThatThrownBy(() -> lab.scope("page").deadline(ofSeconds(1)).run(s -> {
                    for (int i = 0; i < 2; i++) {
                        s.onCancel(() -> {
                            Thread me = Thread.currentThread();
                            lab.watch(me);
                            threads.add(me);
                            assertThat(me.isVirtual()).isFalse();
                            assertThat(me.isDaemon()).isTrue();
                            assertThat(me.getName()).isEqualTo("page/on-cancel");
                            assertThat(Selvedge.deadline().isNever()).isTrue();
                            Selvedge.checkpoint();
                        });
                    }
                    Selvedge.sleep(ofSeconds(9));
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(threads).hasSize(2).doesNotContain(Thread.currentThread());
        assertThat(threads.get(0)).isSameAs(threads.get(1));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void its_own_deadline_runs_them() {
        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(2)).run(s -> {
                    onCancel(s, "action");
                    Selvedge.sleep(ofSeconds(9));
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactly("2s action");
    }

    @Test
    void so_does_a_fork_that_fails() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    onCancel(s, "action");
                    Fork<?> unused = s.fork(() -> {
                        Selvedge.sleep(ofSeconds(3));
                        throw new IOException("boom");
                    });
                    Selvedge.sleep(ofSeconds(9));
                }))
                .isInstanceOf(ScopeFailedException.class);

        assertThat(lab.trail()).containsExactly("3s action");
    }

    @Test
    void so_does_a_body_that_throws() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    onCancel(s, "action");
                    Fork<?> unused = s.fork(() -> lab.sleep("fork", ofSeconds(9)));
                    Selvedge.sleep(ofSeconds(1));
                    throw new IOException("boom");
                }))
                .hasMessage("boom");

        assertThat(lab.trail()).containsExactlyInAnyOrder("1s action", "1s fork cut off");
    }

    @Test
    void so_does_a_cancellation_of_the_fork_it_is_open_in() {
        lab.scope("outer").run(s -> {
            Fork<?> caller = s.fork(
                    "caller",
                    () -> lab.scope("inner").run(inner -> {
                        onCancel(inner, "action");
                        Selvedge.sleep(ofSeconds(9));
                    }));
            Selvedge.sleep(ofSeconds(2));
            assertThat(caller.cancel()).isTrue();
        });

        assertThat(lab.trail()).containsExactly("2s action");
    }

    @Test
    void so_does_that_of_the_scope_of_that_fork() {
        assertThatThrownBy(() -> lab.scope("outer").deadline(ofSeconds(2)).run(s -> {
                    Fork<?> caller = s.fork(
                            "caller",
                            () -> lab.scope("inner").run(inner -> {
                                onCancel(inner, "action");
                                Selvedge.sleep(ofSeconds(9));
                            }));
                    caller.join();
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactly("2s action");
    }

    @Test
    void so_does_the_deadline_of_a_block_around_on_the_same_thread() {
        assertThatThrownBy(() -> lab.scope("around")
                        .deadline(ofSeconds(2))
                        .run(() -> lab.scope("inner").run(s -> {
                            onCancel(s, "action");
                            Selvedge.sleep(ofSeconds(9));
                        })))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"around\" exceeded its deadline of 2 s (after 2 s)");

        assertThat(lab.trail()).containsExactly("2s action");
    }

    @Test
    void so_does_a_raw_interrupt_of_the_owner() {
        AtomicReference<Thread> owner = new AtomicReference<>();

        assertThatThrownBy(() -> lab.scope("outer").run(s -> {
                    Fork<?> caller = s.fork("caller", () -> {
                        owner.set(Thread.currentThread());
                        lab.scope("inner").run(inner -> {
                            onCancel(inner, "action");
                            Selvedge.sleep(ofSeconds(9));
                        });
                    });
                    Selvedge.sleep(ofSeconds(2));
                    lab.clock().interrupt(owner.get());
                    caller.join();
                }))
                .isInstanceOf(ScopeFailedException.class);

        assertThat(lab.trail()).containsExactly("2s action");
    }

    @Test
    void without_a_cancel_they_are_forgotten() {
        lab.scope().run(s -> {
            onCancel(s, "action");
            lab.sleep("body", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("1s body slept");
    }

    @Test
    void the_end_of_a_daemon_is_no_cancel() {
        lab.scope().run(s -> {
            onCancel(s, "action");
            s.daemon(() -> lab.sleep("daemon", ofSeconds(9)));
            lab.sleep("body", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("1s body slept", "1s daemon cut off");
    }

    @Test
    void nor_is_the_cancel_of_a_fork_by_its_handle() {
        lab.scope().run(s -> {
            onCancel(s, "action");
            Fork<?> fork = s.fork(() -> lab.sleep("fork", ofSeconds(9)));
            Selvedge.sleep(ofSeconds(1));
            assertThat(fork.cancel()).isTrue();
        });

        assertThat(lab.trail()).containsExactly("1s fork cut off");
    }

    @Test
    void they_are_awaited_before_resources_are_closed() {
        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(1)).run(s -> {
                    s.use(() -> lab.note("closed"));
                    s.onCancel(() -> {
                        lab.sleep("action", ofSeconds(3));
                    });
                    lab.sleep("body", ofSeconds(9));
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactly("1s body cut off", "4s action slept", "4s closed");
    }

    @Test
    void an_action_that_throws_keeps_no_other_from_running_and_is_reported() {
        IOException boom = new IOException("boom");
        Error own = new AssertionError("own");

        assertThatThrownBy(() -> lab.scope("page").run(s -> {
                    onCancel(s, "first");
                    s.onCancel(() -> {
                        throw boom;
                    });
                    onCancel(s, "third");
                    s.onCancel(() -> {
                        throw own;
                    });
                    assertThat(s.cancel("enough")).isTrue();
                    Selvedge.sleep(ofSeconds(1));
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough")
                .hasNoSuppressedExceptions();

        assertThat(lab.trail()).containsExactly("0s third", "0s first");
        assertThat(lab.events(ScopeEvent.Unhandled.class))
                .containsExactly(new ScopeEvent.Unhandled("page", own), new ScopeEvent.Unhandled("page", boom));
    }

    @Test
    void one_that_is_registered_after_the_cancel_runs_at_once() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    assertThat(s.cancel("enough")).isTrue();
                    onCancel(s, "first");
                    Selvedge.shielded(() -> lab.sleep("body", ofSeconds(1)));
                    onCancel(s, "second");
                    Selvedge.shielded(() -> lab.sleep("body", ofSeconds(1)));
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(lab.trail()).containsExactly("0s first", "1s body slept", "1s second", "2s body slept");
    }

    /** The first action leaves its thread a long way to its end: a big buffer of the JDK's own is given back there. */
    @RepeatedTest(5)
    @Tag("real")
    void the_threads_of_all_of_them_have_ended_when_the_scope_has() {
        List<Thread> threads = new CopyOnWriteArrayList<>();

        Throwable unused = catchThrowable(() -> Selvedge.scope().run(s -> {
            s.cancel("enough");
            s.onCancel(() -> {
                try (FileChannel nowhere = FileChannel.open(Path.of("/dev/null"), StandardOpenOption.WRITE)) {
                    nowhere.write(ByteBuffer.allocate(100_000_000));
                }
                threads.add(Thread.currentThread());
            });
            Selvedge.shielded(() -> {
                while (threads.isEmpty()) {
                    Selvedge.sleep(ofMillis(1));
                }
                Selvedge.sleep(ofMillis(2)); // now it has nothing left to do
            });
            s.onCancel(() -> threads.add(Thread.currentThread()));
        }));

        assertThat(threads).hasSize(2).noneMatch(Thread::isAlive);
    }

    @Test
    void one_that_is_registered_after_a_block_around_was_cancelled_runs_at_once() {
        assertThatThrownBy(() -> lab.scope("around").run(around -> {
                    assertThat(around.cancel("enough")).isTrue();
                    lab.scope("inner").run(s -> {
                        onCancel(s, "action");
                        Selvedge.shielded(() -> lab.sleep("body", ofSeconds(1)));
                        Selvedge.checkpoint();
                    });
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");

        assertThat(lab.trail()).containsExactly("0s action", "1s body slept");
    }

    @Test
    void a_body_that_returns_all_the_same_keeps_its_value_and_the_actions_have_run() {
        String value = lab.scope().call(s -> {
            onCancel(s, "action");
            assertThat(s.cancel("enough")).isTrue();
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(lab.trail()).containsExactly("0s action");
    }

    @Test
    @Catalogue(149)
    void under_a_shield_they_do_not_begin_for_a_block_around_the_shield() {
        assertThatThrownBy(() -> lab.scope("around").deadline(ofSeconds(1)).run(() -> {
                    Selvedge.shielded(() -> lab.scope("inner").run(s -> {
                        onCancel(s, "action");
                        lab.sleep("body", ofSeconds(3));
                    }));
                    lab.sleep("next", ofSeconds(1));
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactly("3s body slept", "3s next cut off");
    }

    @Test
    @Catalogue(151)
    void under_a_shield_they_begin_for_the_scope_s_own_deadline() {
        assertThatThrownBy(() -> lab.scope("around").deadline(ofSeconds(1)).run(() -> {
                    Selvedge.shielded(() -> lab.scope("inner")
                            .deadline(ofSeconds(2))
                            .run(s -> {
                                onCancel(s, "action");
                                lab.sleep("body", ofSeconds(3));
                            }));
                }))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"inner\" exceeded its deadline of 2 s (after 2 s)");

        assertThat(lab.trail()).containsExactlyInAnyOrder("2s action", "2s body cut off");
    }

    @Test
    void a_scope_around_the_shield_begins_though_its_owner_is_in_it() {
        assertThatThrownBy(() -> lab.scope("around")
                        .deadline(ofSeconds(1))
                        .run(() -> lab.scope("inner").run(s -> {
                            onCancel(s, "action");
                            Selvedge.shielded(() -> lab.sleep("shielded", ofSeconds(3)));
                            lab.sleep("next", ofSeconds(1));
                        })))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactly("1s action", "3s shielded slept", "3s next cut off");
    }

    @Test
    void all_scopes_inside_the_block_begin_theirs() {
        assertThatThrownBy(() -> lab.scope("around").deadline(ofSeconds(1)).run(a -> {
                    onCancel(a, "around");
                    lab.scope("middle").run(m -> {
                        onCancel(m, "middle");
                        lab.scope("inner").run(s -> {
                            onCancel(s, "inner");
                            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(3)));
                            lab.sleep("next", ofSeconds(1));
                        });
                    });
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail())
                .containsExactlyInAnyOrder("1s around", "1s middle", "1s inner", "3s next cut off")
                .endsWith("3s next cut off");
    }

    @Test
    void an_action_may_open_scopes_on_the_same_clock() {
        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(1)).run(s -> {
                    s.onCancel(() -> {
                        List<Integer> both = Selvedge.scope()
                                .gather(
                                        () -> {
                                            Selvedge.sleep(ofSeconds(2));
                                            return 1;
                                        },
                                        () -> 2);
                        lab.note("action has " + both);
                    });
                    lab.sleep("body", ofSeconds(9));
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactly("1s body cut off", "3s action has [1, 2]");
    }

    @Test
    void an_interrupt_while_an_action_is_awaited_stays_pending() {
        lab.scope("outer").run(s -> {
            Fork<?> caller = s.fork("caller", () -> {
                Throwable thrown = catchThrowable(() -> lab.scope("inner")
                        .deadline(ofSeconds(1))
                        .run(inner -> {
                            inner.onCancel(() -> Selvedge.sleep(ofSeconds(5)));
                            Selvedge.sleep(ofSeconds(9));
                        }));
                lab.note(thrown.getClass().getSimpleName());
                lab.sleep("next", ofSeconds(1));
            });
            Selvedge.sleep(ofSeconds(3));
            assertThat(caller.cancel()).isTrue();
        });

        assertThat(lab.trail()).containsExactly("6s DeadlineExceededException", "6s next cut off");
    }

    @Test
    void a_clock_that_stands_still_for_good_runs_them_and_they_are_awaited() {
        Throwable thrown = catchThrowable(() -> lab.scope().run(s -> {
            s.use(() -> lab.note("closed"));
            onCancel(s, "action");
            boolean unused = lab.clock().waiter("nothing").await(lab.clock().never());
        }));

        assertThat(thrown).isInstanceOf(StuckClockError.class);
        assertThat(lab.trail()).containsExactly("0s action", "0s closed");
    }

    @Test
    void a_cancel_once_the_last_fork_has_ended_still_runs_them_if_it_says_true() {
        AtomicReference<Scope> scope = new AtomicReference<>();
        AtomicReference<Boolean> did = new AtomicReference<>();

        String value = lab.scope("page")
                .listener(e -> {
                    if (e instanceof ScopeEvent.ForkEnded) {
                        did.set(scope.get().cancel("enough"));
                    }
                })
                .call(s -> {
                    scope.set(s);
                    onCancel(s, "action");
                    Fork<?> unused = s.fork(() -> lab.sleep("fork", ofSeconds(1)));
                    return "value";
                });

        assertThat(value).isEqualTo("value");
        assertThat(did).hasValue(true);
        assertThat(lab.trail()).containsExactly("1s fork slept", "1s action");
    }

    @Test
    void only_the_owner_can_register_one_and_only_in_the_body() {
        AtomicReference<Scope> kept = new AtomicReference<>();
        lab.scope("page").run(s -> {
            kept.set(s);
            Fork<?> fork = s.fork(() -> assertThatThrownBy(() -> s.onCancel(() -> {}))
                    .isInstanceOf(WrongThreadException.class)
                    .hasMessage("only the thread that opened the scope \"page\" can have something done on cancel in"
                            + " it: open a scope of its own here, scope().run(s -> ...)"));
            fork.join();
            assertThatThrownBy(() -> s.onCancel(null))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("action");
        });

        assertThatThrownBy(() -> kept.get().onCancel(() -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot have something done on cancel in the scope \"page\": its body has ended");
    }

    @Test
    @Tag("real")
    void a_block_around_ends_a_call_of_the_owner_that_no_interrupt_ends() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            AtomicReference<Throwable> inside = new AtomicReference<>();

            Thread owner = Thread.ofPlatform()
                    .start(() -> thrown.set(catchThrowable(() -> lab.realScope()
                            .named("around")
                            .deadline(ofMillis(30))
                            .run(() -> Selvedge.scope("inner").run(s -> {
                                s.onCancel(server::close);
                                try (Socket unused = server.accept()) {
                                    lab.note("accepted");
                                } catch (SocketException e) {
                                    inside.set(e);
                                    Selvedge.checkpoint();
                                }
                            })))));
            owner.join();

            assertThat(inside.get()).isInstanceOf(SocketException.class);
            assertThat(thrown.get())
                    .isInstanceOf(DeadlineExceededException.class)
                    .hasMessageStartingWith("the scope \"around\" exceeded its deadline of 30 ms");
            assertThat(server.isClosed()).isTrue();
            assertThat(lab.trail()).isEmpty();
        }
    }

    @Test
    @Tag("real")
    void a_scope_s_cancel_ends_such_a_call_of_a_fork_in_a_platform_thread() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CountDownLatch inner = new CountDownLatch(1);

            Throwable thrown = catchThrowable(() -> lab.realScope()
                    .named("outer")
                    .threads(Thread.ofPlatform().factory())
                    .run(s -> {
                        Fork<?> unused = s.fork(() -> Selvedge.scope("inner").run(in -> {
                            in.onCancel(server::close);
                            inner.countDown();
                            server.accept().close();
                        }));
                        inner.await();
                        assertThat(s.cancel("enough")).isTrue();
                        Selvedge.checkpoint();
                    }));

            assertThat(server.isClosed()).isTrue();
            assertThat(thrown).isNotNull();
        }
    }

    @Test
    @Tag("real")
    void a_scope_that_ends_while_it_is_cancelled_runs_each_action_at_most_once() throws Exception {
        Random random = new Random(7);
        for (int round = 0; round < 2_000; round++) {
            int actions = 1 + random.nextInt(3);
            int spin = random.nextInt(3_000);
            boolean around = random.nextBoolean();
            boolean fork = random.nextBoolean();
            AtomicInteger[] runs = IntStream.range(0, actions)
                    .mapToObj(i -> new AtomicInteger())
                    .toArray(AtomicInteger[]::new);
            AtomicReference<Boolean> cancelled = new AtomicReference<>(false);
            AtomicReference<Thread> canceller = new AtomicReference<>();

            Throwable thrown = catchThrowable(() -> lab.realScope()
                    .run(a -> Selvedge.scope().run(s -> {
                        for (AtomicInteger r : runs) {
                            s.onCancel(r::incrementAndGet);
                        }
                        if (fork) {
                            Fork<?> unused = s.fork(() -> spin(spin / 2));
                        }
                        CountDownLatch ready = new CountDownLatch(1);
                        canceller.set(Thread.ofVirtual().start(() -> {
                            ready.countDown();
                            spin(spin / 2);
                            cancelled.set((around ? a : s).cancel("enough"));
                        }));
                        while (ready.getCount() > 0) {
                            Thread.onSpinWait();
                        }
                        spin(spin);
                    })));
            List<Integer> atTheEnd = counts(runs);
            boolean unused = dev.selvedge.time.Waiter.awaitEndUninterruptibly(canceller.get());
            Thread.interrupted();

            assertThat(counts(runs)).as("round " + round).isEqualTo(atTheEnd).allMatch(n -> n == 0 || n == 1);
            if (!around) {
                assertThat(counts(runs)).as("round " + round).containsOnly(cancelled.get() ? 1 : 0);
            }
            if (thrown != null) {
                assertThat(thrown).isInstanceOf(ScopeCancelledException.class);
                assertThat(counts(runs)).as("round " + round).containsOnly(1);
            }
        }
    }

    private static List<Integer> counts(AtomicInteger[] runs) {
        return java.util.Arrays.stream(runs).map(AtomicInteger::get).toList();
    }

    private static void spin(int times) {
        for (int i = 0; i < times; i++) {
            Thread.onSpinWait();
        }
    }

    private void onCancel(Scope s, String what) {
        s.onCancel(() -> {
            lab.watch(Thread.currentThread());
            lab.note(what);
        });
    }
}
