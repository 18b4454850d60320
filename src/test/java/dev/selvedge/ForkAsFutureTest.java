package dev.selvedge;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A fork in the hands of code that wants a future. */
@Timeout(60)
class ForkAsFutureTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    void it_completes_with_the_value_when_the_task_ends() throws Exception {
        String value = lab.scope().call(s -> {
            Fork<String> fork = s.fork(() -> {
                lab.sleep("fork", ofSeconds(2));
                return "value";
            });
            CompletableFuture<String> future = fork.toCompletableFuture().thenApply(v -> {
                lab.note("mapped");
                return v + "!";
            });
            assertThat(future).isNotDone();
            return Selvedge.await(future);
        });

        assertThat(value).isEqualTo("value!");
        assertThat(lab.trail()).containsExactly("2s fork slept", "2s mapped");
    }

    @Test
    void it_completes_with_null_too() {
        lab.scope().run(s -> {
            Fork<?> fork = s.fork(() -> lab.sleep("fork", ofSeconds(1)));
            CompletableFuture<?> future = fork.toCompletableFuture();
            fork.join();

            assertThat(future).isCompletedWithValue(null);
        });
    }

    @Test
    void it_completes_exceptionally_with_what_the_task_threw() {
        IOException boom = new IOException("boom");
        AtomicReference<CompletableFuture<?>> kept = new AtomicReference<>();

        assertThatThrownBy(() -> lab.scope().run(s -> {
                    Fork<String> fork = s.fork(() -> {
                        throw boom;
                    });
                    kept.set(fork.toCompletableFuture());
                    lab.sleep("body", ofSeconds(1));
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasCause(boom);

        assertThatThrownBy(kept.get()::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isSameAs(boom);
        assertThat(boom).hasNoSuppressedExceptions();
    }

    @Test
    void with_an_error_as_well() {
        Error own = new AssertionError("own");

        lab.scope().isolated().run(s -> {
            Fork<String> fork = s.fork(() -> {
                throw own;
            });
            CompletableFuture<String> future = fork.toCompletableFuture();
            Selvedge.sleep(ofSeconds(1));

            assertThat(future.exceptionNow()).isSameAs(own);
        });
    }

    @Test
    void a_fork_that_is_cancelled_makes_it_cancelled() {
        lab.scope().run(s -> {
            Fork<?> fork = s.fork("slow", () -> lab.sleep("fork", ofSeconds(9)));
            CompletableFuture<?> future = fork.toCompletableFuture();
            Selvedge.sleep(ofSeconds(1));
            assertThat(fork.cancel()).isTrue();
            assertThatThrownBy(fork::join).isInstanceOf(ScopeCancelledException.class);

            assertThat(future).isCancelled();
            assertThatThrownBy(future::get)
                    .isInstanceOf(CancellationException.class)
                    .satisfies(e -> assertThat(e instanceof ScopeCancelledException ? e : e.getCause())
                            .isInstanceOf(ScopeCancelledException.class)
                            .hasMessage("the fork \"slow\" was cancelled"));
        });

        assertThat(lab.trail()).containsExactly("1s fork cut off");
    }

    @Test
    void a_scope_that_is_cancelled_makes_it_cancelled() {
        AtomicReference<CompletableFuture<?>> kept = new AtomicReference<>();

        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(2)).run(s -> {
                    Fork<?> fork = s.fork(() -> lab.sleep("fork", ofSeconds(9)));
                    kept.set(fork.toCompletableFuture());
                    fork.join();
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(kept.get()).isCancelled();
        assertThat(lab.trail()).containsExactly("2s fork cut off");
    }

    @Test
    void cancelling_it_cancels_the_fork() {
        String value = lab.scope().call(s -> {
            Fork<?> fork = s.fork("slow", () -> lab.sleep("fork", ofSeconds(9)));
            CompletableFuture<?> future = fork.toCompletableFuture();
            Selvedge.sleep(ofSeconds(1));
            assertThat(future.cancel(false)).isTrue();
            assertThatThrownBy(fork::join)
                    .isInstanceOf(ScopeCancelledException.class)
                    .hasMessage("the fork \"slow\" was cancelled");
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(lab.trail()).containsExactly("1s fork cut off");
    }

    @Test
    void other_ways_of_completing_it_do_nothing_to_the_fork() {
        lab.scope().run(s -> {
            Fork<String> fork = s.fork(() -> {
                lab.sleep("fork", ofSeconds(2));
                return "value";
            });
            assertThat(fork.toCompletableFuture().complete("other")).isTrue();
            assertThat(fork.toCompletableFuture().completeExceptionally(new IOException("other")))
                    .isTrue();

            assertThat(fork.join()).isEqualTo("value");
        });

        assertThat(lab.trail()).containsExactly("2s fork slept");
    }

    @Test
    void each_call_gives_a_new_one() {
        lab.scope().run(s -> {
            Fork<String> fork = s.fork(() -> "value");

            assertThat(fork.toCompletableFuture()).isNotSameAs(fork.toCompletableFuture());
        });
    }

    @Test
    void of_a_fork_that_is_done_it_is_complete_at_once_also_after_the_scope() {
        AtomicReference<Fork<String>> kept = new AtomicReference<>();

        lab.scope().run(s -> kept.set(s.fork(() -> "value")));

        assertThat(kept.get().toCompletableFuture()).isCompletedWithValue("value");
        assertThat(kept.get().toCompletableFuture().cancel(true)).isFalse();
    }

    @Test
    void of_a_fork_that_never_ran_it_is_cancelled() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    assertThat(s.cancel("enough")).isTrue();
                    Fork<String> fork = s.fork(() -> "value");
                    assertThat(fork.toCompletableFuture()).isCancelled();
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");
    }

    @Test
    void the_scope_waits_for_what_depends_on_it() {
        lab.scope().run(s -> {
            Fork<String> fork = s.fork(() -> "value");
            CompletableFuture<?> unused = fork.toCompletableFuture().thenRun(() -> {
                lab.watch(Thread.currentThread());
                lab.sleep("dependent", ofSeconds(3));
            });
        });

        assertThat(lab.trail()).containsExactly("3s dependent slept");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    @Test
    void a_dependent_that_throws_harms_nobody() {
        lab.scope().run(s -> {
            Fork<String> fork = s.fork(() -> {
                Selvedge.sleep(ofSeconds(1));
                return "value";
            });
            CompletableFuture<?> dependent = fork.toCompletableFuture().thenRun(() -> {
                throw new IllegalStateException("mine");
            });
            assertThat(fork.join()).isEqualTo("value");
            Selvedge.sleep(ofSeconds(1));
            assertThat(dependent).isCompletedExceptionally();
        });

        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void in_an_isolated_scope_a_failure_that_is_handed_to_a_future_counts_as_looked_at() {
        IOException boom = new IOException("boom");

        lab.scope().isolated().run(s -> {
            Fork<String> fork = s.fork(() -> {
                throw boom;
            });
            CompletableFuture<String> unused = fork.toCompletableFuture();
        });

        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Tag("real")
    void in_real_time_it_completes_whenever_it_is_asked_for() {
        AtomicInteger completed = new AtomicInteger();

        for (int round = 0; round < 2_000; round++) {
            lab.realScope().run(s -> {
                Fork<Integer> fork = s.fork(() -> 1);
                CompletableFuture<?> unused = fork.toCompletableFuture().thenRun(completed::incrementAndGet);
            });
        }

        assertThat(completed).hasValue(2_000);
    }
}
