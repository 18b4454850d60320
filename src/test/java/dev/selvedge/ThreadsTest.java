package dev.selvedge;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Forks in threads that somebody else has made. */
@Timeout(120)
class ThreadsTest {

    private static final ThreadFactory PLATFORM =
            Thread.ofPlatform().name("mine-", 1).factory();

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    void forks_run_in_threads_of_the_factory() {
        List<String> names = lab.scope().threads(PLATFORM).gather(ThreadsTest::name, ThreadsTest::name);

        assertThat(names).allMatch(n -> n.startsWith("mine-")).doesNotHaveDuplicates();
    }

    @Test
    void every_terminal_method_takes_them() {
        ScopeSpec scope = lab.scope().threads(PLATFORM);
        Callable<String> name = ThreadsTest::name;
        List<String> seen = new CopyOnWriteArrayList<>();

        seen.add(scope.race(name));
        seen.addAll(scope.quorum(1, name));
        seen.addAll(scope.map(List.of(1, 2), i -> name()));
        scope.outcomes(List.of(name)).forEach(o -> seen.add(((Outcome.Success<String>) o).value()));
        seen.add(scope.fork(name).fork(name).gather((a, b) -> a));
        scope.run(s -> {
            seen.add(s.fork(name).join());
            s.daemon(() -> seen.add(name()));
            Selvedge.sleep(ofSeconds(1));
        });

        assertThat(seen).hasSize(8).allMatch(n -> n.startsWith("mine-"));
    }

    @Test
    void blocks_inside_do_not_inherit_it() {
        List<Boolean> virtual = lab.scope()
                .threads(PLATFORM)
                .gather(() -> lab.scope()
                        .gather(() -> Thread.currentThread().isVirtual())
                        .get(0));
        boolean owner = lab.scope()
                .threads(PLATFORM)
                .call(s -> lab.scope()
                        .gather(() -> Thread.currentThread().isVirtual())
                        .get(0));

        assertThat(virtual).containsExactly(true);
        assertThat(owner).isTrue();
    }

    @Test
    void a_factory_is_asked_by_the_owner_once_for_each_fork() {
        List<Thread> askers = new ArrayList<>();

        List<Integer> all = lab.scope()
                .threads(r -> {
                    askers.add(Thread.currentThread());
                    return Thread.ofVirtual().unstarted(r);
                })
                .gather(() -> 1, () -> 2, () -> 3);

        assertThat(all).containsExactly(1, 2, 3);
        assertThat(askers).hasSize(3).containsOnly(Thread.currentThread());
    }

    @Test
    @Catalogue(139)
    void a_factory_that_gives_null_refuses_the_fork() {
        assertThatThrownBy(() -> lab.scope("page").threads(r -> null).gather(() -> 1))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessage("the thread factory of the scope \"page\" gave null");
        assertThat(lab.events(ScopeEvent.ScopeClosed.class)).hasSize(1);
    }

    @Test
    void whoever_pairs_the_events_sees_the_end_of_a_refused_fork() {
        Throwable thrown =
                catchThrowable(() -> lab.scope("page").threads(r -> null).run(s -> s.fork("refused", () -> 1)));

        assertThat(thrown).isInstanceOf(RejectedExecutionException.class);
        assertThat(lab.events(ScopeEvent.ForkCreated.class))
                .containsExactly(new ScopeEvent.ForkCreated("page", "refused"));
        assertThat(lab.events(ScopeEvent.ForkEnded.class))
                .containsExactly(new ScopeEvent.ForkEnded("page", "refused", new Outcome.Failure<>(thrown)));
    }

    @Test
    @Catalogue(139)
    void so_does_one_that_throws() {
        IllegalStateException broken = new IllegalStateException("broken");

        assertThatThrownBy(() -> lab.scope("page")
                        .threads(r -> {
                            throw broken;
                        })
                        .race(() -> 1))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessage("the thread factory of the scope \"page\" threw java.lang.IllegalStateException: broken")
                .hasCause(broken);
    }

    @Test
    void an_error_of_the_factory_leaves_bare() {
        Error own = new AssertionError("own");

        Throwable thrown = catchThrowable(() -> lab.scope()
                .threads(r -> {
                    throw own;
                })
                .gather(() -> 1));

        assertThat(thrown).isSameAs(own);
    }

    @Test
    @Catalogue(139)
    void and_one_that_gives_a_thread_that_was_started_before() throws Exception {
        Thread started = Thread.ofPlatform().name("old").start(() -> {});
        started.join();

        assertThatThrownBy(() -> lab.scope("page").threads(r -> started).gather(() -> 1))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessage(
                        "the thread factory of the scope \"page\" gave a thread that was started before: " + started);
    }

    @Test
    @Catalogue(139)
    void what_was_started_is_cancelled_and_awaited_and_its_values_are_discarded() {
        AtomicInteger asked = new AtomicInteger();

        assertThatThrownBy(() -> lab.realScope()
                        .named("page")
                        .threads(r -> asked.incrementAndGet() == 3
                                ? null
                                : Thread.ofVirtual().unstarted(r))
                        .gather(
                                () -> Selvedge.shielded(() -> "value"),
                                () -> {
                                    Selvedge.sleep(ofSeconds(1_000));
                                    return "slow";
                                },
                                () -> "third",
                                () -> "fourth"))
                .isInstanceOf(RejectedExecutionException.class);

        assertThat(asked).hasValue(3);
        assertThat(lab.events(ScopeEvent.ScopeClosed.class)).hasSize(1);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Catalogue(139)
    void in_a_live_scope_the_fork_throws_and_the_scope_goes_on() {
        AtomicInteger asked = new AtomicInteger();

        int sum = lab.scope("page")
                .threads(r ->
                        asked.incrementAndGet() == 2 ? null : Thread.ofVirtual().unstarted(r))
                .call(s -> {
                    Fork<Integer> first = s.fork(() -> 1);
                    assertThatThrownBy(() -> s.fork(() -> 2))
                            .isInstanceOf(RejectedExecutionException.class)
                            .hasMessage("the thread factory of the scope \"page\" gave null");
                    Fork<Integer> third = s.fork(() -> {
                        Selvedge.sleep(ofSeconds(1));
                        return 3;
                    });
                    return first.join() + third.join();
                });

        assertThat(sum).isEqualTo(4);
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    @Test
    void a_daemon_that_is_refused_is_none() {
        AtomicInteger asked = new AtomicInteger();

        lab.scope("page")
                .threads(r ->
                        asked.incrementAndGet() == 1 ? null : Thread.ofVirtual().unstarted(r))
                .run(s -> {
                    assertThatThrownBy(() -> s.daemon(() -> lab.sleep("refused", ofSeconds(9))))
                            .isInstanceOf(RejectedExecutionException.class);
                    s.daemon(() -> lab.sleep("daemon", ofSeconds(9)));
                    lab.sleep("body", ofSeconds(1));
                });

        assertThat(lab.trail()).containsExactly("1s body slept", "1s daemon cut off");
    }

    @Test
    void a_failure_interrupts_siblings_in_platform_threads() {
        IOException boom = new IOException("boom");
        AtomicReference<Throwable> cut = new AtomicReference<>();
        CountDownLatch waiting = new CountDownLatch(1);

        assertThatThrownBy(() -> lab.realScope()
                        .threads(PLATFORM)
                        .gather(
                                () -> {
                                    waiting.countDown();
                                    try {
                                        new CountDownLatch(1).await();
                                        return 1;
                                    } catch (InterruptedException e) {
                                        cut.set(e);
                                        throw e;
                                    }
                                },
                                () -> {
                                    waiting.await();
                                    throw boom;
                                }))
                .hasCause(boom);

        assertThat(cut.get()).isInstanceOf(InterruptedException.class);
    }

    @Test
    @Tag("real")
    void the_scope_comes_back_only_after_platform_threads_have_ended() {
        for (int round = 0; round < 100; round++) {
            List<Thread> made = new ArrayList<>();
            ThreadFactory factory = r -> {
                Thread t = Thread.ofPlatform().unstarted(r);
                made.add(t);
                return t;
            };

            List<Integer> all = Selvedge.scope().threads(factory).gather(() -> 1, () -> 2, () -> 3);
            Selvedge.scope().threads(factory).run(s -> {
                for (int i = 0; i < 20; i++) {
                    int unused = s.fork(() -> 1).join();
                }
            });

            assertThat(all).containsExactly(1, 2, 3);
            assertThat(made).hasSize(23).as("round " + round).noneMatch(Thread::isAlive);
        }
    }

    @Test
    void a_deadline_is_seen_in_them() {
        assertThatThrownBy(() -> lab.scope("page")
                        .threads(PLATFORM)
                        .deadline(ofSeconds(2))
                        .gather(() -> {
                            assertThat(Selvedge.deadline().remaining()).isEqualTo(ofSeconds(2));
                            lab.sleep("fork", ofSeconds(9));
                            return 1;
                        }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactly("2s fork cut off");
    }

    @Test
    void forks_find_themselves_when_the_ids_of_their_threads_descend() {
        for (int round = 0; round < 50; round++) {
            findThemselves(premade(20, null), round);
        }
    }

    @Test
    @Tag("real")
    void forks_find_themselves_when_the_ids_of_their_threads_are_in_no_order() {
        Random random = new Random(11);
        for (int round = 0; round < 500; round++) {
            findThemselves(premade(2 + random.nextInt(18), random), round);
        }
    }

    @Test
    @Tag("real")
    void so_do_those_of_a_live_scope_that_sweeps_its_roster() {
        Random random = new Random(13);
        for (int round = 0; round < 500; round++) {
            int forks = 30;
            Deque<Relay> relays = premade(forks, random);
            Selvedge.scope("outer")
                    .deadline(ofSeconds(1_000))
                    .threads(r -> relays.pop().running(r))
                    .run(s -> {
                        List<Fork<?>> all = new ArrayList<>();
                        for (int i = 0; i < forks; i++) {
                            int number = i;
                            all.add(s.fork(() -> findSelf(number)));
                            if (random.nextInt(3) == 0) {
                                all.remove(random.nextInt(all.size())).join();
                            }
                        }
                        all.forEach(Fork::join);
                    });
        }
    }

    @Test
    @Tag("real")
    void a_cancel_finds_all_forks_whatever_the_order_of_their_ids() {
        Random random = new Random(17);
        for (int round = 0; round < 500; round++) {
            int forks = 2 + random.nextInt(10);
            Deque<Relay> relays = premade(forks, random);
            CountDownLatch waiting = new CountDownLatch(forks);
            AtomicInteger cut = new AtomicInteger();

            Throwable thrown = catchThrowable(() -> Selvedge.scope()
                    .threads(r -> relays.pop().running(r))
                    .run(s -> {
                        for (int i = 0; i < forks; i++) {
                            Fork<?> unused =
                                    s.fork(() -> Selvedge.scope("inner").run(() -> {
                                        waiting.countDown();
                                        try {
                                            Selvedge.sleep(ofSeconds(1_000));
                                        } finally {
                                            cut.incrementAndGet();
                                        }
                                    }));
                        }
                        waiting.await();
                        assertThat(s.cancel("enough")).isTrue();
                        Selvedge.checkpoint();
                    }));

            assertThat(thrown).isInstanceOf(ScopeCancelledException.class).hasMessage("enough");
            assertThat(cut).as("round " + round).hasValue(forks);
        }
    }

    private void findThemselves(Deque<Relay> relays, int round) {
        int forks = relays.size();
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < forks; i++) {
            int number = i;
            tasks.add(() -> findSelf(number));
        }

        List<Integer> all = Selvedge.scope("outer")
                .deadline(ofSeconds(1_000))
                .threads(r -> relays.pop().running(r))
                .gather(tasks);

        assertThat(all).as("round " + round).hasSize(forks).isSorted();
    }

    private static int findSelf(int number) {
        assertThat(Here.fork()).as("the fork").isNotNull();
        assertThat(Here.fork().thread()).isSameAs(Thread.currentThread());
        assertThat(Selvedge.deadline().isNever()).isFalse();
        Selvedge.checkpoint();
        List<Integer> inner = Selvedge.scope("inner").gather(() -> {
            assertThat(Selvedge.deadline().isNever()).isFalse();
            return number;
        });
        assertThat(Here.fork().thread()).isSameAs(Thread.currentThread());
        return inner.get(0);
    }

    /** Threads that were made before: in the order of descending ids, or in no order. */
    private static Deque<Relay> premade(int n, Random random) {
        List<Relay> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            all.add(new Relay());
        }
        if (random == null) {
            Collections.reverse(all);
        } else {
            Collections.shuffle(all, random);
        }
        return new ConcurrentLinkedDeque<>(all);
    }

    private static String name() {
        return Thread.currentThread().getName();
    }

    /** A thread that is made before anybody knows what it is to run. */
    private static final class Relay {

        private volatile Runnable work = () -> {};
        private final Thread thread = Thread.ofVirtual().unstarted(() -> work.run());

        Thread running(Runnable r) {
            work = r;
            return thread;
        }
    }
}
