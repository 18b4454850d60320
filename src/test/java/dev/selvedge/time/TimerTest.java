package dev.selvedge.time;

import static dev.selvedge.time.Alarms.alarm;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The system's timer, in real time: nothing early, nothing lost, nothing kept. */
@Timeout(60)
@Tag("real")
class TimerTest {

    private final TimeSource time = TimeSource.system();

    @Test
    void alarms_ring_once_and_not_before_they_are_due() throws Exception {
        int n = 2_000;
        CountDownLatch rung = new CountDownLatch(n);
        List<Long> early = Collections.synchronizedList(new ArrayList<>());
        Random random = new Random(1);

        for (int i = 0; i < n; i++) {
            long due = time.nanoTime() + random.nextInt(30_000_000);
            time.set(new Counting(rung, due, early), new Deadline(time, due));
        }
        rung.await();

        assertThat(early).isEmpty();
    }

    @Test
    void an_alarm_set_while_the_timer_sleeps_for_a_later_one_rings_in_time() throws Exception {
        CountDownLatch later = new CountDownLatch(1);
        Counting late = new Counting(later, 0, new ArrayList<>());
        time.set(late, time.after(ofHours(1)));

        for (int i = 0; i < 200; i++) {
            CountDownLatch rung = new CountDownLatch(1);
            time.set(new Counting(rung, 0, new ArrayList<>()), time.after(ofNanos(50_000)));
            rung.await();
        }

        assertThat(late.stop()).isTrue();
        assertThat(later.getCount()).isEqualTo(1);
    }

    @Test
    void an_alarm_that_was_stopped_does_not_ring() throws Exception {
        AtomicInteger rings = new AtomicInteger();
        List<Alarm> alarms = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            Alarm a = new Ring(rings);
            time.set(a, time.after(ofMillis(30)));
            alarms.add(a);
        }

        long stopped = alarms.stream().filter(Alarm::stop).count();
        CountDownLatch after = new CountDownLatch(1);
        time.set(new Counting(after, 0, new ArrayList<>()), time.after(ofMillis(40)));
        after.await();

        assertThat(rings.get() + stopped).isEqualTo(5_000);
        assertThat(alarms).noneMatch(Alarm::stop);
    }

    @Test
    void an_alarm_that_throws_does_not_stop_the_timer() throws Exception {
        CountDownLatch reported = new CountDownLatch(1);
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((t, e) -> reported.countDown());
        try {
            time.set(
                    alarm(() -> {
                        throw new IllegalStateException("alarm");
                    }),
                    time.after(ofNanos(1)));
            reported.await();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
        CountDownLatch rung = new CountDownLatch(1);

        time.set(new Counting(rung, 0, new ArrayList<>()), time.after(ofNanos(1)));

        rung.await();
    }

    @Test
    void a_million_timeouts_started_and_ended_on_one_thread_are_not_kept() {
        Timer timer = Timer.start(SystemTime.INSTANCE);

        for (int i = 0; i < 1_000_000; i++) {
            Alarm a = set(timer);
            assertThat(a.stop()).isTrue();
        }

        assertThat(timer.held()).isLessThan(5_000);
    }

    @Test
    void a_million_timeouts_set_first_and_ended_later_are_not_kept() {
        Timer timer = Timer.start(SystemTime.INSTANCE);
        Alarm[] alarms = new Alarm[1_000_000];
        for (int i = 0; i < alarms.length; i++) {
            alarms[i] = set(timer);
        }

        for (Alarm a : alarms) {
            boolean unused = a.stop();
        }

        while (timer.held() > 5_000) { // the timer's thread sweeps; the test's own time is the limit
            Thread.onSpinWait();
        }
    }

    @Test
    void an_alarm_serves_once() {
        Alarm a = new Ring(new AtomicInteger());
        time.set(a, time.after(ofHours(1)));

        assertThatThrownBy(() -> time.set(a, time.after(ofHours(2))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("an alarm serves once, and this one has been set before");
        assertThat(a.stop()).isTrue();
        assertThat(a.stop()).isFalse();
        assertThatThrownBy(() -> time.set(a, time.after(ofHours(2)))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void an_alarm_that_was_stopped_before_it_was_set_stays_silent() throws Exception {
        AtomicInteger rings = new AtomicInteger();
        Alarm a = new Ring(rings);
        assertThat(a.stop()).isTrue();

        time.set(a, time.after(ofNanos(1)));
        CountDownLatch after = new CountDownLatch(1);
        time.set(new Counting(after, 0, new ArrayList<>()), time.after(ofMillis(2)));
        after.await();

        assertThat(rings).hasValue(0);
    }

    private static Alarm set(Timer timer) {
        Alarm a = new Ring(new AtomicInteger());
        assertThat(a.arm(SystemTime.INSTANCE.nanoTime() + 30_000_000_000L)).isTrue();
        timer.add(a);
        return a;
    }

    private static final class Ring extends Alarm {
        private final AtomicInteger rings;

        Ring(AtomicInteger rings) {
            this.rings = rings;
        }

        @Override
        protected void ring() {
            rings.incrementAndGet();
        }
    }

    private final class Counting extends Alarm {
        private final CountDownLatch latch;
        private final long due;
        private final List<Long> early;

        Counting(CountDownLatch latch, long due, List<Long> early) {
            this.latch = latch;
            this.due = due;
            this.early = early;
        }

        @Override
        protected void ring() {
            long now = time.nanoTime();
            if (now < due) {
                early.add(due - now);
            }
            latch.countDown();
        }
    }
}
