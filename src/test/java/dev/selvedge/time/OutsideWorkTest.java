package dev.selvedge.time;

import static dev.selvedge.Selvedge.scope;
import static dev.selvedge.time.Alarms.alarm;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.Catalogue;
import dev.selvedge.DeadlineExceededException;
import dev.selvedge.Selvedge;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A jumping clock beside work that blocks in real time. */
@Timeout(60)
class OutsideWorkTest {

    private static final Logger LOG = Logger.getLogger("dev.selvedge.time");

    private final VirtualClock clock = VirtualClock.jumping();
    private final List<String> trail = Collections.synchronizedList(new ArrayList<>());
    private long start;

    @BeforeEach
    void look_at_the_real_time() {
        LOG.setLevel(Level.WARNING); // that a clock ticks is no news here
        start = System.nanoTime();
    }

    @AfterEach
    void log_as_before() {
        LOG.setLevel(null);
    }

    /** Asks for the virtual time first: the real one has gone further when it is asked for. */
    private void theClockIsNotAheadOfRealTime() {
        Duration virtual = clock.elapsed();
        Duration real = Duration.ofNanos(System.nanoTime() - start);
        assertThat(virtual).isLessThanOrEqualTo(real);
    }

    private Duration real() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    // Raw sleeps.

    @Test
    @Catalogue({159, 182})
    void a_raw_sleep_within_a_longer_deadline_ends_by_itself() {
        String result = scope().clock(clock).deadline(ofSeconds(5)).call(() -> {
            Thread.sleep(50);
            return "slept";
        });

        assertThat(result).isEqualTo("slept");
        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(50));
        theClockIsNotAheadOfRealTime();
    }

    @Test
    @Catalogue({160, 182})
    void a_raw_sleep_is_cut_off_by_a_shorter_deadline_not_before_so_much_real_time_has_passed() {
        assertThatThrownBy(() -> scope().clock(clock).deadline(ofMillis(20)).run(() -> Thread.sleep(60_000)))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageStartingWith(
                        "the scope exceeded its deadline of 20 ms (after "); // as long as the hang took to end

        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(20));
        assertThat(clock.elapsed()).isGreaterThanOrEqualTo(ofMillis(20));
        theClockIsNotAheadOfRealTime();
    }

    @Test
    @Catalogue(160)
    void what_is_due_while_the_time_ticks_happens_at_its_exact_moment() {
        List<Duration> rung = Collections.synchronizedList(new ArrayList<>());
        for (int millis : new int[] {35, 10, 20, 60}) {
            clock.set(alarm(() -> rung.add(clock.elapsed())), clock.after(ofMillis(millis)));
        }

        scope().clock(clock).run(() -> {
            while (rung.size() < 4) {
                Thread.sleep(20);
            }
        });

        assertThat(rung).containsExactly(ofMillis(10), ofMillis(20), ofMillis(35), ofMillis(60));
        theClockIsNotAheadOfRealTime();
    }

    @Test
    @Catalogue(182)
    void a_sleep_on_the_clock_beside_a_raw_one_takes_real_time() {
        scope().clock(clock).run(s -> {
            s.fork("raw", () -> {
                Thread.sleep(150);
                trail.add("raw");
            });
            s.fork("on the clock", () -> {
                Selvedge.sleep(ofHours(1));
                trail.add("on the clock");
            });
        });

        assertThat(trail).containsExactly("raw", "on the clock");
        assertThat(clock.elapsed()).isGreaterThanOrEqualTo(ofHours(1));
        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(150));
    }

    @Test
    @Catalogue(160)
    void a_raw_hang_is_ended_by_the_deadline() {
        CountDownLatch never = new CountDownLatch(1);

        assertThatThrownBy(() -> scope().clock(clock).deadline(ofMillis(100)).run(never::await))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageStartingWith(
                        "the scope exceeded its deadline of 100 ms (after "); // as long as the hang took to end

        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(100));
        theClockIsNotAheadOfRealTime();
    }

    @Test
    @Catalogue(160)
    void a_raw_hang_in_each_of_many_forks_is_ended_by_the_deadline() {
        CountDownLatch never = new CountDownLatch(1);

        assertThatThrownBy(() -> scope().clock(clock).deadline(ofMillis(100)).map(Collections.nCopies(5, 1), i -> {
                    never.await();
                    return i;
                }))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageEndingWith("; not finished: fork-1, fork-2, fork-3, fork-4, fork-5");

        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(100));
        theClockIsNotAheadOfRealTime();
    }

    // Processes.

    @Test
    @Catalogue(161)
    void a_child_process_that_is_waited_for_undeclared_is_no_timeout() throws Exception {
        int exit = scope().clock(clock)
                .deadline(ofSeconds(5))
                .call(() -> new ProcessBuilder("sleep", "0.1").start().waitFor());

        assertThat(exit).isZero();
        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(100));
        theClockIsNotAheadOfRealTime();
    }

    @Test
    @Catalogue(161)
    void a_child_process_that_is_declared_is_no_timeout() throws Exception {
        int exit = scope().clock(clock)
                .deadline(ofSeconds(5))
                .call(() -> clock.<Integer, IOException>external(
                        () -> new ProcessBuilder("sleep", "0.1").start().waitFor()));

        assertThat(exit).isZero();
        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(100));
        theClockIsNotAheadOfRealTime();
    }

    @Test
    @Catalogue(160)
    void a_child_process_outlives_a_shorter_deadline_and_the_block_times_out() throws Exception {
        Process child = new ProcessBuilder("sleep", "60").start();
        try {
            assertThatThrownBy(() -> scope().clock(clock)
                            .deadline(ofMillis(50))
                            .run(() -> clock.external((TimeSource.VoidWork<RuntimeException>) child::waitFor)))
                    .isInstanceOf(DeadlineExceededException.class);

            assertThat(real()).isGreaterThanOrEqualTo(ofMillis(50));
            assertThat(child.isAlive()).isTrue();
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    @Test
    @Catalogue({161, 183})
    void the_output_of_a_child_process_is_read_as_external_work() throws Exception {
        String read = scope().clock(clock)
                .deadline(ofSeconds(5))
                .call(() -> clock.external(() -> {
                    Process child = new ProcessBuilder("sh", "-c", "sleep 0.1; echo done").start();
                    try (InputStream out = child.getInputStream()) {
                        return new String(out.readAllBytes(), UTF_8);
                    }
                }));

        assertThat(read).isEqualTo("done\n");
        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(100));
        theClockIsNotAheadOfRealTime();
    }

    // Sockets.

    @Test
    @Catalogue(162)
    void a_thousand_real_messages_over_a_socket_are_no_timeout() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<Integer> messages = scope().clock(clock)
                    .deadline(ofSeconds(1))
                    .gather(() -> served(server), () -> asked(server.getLocalPort(), 1_000));

            assertThat(messages).containsExactly(1_000, 1_000);
        }
        System.out.println("1,000 messages: " + clock.elapsed().toMillis() + " ms on the clock, " + real().toMillis()
                + " ms in reality");

        theClockIsNotAheadOfRealTime();
    }

    @Test
    @Catalogue(162)
    void a_message_that_is_late_in_reality_is_not_late_on_the_clock() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            scope().clock(clock).run(s -> {
                s.fork("server", () -> served(server));
                s.fork("client", () -> scope().deadline(ofSeconds(20)).call(() -> asked(server.getLocalPort(), 1)));
                s.fork("far ahead", () -> Selvedge.sleep(ofHours(1)));
            });
        }

        assertThat(clock.elapsed()).isGreaterThanOrEqualTo(ofHours(1));
    }

    private static int served(ServerSocket server) throws IOException {
        int messages = 0;
        try (Socket peer = server.accept()) {
            peer.setTcpNoDelay(true);
            for (int b = peer.getInputStream().read();
                    b >= 0;
                    b = peer.getInputStream().read()) {
                peer.getOutputStream().write(b + 1);
                messages++;
            }
        }
        return messages;
    }

    private static int asked(int port, int times) throws IOException {
        int answers = 0;
        try (Socket peer = new Socket(InetAddress.getLoopbackAddress(), port)) {
            peer.setTcpNoDelay(true);
            for (int i = 0; i < times; i++) {
                peer.getOutputStream().write(i % 100);
                answers += peer.getInputStream().read() == i % 100 + 1 ? 1 : 0;
            }
        }
        return answers;
    }

    @Test
    @Catalogue(183)
    void a_socket_read_on_a_platform_thread_is_declared() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Socket> accepted = new CompletableFuture<>();
            Thread peer = Thread.ofPlatform().start(() -> answerLate(server, accepted));
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort())) {
                int read = scope().clock(clock)
                        .threads(Thread.ofPlatform().factory())
                        .deadline(ofSeconds(5))
                        .race(() -> {
                            InputStream in = socket.getInputStream();
                            return clock.<Integer, IOException>external(in::read);
                        });

                assertThat(read).isEqualTo(42);
            }
            peer.join();
            accepted.get().close();
        }
        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(100));
        theClockIsNotAheadOfRealTime();
    }

    /** Late in real time, which is what this is about. */
    private static void answerLate(ServerSocket server, CompletableFuture<Socket> accepted) {
        try {
            Socket socket = server.accept();
            accepted.complete(socket);
            Thread.sleep(100);
            socket.getOutputStream().write(42);
        } catch (IOException | InterruptedException e) {
            accepted.completeExceptionally(e);
        }
    }

    // Other people's queues and threads.

    @Test
    @Catalogue({160, 183})
    void forks_can_hand_over_by_a_queue_of_the_jdk() {
        BlockingQueue<Integer> there = new LinkedBlockingQueue<>();
        BlockingQueue<Integer> back = new LinkedBlockingQueue<>();

        List<Integer> sums = scope().clock(clock)
                .gather(
                        () -> {
                            int sum = 0;
                            for (int i = 0; i < 1_000; i++) {
                                sum += there.take();
                                back.put(i);
                            }
                            return sum;
                        },
                        () -> {
                            int sum = 0;
                            for (int i = 0; i < 1_000; i++) {
                                there.put(i);
                                sum += back.take();
                            }
                            return sum;
                        });

        assertThat(sums).containsExactly(499_500, 499_500);
        theClockIsNotAheadOfRealTime();
    }

    @Test
    @Catalogue(162)
    void what_a_foreign_thread_brings_within_the_grace_is_not_overtaken_by_a_jump() throws Exception {
        VirtualClock patient = VirtualClock.jumping().withGrace(ofSeconds(20));
        AtomicReference<Waiter> waiter = new AtomicReference<>();
        Thread foreign = Thread.ofPlatform().start(() -> {
            while (waiter.get() == null) {
                Thread.onSpinWait();
            }
            waiter.get().wake();
        });

        boolean woken = scope().clock(patient).call(() -> {
            Waiter w = patient.waiter("news").fromOutside();
            waiter.set(w);
            return w.await(patient.after(ofHours(1)));
        });
        foreign.join();

        assertThat(woken).isTrue();
        assertThat(patient.elapsed()).isZero();
    }

    @Test
    @Catalogue(162)
    void a_jump_beside_a_wait_for_news_comes_after_the_grace_and_no_sooner() {
        VirtualClock patient = VirtualClock.jumping().withGrace(ofMillis(80));

        boolean woken = scope().clock(patient)
                .call(() -> patient.waiter("news").fromOutside().await(patient.after(ofHours(1))));

        assertThat(woken).isFalse();
        assertThat(patient.elapsed()).isEqualTo(ofHours(1));
        assertThat(real()).isGreaterThanOrEqualTo(ofMillis(80));
    }

    @Test
    @Catalogue(162)
    void a_completion_stage_completed_by_a_foreign_thread_is_not_overtaken() throws Exception {
        VirtualClock patient = VirtualClock.jumping().withGrace(ofSeconds(20));
        CompletableFuture<String> stage = new CompletableFuture<>();
        Thread foreign = Thread.ofPlatform().unstarted(() -> stage.complete("news"));

        String news = scope().clock(patient).deadline(ofSeconds(1)).call(() -> {
            foreign.start();
            return Selvedge.await(stage);
        });
        foreign.join();

        assertThat(news).isEqualTo("news");
        assertThat(patient.elapsed()).isZero();
    }

    // external.

    @Test
    @Catalogue(182)
    void external_work_of_a_thread_that_takes_no_part_lets_the_time_tick() throws Exception {
        CountDownLatch working = new CountDownLatch(1);
        CountDownLatch enough = new CountDownLatch(1);
        FutureTask<String> foreign = new FutureTask<>(() -> clock.external(() -> {
            working.countDown();
            enough.await();
            return "worked";
        }));
        Thread thread = Thread.ofPlatform().start(foreign);
        working.await();

        scope().clock(clock).run(() -> Selvedge.sleep(ofMillis(100)));
        Duration real = real();
        enough.countDown();
        thread.join();

        assertThat(foreign.get()).isEqualTo("worked");
        assertThat(real).isGreaterThanOrEqualTo(ofMillis(100));
        assertThat(clock.elapsed()).isEqualTo(ofMillis(100));
    }

    @Test
    @Catalogue(175)
    void external_work_gives_its_turn_to_the_next_and_gets_one_back_behind_those_who_are_ready() {
        CountDownLatch second = new CountDownLatch(1);
        AtomicBoolean back = new AtomicBoolean();

        scope().clock(clock).run(s -> {
            s.fork("first", () -> {
                trail.add("first goes outside");
                clock.external(() -> {
                    second.await(); // comes to an end only if another has the turn meanwhile
                    back.set(true);
                });
                trail.add("first is back");
            });
            s.fork("second", () -> {
                trail.add("second lets first go on");
                second.countDown();
                while (!back.get()) {
                    Thread.onSpinWait(); // first is done outside, and still waits for its turn
                }
                trail.add("second ends");
            });
        });

        assertThat(trail)
                .containsExactly("first goes outside", "second lets first go on", "second ends", "first is back");
    }

    @Test
    void what_external_work_throws_comes_out_and_the_clock_goes_on() {
        IOException thrown = new IOException("broken");

        scope().clock(clock).run(() -> {
            assertThatThrownBy(() -> clock.external(() -> {
                        throw thrown;
                    }))
                    .isSameAs(thrown);
            Selvedge.sleep(ofHours(1));
        });

        assertThat(clock.elapsed()).isEqualTo(ofHours(1));
    }

    @Test
    void external_work_that_is_cut_off_by_a_sibling_is_interrupted() {
        CountDownLatch outside = new CountDownLatch(1);

        assertThatThrownBy(() -> scope().clock(clock).run(s -> {
                    s.fork(
                            "outside",
                            () -> clock.external(() -> {
                                outside.countDown();
                                new CountDownLatch(1).await();
                            }));
                    s.fork("fails", () -> {
                        outside.await();
                        throw new IOException("fails");
                    });
                }))
                .hasMessageContaining("fails")
                .hasCauseInstanceOf(IOException.class);
    }

    @Test
    void external_work_within_external_work_ends_once() throws Exception {
        boolean[] woken = {true};

        scope().clock(clock).run(() -> {
            int one = clock.external(() -> clock.external(() -> 1));
            assertThat(one).isEqualTo(1);
            woken[0] = clock.waiter().await(clock.after(ofHours(1)));
        });

        assertThat(woken[0]).isFalse();
        assertThat(clock.elapsed()).isEqualTo(ofHours(1));
    }

    @Test
    void a_wait_on_the_clock_within_external_work_gets_the_turn_back_once() throws Exception {
        scope().clock(clock).run(s -> {
            s.fork("outside", () -> {
                clock.external(() -> Selvedge.sleep(ofMillis(30)));
                Duration back = clock.elapsed();
                for (int i = 0; i < 3; i++) {
                    trail.add("outside " + clock.elapsed().minus(back).toSeconds());
                    Selvedge.sleep(ofSeconds(1));
                }
            });
            s.fork("beside", () -> {
                Selvedge.sleep(ofSeconds(10));
                trail.add("beside");
            });
        });

        assertThat(trail).containsExactly("outside 0", "outside 1", "outside 2", "beside");
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(10));
    }

    // Who is busy, who waits.

    @Test
    @Catalogue(176)
    void an_owner_in_a_join_waits_and_does_not_hold_the_clock() {
        scope().clock(clock).run(s -> {
            boolean joined = s.fork(() -> {
                        Selvedge.sleep(ofHours(1));
                        return true;
                    })
                    .join();
            assertThat(joined).isTrue();
        });

        assertThat(clock.elapsed()).isEqualTo(ofHours(1));
    }

    @Test
    @Catalogue({175, 158})
    void the_clock_stands_still_while_a_participant_runs() {
        AtomicBoolean flag = new AtomicBoolean();
        List<Duration> seen = new ArrayList<>();
        Thread foreign = Thread.ofPlatform().unstarted(() -> {
            for (long from = System.nanoTime(); System.nanoTime() - from < 200_000_000; ) {
                Thread.onSpinWait();
            }
            flag.set(true);
        });

        scope().clock(clock).run(s -> {
            s.fork("runs", () -> {
                foreign.start();
                while (!flag.get()) {
                    Thread.onSpinWait();
                }
                seen.add(clock.elapsed());
            });
            s.fork("waits", () -> Selvedge.sleep(ofMillis(1)));
        });

        assertThat(seen).containsExactly(Duration.ZERO);
        assertThat(clock.elapsed()).isEqualTo(ofMillis(1));
    }

    @Test
    @Catalogue(175)
    void the_clock_stands_still_between_an_unpark_and_the_running_of_it() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            VirtualClock fresh = VirtualClock.jumping();
            AtomicReference<Waiter> waiter = new AtomicReference<>();
            List<Duration> woken = new ArrayList<>();

            scope().clock(fresh).run(s -> {
                s.fork("sleeper", () -> Selvedge.sleep(ofHours(1)));
                s.fork("wakee", () -> {
                    Waiter w = fresh.waiter();
                    waiter.set(w);
                    w.await(fresh.never());
                    woken.add(fresh.elapsed());
                });
                s.fork("waker", () -> waiter.get().wake());
            });

            assertThat(woken).containsExactly(Duration.ZERO);
        }
    }

    @Test
    void the_owner_may_be_a_platform_thread() throws Exception {
        FutureTask<Duration> task = new FutureTask<>(() -> {
            scope().clock(clock).map(List.of(1, 2), i -> {
                Selvedge.sleep(ofHours(i));
                return i;
            });
            return clock.elapsed();
        });

        Thread.ofPlatform().start(task).join();

        assertThat(task.get()).isEqualTo(ofHours(2));
    }

    @Test
    @Catalogue(163)
    void forks_may_be_platform_threads() {
        List<Boolean> virtual = scope().clock(clock)
                .threads(Thread.ofPlatform().factory())
                .map(List.of(3, 1, 2), i -> {
                    Selvedge.sleep(ofHours(i));
                    trail.add(i + " h");
                    return Thread.currentThread().isVirtual();
                });

        assertThat(virtual).containsExactly(false, false, false);
        assertThat(trail).containsExactly("1 h", "2 h", "3 h");
        assertThat(clock.elapsed()).isEqualTo(ofHours(3));
    }

    @Test
    void a_raw_wait_on_a_platform_thread_is_seen_too() {
        scope().clock(clock)
                .threads(Thread.ofPlatform().factory())
                .deadline(ofSeconds(20))
                .map(List.of(1, 2, 3), i -> {
                    Thread.sleep(60);
                    return i;
                });

        theClockIsNotAheadOfRealTime();
    }

    @Test
    void a_thread_that_waits_for_a_monitor_is_seen_too() {
        Object monitor = new Object();
        CountDownLatch held = new CountDownLatch(1);

        scope().clock(clock).threads(Thread.ofPlatform().factory()).run(s -> {
            s.fork("holder", () -> {
                synchronized (monitor) {
                    held.countDown();
                    Selvedge.sleep(ofMillis(30));
                    trail.add("holder");
                }
            });
            s.fork("next", () -> {
                held.await();
                synchronized (monitor) {
                    trail.add("next");
                }
            });
        });

        assertThat(trail).containsExactly("holder", "next");
        theClockIsNotAheadOfRealTime();
    }

    // Races.

    @RepeatedTest(5)
    void foreign_interrupts_and_cancels_do_not_lose_a_turn() throws Exception {
        for (int i = 0; i < 200; i++) {
            VirtualClock fresh = VirtualClock.jumping().withGrace(Duration.ZERO);
            AtomicReference<dev.selvedge.Scope> open = new AtomicReference<>();
            CompletableFuture<Thread> owner = new CompletableFuture<>();
            int round = i;
            FutureTask<String> task = new FutureTask<>(() -> {
                owner.complete(Thread.currentThread());
                try {
                    scope().clock(fresh).run(s -> {
                        open.set(s);
                        for (int f = 0; f < 10; f++) {
                            s.fork(() -> {
                                for (int k = 0; k < 20; k++) {
                                    Selvedge.sleep(ofMillis(1 + k % 3));
                                }
                            });
                        }
                    });
                    return "ended";
                } catch (RuntimeException e) {
                    return "cut off";
                } finally {
                    Thread.interrupted();
                }
            });
            Thread runner = Thread.ofVirtual().start(task);
            while (open.get() == null) {
                Thread.onSpinWait();
            }
            for (int spin = 0; spin < round * 50; spin++) {
                Thread.onSpinWait();
            }
            if (round % 3 == 0) {
                open.get().cancel("from outside");
            } else if (round % 3 == 1) {
                owner.get().interrupt();
            } else {
                fresh.interrupt(owner.get());
                open.get().cancel("from outside");
            }
            runner.join();

            assertThat(task.get()).isIn("ended", "cut off");
            assertThat(fresh.remains()).isEmpty();
        }
    }

    @Test
    void many_forks_that_sleep_wake_each_other_and_block_come_to_an_end() {
        scope().clock(clock).map(Collections.nCopies(500, 20), times -> {
            for (int i = 0; i < times; i++) {
                Selvedge.sleep(ofMillis(i % 4));
                scope().call(() -> {
                    Thread.yield();
                    return null;
                });
            }
            return times;
        });

        assertThat(clock.elapsed()).isEqualTo(ofMillis(30));
        assertThat(clock.remains()).isEmpty();
    }

    @Test
    void clocks_used_by_many_threads_at_once_all_go_on() throws Exception {
        List<Thread> threads = new ArrayList<>();
        List<Duration> ends = Collections.synchronizedList(new ArrayList<>());
        for (int t = 0; t < 8; t++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 20; i++) {
                    VirtualClock fresh = VirtualClock.jumping();
                    CountDownLatch raw = new CountDownLatch(1);
                    try {
                        scope().clock(fresh).deadline(ofMillis(25)).run(raw::await); // needs the lookout
                    } catch (DeadlineExceededException e) {
                        ends.add(e.elapsed());
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(ends).hasSize(160).allMatch(d -> d.compareTo(ofMillis(25)) >= 0);
    }

    @Test
    void a_stream_of_a_child_and_a_sleep_on_the_clock_go_on_side_by_side() throws Exception {
        scope().clock(clock).deadline(ofSeconds(20)).run(s -> {
            s.fork("ticks", () -> {
                for (int i = 0; i < 5; i++) {
                    Selvedge.sleep(ofMillis(10));
                }
                trail.add("ticked");
            });
            s.fork(
                    "reads",
                    () -> clock.external(() -> {
                        Process child = new ProcessBuilder("sh", "-c", "sleep 0.3; printf x").start();
                        try (DataInputStream in = new DataInputStream(child.getInputStream())) {
                            trail.add("read " + (char) in.readByte());
                        }
                    }));
        });

        assertThat(trail).containsExactlyInAnyOrder("ticked", "read x");
        theClockIsNotAheadOfRealTime();
    }
}
