package dev.selvedge;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of values that nobody can read any more. */
@Timeout(60)
class DiscardTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final List<Object> sunk = new CopyOnWriteArrayList<>();

    @Test
    @Catalogue({111, 155})
    void a_loser_s_value_is_handed_over_once_before_the_race_comes_back() {
        String first = lab.scope().onDiscard(this::sink).race(stubborn("a", 1), stubborn("b", 2), stubborn("c", 3));
        lab.note("has " + first);

        assertThat(lab.trail()).containsExactly("3s sink b", "3s sink c", "3s has a");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .extracting(ScopeEvent.ValueDiscarded::value)
                .containsExactly("b", "c");
    }

    @Test
    void so_are_those_of_a_quorum() {
        List<String> first =
                lab.scope().onDiscard(this::sink).quorum(2, stubborn("a", 1), stubborn("b", 2), stubborn("c", 3));

        assertThat(first).containsExactly("a", "b");
        assertThat(sunk).containsExactly("c");
    }

    @Test
    @Catalogue(155)
    void a_loser_s_resource_made_inside_a_shield_is_closed_by_the_sink() {
        ScopeSpec closing = lab.scope().onDiscard(v -> {
            if (v instanceof Connection c) {
                c.close();
            }
        });

        Connection first = closing.race(connecting("a", 1), connecting("b", 1), connecting("c", 2));

        assertThat(first.name).isEqualTo("a");
        assertThat(lab.trail()).containsExactlyInAnyOrder("2s b closed", "2s c closed");
    }

    @Test
    @Catalogue({146, 155})
    void a_late_value_inside_a_shield_is_given_and_not_discarded() throws Exception {
        Connection late = lab.scope()
                .deadline(ofSeconds(1))
                .onDiscard(this::sink)
                .call(() -> connecting("a", 2).call());

        assertThat(late.name).isEqualTo("a");
        assertThat(sunk).isEmpty();
    }

    @Test
    @Catalogue(146)
    void a_resource_made_on_the_last_line_of_a_timed_body_is_given() {
        Connection late = lab.scope()
                .deadline(ofSeconds(1))
                .onDiscard(this::sink)
                .call(s -> {
                    Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2)));
                    return new Connection("a");
                });

        assertThat(late.name).isEqualTo("a");
        assertThat(sunk).isEmpty();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Catalogue(146)
    void or_handed_over_if_the_deadline_cut_a_fork_off() {
        assertThatThrownBy(() -> lab.scope("page")
                        .deadline(ofSeconds(1))
                        .onDiscard(this::sink)
                        .call(s -> {
                            Fork<?> unused = s.fork(() -> Selvedge.sleep(ofSeconds(9)));
                            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2)));
                            return "body";
                        }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(sunk).containsExactly("body");
    }

    @Test
    void a_body_s_value_is_handed_over_if_a_fork_fails() {
        IOException boom = new IOException("boom");

        assertThatThrownBy(() -> lab.scope("page").onDiscard(this::sink).call(s -> {
                    Fork<?> unused = s.fork(() -> {
                        Selvedge.sleep(ofSeconds(1));
                        throw boom;
                    });
                    return "body";
                }))
                .hasCause(boom);

        assertThat(sunk).containsExactly("body");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "page", "body"));
    }

    @Test
    void and_if_a_resource_cannot_be_closed() {
        IOException boom = new IOException("boom");

        assertThatThrownBy(() -> lab.scope().onDiscard(this::sink).call(s -> {
                    s.use(() -> {
                        throw boom;
                    });
                    return "body";
                }))
                .hasCause(boom);

        assertThat(sunk).containsExactly("body");
    }

    @Test
    void and_if_in_an_isolated_scope_a_failure_was_not_looked_at() {
        IOException boom = new IOException("boom");

        assertThatThrownBy(() -> lab.scope().isolated().onDiscard(this::sink).call(s -> {
                    Fork<?> unused = s.fork(() -> {
                        throw boom;
                    });
                    return "body";
                }))
                .hasCause(boom);

        assertThat(sunk).containsExactly("body");
    }

    @Test
    void the_values_of_a_gather_that_fails_are_handed_over() {
        IOException boom = new IOException("boom");

        assertThatThrownBy(() ->
                        lab.scope().onDiscard(this::sink).gather(stubborn("a", 1), failing(boom, 2), stubborn("c", 3)))
                .hasCause(boom);

        assertThat(sunk).containsExactly("a", "c");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    void and_of_one_that_an_error_leaves() {
        Error own = new AssertionError("own");

        Throwable thrown =
                catchThrowable(() -> lab.scope().onDiscard(this::sink).gather(stubborn("a", 1), () -> {
                    Selvedge.sleep(ofSeconds(2));
                    throw own;
                }));

        assertThat(thrown).isSameAs(own);
        assertThat(sunk).containsExactly("a");
    }

    @Test
    void those_that_a_deadline_exception_carries_are_not() {
        var late = catchThrowableOfType(
                DeadlineExceededException.class,
                () -> lab.scope().deadline(ofSeconds(2)).onDiscard(this::sink).gather(stubborn("a", 1), () -> {
                    Selvedge.sleep(ofSeconds(9));
                    return "b";
                }));

        assertThat(late.outcomes()).first().isEqualTo(new Outcome.Success<>("a"));
        assertThat(sunk).isEmpty();
    }

    @Test
    void a_value_that_is_read_is_not() {
        List<String> all = lab.scope().onDiscard(this::sink).gather(stubborn("a", 1), stubborn("b", 2));
        String value = lab.scope().onDiscard(this::sink).call(s -> {
            Fork<String> unused = s.fork(stubborn("fork", 1));
            return "body";
        });

        assertThat(all).containsExactly("a", "b");
        assertThat(value).isEqualTo("body");
        assertThat(sunk).isEmpty();
    }

    @Test
    void null_is_not() {
        IOException boom = new IOException("boom");

        assertThatThrownBy(() -> lab.scope().onDiscard(this::sink).gather(stubborn(null, 1), failing(boom, 2)))
                .hasCause(boom);

        assertThat(sunk).isEmpty();
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class)).isEmpty();
    }

    @Test
    void the_late_value_of_a_stage_is_handed_over() {
        CompletableFuture<String> stage = new CompletableFuture<>();

        assertThatThrownBy(() -> lab.scope()
                        .deadline(ofSeconds(1))
                        .onDiscard(this::sink)
                        .call(() -> Selvedge.await(stage.minimalCompletionStage())))
                .isInstanceOf(DeadlineExceededException.class);
        assertThat(stage.complete("late")).isTrue();

        assertThat(sunk).containsExactly("late");
    }

    @Test
    void a_late_value_of_a_bounded_join_is_given() {
        String value = lab.scope()
                .onDiscard(this::sink)
                .call(s -> s.fork(stubborn("late", 3)).join(ofSeconds(1)));

        assertThat(value).isEqualTo("late");
        assertThat(sunk).isEmpty();
    }

    @Test
    void sinks_add_up_and_are_inherited_by_blocks_inside() {
        String first = lab.scope("outer")
                .onDiscard(v -> note("outer", v))
                .call(() -> lab.scope("inner")
                        .onDiscard(v -> note("first", v))
                        .onDiscard(v -> note("second", v))
                        .race(stubborn("a", 1), stubborn("b", 1)));

        assertThat(first).isEqualTo("a");
        assertThat(lab.trail()).containsExactlyInAnyOrder("1s outer b", "1s first b", "1s second b");
    }

    @Test
    void forks_inherit_them_too() {
        List<String> firsts = lab.scope("outer")
                .onDiscard(this::sink)
                .gather(() -> lab.scope("inner").race(stubborn("a", 1), stubborn("b", 1)));

        assertThat(firsts).containsExactly("a");
        assertThat(sunk).containsExactly("b");
    }

    @Test
    void a_sink_that_is_given_twice_gets_a_value_once() {
        java.util.function.Consumer<Object> sink = this::sink;

        String first = lab.scope("outer")
                .onDiscard(sink)
                .call(() -> lab.scope("inner").onDiscard(sink).race(stubborn("a", 1), stubborn("b", 1)));

        assertThat(first).isEqualTo("a");
        assertThat(sunk).containsExactly("b");
    }

    @Test
    void a_sink_that_throws_is_reported_and_keeps_no_other_from_its_value() {
        IllegalStateException broken = new IllegalStateException("broken");
        Error own = new AssertionError("own");

        String first = lab.scope("page")
                .onDiscard(v -> {
                    throw broken;
                })
                .onDiscard(this::sink)
                .onDiscard(v -> {
                    throw own;
                })
                .race(stubborn("a", 1), stubborn("b", 1));

        assertThat(first).isEqualTo("a");
        assertThat(sunk).containsExactly("b");
        assertThat(lab.events(ScopeEvent.Unhandled.class))
                .containsExactlyInAnyOrder(
                        new ScopeEvent.Unhandled("page", broken), new ScopeEvent.Unhandled("page", own));
    }

    @Test
    void a_sink_works_without_a_listener_and_on_the_owner_s_thread() {
        List<Thread> threads = new ArrayList<>();

        String first = Selvedge.scope()
                .clock(lab.clock())
                .onDiscard(v -> threads.add(Thread.currentThread()))
                .race(stubborn("a", 1), stubborn("b", 1));

        assertThat(first).isEqualTo("a");
        assertThat(threads).containsExactly(Thread.currentThread());
    }

    @Test
    void a_sink_is_not_cut_off_by_a_flag_that_is_set() {
        lab.scope("outer").run(s -> {
            Fork<?> caller = s.fork("caller", () -> {
                String first = lab.scope("race")
                        .onDiscard(v -> {
                            assertThat(Thread.currentThread().isInterrupted()).isFalse();
                            sink(v);
                        })
                        .race(stubborn("a", 1), stubborn("b", 3));
                lab.note("has " + first);
                lab.sleep("next", ofSeconds(1));
            });
            Selvedge.sleep(ofSeconds(2));
            assertThat(caller.cancel()).isTrue();
        });

        assertThat(lab.trail()).containsExactly("3s sink b", "3s has a", "3s next cut off");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(147)
    void a_fork_that_never_ran_lets_go_of_what_its_task_captured() {
        List<WeakReference<Object>> refs = new ArrayList<>();
        List<Fork<?>> kept = new ArrayList<>();

        assertThatThrownBy(() -> lab.scope().run(s -> {
                    assertThat(s.cancel("enough")).isTrue();
                    forkWithCapture(s, refs, kept);
                    Blocks.awaitCollected(refs);
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(kept).hasSize(1).allMatch(Fork::isDone);
    }

    @Test
    @Catalogue(147)
    void so_does_one_that_was_cancelled_before_it_began() {
        List<WeakReference<Object>> refs = new ArrayList<>();
        List<Fork<?>> kept = new ArrayList<>();

        lab.scope().run(s -> {
            forkWithCapture(s, refs, kept);
            assertThat(kept.get(0).cancel()).isTrue();
            Selvedge.sleep(ofSeconds(1));
            assertThat(kept.get(0).isDone()).isTrue();
            Blocks.awaitCollected(refs);
        });

        assertThat(kept).hasSize(1);
        assertThat(lab.trail()).isEmpty();
    }

    private void forkWithCapture(Scope s, List<WeakReference<Object>> refs, List<Fork<?>> kept) {
        byte[] captured = new byte[1 << 16];
        refs.add(new WeakReference<>(captured));
        kept.add(s.fork(() -> lab.note("ran with " + captured.length)));
    }

    private void sink(Object value) {
        sunk.add(value);
        note("sink", value);
    }

    private void note(String who, Object value) {
        lab.note(who + " " + value);
    }

    private Callable<Connection> connecting(String name, int seconds) {
        return () -> Selvedge.shielded(() -> {
            Selvedge.sleep(ofSeconds(seconds));
            return new Connection(name);
        });
    }

    /** Gives its value at its time, whatever happens before. */
    private static Callable<String> stubborn(String value, int seconds) {
        return () -> {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(seconds)));
            return value;
        };
    }

    private static Callable<String> failing(Exception e, int seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            throw e;
        };
    }

    /** Something that must be closed. */
    private final class Connection implements AutoCloseable {

        private final String name;

        Connection(String name) {
            this.name = name;
        }

        @Override
        public void close() {
            lab.note(name + " closed");
        }
    }
}
