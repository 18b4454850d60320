package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Values and contexts that pass between scopes and the rest: stages, futures, discarded values, propagators, factories. */
@Timeout(60)
class HandOverTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final List<Object> discarded = Collections.synchronizedList(new ArrayList<>());

    // Stages.

    @Test
    void a_stage_gives_its_value_when_it_comes() throws Exception {
        CompletableFuture<String> stage = new CompletableFuture<>();

        String value = lab.scope().call(s -> {
            s.fork(() -> {
                Selvedge.sleep(ofSeconds(3));
                stage.complete("late");
            });
            return Selvedge.await(stage);
        });

        assertThat(value).isEqualTo("late");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    void a_complete_stage_gives_its_value_whatever_the_flag() throws Exception {
        Thread.currentThread().interrupt();

        String value = Selvedge.await(CompletableFuture.completedStage("there"));

        assertThat(value).isEqualTo("there");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(Selvedge.<String>await(CompletableFuture.completedFuture(null)))
                .isNull();
    }

    @Test
    void a_failed_stage_throws_its_own_exception() {
        IOException down = new IOException("down");
        CompletableFuture<String> stage = new CompletableFuture<>();
        stage.completeExceptionally(down);

        assertThatThrownBy(() -> lab.scope().call(() -> Selvedge.await(stage))).isSameAs(down);
        assertThatThrownBy(() -> lab.scope().call(() -> Selvedge.await(stage.thenApply(v -> v))))
                .isSameAs(down);
        assertThatThrownBy(() -> Selvedge.await(CompletableFuture.failedStage(new AssertionError("bad"))))
                .isInstanceOf(AssertionError.class)
                .hasMessage("bad");
    }

    @Test
    void a_stage_that_others_cancel_is_a_failure() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        stage.cancel(true);

        assertThatThrownBy(() -> lab.scope().gather(() -> Selvedge.await(stage)))
                .isInstanceOf(ScopeFailedException.class)
                .hasCauseInstanceOf(CancellationException.class);
    }

    @Test
    void a_deadline_cancels_the_stage() {
        CompletableFuture<String> stage = new CompletableFuture<>();

        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(2)).call(() -> Selvedge.await(stage)))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(stage).isCancelled();
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    void a_value_that_comes_too_late_is_discarded() {
        CompletableFuture<String> source = new CompletableFuture<>();

        assertThatThrownBy(() -> lab.scope()
                        .onDiscard(discarded::add)
                        .deadline(ofSeconds(2))
                        .call(() -> Selvedge.await(source.minimalCompletionStage())))
                .isInstanceOf(DeadlineExceededException.class);
        source.complete("late");

        assertThat(discarded).containsExactly("late");
    }

    // Futures.

    @Test
    void a_fork_as_a_future_completes_as_the_fork_does() throws Exception {
        IOException down = new IOException("down");
        List<CompletableFuture<?>> futures = new ArrayList<>();

        lab.scope().isolated().run(s -> {
            futures.add(s.fork(() -> "value").toCompletableFuture());
            futures.add(s.fork(() -> {
                        throw down;
                    })
                    .toCompletableFuture());
            Fork<?> cancelled = s.fork(() -> Selvedge.sleep(ofHours(1)));
            futures.add(cancelled.toCompletableFuture());
            cancelled.cancel();
        });

        assertThat(futures.get(0).get()).isEqualTo("value");
        assertThatThrownBy(() -> futures.get(1).get()).hasCause(down);
        assertThat(futures.get(2)).isCancelled();
    }

    @Test
    void cancelling_the_future_cancels_the_fork() {
        lab.scope().run(s -> {
            Fork<?> fork = s.fork(() -> lab.sleep("fork", ofHours(1)));
            Selvedge.sleep(ofSeconds(1));
            fork.toCompletableFuture().cancel(true);
        });

        assertThat(lab.trail()).containsExactly("1s fork cut off");
    }

    // Discarded values.

    @Test
    @Catalogue({146, 155})
    void what_a_loser_has_made_is_discarded_also_from_inside_a_shield() {
        String first = lab.scope()
                .onDiscard(discarded::add)
                .race(
                        () -> {
                            Selvedge.sleep(ofSeconds(1));
                            return "winner";
                        },
                        () -> Selvedge.shielded(() -> {
                            Selvedge.sleep(ofSeconds(2));
                            return "loser";
                        }));

        assertThat(first).isEqualTo("winner");
        assertThat(discarded).containsExactly("loser");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class)).hasSize(1);
    }

    @Test
    @Catalogue(146)
    void siblings_of_a_failure_and_the_body_of_a_failed_scope_are_discarded() {
        assertThatThrownBy(() -> lab.scope().onDiscard(discarded::add).gather(() -> "made", () -> {
                    Selvedge.sleep(ofSeconds(1));
                    throw new IOException("no");
                }))
                .isInstanceOf(ScopeFailedException.class);
        assertThatThrownBy(() -> lab.scope().onDiscard(discarded::add).call(s -> {
                    s.fork(() -> {
                        Selvedge.sleep(ofSeconds(1));
                        throw new IOException("no");
                    });
                    return "body";
                }))
                .isInstanceOf(ScopeFailedException.class);

        assertThat(discarded).containsExactly("made", "body");
    }

    @Test
    @Catalogue(146)
    void a_resource_made_on_the_last_line_of_a_late_body_is_returned() {
        Object resource = new Object();

        Object got = lab.scope()
                .onDiscard(discarded::add)
                .deadline(ofSeconds(1))
                .call(() -> {
                    Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2)));
                    return resource;
                });

        assertThat(got).isSameAs(resource);
        assertThat(discarded).isEmpty();
    }

    @Test
    @Catalogue(147)
    void a_resource_of_a_fork_that_never_ran_is_closed() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    AutoCloseable resource = s.use(() -> lab.note("closed"));
                    s.cancel("before it began");
                    s.fork(() -> lab.note("used " + resource));
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(lab.trail()).containsExactly("0s closed");
    }

    @Test
    void a_sink_that_throws_is_reported_and_the_others_are_told() {
        lab.scope("outer")
                .onDiscard(discarded::add)
                .run(() -> lab.scope("inner")
                        .onDiscard(v -> {
                            throw new IllegalStateException("sink");
                        })
                        .race(() -> "first", () -> Selvedge.shielded(() -> "second")));

        assertThat(discarded.size()).isLessThanOrEqualTo(1);
        assertThat(lab.unhandled()).hasSize(discarded.size());
    }

    // Threads of a factory.

    @Test
    @Catalogue(139)
    void a_factory_that_gives_no_thread_is_refused_and_the_scope_closes() {
        Thread started = Thread.ofPlatform().start(() -> {});
        for (ThreadFactory bad : List.<ThreadFactory>of(r -> null, r -> started, r -> {
            throw new IllegalStateException("none left");
        })) {
            ScopeSpec spec = lab.scope("pool").threads(bad);
            AtomicInteger ran = new AtomicInteger();

            assertThatThrownBy(() -> spec.gather(ran::incrementAndGet))
                    .isInstanceOf(RejectedExecutionException.class)
                    .hasMessageStartingWith("the thread factory of the scope \"pool\" ");
            assertThatThrownBy(() -> spec.run(s -> s.fork(() -> ran.incrementAndGet())))
                    .isInstanceOf(RejectedExecutionException.class);
            assertThat(ran).hasValue(0);
        }
        assertThat(lab.scope().gather(() -> 1)).containsExactly(1);
    }

    @Test
    void threads_whose_ids_do_not_ascend_find_themselves() {
        for (int round = 0; round < 300; round++) {
            List<AtomicReference<Runnable>> work = new ArrayList<>();
            List<Thread> made = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                AtomicReference<Runnable> run = new AtomicReference<>();
                work.add(run);
                made.add(Thread.ofPlatform().unstarted(() -> run.get().run()));
            }
            List<Integer> order = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
            Collections.shuffle(order, new java.util.Random(round));
            AtomicInteger next = new AtomicInteger();
            ThreadFactory shuffled = r -> {
                int i = order.get(next.getAndIncrement());
                work.get(i).set(r);
                return made.get(i);
            };

            List<Boolean> inTime = scope("shuffled")
                    .deadline(ofHours(1))
                    .threads(shuffled)
                    .map(order, i -> !Selvedge.deadline().isNever() && Here.fork() != null);

            assertThat(inTime).hasSize(16).containsOnly(true);
            assertThat(made).noneMatch(Thread::isAlive);
        }
    }

    @Test
    void blocks_inside_do_not_inherit_the_factory() {
        List<Boolean> virtual = scope().threads(Thread.ofPlatform().factory())
                .gather(
                        () -> Thread.currentThread().isVirtual(),
                        () -> scope().gather(() -> Thread.currentThread().isVirtual())
                                .get(0));

        assertThat(virtual).containsExactly(false, true);
    }

    // Propagators.

    private static final ThreadLocal<String> WHO = new ThreadLocal<>();

    private static ScopeSpec carrying(ScopeSpec spec) {
        return spec.propagate(WHO::get, v -> {
            WHO.set(v);
            return WHO::remove;
        });
    }

    @Test
    void a_thread_local_is_carried_into_forks_of_forks_and_daemons() {
        WHO.set("ada");
        try {
            List<String> seen = carrying(lab.scope())
                    .gather(WHO::get, () -> lab.scope().gather(WHO::get).get(0));
            assertThat(seen).containsExactly("ada", "ada");

            carrying(lab.scope()).run(s -> {
                s.daemon(() -> lab.note("daemon " + WHO.get()));
                WHO.set("bob");
                s.fork(() -> lab.note("fork " + WHO.get()));
                s.onCancel(() -> lab.note("action " + WHO.get()));
                Selvedge.sleep(ofSeconds(1));
            });
            assertThat(lab.trail()).containsExactly("0s daemon ada", "0s fork bob");
        } finally {
            WHO.remove();
        }
    }

    @Test
    void a_capture_that_throws_starts_nothing() {
        AtomicInteger ran = new AtomicInteger();
        ScopeSpec spec = lab.scope()
                .propagate(
                        () -> {
                            throw new IllegalStateException("no context");
                        },
                        v -> () -> {});

        assertThatThrownBy(() -> spec.gather(ran::incrementAndGet))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no context");
        assertThatThrownBy(() -> spec.run(s -> s.fork(() -> ran.incrementAndGet())))
                .isInstanceOf(IllegalStateException.class);
        assertThat(ran).hasValue(0);
    }

    @Test
    void an_install_that_throws_fails_the_task_and_those_before_it_are_closed() {
        ScopeSpec spec = lab.scope()
                .propagate(() -> "outer", v -> () -> lab.note("outer closed"))
                .propagate(() -> "inner", v -> {
                    throw new IllegalStateException("cannot install");
                });

        assertThatThrownBy(() -> spec.gather(() -> "never"))
                .isInstanceOf(ScopeFailedException.class)
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThat(lab.trail()).containsExactly("0s outer closed");
        assertThatThrownBy(() -> lab.scope().propagate(() -> "x", v -> null).gather(() -> "never"))
                .hasRootCauseMessage("a propagator's install gave null");
    }

    @Test
    void a_close_that_throws_is_reported_and_the_value_stays() {
        List<String> values = lab.scope()
                .propagate(() -> "x", v -> () -> {
                    throw new IOException("cannot close");
                })
                .gather(() -> "value");

        assertThat(values).containsExactly("value");
        assertThat(lab.unhandled()).extracting(Throwable::getMessage).containsExactly("cannot close");
    }
}
