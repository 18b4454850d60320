package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tasks that go on though their scope was asked to stop: who is told of, when, and how often. */
@Timeout(60)
class StragglerTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final List<Told> told = new CopyOnWriteArrayList<>();
    private final long begun = lab.clock().nanoTime();

    private record Told(ScopeEvent event, ScopeListener.Where where) {}

    private void hear(ScopeEvent event, ScopeListener.Where where) {
        told.add(new Told(event, where));
    }

    private ScopeSpec heard(String name) {
        return lab.scope(name).listener((ScopeListener) this::hear);
    }

    /** Who goes on, since when, and at what time it was told. */
    private List<String> stragglers() {
        return told.stream()
                .filter(t -> t.event instanceof ScopeEvent.StragglerFound)
                .map(t -> {
                    ScopeEvent.StragglerFound s = (ScopeEvent.StragglerFound) t.event;
                    return s.scope() + "/" + s.fork() + "#" + t.where.fork() + " for "
                            + s.since().toMillis() + " ms at " + (t.where.nanoTime() - begun) / 1_000_000 + " ms";
                })
                .toList();
    }

    /** Goes on for so long, whatever comes. */
    private static Task<String, RuntimeException> stubborn(int seconds) {
        return () -> Selvedge.shielded(() -> {
            Selvedge.sleep(ofSeconds(seconds));
            return "at last";
        });
    }

    private static String first() {
        Selvedge.sleep(ofMillis(1));
        return "first";
    }

    /** However it ends: a value that came late is a value. */
    private static void ended(ThrowableAssert.ThrowingCallable work) {
        Throwable unused = catchThrowable(work);
    }

    private static void holdOn(CountDownLatch go) {
        while (go.getCount() > 0) {
            Thread.onSpinWait();
        }
    }

    private static Task<String, RuntimeException> failing(int millis) {
        return () -> {
            Selvedge.sleep(ofMillis(millis));
            throw new IllegalStateException("no");
        };
    }

    // Who is told of.

    @Test
    @Catalogue(82)
    void a_fork_that_goes_on_is_told_of_after_five_seconds_and_waited_for() {
        Throwable thrown =
                catchThrowable(() -> heard("page").gather(List.of(stubborn(10), failing(500), stubborn(20))));

        assertThat(thrown).isInstanceOf(ScopeFailedException.class);
        assertThat(stragglers())
                .containsExactly("page/fork-1#1 for 5000 ms at 5500 ms", "page/fork-3#3 for 5000 ms at 5500 ms");
        assertThat(lab.clock().elapsed()).isEqualTo(ofSeconds(20));
        assertThat(told.get(told.size() - 1).event).isInstanceOf(ScopeEvent.ScopeClosed.class);
    }

    @Test
    void it_is_told_with_the_calls_it_is_in() {
        Throwable thrown = catchThrowable(() -> heard("page").gather(List.of(stubborn(10), failing(500))));

        assertThat(thrown).isNotNull();
        ScopeEvent.StragglerFound found = (ScopeEvent.StragglerFound) told.stream()
                .map(Told::event)
                .filter(e -> e instanceof ScopeEvent.StragglerFound)
                .findFirst()
                .orElseThrow();
        assertThat(found.stack())
                .hasSizeBetween(1, 64)
                .anyMatch(call -> call.getClassName().startsWith(StragglerTest.class.getName()));
    }

    @Test
    void one_that_ends_in_time_is_not_told_of() {
        ended(() -> heard("page").gather(List.of(stubborn(5), failing(1_000))));
        ended(() -> heard("page").deadline(ofMillis(10)).gather(List.of(stubborn(5))));

        assertThat(stragglers()).isEmpty();
    }

    @Test
    void a_scope_that_nobody_asked_to_stop_may_take_its_time() {
        heard("page").gather(List.of(stubborn(100)));
        heard("page").deadline(ofSeconds(200)).call(stubborn(100));

        assertThat(stragglers()).isEmpty();
    }

    @Test
    void losers_of_a_race_and_of_a_quorum() {
        heard("race").race(stubborn(10), () -> first());
        assertThat(heard("quorum").quorum(1, List.of(stubborn(10), () -> first())))
                .containsExactly("first");

        assertThat(stragglers())
                .containsExactly("race/fork-1#1 for 5000 ms at 5001 ms", "quorum/fork-1#1 for 5000 ms at 15001 ms");
    }

    @Test
    void a_hedge_that_lost() {
        int[] calls = {0};
        heard("call")
                .hedge(ofMillis(100))
                .call(() -> ++calls[0] == 1 ? stubborn(10).call() : "second");

        assertThat(stragglers()).containsExactly("call/hedge/attempt#1 for 5000 ms at 5100 ms");
    }

    @Test
    void items_have_their_own_names() {
        ended(() -> heard("items").concurrency(2).forEach(List.of(1, 2, 3, 4), n -> {
            if (n == 3) {
                stubborn(10).call();
            } else if (n == 4) {
                failing(500).call();
            }
        }));

        assertThat(stragglers()).containsExactly("items/fork-3#3 for 5000 ms at 5500 ms");
    }

    @Test
    void a_fork_of_a_live_scope_and_a_daemon() {
        ended(() -> heard("live").run(s -> {
            s.daemon(() -> stubborn(20).call());
            s.fork("slow", stubborn(10));
            Selvedge.sleep(ofMillis(1)); // both have begun
            s.cancel("enough");
        }));

        assertThat(stragglers())
                .containsExactlyInAnyOrder(
                        "live/slow#2 for 5000 ms at 5001 ms", "live/daemon-1#1 for 5000 ms at 5001 ms");
    }

    @Test
    void the_body_of_a_live_scope() {
        heard("live").run(s -> {
            s.cancel("enough");
            stubborn(10).call();
        });

        assertThat(stragglers()).containsExactly("live/live#0 for 5000 ms at 5000 ms");
    }

    @Test
    void a_task_in_the_scopes_own_thread() {
        assertThat(heard("call").deadline(ofSeconds(1)).call(stubborn(10))).isEqualTo("at last");

        assertThat(stragglers()).containsExactly("call/call#0 for 5000 ms at 6000 ms");
    }

    @Test
    void of_nested_scopes_the_innermost_is_told_of() {
        ended(() -> heard("outer")
                .deadline(ofSeconds(1))
                .run(s -> s.fork("part", () -> Selvedge.scope("inner").gather(List.of(stubborn(10))))));

        assertThat(stragglers()).containsExactly("inner/fork-1#1 for 5000 ms at 6000 ms");
    }

    // When.

    @Test
    void the_grace_is_that_of_the_scope_or_of_one_around_it() {
        ended(() -> heard("own")
                .stragglersAfter(ofMillis(200))
                .deadline(ofSeconds(1))
                .gather(List.of(stubborn(10))));
        ended(() -> heard("around")
                .stragglersAfter(ofMillis(300))
                .run(() -> Selvedge.scope("inner").deadline(ofSeconds(1)).gather(List.of(stubborn(10)))));

        assertThat(stragglers())
                .containsExactly("own/fork-1#1 for 200 ms at 1200 ms", "inner/fork-1#1 for 300 ms at 11300 ms");
    }

    @Test
    void a_grace_without_end_means_never() {
        ended(() -> heard("page")
                .stragglersAfter(Duration.ofSeconds(Long.MAX_VALUE))
                .deadline(ofSeconds(1))
                .gather(List.of(stubborn(1_000))));

        assertThat(stragglers()).isEmpty();
    }

    @Test
    void each_is_told_of_once_however_long_it_takes() {
        ended(() -> heard("page").deadline(ofSeconds(1)).gather(List.of(stubborn(3_600))));

        assertThat(stragglers()).hasSize(1);
    }

    @Test
    void of_very_many_a_hundred_are_told_of() {
        List<Callable<String>> tasks =
                Stream.<Callable<String>>generate(() -> stubborn(10)).limit(150).toList();

        ended(() -> heard("many").deadline(ofSeconds(1)).gather(tasks));

        assertThat(stragglers()).hasSize(100);
    }

    // Without and with listeners.

    @Test
    void without_a_listener_it_is_a_line_of_the_log() {
        try (Log log = Log.of("dev.selvedge")) {
            ended(() -> Selvedge.scope("page")
                    .clock(lab.clock())
                    .deadline(ofSeconds(1))
                    .fork("prices", stubborn(10))
                    .fork(stubborn(2))
                    .gather((a, b) -> a + b));

            assertThat(log.at(Level.WARNING)).hasSize(1);
            assertThat(log.at(Level.WARNING).get(0).lines().toList().get(0))
                    .isEqualTo("\"prices\" goes on 5 s after the scope \"page\" was asked to stop"
                            + " (the deadline of 1 s of the scope \"page\" passed), which waits for it");
            assertThat(log.at(Level.WARNING).get(0)).contains("    at ");
        }
    }

    @Test
    void what_a_listener_throws_at_it_changes_nothing() {
        ScopeListener failing = (event, where) -> {
            if (event instanceof ScopeEvent.StragglerFound) {
                throw new IllegalStateException("broken");
            }
            hear(event, where);
        };

        ended(() -> lab.scope("page").listener(failing).deadline(ofSeconds(1)).gather(List.of(stubborn(10))));

        assertThat(told)
                .anyMatch(t -> t.event instanceof ScopeEvent.Unhandled u
                        && u.error().getMessage().equals("broken"));
    }

    @Test
    void the_scope_waits_for_a_listener_that_takes_its_time() {
        Thread[] fork = new Thread[1];
        CountDownLatch found = new CountDownLatch(1);
        ScopeListener slow = (event, where) -> {
            if (event instanceof ScopeEvent.StragglerFound) {
                found.countDown();
                joined(fork[0]); // the task has ended, and nothing but this is left to wait for
            }
            hear(event, where);
        };

        ended(() -> Selvedge.scope("page")
                .stragglersAfter(ofMillis(1))
                .listener(slow)
                .run(s -> {
                    CountDownLatch begun = new CountDownLatch(1);
                    s.fork(() -> {
                        fork[0] = Thread.currentThread();
                        begun.countDown();
                        holdOn(found);
                    });
                    begun.await();
                    s.cancel("enough");
                }));

        List<String> kinds =
                told.stream().map(t -> t.event.getClass().getSimpleName()).toList();
        assertThat(kinds).contains("StragglerFound").endsWith("ScopeClosed");
    }

    private static void joined(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void an_interrupt_that_comes_meanwhile_is_kept() throws InterruptedException {
        CountDownLatch found = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        boolean[] flag = {false};
        ScopeListener listener = (event, where) -> {
            if (event instanceof ScopeEvent.StragglerFound) {
                found.countDown();
            }
        };
        Thread owner = Thread.ofPlatform().start(() -> {
            ended(() -> Selvedge.scope("page")
                    .stragglersAfter(ofMillis(1))
                    .listener(listener)
                    .run(s -> {
                        CountDownLatch begun = new CountDownLatch(1);
                        s.fork(() -> {
                            begun.countDown();
                            holdOn(go);
                        });
                        begun.await();
                        s.cancel("enough");
                    }));
            flag[0] = Thread.currentThread().isInterrupted();
        });

        found.await(); // in real time, on a thread of its own
        owner.interrupt();
        go.countDown();
        owner.join();

        assertThat(flag[0]).isTrue();
    }
}
