package dev.selvedge.time;

import static dev.selvedge.Selvedge.scope;
import static dev.selvedge.time.Alarms.alarm;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.selvedge.Catalogue;
import dev.selvedge.DeadlineExceededException;
import dev.selvedge.Fork;
import dev.selvedge.Log;
import dev.selvedge.Scope;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeEvent;
import dev.selvedge.Selvedge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clocks on which nothing happens any more, and clocks of which that might be thought. */
@Timeout(60)
class StuckClockTest {

    private final VirtualClock clock = VirtualClock.jumping();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final Log log = Log.of("dev.selvedge.time");

    @AfterEach
    void no_thread_is_left() {
        log.close();
        boolean flag = Thread.interrupted();
        assertThat(threads).noneMatch(Thread::isAlive);
        assertThat(flag).as("the interrupt flag is left set").isFalse();
    }

    private void here() {
        threads.add(Thread.currentThread());
    }

    // Deadlocks.

    @Test
    @Catalogue(173)
    void a_cycle_of_joins_is_reported_with_each_participant_what_it_waits_for_and_where() {
        StuckClockError stuck = catchThrowableOfType(StuckClockError.class, () -> cycle(clock));

        System.out.println(stuck.getMessage());
        assertThat(withoutStacks(stuck))
                .containsExactly(
                        "a deadlock on a virtual clock at 3 s: all who take part wait, nothing is"
                                + " scheduled and nothing is external",
                        "  \"page\" waits for the fork \"a\"",
                        "  \"a\" waits for the fork \"b\"",
                        "  \"b\" waits for the fork \"c\"",
                        "  \"c\" waits for the fork \"a\"");
        for (String who : List.of("aJoins", "bJoins", "cJoins")) {
            assertThat(stuck.getMessage()).contains("StuckClockTest." + who + "(StuckClockTest.java:");
        }
        assertThat(stuck.getStackTrace()).isEmpty();
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(3));
        assertThat(log.at(Level.SEVERE)).containsExactly(stuck.getMessage());
        assertThat(clock.remains()).isEmpty();
    }

    private void cycle(VirtualClock clock) {
        List<Fork<Integer>> forks = new ArrayList<>();
        scope("page").clock(clock).run(s -> {
            forks.add(s.fork("a", () -> aJoins(forks)));
            forks.add(s.fork("b", () -> bJoins(forks)));
            forks.add(s.fork("c", () -> cJoins(forks)));
        });
    }

    private int aJoins(List<Fork<Integer>> forks) {
        here();
        Selvedge.sleep(ofSeconds(1));
        return forks.get(1).join();
    }

    private int bJoins(List<Fork<Integer>> forks) {
        here();
        Selvedge.sleep(ofSeconds(2));
        return forks.get(2).join();
    }

    private int cJoins(List<Fork<Integer>> forks) {
        here();
        Selvedge.sleep(ofSeconds(3));
        return forks.get(0).join();
    }

    private static List<String> withoutStacks(StuckClockError e) {
        return String.valueOf(e.getMessage())
                .lines()
                .filter(line -> !line.startsWith("      "))
                .toList();
    }

    @Test
    @Catalogue({169, 173})
    void a_sleep_too_long_to_be_counted_alone_on_a_clock_is_a_deadlock() {
        StuckClockError stuck = catchThrowableOfType(
                StuckClockError.class, () -> scope().clock(clock).run(() -> Selvedge.sleep(ofNanos(Long.MAX_VALUE))));

        assertThat(withoutStacks(stuck))
                .containsExactly(
                        "a deadlock on a virtual clock at 0 s: all who take part wait, nothing is"
                                + " scheduled and nothing is external",
                        "  \"owner\" waits for a sleep of 2562047 h 47 min");
        assertThat(clock.elapsed()).isZero();
    }

    @Test
    @Catalogue(169)
    void a_sleep_too_long_to_be_counted_is_cut_off_by_a_deadline() {
        Throwable thrown = catchThrowable(
                () -> scope().clock(clock).deadline(ofHours(1)).run(() -> Selvedge.sleep(ofSeconds(Long.MAX_VALUE))));

        assertThat(thrown).hasMessage("the scope exceeded its deadline of 1 h (after 1 h)");
    }

    @Test
    @Catalogue(169)
    void the_longest_sleep_that_can_be_counted_is_slept() {
        scope().clock(clock).run(() -> Selvedge.sleep(ofNanos(Long.MAX_VALUE - 1)));

        assertThat(clock.elapsed()).isEqualTo(ofNanos(Long.MAX_VALUE - 1));
        assertThat(clock.after(ofSeconds(1))).isSameAs(clock.never());
    }

    @Test
    @Catalogue(173)
    void a_waiter_that_nobody_wakes_is_a_deadlock_of_the_owner_alone() {
        StuckClockError stuck = catchThrowableOfType(
                StuckClockError.class,
                () -> scope("alone").clock(clock).run(() -> clock.waiter().await(clock.never())));

        assertThat(withoutStacks(stuck)).last().isEqualTo("  \"alone\" waits for a wake-up");
    }

    @Test
    void every_later_wait_on_a_stuck_clock_throws_the_same() {
        StuckClockError stuck = catchThrowableOfType(StuckClockError.class, () -> cycle(clock));

        assertThatThrownBy(() -> scope().clock(clock).run(() -> Selvedge.sleep(ofSeconds(1))))
                .isSameAs(stuck);
        assertThatThrownBy(() -> clock.waiter().await(clock.after(ofSeconds(1))))
                .isSameAs(stuck);
        assertThatThrownBy(() -> clock.advance(ofSeconds(1))).isSameAs(stuck);
        assertThatThrownBy(() -> scope().clock(clock).gather(() -> {
                    Selvedge.sleep(ofSeconds(1));
                    return 1;
                }))
                .isSameAs(stuck);
        assertThat(clock.remains()).isEmpty();
    }

    @Test
    void what_does_not_wait_ends_on_a_stuck_clock() {
        StuckClockError stuck = catchThrowableOfType(StuckClockError.class, () -> cycle(clock));

        String value = scope().clock(clock).call(() -> "value");

        assertThat(value).isEqualTo("value");
        assertThat(stuck).isNotNull();
    }

    @Test
    void resources_are_closed_and_what_fails_thereby_is_reported_though_the_clock_is_stuck() {
        List<String> closed = Collections.synchronizedList(new ArrayList<>());
        List<ScopeEvent> events = Collections.synchronizedList(new ArrayList<>());
        IllegalStateException thrown = new IllegalStateException("cannot be closed");

        StuckClockError stuck = catchThrowableOfType(
                StuckClockError.class,
                () -> scope("job").clock(clock).listener(events::add).run(s -> {
                    s.use(() -> closed.add("first"));
                    s.use(() -> {
                        throw thrown;
                    });
                    s.use(() -> closed.add("last"));
                    s.fork(() -> {
                        here();
                        return clock.waiter("what never comes").await(clock.never());
                    });
                }));

        assertThat(withoutStacks(stuck)).last().isEqualTo("  \"fork-1\" waits for what never comes");
        assertThat(closed).containsExactly("last", "first");
        assertThat(events.stream()
                        .filter(ScopeEvent.Unhandled.class::isInstance)
                        .map(e -> ((ScopeEvent.Unhandled) e).error()))
                .contains(thrown);
    }

    @Test
    void a_failure_that_was_there_before_the_clock_got_stuck_is_not_lost() {
        List<ScopeEvent> events = Collections.synchronizedList(new ArrayList<>());
        IllegalStateException failure = new IllegalStateException("failed before");

        Throwable thrown = catchThrowable(() -> scope("job")
                .clock(clock)
                .isolated()
                .listener(events::add)
                .run(s -> {
                    s.fork("fails", (dev.selvedge.Task.Void<?>) () -> {
                        throw failure;
                    });
                    s.fork("waits", () -> clock.waiter("what never comes").await(clock.never()));
                }));

        assertThat(thrown).isInstanceOf(StuckClockError.class);
        assertThat(events.stream()
                        .filter(ScopeEvent.Unhandled.class::isInstance)
                        .map(e -> ((ScopeEvent.Unhandled) e).error()))
                .contains(failure);
    }

    @Test
    void a_scope_inside_a_fork_ends_too() {
        StuckClockError stuck = catchThrowableOfType(
                StuckClockError.class,
                () -> scope("outer")
                        .clock(clock)
                        .run(s -> s.fork("middle", () -> {
                            here();
                            scope("inner")
                                    .run(t -> t.fork("innermost", () -> {
                                        here();
                                        scope("shield")
                                                .run(() -> Selvedge.shielded(() -> {
                                                    clock.waiter("what never comes")
                                                            .await(clock.never());
                                                }));
                                    }));
                        })));

        assertThat(withoutStacks(stuck))
                .containsExactly(
                        "a deadlock on a virtual clock at 0 s: all who take part wait, nothing is"
                                + " scheduled and nothing is external",
                        "  \"outer\" waits for the fork \"middle\"",
                        "  \"middle\" waits for the fork \"innermost\"",
                        "  \"innermost\" waits for what never comes");
    }

    // Who makes it tick.

    @Test
    @Catalogue(177)
    void the_one_who_blocks_outside_is_named_once_though_others_had_a_turn_after_it() {
        scope("page").clock(clock).run(s -> {
            s.fork("blocks", () -> Thread.sleep(100));
            s.fork("ends", () -> {});
        });

        assertThat(log.at(Level.INFO))
                .singleElement()
                .asString()
                .contains(" ticks along with real time while \"blocks\" ");
    }

    @Test
    @Catalogue(177)
    void of_two_who_block_outside_the_first_is_named() {
        scope("page").clock(clock).run(s -> {
            s.fork("first", () -> Thread.sleep(100));
            s.fork("second", () -> Thread.sleep(100));
        });

        assertThat(log.at(Level.INFO))
                .singleElement()
                .asString()
                .contains(" ticks along with real time while \"first\" ");
    }

    @Test
    @Catalogue(177)
    void a_body_that_blocks_outside_while_a_fork_sleeps_is_named() {
        scope("page").clock(clock).run(s -> {
            s.fork("sleeps", () -> Selvedge.sleep(ofMillis(50)));
            Thread.sleep(100);
        });

        assertThat(log.at(Level.INFO))
                .singleElement()
                .asString()
                .contains(" ticks along with real time while \"page\" ");
    }

    @Test
    void what_is_declared_is_no_news() {
        scope("page").clock(clock).deadline(ofMillis(20)).attempt(() -> {
            clock.external(() -> Thread.sleep(10_000));
            return null;
        });

        assertThat(log.at(Level.INFO)).isEmpty();
    }

    // Hangs that only real time shows.

    @Test
    @Catalogue(177)
    void a_participant_that_spins_is_named_in_a_warning_after_two_seconds() {
        scope().clock(clock).run(s -> {
            s.fork("spinner", () -> {
                here();
                spinUntilWarned();
            });
            s.fork("sleeper", () -> Selvedge.sleep(ofHours(1)));
        });

        assertThat(log.at(Level.WARNING)).hasSize(1);
        assertThat(log.at(Level.WARNING).get(0))
                .matches("(?s)a virtual clock at 0 s is held by \"spinner\", which has run for [2-9] s without"
                        + " waiting through the library\n      at .*")
                .contains("StuckClockTest.spinUntilWarned(StuckClockTest.java:");
        assertThat(clock.elapsed()).isEqualTo(ofHours(1));
    }

    @Test
    @Catalogue(177)
    void one_that_blocks_outside_first_and_spins_then_is_named_too() {
        scope().clock(clock).run(s -> {
            s.fork("spinner", () -> {
                Thread.sleep(100);
                spinUntilWarned();
            });
            s.fork("sleeper", () -> Selvedge.sleep(ofHours(1)));
        });

        assertThat(log.at(Level.WARNING)).hasSize(1);
        assertThat(log.at(Level.WARNING).get(0))
                .matches("(?s)a virtual clock at [0-9.]+ s is held by \"spinner\", which has run for [2-9] s"
                        + " without waiting through the library\n      at .*")
                .contains("StuckClockTest.spinUntilWarned(StuckClockTest.java:");
    }

    private void spinUntilWarned() {
        while (log.at(Level.WARNING).isEmpty()) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Catalogue(174)
    void a_participant_that_spins_for_good_makes_every_wait_throw_and_is_interrupted() {
        VirtualClock watched = clock.withWatchdog(ofSeconds(1));

        StuckClockError stuck = catchThrowableOfType(
                StuckClockError.class,
                () -> scope("page").clock(watched).run(s -> {
                    s.fork("spinner", () -> {
                        here();
                        spinUntilInterrupted();
                    });
                    s.fork("sleeper", () -> {
                        here();
                        Selvedge.sleep(ofHours(1));
                    });
                }));

        System.out.println(stuck.getMessage());
        assertThat(withoutStacks(stuck))
                .containsExactly(
                        "the watchdog: no event on a virtual clock at 0 s for 1 s of real time",
                        "  \"page\" waits for the fork \"spinner\"",
                        "  \"spinner\" runs",
                        "  \"sleeper\" waits for its turn, or works outside the library");
        assertThat(stuck.getMessage()).contains("StuckClockTest.spinUntilInterrupted(StuckClockTest.java:");
        assertThat(log.at(Level.SEVERE)).containsExactly(stuck.getMessage());
    }

    private static void spinUntilInterrupted() {
        while (!Thread.currentThread().isInterrupted()) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Catalogue(174)
    void a_raw_hang_of_the_owner_is_ended_by_the_watchdog() {
        VirtualClock watched = clock.withWatchdog(ofSeconds(1));
        CountDownLatch never = new CountDownLatch(1);

        Throwable thrown = catchThrowable(() -> scope("page").clock(watched).run(() -> never.await()));

        assertThat(thrown).isInstanceOf(StuckClockError.class);
        assertThat(log.at(Level.SEVERE)).hasSize(1);
        assertThat(log.at(Level.SEVERE).get(0))
                .matches("(?s)the watchdog: no event on a virtual clock at [0-9.]+ s for 1 s of real time\n"
                        + "  \"page\" is blocked outside the library\n      at .*CountDownLatch.await.*");
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Catalogue(174)
    void a_raw_hang_of_a_fork_is_ended_by_the_watchdog() {
        VirtualClock watched = clock.withWatchdog(ofSeconds(1));
        CountDownLatch never = new CountDownLatch(1);

        StuckClockError stuck = catchThrowableOfType(
                StuckClockError.class,
                () -> scope("page")
                        .clock(watched)
                        .run(s -> s.fork("hangs", () -> {
                            here();
                            never.await();
                        })));

        assertThat(withoutStacks(stuck).subList(1, 3))
                .containsExactly(
                        "  \"page\" waits for the fork \"hangs\"", "  \"hangs\" is blocked outside the library");
    }

    @Test
    @Catalogue(174)
    void a_deadline_as_long_as_the_watchdogs_time_ends_a_raw_hang_before_it() {
        VirtualClock watched =
                clock.withWatchdog(ofSeconds(1)); // its time is behind the real one, which the watchdog goes by

        assertThat(rawHang(watched, ofSeconds(1))).isInstanceOf(DeadlineExceededException.class);
        assertThat(watched.elapsed()).isEqualTo(ofSeconds(1));
    }

    @Test
    @Catalogue(174)
    void a_deadline_far_away_does_not_keep_the_watchdog_from_a_raw_hang() {
        assertThat(rawHang(clock.withWatchdog(ofMillis(400)), ofHours(1)))
                .isInstanceOf(StuckClockError.class)
                .message()
                .endsWith("due at 3600 s: the deadline of the scope \"page\"");
    }

    private static Throwable rawHang(VirtualClock watched, Duration deadline) {
        CountDownLatch never = new CountDownLatch(1);
        return catchThrowable(
                () -> scope("page").clock(watched).deadline(deadline).run(() -> never.await()));
    }

    @Test
    void a_report_shows_ten_events_and_how_many_more_are_scheduled() {
        VirtualClock manual = VirtualClock.manual().withWatchdog(ofMillis(200));
        for (int i = 0; i < 12; i++) {
            manual.set(alarm(() -> {}), manual.after(ofSeconds(i + 1)));
        }

        StuckClockError stuck = catchThrowableOfType(
                StuckClockError.class, () -> scope("page").clock(manual).run(() -> Selvedge.sleep(ofSeconds(5))));

        assertThat(withoutStacks(stuck).subList(2, 13))
                .startsWith("  due at 1 s: an alarm of dev.selvedge.time.Alarms$1")
                .contains("  due at 5 s: page: a sleep of 5 s")
                .endsWith("  and 3 more");
    }

    @Test
    @Catalogue(174)
    void a_wait_on_a_manual_clock_that_nobody_moves_is_ended_by_the_watchdog() {
        VirtualClock manual = VirtualClock.manual().withWatchdog(ofSeconds(1));

        StuckClockError stuck = catchThrowableOfType(
                StuckClockError.class, () -> scope("page").clock(manual).run(() -> Selvedge.sleep(ofSeconds(5))));

        assertThat(withoutStacks(stuck))
                .containsExactly(
                        "the watchdog: no event on a virtual clock at 0 s for 1 s of real time; it moves only by advance",
                        "  \"page\" waits for a sleep of 5 s",
                        "  due at 5 s: page: a sleep of 5 s");
    }

    @Test
    @Catalogue(173)
    void a_deadlock_on_a_manual_clock_is_ended_by_the_watchdog() {
        VirtualClock manual = VirtualClock.manual().withWatchdog(ofSeconds(1));

        StuckClockError stuck = catchThrowableOfType(
                StuckClockError.class,
                () -> scope("page")
                        .clock(manual)
                        .run(() -> manual.waiter("what never comes").await(manual.never())));

        assertThat(withoutStacks(stuck))
                .containsExactly(
                        "the watchdog: no event on a virtual clock at 0 s for 1 s of real time; it moves only by advance",
                        "  \"page\" waits for what never comes");
    }

    @Test
    @Catalogue(174)
    void what_happens_now_and_then_keeps_the_watchdog_quiet() {
        VirtualClock watched = clock.withWatchdog(ofSeconds(3));

        scope().clock(watched).run(s -> {
            s.fork("raw", () -> {
                for (int i = 0; i < 3; i++) {
                    Thread.sleep(1_200);
                    Selvedge.sleep(Duration.ZERO);
                }
            });
        });

        assertThat(log.at(Level.SEVERE)).isEmpty();
    }

    @Test
    void external_work_keeps_the_watchdog_quiet() throws Exception {
        VirtualClock watched = clock.withWatchdog(ofSeconds(1));

        int exit = scope().clock(watched)
                .call(() -> watched.<Integer, java.io.IOException>external(
                        () -> new ProcessBuilder("sleep", "1.5").start().waitFor()));

        assertThat(exit).isZero();
        assertThat(log.at(Level.SEVERE)).isEmpty();
    }

    // What is no deadlock.

    @Test
    @Catalogue(173)
    void a_wait_that_a_foreign_thread_may_end_is_no_deadlock_once_it_has_had_a_hand() throws Exception {
        AtomicReference<Scope> open = new AtomicReference<>();
        CompletableFuture<Waiter> first = new CompletableFuture<>();
        CountDownLatch goOn = new CountDownLatch(1);
        Thread foreign = Thread.ofPlatform().start(() -> {
            first.join().wake();
            try {
                goOn.await();
                Thread.sleep(900); // longer than all may wait for one another without a foreign hand in it
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            open.get().cancel("enough");
        });

        Throwable thrown = catchThrowable(() -> scope("page").clock(clock).run(s -> {
            open.set(s);
            s.fork("waits", () -> {
                here();
                Waiter w = clock.waiter("a first sign").fromOutside();
                first.complete(w);
                w.await(clock.never());
                goOn.countDown();
                return clock.waiter("what never comes").await(clock.never());
            });
        }));
        foreign.join();

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class).hasMessageContaining("enough");
        assertThat(log.at(Level.SEVERE)).isEmpty();
    }

    @Test
    @Catalogue(173)
    void a_wait_for_news_from_outside_is_no_deadlock() throws Exception {
        CompletableFuture<String> stage = new CompletableFuture<>();
        Thread foreign = Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(900);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            stage.complete("news");
        });

        String news = scope().clock(clock).call(() -> Selvedge.await(stage));
        foreign.join();

        assertThat(news).isEqualTo("news");
        assertThat(log.at(Level.SEVERE)).isEmpty();
    }

    // Two who move one clock.

    @Test
    @Catalogue(178)
    void a_second_thread_that_moves_the_clock_is_refused() throws Exception {
        VirtualClock manual = VirtualClock.manual();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch tried = new CountDownLatch(1);
        FutureTask<Duration> mover = new FutureTask<>(() -> {
            manual.set(
                    alarm(() -> {
                        inside.countDown();
                        try {
                            tried.await();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }),
                    manual.after(ofSeconds(1)));
            manual.advance(ofSeconds(2));
            return manual.elapsed();
        });
        Thread thread = Thread.ofPlatform().name("mover").start(mover);
        inside.await();

        assertThatThrownBy(() -> manual.advance(ofSeconds(1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot advance: the clock is already being moved by " + thread);
        assertThatThrownBy(manual::runCurrent)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot runCurrent: the clock is already being moved by " + thread);
        assertThatThrownBy(manual::advanceUntilIdle)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot advanceUntilIdle: the clock is already being moved by " + thread);
        tried.countDown();
        thread.join();

        assertThat(mover.get()).isEqualTo(ofSeconds(2));
    }

    @Test
    @Catalogue(178)
    void a_clock_is_not_moved_by_what_happens_while_it_is_moved() {
        VirtualClock manual = VirtualClock.manual();
        List<Throwable> thrown = new ArrayList<>();
        manual.set(
                alarm(() -> thrown.add(catchThrowable(() -> manual.advance(ofSeconds(1))))),
                manual.after(ofSeconds(1)));

        manual.advance(ofSeconds(2));

        assertThat(thrown).singleElement().isInstanceOf(IllegalStateException.class);
        assertThat(manual.elapsed()).isEqualTo(ofSeconds(2));
    }

    @Test
    @Catalogue(178)
    void after_a_refusal_the_clock_can_be_moved_again() {
        VirtualClock manual = VirtualClock.manual();
        scope().clock(manual).run(s -> {
            Fork<?> unused = s.fork(() ->
                    assertThatThrownBy(() -> manual.advance(ofSeconds(1))).isInstanceOf(IllegalStateException.class));
            manual.runCurrent();
        });

        manual.advance(ofSeconds(1));
        manual.advance(ofSeconds(1));

        assertThat(manual.elapsed()).isEqualTo(ofSeconds(2));
    }
}
