package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.policy.Retry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** In which order, and on which thread, listeners are told: what docs/observe/events.md promises. */
@Timeout(30)
class EventOrderTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final EventOrder order = new EventOrder();

    private volatile Thread forkThread = Thread.currentThread();

    private ScopeSpec heard(String name) {
        return lab.scope(name).listener(order);
    }

    private String nap(String who, Duration length) {
        lab.sleep(who, length);
        return who;
    }

    // The order.

    /** The first listener holds the announcement up; the second must not hear of what follows from it before. */
    @Test
    void what_a_cancellation_cuts_off_is_told_after_it_though_a_listener_holds_it_up() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch cut = new CountDownLatch(1);
        Scope[] scope = new Scope[1];
        CountDownLatch open = new CountDownLatch(1);
        ScopeListener slow = (event, where) -> {
            if (event instanceof ScopeEvent.ScopeCancelled) {
                told.countDown();
                Blocks.spinUntil(() -> cut.getCount() == 0);
                Blocks.spinUntil(() -> forkThread.getState() == Thread.State.WAITING);
            }
        };
        Thread canceller = Thread.ofPlatform().start(() -> {
            awaitQuietly(open);
            scope[0].cancel("from outside");
        });

        Throwable thrown = catchThrowable(() -> Selvedge.scope("page")
                .listener(order)
                .listener(slow)
                .run(s -> {
                    scope[0] = s;
                    s.fork(() -> {
                        forkThread = Thread.currentThread();
                        try {
                            return Blocks.untilInterrupted();
                        } finally {
                            awaitQuietly(told);
                            cut.countDown();
                        }
                    });
                    open.countDown();
                }));
        canceller.join();

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class);
        assertThat(order.kinds())
                .containsSubsequence("ScopeOpened", "ForkCreated", "ScopeCancelled", "ForkEnded", "ScopeClosed");
        order.check();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void a_scope_is_told_to_be_closed_after_a_cancellation_that_a_listener_holds_up() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        Thread owner = Thread.currentThread();
        ScopeListener slow = (event, where) -> {
            if (event instanceof ScopeEvent.ScopeCancelled) {
                told.countDown();
                Blocks.spinUntil(() -> owner.getState() == Thread.State.WAITING);
            }
        };
        Thread[] canceller = new Thread[1];

        Throwable unused = catchThrowable(() -> Selvedge.scope("page")
                .listener(order)
                .listener(slow)
                .run(s -> {
                    canceller[0] = Thread.ofPlatform().start(() -> s.cancel("from outside"));
                    awaitQuietly(told);
                }));
        canceller[0].join();

        assertThat(order.kinds()).containsExactly("ScopeOpened", "ScopeCancelled", "ScopeClosed");
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void a_listener_that_is_told_of_a_cancellation_may_wait_for_the_forks_that_it_cuts_off() {
        List<Fork<String>> forks = new CopyOnWriteArrayList<>();
        List<String> outcomes = new CopyOnWriteArrayList<>();
        ScopeListener joiner = (event, where) -> {
            if (event instanceof ScopeEvent.ScopeCancelled) {
                forks.forEach(f -> outcomes.add(String.valueOf(catchThrowable(f::join))));
            }
        };

        Throwable thrown = catchThrowable(() -> heard("page").listener(joiner).run(s -> {
            forks.add(s.fork(() -> nap("a", ofSeconds(5))));
            forks.add(s.fork(() -> nap("b", ofSeconds(5))));
            Selvedge.sleep(ofSeconds(1));
            s.cancel("enough");
        }));

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class);
        assertThat(outcomes).hasSize(2);
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
        order.check();
    }

    @Test
    void many_cancel_at_the_same_moment_and_the_order_holds() {
        for (int round = 0; round < 300; round++) {
            EventOrder each = new EventOrder();
            Throwable unused =
                    catchThrowable(() -> Selvedge.scope("page").listener(each).run(s -> {
                        CountDownLatch go = new CountDownLatch(1);
                        for (int i = 0; i < 4; i++) {
                            boolean fails = i % 2 == 0;
                            s.fork(() -> {
                                go.await();
                                s.cancel("me");
                                if (fails) {
                                    throw new IOException("no");
                                }
                                return Blocks.untilInterrupted();
                            });
                        }
                        go.countDown();
                    }));
            each.check();
            assertThat(each.kinds().stream().filter("ScopeCancelled"::equals)).hasSize(1);
        }
    }

    @Test
    void many_items_end_at_the_same_moment_and_the_order_holds() {
        for (int round = 0; round < 100; round++) {
            EventOrder each = new EventOrder();
            Throwable unused = catchThrowable(() -> Selvedge.scope("job")
                    .listener(each)
                    .concurrency(4)
                    .map(List.of(1, 2, 3, 4, 5, 6, 7, 8), i -> {
                        if (i == 5) {
                            throw new IOException("no");
                        }
                        return Selvedge.scope("in " + i).call(() -> i);
                    }));
            each.check();
        }
    }

    @Test
    void the_order_holds_with_everything_at_once() throws Exception {
        int[] calls = {0};
        Throwable unused = catchThrowable(() -> heard("all")
                .concurrency(2)
                .retry(Retry.DEFAULT.attempts(2).immediately())
                .run(s -> {
                    s.onCancel(() -> nap("on cancel", ofMillis(5)));
                    s.every(ofMillis(10), () -> nap("tick", ofMillis(1)));
                    s.daemon(() -> nap("daemon", ofSeconds(60)));
                    s.fork(() -> Selvedge.scope("deep")
                            .hedge(ofMillis(5))
                            .call(() -> nap("hedged", ofMillis(++calls[0] == 1 ? 60 : 20))));
                    s.fork(() -> Selvedge.scope("race")
                            .race(List.of(() -> nap("x", ofMillis(3)), () -> nap("y", ofMillis(9)))));
                    s.fork(() -> {
                        nap("bad", ofMillis(30));
                        throw new IOException("no");
                    });
                    s.fork(() -> nap("slow", ofSeconds(9)));
                }));

        order.check();
        assertThat(order.kinds()).contains("HedgeStarted", "ScopeCancelled", "AttemptFailed", "RetryGaveUp");
    }

    @Test
    void a_daemon_that_is_cut_off_at_the_end_ends_without_a_cancellation_of_the_scope() {
        heard("page").run(s -> {
            s.daemon(() -> nap("daemon", ofSeconds(60)));
            Selvedge.sleep(ofSeconds(1));
        });

        assertThat(order.kinds())
                .containsExactly("ScopeOpened", "ForkCreated", "ForkStarted", "ForkEnded", "ScopeClosed");
        order.check();
    }

    @Test
    void a_fork_that_never_ran_is_created_and_ended_but_not_started() {
        Throwable unused = catchThrowable(() -> heard("page").run(s -> {
            s.fork("never", () -> 1);
            s.cancel("at once");
        }));

        assertThat(order.kinds())
                .containsExactly("ScopeOpened", "ForkCreated", "ScopeCancelled", "ForkEnded", "ScopeClosed");
        order.check();
    }

    @Test
    void a_scope_whose_deadline_has_passed_before_it_opens_tells_nothing() {
        Throwable thrown =
                catchThrowable(() -> heard("late").deadline(Duration.ZERO).run(() -> {}));

        assertThat(thrown).isInstanceOf(DeadlineExceededException.class);
        assertThat(order.kinds()).isEmpty();
    }

    @Test
    void a_call_that_is_cut_off_by_what_is_around_it_was_not_cancelled_itself_and_a_scope_with_forks_was() {
        Throwable unused =
                catchThrowable(() -> heard("outer").deadline(ofSeconds(1)).run(s -> {
                    s.fork(() -> Selvedge.scope("call").call(() -> nap("a", ofSeconds(5))));
                    s.fork(() -> Selvedge.scope("forks").gather(List.of(() -> nap("b", ofSeconds(5)))));
                }));

        assertThat(order.told().stream()
                        .filter(t -> t.event() instanceof ScopeEvent.ScopeCancelled)
                        .map(t -> t.event().scope()))
                .containsExactlyInAnyOrder("outer", "forks");
        order.check();
    }

    // The threads.

    @Test
    void a_fork_is_created_on_the_owners_thread_and_starts_and_ends_on_its_own() {
        Thread owner = Thread.currentThread();
        heard("page").run(s -> s.fork(() -> nap("a", ofSeconds(1))));

        assertThat(threadsOf(ScopeEvent.ForkCreated.class)).containsExactly(owner);
        assertThat(threadsOf(ScopeEvent.ForkStarted.class))
                .isEqualTo(threadsOf(ScopeEvent.ForkEnded.class))
                .doesNotContain(owner);
        assertThat(threadsOf(ScopeEvent.ScopeOpened.class)).containsExactly(owner);
        assertThat(threadsOf(ScopeEvent.ScopeClosed.class)).containsExactly(owner);
    }

    @Test
    void an_item_is_created_on_the_thread_that_takes_it() {
        Selvedge.scope("job").listener(order).concurrency(2).map(List.of(1, 2, 3), i -> i);

        assertThat(threadsOf(ScopeEvent.ForkCreated.class))
                .isEqualTo(threadsOf(ScopeEvent.ForkStarted.class))
                .doesNotContain(Thread.currentThread());
    }

    @Test
    void a_passed_deadline_is_told_by_a_thread_of_the_scope_and_never_by_the_timer() {
        Throwable unused = catchThrowable(() -> Selvedge.scope("page")
                .listener(order)
                .deadline(ofMillis(20))
                .run(s -> {
                    s.fork(Blocks::untilInterrupted);
                    Blocks.untilInterrupted();
                }));

        List<Thread> own = new ArrayList<>(threadsOf(ScopeEvent.ForkEnded.class));
        own.add(Thread.currentThread());
        assertThat(own).containsAll(threadsOf(ScopeEvent.DeadlinePassed.class));
        assertThat(own).containsAll(threadsOf(ScopeEvent.ScopeCancelled.class));
        assertThat(order.kinds()).containsSubsequence("DeadlinePassed", "ScopeCancelled", "ForkEnded", "ScopeClosed");
    }

    @Test
    void what_is_done_on_cancel_is_outside_the_scope_and_its_failure_is_told_before_the_end() {
        IOException no = new IOException("no");
        Throwable unused = catchThrowable(() -> heard("page").run(s -> {
            s.onCancel(() -> Selvedge.scope("cleanup").call(() -> {
                throw no;
            }));
            s.cancel("enough");
        }));

        assertThat(order.told()).extracting(t -> t.event().scope()).containsOnly("page");
        assertThat(order.kinds()).contains("Unhandled").endsWith("ScopeClosed");
        assertThat(threadsOf(ScopeEvent.Unhandled.class)).doesNotContain(Thread.currentThread());
        order.check();
    }

    private List<Thread> threadsOf(Class<? extends ScopeEvent> kind) {
        return order.told().stream()
                .filter(t -> kind.isInstance(t.event()))
                .map(EventOrder.Told::thread)
                .toList();
    }
}
