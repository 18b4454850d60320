package dev.selvedge.time;

import static dev.selvedge.Selvedge.scope;
import static dev.selvedge.time.Alarms.alarm;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.Catalogue;
import dev.selvedge.Selvedge;
import dev.selvedge.Task;
import dev.selvedge.time.VirtualClock.Pending;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A clock that is moved by hand, and what all virtual clocks tell and refuse. */
@Timeout(60)
class ManualClockTest {

    private final VirtualClock clock = VirtualClock.manual();
    private final List<String> trail = Collections.synchronizedList(new ArrayList<>());

    // advance.

    @Test
    @Catalogue(171)
    void advance_lets_happen_what_is_due_until_then_and_leaves_the_rest() {
        ringAt(ofSeconds(1));
        ringAt(ofSeconds(2));
        ringAt(ofSeconds(2).plusNanos(1));

        clock.advance(ofSeconds(2));

        assertThat(trail).containsExactly("1 s at PT1S", "2 s at PT2S");
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(2));
    }

    @Test
    void advance_by_zero_lets_happen_what_is_due_now() {
        ringAt(Duration.ZERO);
        ringAt(ofNanos(1));

        clock.advance(Duration.ZERO);

        assertThat(trail).containsExactly("0 s at PT0S");
        assertThat(clock.elapsed()).isZero();
    }

    @Test
    void advances_add_up() {
        for (int i = 0; i < 1_000; i++) {
            clock.advance(ofNanos(i));
        }

        assertThat(clock.elapsed()).isEqualTo(ofNanos(499_500));
    }

    @Test
    void advance_within_a_scope_on_the_clock_moves_its_forks() {
        scope().clock(clock).run(s -> {
            s.fork("a", () -> sleepTwice("a", 1));
            s.fork("b", () -> sleepTwice("b", 2));

            clock.advance(ofSeconds(1));
            trail.add("after 1 s");
            clock.advance(ofSeconds(1));
            trail.add("after 2 s");
            clock.advance(ofSeconds(2));
            trail.add("after 4 s");
        });

        assertThat(trail).containsExactly("a 1", "after 1 s", "b 1", "a 2", "after 2 s", "b 2", "after 4 s");
    }

    private void sleepTwice(String who, int seconds) {
        Selvedge.sleep(ofSeconds(seconds));
        trail.add(who + " 1");
        Selvedge.sleep(ofSeconds(seconds));
        trail.add(who + " 2");
    }

    @Test
    @Catalogue(169)
    void advance_by_more_than_can_be_counted_goes_to_the_last_moment_that_can() {
        ringAt(ofHours(1));

        clock.advance(ofSeconds(Long.MAX_VALUE));

        assertThat(trail).containsExactly("3600 s at PT1H");
        assertThat(clock.elapsed()).isEqualTo(ofNanos(Long.MAX_VALUE - 1));
        clock.advance(ofSeconds(1));
        assertThat(clock.elapsed()).isEqualTo(ofNanos(Long.MAX_VALUE - 1));
    }

    @Test
    @Catalogue(169)
    void a_jumping_clock_can_be_advanced_by_more_than_can_be_counted() {
        VirtualClock jumping = VirtualClock.jumping();

        jumping.advance(ofSeconds(Long.MAX_VALUE));

        assertThat(jumping.elapsed()).isEqualTo(ofNanos(Long.MAX_VALUE - 1));
    }

    @Test
    void a_jumping_clock_can_be_advanced_too() {
        VirtualClock jumping = VirtualClock.jumping();

        jumping.advance(ofSeconds(3));

        assertThat(jumping.elapsed()).isEqualTo(ofSeconds(3));
    }

    @Test
    void an_interrupt_does_not_cut_an_advance_off_and_stays_for_the_caller() {
        Thread.currentThread().interrupt();

        clock.advance(ofSeconds(3));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(3));
    }

    @Test
    void what_rings_may_set_an_alarm_that_rings_in_the_same_advance() {
        clock.set(
                alarm(() -> {
                    trail.add("first at " + clock.elapsed());
                    ringAt(ofSeconds(1));
                }),
                clock.after(ofSeconds(1)));

        clock.advance(ofSeconds(5));

        assertThat(trail).containsExactly("first at PT1S", "1 s at PT2S");
    }

    static Stream<Arguments> waits() {
        TimeSource.Work<Object, Exception> nothing = () -> "nothing";
        return Stream.of(
                wait("advance", c -> c.advance(ofSeconds(1))),
                wait("runCurrent", VirtualClock::runCurrent),
                wait("advanceUntilIdle", VirtualClock::advanceUntilIdle),
                wait("await", c -> c.waiter().await(c.after(ofSeconds(1)))),
                wait("external", c -> c.external(nothing)),
                wait("a scope", c -> Selvedge.scope().clock(c).run(() -> Selvedge.sleep(ofSeconds(1)))));
    }

    private static Arguments wait(String name, Task.VoidOf<VirtualClock, Exception> wait) {
        return Arguments.of(name, wait);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("waits")
    void what_rings_cannot_wait_on_the_clock(String name, Task.VoidOf<VirtualClock, Exception> wait) {
        assertThat(thrownAtARing(clock, wait, () -> clock.advance(ofSeconds(1))))
                .isInstanceOf(IllegalStateException.class);
        clock.advance(ofSeconds(1));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("waits")
    void what_rings_on_a_thread_that_takes_no_part_cannot_wait_either(
            String name, Task.VoidOf<VirtualClock, Exception> wait) {
        VirtualClock jumping = VirtualClock.jumping();

        Throwable thrown = thrownAtARing(
                jumping,
                wait,
                () -> scope().clock(jumping).run(() -> {
                    ringsOnTheLookout(jumping);
                    Selvedge.sleep(ofSeconds(2));
                }));

        assertThat(thrown)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("an alarm rings in this thread");
        assertThat(jumping.elapsed()).isEqualTo(ofSeconds(2));
    }

    /** Once a thread that takes no part has had a hand in it, the clock jumps after a moment of real time. */
    private static void ringsOnTheLookout(VirtualClock clock) throws InterruptedException {
        Thread stranger = new Thread(() -> clock.set(alarm(() -> {}), clock.after(ofSeconds(1))));
        stranger.start();
        stranger.join();
    }

    private static Throwable thrownAtARing(
            VirtualClock clock, Task.VoidOf<VirtualClock, Exception> wait, Runnable passing) {
        Throwable[] thrown = {null};
        clock.set(alarm(() -> thrown[0] = catchThrowable(() -> wait.run(clock))), clock.after(ofSeconds(1)));
        passing.run();
        return thrown[0];
    }

    @Test
    void an_alarm_that_throws_does_not_stop_the_clock() {
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        List<Throwable> uncaught = new ArrayList<>();
        Thread.currentThread().setUncaughtExceptionHandler((t, e) -> uncaught.add(e));
        IllegalStateException thrown = new IllegalStateException("thrown by an alarm");
        try {
            clock.set(
                    alarm(() -> {
                        throw thrown;
                    }),
                    clock.after(ofSeconds(1)));
            ringAt(ofSeconds(2));

            clock.advance(ofSeconds(2));
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }

        assertThat(uncaught).containsExactly(thrown);
        assertThat(trail).containsExactly("2 s at PT2S");
    }

    @Test
    void a_fork_that_blocks_outside_for_a_while_does_not_keep_advance_from_its_target() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);

        scope().clock(clock).run(s -> {
            s.fork("blocks", () -> blocked.await());
            s.fork("sleeps", () -> {
                Selvedge.sleep(ofSeconds(1));
                trail.add("slept");
            });

            clock.advance(ofSeconds(2));
            trail.add("advanced");
            blocked.countDown();
        });

        assertThat(trail).containsExactly("slept", "advanced");
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(2));
    }

    @Test
    void a_manual_clock_does_not_tick_beside_real_work() {
        scope().clock(clock).deadline(ofMillis(10)).run(() -> Thread.sleep(100));

        assertThat(clock.elapsed()).isZero();
    }

    // runCurrent.

    @Test
    @Catalogue(180)
    void run_current_on_a_jumping_clock_returns_when_all_others_wait_and_before_any_jump() {
        VirtualClock jumping = VirtualClock.jumping();

        scope().clock(jumping).run(s -> {
            for (int i = 1; i <= 3; i++) {
                String who = "fork-" + i;
                s.fork(() -> {
                    for (int step = 0; step < 3; step++) {
                        Selvedge.sleep(Duration.ZERO);
                    }
                    trail.add(who + " sleeps");
                    Selvedge.sleep(ofNanos(1));
                    trail.add(who + " has slept");
                });
            }
            jumping.runCurrent();
            trail.add("all wait at " + jumping.elapsed());
        });

        assertThat(trail)
                .containsExactly(
                        "fork-1 sleeps",
                        "fork-2 sleeps",
                        "fork-3 sleeps",
                        "all wait at PT0S",
                        "fork-1 has slept",
                        "fork-2 has slept",
                        "fork-3 has slept");
    }

    @Test
    @Catalogue(180)
    void run_current_from_a_thread_that_takes_no_part_waits_for_all_who_do() throws Exception {
        FutureTask<String> task = new FutureTask<>(() -> scope().clock(clock).call(() -> {
            for (int i = 0; i < 1_000; i++) {
                Selvedge.sleep(Duration.ZERO);
            }
            trail.add("sleeps");
            Selvedge.sleep(ofSeconds(1));
            return "slept";
        }));
        Thread thread = Thread.ofVirtual().start(task);
        while (clock.pending().isEmpty()) {
            Thread.onSpinWait();
        }

        clock.runCurrent();
        trail.add("all wait");
        clock.advance(ofSeconds(1));
        thread.join();

        assertThat(task.get()).isEqualTo("slept");
        assertThat(trail).containsExactly("sleeps", "all wait");
    }

    // advanceUntilIdle.

    @Test
    void advance_until_idle_stops_when_nothing_is_scheduled() {
        ringAt(ofSeconds(1));
        ringAt(ofHours(1));

        clock.advanceUntilIdle();

        assertThat(trail).containsExactly("1 s at PT1S", "3600 s at PT1H");
        assertThat(clock.elapsed()).isEqualTo(ofHours(1));
        assertThat(clock.pending()).isEmpty();
    }

    @Test
    void advance_until_idle_follows_what_its_events_lead_to() {
        scope().clock(clock).run(s -> {
            s.fork(() -> {
                for (int i = 1; i <= 5; i++) {
                    Selvedge.sleep(ofMinutes(i));
                    trail.add("step " + i + " at " + clock.elapsed());
                }
            });

            clock.advanceUntilIdle();
            trail.add("idle at " + clock.elapsed());
        });

        assertThat(trail)
                .containsExactly(
                        "step 1 at PT1M",
                        "step 2 at PT3M",
                        "step 3 at PT6M",
                        "step 4 at PT10M",
                        "step 5 at PT15M",
                        "idle at PT15M");
    }

    @Test
    void advance_until_idle_with_nothing_scheduled_does_nothing() {
        clock.advanceUntilIdle();

        assertThat(clock.elapsed()).isZero();
    }

    // What it tells.

    @Test
    void now_is_a_wall_clock_that_began_at_the_epoch() {
        InstantSource source = clock::now;
        clock.advance(ofHours(25));

        assertThat(clock.now()).isEqualTo(Instant.parse("1970-01-02T01:00:00Z"));
        assertThat(source.millis()).isEqualTo(ofHours(25).toMillis());
        assertThat(Clock.offset(source.withZone(ZoneOffset.UTC), ofHours(1)).instant())
                .isEqualTo(Instant.parse("1970-01-02T02:00:00Z"));
    }

    @Test
    void now_counts_to_the_nanosecond() {
        clock.advance(ofNanos(123_456_789));

        assertThat(clock.now()).isEqualTo(Instant.ofEpochSecond(0, 123_456_789));
        assertThat(clock.nanoTime()).isEqualTo(123_456_789);
        assertThat(clock).hasToString("a virtual clock at 0.123456789 s");
    }

    @Test
    void pending_names_what_is_scheduled_in_its_order() {
        List<Pending> pending = new ArrayList<>();

        Throwable thrown = catchThrowable(() -> scope("page")
                .clock(clock)
                .deadline(ofSeconds(3))
                .run(s -> {
                    s.fork("late", () -> Selvedge.sleep(ofSeconds(2)));
                    s.fork("early", () -> Selvedge.sleep(ofMillis(1_500)));
                    s.fork("same", () -> Selvedge.sleep(ofSeconds(2)));
                    s.fork("waiter", () -> clock.waiter("the gate").await(clock.after(ofSeconds(1))));
                    s.fork(
                            "waits for good",
                            () -> clock.waiter("what never comes").await(clock.never()));
                    clock.runCurrent();
                    pending.addAll(clock.pending());
                    clock.advance(ofSeconds(3)); // to the deadline, which ends the one that waits for good
                }));

        assertThat(thrown)
                .hasMessage("the scope \"page\" exceeded its deadline of 3 s (after 3 s);"
                        + " not finished: waits for good");
        assertThat(pending)
                .containsExactly(
                        new Pending("waiter: the gate", ofSeconds(1)),
                        new Pending("early: a sleep of 1.5 s", ofMillis(1_500)),
                        new Pending("late: a sleep of 2 s", ofSeconds(2)),
                        new Pending("same: a sleep of 2 s", ofSeconds(2)),
                        new Pending("the deadline of the scope \"page\"", ofSeconds(3)));
    }

    @Test
    void pending_cannot_be_changed() {
        boolean unused = ringAt(ofSeconds(1)).isOver();

        assertThatThrownBy(() -> clock.pending().clear()).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void what_is_over_is_not_pending() {
        Alarm alarm = ringAt(ofSeconds(1));
        ringAt(ofSeconds(2));
        boolean stopped = alarm.stop();

        assertThat(stopped).isTrue();
        assertThat(clock.pending()).extracting(Pending::due).containsExactly(ofSeconds(2));
    }

    @Test
    void a_hundred_thousand_stopped_alarms_do_not_pile_up() {
        for (int i = 0; i < 100_000; i++) {
            boolean unused = ringAt(ofHours(1)).stop();
        }

        clock.advanceUntilIdle();

        assertThat(clock.pending()).isEmpty();
        assertThat(clock.elapsed()).isZero();
        assertThat(trail).isEmpty();
    }

    // Arguments.

    @Test
    void a_grace_is_zero_or_more() {
        assertThatThrownBy(() -> clock.withGrace(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("grace");
        assertThatThrownBy(() -> clock.withGrace(ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("grace must not be negative: PT-0.000000001S");
        assertThat(clock.withGrace(Duration.ZERO).elapsed()).isZero();
        assertThat(clock.withGrace(ofSeconds(Long.MAX_VALUE)).elapsed()).isZero();
    }

    @Test
    void a_patience_is_more_than_zero() {
        assertThatThrownBy(() -> clock.withWatchdog(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("patience");
        assertThatThrownBy(() -> clock.withWatchdog(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("patience must be positive: PT0S");
        assertThatThrownBy(() -> clock.withWatchdog(ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("patience must be positive: PT-1S");
        assertThat(clock.withWatchdog(ofSeconds(Long.MAX_VALUE)).elapsed()).isZero();
    }

    @Test
    void clocks_with_another_grace_or_patience_share_nothing_and_are_of_the_same_kind() {
        clock.advance(ofSeconds(1));
        VirtualClock other = clock.withGrace(ofMillis(1)).withWatchdog(ofSeconds(20));

        other.advance(ofSeconds(5));
        scope().clock(other).deadline(ofMillis(10)).run(() -> Thread.sleep(100)); // manual: it does not tick

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(1));
        assertThat(other.elapsed()).isEqualTo(ofSeconds(5));
    }

    @Test
    void null_is_refused_at_the_call() {
        TimeSource.Work<String, RuntimeException> noWork = null;
        TimeSource.VoidWork<RuntimeException> noVoidWork = null;

        assertThatThrownBy(() -> clock.external(noWork))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("work");
        assertThatThrownBy(() -> clock.external(noVoidWork))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("work");
        assertThatThrownBy(() -> clock.waiter(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("what");
        assertThatThrownBy(() -> clock.enter(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("name");
        assertThatThrownBy(() -> clock.enroll(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("name");
        assertThatThrownBy(() -> clock.advance(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("by");
        assertThatThrownBy(() -> clock.after(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("d");
        assertThatThrownBy(() -> new Pending(null, Duration.ZERO))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("name");
        assertThatThrownBy(() -> new Pending("x", null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("due");
        assertThat(clock.remains()).isEmpty();
    }

    @Test
    void a_moment_of_another_clock_is_refused_and_the_turn_is_kept() {
        VirtualClock jumping = VirtualClock.jumping();

        scope().clock(jumping).run(() -> {
            assertThatThrownBy(() -> jumping.waiter().await(clock.after(ofSeconds(1))))
                    .isInstanceOf(IllegalArgumentException.class);
            Selvedge.sleep(ofSeconds(1));
        });

        assertThat(jumping.elapsed()).isEqualTo(ofSeconds(1));
    }

    // Taking part.

    @Test
    void a_thread_that_takes_part_already_does_not_enter_again() {
        Participant me = clock.enter("me");
        try {
            assertThat(me).hasToString("me");
            assertThat(clock.enter("again")).isNull();
            assertThat(clock.remains()).contains("\"me\" runs");
        } finally {
            me.end();
        }

        assertThat(clock.remains()).isEmpty();
    }

    @Test
    void a_participant_that_was_withdrawn_holds_nobody_up() {
        VirtualClock jumping = VirtualClock.jumping();
        Participant never = jumping.enroll("never started");

        never.withdraw();
        scope().clock(jumping).run(() -> Selvedge.sleep(ofSeconds(1)));

        assertThat(jumping.elapsed()).isEqualTo(ofSeconds(1));
    }

    private Alarm ringAt(Duration ahead) {
        Alarm alarm = alarm(() -> trail.add(ahead.toSeconds() + " s at " + clock.elapsed()));
        clock.set(alarm, clock.after(ahead));
        return alarm;
    }
}
