package dev.selvedge.time;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.DeadlineExceededException;
import dev.selvedge.Scope;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.Selvedge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What foreign threads can do to a clock while it moves: nothing that loses a turn, an event or a thread. */
@Tag("stress")
@Timeout(120)
class ClockRacesTest {

    private static final Logger LOG = Logger.getLogger("dev.selvedge.time");

    @BeforeEach
    void be_quiet() {
        LOG.setLevel(Level.OFF);
    }

    @AfterEach
    void be_as_before() {
        LOG.setLevel(null);
    }

    @Test
    void raw_interrupts_rain_on_sleepers_and_none_sleeps_on() throws Exception {
        for (int i = 0; i < 300; i++) {
            VirtualClock clock = VirtualClock.jumping().withGrace(Duration.ZERO);
            List<Thread> forks = Collections.synchronizedList(new ArrayList<>());
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger cut = new AtomicInteger();
            Thread rain = Thread.ofPlatform().start(() -> {
                Random random = new Random(42);
                while (!over.get()) {
                    int n = forks.size();
                    if (n > 0) {
                        forks.get(random.nextInt(n)).interrupt();
                    }
                }
            });

            Throwable thrown =
                    catchThrowable(() -> scope().clock(clock).isolated().run(s -> {
                        for (int f = 0; f < 5; f++) {
                            s.fork(() -> {
                                forks.add(Thread.currentThread());
                                for (int k = 0; k < 50; k++) {
                                    try {
                                        clock.waiter().await(clock.after(ofMillis(k % 5)));
                                    } catch (InterruptedException e) {
                                        cut.incrementAndGet();
                                    }
                                }
                            });
                        }
                    }));
            over.set(true);
            rain.join();

            assertThat(thrown).isNull();
            assertThat(clock.remains()).isEmpty();
        }
    }

    @Test
    void each_wake_from_a_foreign_thread_is_counted_once() throws Exception {
        VirtualClock clock = VirtualClock.jumping().withGrace(Duration.ZERO);
        LinkedBlockingQueue<Waiter> waiters = new LinkedBlockingQueue<>();
        AtomicInteger granted = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        List<Thread> wakers = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            wakers.add(Thread.ofPlatform().start(() -> {
                while (!over.get() || !waiters.isEmpty()) {
                    Waiter w = waiters.poll();
                    if (w != null && w.wake()) {
                        granted.incrementAndGet();
                    }
                }
            }));
        }

        List<Integer> woken = scope().clock(clock).map(Collections.nCopies(10, 500), times -> {
            int mine = 0;
            for (int i = 0; i < times; i++) {
                Waiter w = clock.waiter().fromOutside();
                waiters.add(w);
                mine += w.await(clock.after(ofMillis(i % 3))) ? 1 : 0;
            }
            return mine;
        });
        over.set(true);
        for (Thread t : wakers) {
            t.join();
        }

        assertThat(woken.stream().mapToInt(i -> i).sum()).isEqualTo(granted.get());
        assertThat(clock.remains()).isEmpty();
    }

    @Test
    void cancels_from_foreign_threads_while_it_jumps_leave_nothing_behind() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            VirtualClock clock = VirtualClock.jumping().withGrace(Duration.ZERO);
            AtomicReference<Scope> open = new AtomicReference<>();
            int spins = i;
            Thread canceller = Thread.ofPlatform().start(() -> {
                while (open.get() == null) {
                    Thread.onSpinWait();
                }
                for (int k = 0; k < spins * 10; k++) {
                    Thread.onSpinWait();
                }
                open.get().cancel("from outside");
            });

            Throwable thrown = catchThrowable(() -> scope().clock(clock)
                    .deadline(ofMillis(40))
                    .run(s -> {
                        open.set(s);
                        for (int f = 0; f < 5; f++) {
                            int k = f;
                            s.fork(() -> scope().deadline(ofMillis(5 + k)).attempt(() -> {
                                Selvedge.sleep(ofMillis(5 + k));
                                return 1;
                            }));
                            s.fork(() -> Selvedge.sleep(ofMillis(40)));
                        }
                    }));
            canceller.join();

            // null if all had slept before the news of the cancel reached them
            assertThat(thrown)
                    .satisfiesAnyOf(
                            t -> assertThat(t).isNull(),
                            t -> assertThat(t).isInstanceOf(ScopeCancelledException.class),
                            t -> assertThat(t).isInstanceOf(DeadlineExceededException.class));
            assertThat(clock.remains()).isEmpty();
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    @Test
    void external_work_that_ends_while_others_come_and_go_gets_its_turn_back() throws Exception {
        for (int i = 0; i < 100; i++) {
            VirtualClock clock = VirtualClock.jumping();
            int[] unguarded = {0};

            scope().clock(clock).map(Collections.nCopies(10, 20), times -> {
                for (int k = 0; k < times; k++) {
                    clock.external(() -> LockSupport.parkNanos(1_000));
                    int seen = unguarded[0];
                    Thread.yield();
                    unguarded[0] = seen + 1;
                    Selvedge.sleep(Duration.ZERO);
                }
                return times;
            });

            assertThat(unguarded[0]).isEqualTo(200);
            assertThat(clock.remains()).isEmpty();
        }
    }

    @Test
    void many_threads_that_take_no_part_wait_on_one_clock_as_guests() throws Exception {
        VirtualClock clock = VirtualClock.jumping();
        List<Thread> threads = new ArrayList<>();
        AtomicInteger late = new AtomicInteger();
        for (int t = 0; t < 50; t++) {
            threads.add(Thread.ofVirtual().start(() -> {
                for (int k = 0; k < 100; k++) {
                    Deadline due = clock.after(ofMillis(1 + k % 7));
                    try {
                        if (clock.waiter().await(due) || !due.passed()) {
                            late.incrementAndGet();
                        }
                    } catch (InterruptedException e) {
                        late.incrementAndGet();
                    }
                }
            }));
        }
        for (Thread t : threads) {
            t.join();
        }

        assertThat(late.get()).isZero();
        assertThat(clock.remains()).isEmpty();
    }

    @Test
    void foreign_threads_that_look_at_a_clock_do_not_disturb_it() throws Exception {
        VirtualClock clock = VirtualClock.jumping();
        AtomicBoolean over = new AtomicBoolean();
        FutureTask<Boolean> looks = new FutureTask<>(() -> {
            boolean forward = true;
            long last = 0;
            while (!over.get()) {
                long now = clock.nanoTime();
                forward &= now >= last
                        && clock.pending().stream().noneMatch(p -> p.name().isEmpty());
                last = now;
            }
            return forward;
        });
        Thread looker = Thread.ofPlatform().start(looks);

        scope().clock(clock).map(Collections.nCopies(50, 100), times -> {
            for (int k = 0; k < times; k++) {
                Selvedge.sleep(ofMillis(k % 5));
            }
            return times;
        });
        over.set(true);
        looker.join();

        assertThat(looks.get()).isTrue();
        assertThat(clock.elapsed()).isEqualTo(ofMillis(200));
    }

    @Test
    void a_manual_clock_is_moved_by_one_thread_while_scopes_come_and_go_in_others() throws Exception {
        VirtualClock clock = VirtualClock.manual();
        List<FutureTask<Integer>> tasks = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            FutureTask<Integer> task = new FutureTask<>(() -> {
                int ended = 0;
                for (int k = 0; k < 100; k++) {
                    ended += scope().clock(clock)
                            .gather(
                                    () -> {
                                        Selvedge.sleep(ofMillis(3));
                                        return 1;
                                    },
                                    () -> {
                                        Selvedge.sleep(ofMillis(5));
                                        return 1;
                                    })
                            .size();
                }
                return ended;
            });
            tasks.add(task);
            Thread.ofVirtual().start(task);
        }
        while (!tasks.stream().allMatch(FutureTask::isDone)) {
            clock.advance(ofMillis(1));
        }

        for (FutureTask<Integer> task : tasks) {
            assertThat(task.get()).isEqualTo(200);
        }
        assertThat(clock.remains()).isEmpty();
    }

    @Test
    void raw_blocks_and_waits_on_the_clock_mixed_at_random_end_and_are_never_early() throws Exception {
        VirtualClock clock = VirtualClock.jumping();
        AtomicInteger early = new AtomicInteger();
        LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();

        scope().clock(clock).map(List.of(1, 2, 3, 4, 5, 6), seed -> {
            Random random = new Random(seed);
            for (int k = 0; k < 15; k++) {
                long before = clock.nanoTime();
                switch (random.nextInt(4)) {
                    case 0 -> {
                        Selvedge.sleep(ofMillis(7));
                        early.addAndGet(clock.nanoTime() - before < 7_000_000 ? 1 : 0);
                    }
                    case 1 -> Thread.sleep(random.nextInt(30));
                    case 2 -> {
                        queue.put(k);
                        int unused = queue.take();
                    }
                    default -> clock.external(() -> Thread.sleep(random.nextInt(30)));
                }
            }
            return seed;
        });

        assertThat(early.get()).isZero();
        assertThat(clock.remains()).isEmpty();
    }

    @Test
    void a_clock_that_gets_stuck_lets_hundreds_go() {
        for (int i = 0; i < 3; i++) {
            VirtualClock clock = VirtualClock.jumping();
            CountDownLatch ended = new CountDownLatch(300);

            Throwable thrown = catchThrowable(() -> scope().clock(clock).run(s -> {
                for (int f = 0; f < 300; f++) {
                    s.fork(() -> {
                        try {
                            scope().run(inner ->
                                    inner.fork(() -> clock.waiter("nothing").await(clock.never())));
                        } finally {
                            ended.countDown();
                        }
                    });
                }
            }));

            assertThat(thrown).isInstanceOf(StuckClockError.class);
            assertThat(ended.getCount()).isZero();
            assertThat(clock.remains()).isEmpty();
        }
    }
}
