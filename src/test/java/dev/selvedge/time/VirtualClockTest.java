package dev.selvedge.time;

import static dev.selvedge.Selvedge.scope;
import static dev.selvedge.time.Alarms.alarm;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.Catalogue;
import dev.selvedge.DeadlineExceededException;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.Selvedge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class VirtualClockTest {

    private final VirtualClock clock = VirtualClock.jumping();
    private final List<String> trail = Collections.synchronizedList(new ArrayList<>());

    @Test
    @Catalogue(157)
    void a_timeout_of_a_hundred_seconds_passes_at_exactly_that_time() {
        assertThatThrownBy(() -> scope().clock(clock).deadline(ofSeconds(100)).run(() -> Selvedge.sleep(ofHours(1))))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(100));
    }

    @Test
    @Catalogue(164)
    void each_sleeper_wakes_at_its_own_time() {
        scope().clock(clock).map(List.of(200, 100, 150), this::slept);

        assertThat(trail).containsExactly("100 at 100", "150 at 150", "200 at 200");
    }

    @Test
    @Catalogue({163, 167})
    void equal_times_wake_in_the_order_of_registration() {
        scope().clock(clock).map(List.of(1, 2, 3, 4, 5), i -> {
            Selvedge.sleep(ofMillis(7));
            trail.add("fork " + i);
            Selvedge.sleep(Duration.ZERO);
            return trail.add("again " + i);
        });

        assertThat(trail)
                .containsExactly(
                        "fork 1", "fork 2", "fork 3", "fork 4", "fork 5", "again 1", "again 2", "again 3", "again 4",
                        "again 5");
    }

    @Test
    @Catalogue(158)
    void one_participant_runs_at_a_time() {
        int[] unguarded = {0};

        scope().clock(clock).map(Collections.nCopies(50, 100), n -> {
            for (int i = 0; i < n; i++) {
                int seen = unguarded[0];
                Thread.yield();
                unguarded[0] = seen + 1;
            }
            return n;
        });

        assertThat(unguarded[0]).isEqualTo(5_000);
    }

    @Test
    @Catalogue(165)
    void ten_thousand_random_sleeps_give_the_same_log_twice() {
        assertThat(randomSleeps()).isEqualTo(randomSleeps()).hasSize(10_000);
    }

    private static List<String> randomSleeps() {
        VirtualClock clock = VirtualClock.jumping();
        List<String> log = Collections.synchronizedList(new ArrayList<>());
        Random random = new Random(42);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int name = i;
            int[] sleeps = random.ints(100, 0, 50).toArray();
            tasks.add(() -> {
                for (int s : sleeps) {
                    Selvedge.sleep(ofMillis(s));
                    log.add(name + "@" + clock.elapsed().toMillis());
                }
                return name;
            });
        }
        assertThat(scope().clock(clock).gather(tasks)).hasSize(100);
        return log;
    }

    @Test
    @Catalogue(166)
    void a_deadline_is_before_a_sleep_that_ends_at_the_same_moment() {
        assertThatThrownBy(() -> twoHalves(ofSeconds(1), ofMillis(500))).isInstanceOf(DeadlineExceededException.class);
        assertThat(twoHalves(ofSeconds(1).plusNanos(1), ofMillis(500))).isEqualTo("done");
    }

    private String twoHalves(Duration deadline, Duration half) {
        return scope().clock(clock).deadline(deadline).call(() -> {
            Selvedge.sleep(half);
            Selvedge.sleep(half);
            return "done";
        });
    }

    @Test
    @Catalogue({73, 170})
    void a_stopped_alarm_does_not_move_the_clock() {
        scope().clock(clock).deadline(ofHours(1)).run(() -> Selvedge.sleep(ofSeconds(1)));
        scope().clock(clock).run(() -> Selvedge.sleep(ofSeconds(1)));

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(2));
    }

    @Test
    void it_does_not_move_when_nobody_takes_part() {
        clock.set(alarm(() -> trail.add("rang")), clock.after(ofSeconds(1)));

        assertThat(clock.elapsed()).isEqualTo(Duration.ZERO);
        assertThat(trail).isEmpty();
    }

    @Test
    void an_interrupt_from_outside_ends_a_wait_at_the_same_virtual_time() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        FutureTask<String> task = new FutureTask<>(() -> {
            entered.countDown();
            try {
                // on a manual clock nothing passes by itself
                scope().clock(VirtualClock.manual()).run(() -> Selvedge.sleep(ofSeconds(5)));
                return "slept";
            } catch (ScopeCancelledException e) {
                return e.reason().kind() + ", flag " + Thread.interrupted();
            }
        });
        Thread thread = Thread.ofVirtual().start(task);
        entered.await();

        thread.interrupt();

        assertThat(task.get()).isEqualTo("INTERRUPT, flag true");
    }

    @Test
    void a_manual_clock_moves_only_when_told() throws Exception {
        VirtualClock manual = VirtualClock.manual();
        FutureTask<Duration> task = new FutureTask<>(() -> scope().clock(manual).call(() -> {
            Selvedge.sleep(ofSeconds(5));
            trail.add("first");
            Selvedge.sleep(ofSeconds(5));
            return manual.elapsed();
        }));
        Thread.ofVirtual().start(task);
        while (manual.pending().size() == 0) {
            Thread.onSpinWait();
        }

        manual.advance(ofSeconds(4));
        assertThat(trail).isEmpty();

        manual.advance(ofSeconds(1));
        assertThat(trail).containsExactly("first");
        assertThat(task.isDone()).isFalse();

        manual.advance(ofSeconds(100));
        assertThat(task.get()).isEqualTo(ofSeconds(10));
        assertThat(manual.elapsed()).isEqualTo(ofSeconds(105));
    }

    @Test
    @Catalogue(171)
    void advance_runs_what_is_due_at_the_target_and_what_that_leads_to() throws Exception {
        VirtualClock manual = VirtualClock.manual();
        FutureTask<List<Integer>> task =
                new FutureTask<>(() -> scope().clock(manual).map(List.of(1, 2, 3), i -> {
                    Selvedge.sleep(ofSeconds(5));
                    Selvedge.sleep(Duration.ZERO);
                    trail.add("fork " + i);
                    return i;
                }));
        Thread.ofVirtual().start(task);
        while (manual.pending().size() < 3) {
            Thread.onSpinWait();
        }

        manual.advance(ofSeconds(5));

        assertThat(trail).containsExactly("fork 1", "fork 2", "fork 3");
        assertThat(task.get()).containsExactly(1, 2, 3);
    }

    @Test
    @Catalogue(172)
    void time_does_not_go_back() {
        assertThatThrownBy(() -> clock.advance(ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("time does not go back: by must not be negative: PT-1S");
    }

    @Test
    @Catalogue(179)
    void two_clocks_do_not_interfere() {
        VirtualClock other = VirtualClock.jumping();

        scope().clock(clock).run(() -> {
            Selvedge.sleep(ofSeconds(1));
            scope().clock(other).run(() -> Selvedge.sleep(ofSeconds(10)));
            Selvedge.sleep(ofSeconds(1));
        });

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(2));
        assertThat(other.elapsed()).isEqualTo(ofSeconds(10));
    }

    @Test
    void threads_of_ones_own_can_take_part() throws Exception {
        Participant mine = clock.enroll("mine");
        Thread thread = Thread.ofVirtual().start(() -> {
            mine.begin();
            try {
                Selvedge.sleep(ofSeconds(0)); // the system's time: no scope around
                scope().clock(clock).run(() -> Selvedge.sleep(ofSeconds(3)));
                trail.add("mine at " + clock.elapsed().toSeconds());
            } finally {
                mine.end();
            }
        });
        thread.join();

        assertThat(trail).containsExactly("mine at 3");
        assertThat(mine).hasToString("mine");
    }

    private boolean slept(int millis) {
        Selvedge.sleep(ofMillis(millis));
        return trail.add(millis + " at " + clock.elapsed().toMillis());
    }
}
