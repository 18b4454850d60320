package dev.selvedge.policy;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.selvedge.Fork;
import dev.selvedge.Lesson;
import dev.selvedge.Scope;
import dev.selvedge.Selvedge;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A limiter used alone: who passes when. */
@Timeout(60)
@ExtendWith(VirtualTime.class)
class RateLimiterTest {

    private final List<String> trail = Collections.synchronizedList(new ArrayList<>());

    private final RateLimiter tenASecond = RateLimiter.of(10, ofSeconds(1));

    private void note(VirtualClock clock, String what) {
        trail.add(clock.elapsed().toMillis() + " " + what);
    }

    private Fork<?> passing(Scope s, VirtualClock clock, RateLimiter limiter, String name) {
        return s.fork(name, () -> {
            try {
                limiter.acquire(clock.never());
                note(clock, name);
            } catch (InterruptedException e) {
                note(clock, name + " gives back");
                throw e;
            }
        });
    }

    @Test
    void calls_that_come_at_once_pass_evenly_in_their_order(VirtualClock clock) {
        scope().clock(clock).run(s -> {
            for (String name : List.of("a", "b", "c", "d")) {
                passing(s, clock, tenASecond, name);
            }
        });

        assertThat(trail).containsExactly("0 a", "100 b", "200 c", "300 d");
    }

    @Test
    @Lesson(63)
    void a_burst_passes_at_once_after_a_pause_and_then_evenly(VirtualClock clock) {
        RateLimiter limiter = RateLimiter.of(10, ofSeconds(1), s -> s.burst(3));

        scope().clock(clock).run(() -> {
            for (int i = 0; i < 5; i++) {
                limiter.acquire(clock.never());
                note(clock, "" + i);
            }
            Selvedge.sleep(ofSeconds(5));
            for (int i = 5; i < 9; i++) {
                limiter.acquire(clock.never());
                note(clock, "" + i);
            }
        });

        assertThat(trail)
                .containsExactly("0 0", "0 1", "0 2", "100 3", "200 4", "5200 5", "5200 6", "5200 7", "5300 8");
    }

    @Test
    void a_call_can_count_as_several(VirtualClock clock) {
        RateLimiter limiter = RateLimiter.of(10, ofSeconds(1), s -> s.burst(4));

        scope().clock(clock).run(() -> {
            limiter.acquire(4, clock.never());
            note(clock, "4");
            limiter.acquire(2, clock.never());
            note(clock, "2");
            limiter.acquire(4, clock.never());
            note(clock, "4");
            assertThat(limiter.tryAcquire(1, clock)).isFalse();
        });

        assertThat(trail).containsExactly("0 4", "200 2", "600 4");
    }

    @Test
    @Lesson({60, 61})
    void a_call_that_would_wait_until_its_deadline_or_longer_is_refused_at_once(VirtualClock clock) {
        scope().clock(clock).run(() -> {
            tenASecond.acquire(clock.never());
            tenASecond.acquire(clock.after(ofMillis(101)));
            note(clock, "passed");

            RateLimitedException refused = catchThrowableOfType(
                    RateLimitedException.class, () -> tenASecond.acquire(clock.after(ofMillis(100))));

            assertThat(refused)
                    .hasMessage(
                            "the rate limiter of 10 per 1 s would let this call wait for 100 ms, longer than it may")
                    .hasNoCause();
            assertThat(refused.retryAfter()).isEqualTo(ofMillis(100));
            assertThat(refused.getStackTrace()).isEmpty();
            note(clock, "refused");
            tenASecond.acquire(clock.never()); // it has taken nobody's moment
            note(clock, "passed");
        });

        assertThat(trail).containsExactly("100 passed", "100 refused", "200 passed");
    }

    @Test
    void a_call_waits_no_longer_than_the_limiter_lets_it(VirtualClock clock) {
        RateLimiter some = RateLimiter.of(10, ofSeconds(1), s -> s.maxWait(ofMillis(100)));
        RateLimiter none = RateLimiter.of(10, ofSeconds(1), s -> s.maxWait(ZERO));

        scope().clock(clock).run(() -> {
            none.acquire(clock.never());
            assertThatThrownBy(() -> none.acquire(clock.never())).isInstanceOf(RateLimitedException.class);
            some.acquire(clock.never());
            some.acquire(clock.never());
            note(clock, "waited");
            assertThat(some.tryAcquire(clock)).isFalse();
        });

        assertThat(trail).containsExactly("100 waited");
    }

    @Test
    @Lesson(64)
    void one_that_is_interrupted_gives_its_moment_back_and_those_behind_move_up(VirtualClock clock) {
        scope().clock(clock).run(s -> {
            passing(s, clock, tenASecond, "a");
            passing(s, clock, tenASecond, "b");
            Fork<?> c = passing(s, clock, tenASecond, "c");
            passing(s, clock, tenASecond, "d");
            passing(s, clock, tenASecond, "e");
            Selvedge.sleep(ofMillis(150));
            c.cancel();
            passing(s, clock, tenASecond, "f");
        });

        assertThat(trail).containsExactly("0 a", "100 b", "150 c gives back", "200 d", "300 e", "400 f");
    }

    @Test
    @Lesson(64)
    void the_last_that_is_interrupted_leaves_its_moment_to_the_next(VirtualClock clock) {
        scope().clock(clock).run(s -> {
            passing(s, clock, tenASecond, "a");
            Fork<?> b = passing(s, clock, tenASecond, "b");
            Selvedge.sleep(ofMillis(50));
            b.cancel();
            passing(s, clock, tenASecond, "c");
        });

        assertThat(trail).containsExactly("0 a", "50 b gives back", "100 c");
    }

    @Test
    void a_cancelled_thread_does_not_wait_and_takes_no_moment(VirtualClock clock) {
        Thread.currentThread().interrupt();
        assertThat(tenASecond.tryAcquire(clock)).isTrue();

        assertThatThrownBy(() -> tenASecond.acquire(clock.never())).isInstanceOf(InterruptedException.class);

        clock.advance(ofMillis(100));
        assertThat(tenASecond.tryAcquire(clock)).isTrue();
    }

    /** Every n + b calls take longer than the time: whatever the gaps. */
    @ParameterizedTest
    @CsvSource({"10, 1000, 1", "10, 1000, 5", "3, 1000, 1", "7, 100, 7", "1000, 1, 50", "1, 1, 1"})
    void no_window_lets_more_pass_than_it_says(int n, long perMillis, int burst) {
        VirtualClock clock = VirtualClock.manual();
        Duration per = ofMillis(perMillis);
        RateLimiter limiter = RateLimiter.of(n, per, s -> s.burst(burst));
        Random dice = new Random(n * 31L + burst);
        int most = n + burst - 1;
        long[] latest = new long[most];
        int passed = 0;
        long now = 0;
        for (int i = 0; i < 200_000; i++) {
            long gap = dice.nextInt(20) == 0 ? per.toNanos() : dice.nextLong(2 * per.toNanos() / n + 1);
            now += gap;
            clock.advance(ofNanos(gap));
            if (limiter.tryAcquire(clock)) {
                if (passed >= most) {
                    assertThat(now - latest[passed % most]).isGreaterThanOrEqualTo(per.toNanos());
                }
                latest[passed % most] = now;
                passed++;
            }
        }

        assertThat(passed).isGreaterThan(50_000);
    }

    @Test
    @Lesson({62, 65})
    void long_pauses_and_rare_calls_overflow_nothing(VirtualClock clock) {
        RateLimiter rare = RateLimiter.of(1, ofSeconds(1), s -> s.burst(Integer.MAX_VALUE)); // 68 years of them
        RateLimiter once = RateLimiter.of(1, ofSeconds(Long.MAX_VALUE));

        assertThatThrownBy(() -> RateLimiter.of(1, ofSeconds(Long.MAX_VALUE), s -> s.burst(3)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("burst must not be more than passes in a hundred years: 3");
        assertThat(rare.tryAcquire(Integer.MAX_VALUE, clock)).isTrue();
        assertThat(rare.tryAcquire(clock)).isFalse();
        assertThat(once.tryAcquire(clock)).isTrue();
        assertThat(once.tryAcquire(clock)).isFalse();
        assertThatThrownBy(() -> once.acquire(clock.after(ofDays(365)))).isInstanceOf(RateLimitedException.class);
        assertThat(tenASecond.tryAcquire(clock)).isTrue();
        clock.advance(ofDays(36_000));
        assertThat(tenASecond.tryAcquire(clock)).isTrue();
        assertThat(tenASecond.tryAcquire(clock)).isFalse();
        assertThat(once.tryAcquire(clock)).isFalse();
    }

    @Test
    void on_another_clock_it_starts_fresh(VirtualClock clock) {
        assertThat(tenASecond.tryAcquire(clock)).isTrue();
        assertThat(tenASecond.tryAcquire(clock)).isFalse();

        assertThat(tenASecond.tryAcquire(VirtualClock.manual())).isTrue();
    }

    @Test
    void alone_it_goes_by_the_systems_time() {
        assertThat(tenASecond.tryAcquire()).isTrue();
        assertThat(RateLimiter.of(1, ofDays(1)).tryAcquire()).isTrue();
    }

    @Test
    @Lesson(66)
    void numbers_out_of_range_are_refused_with_their_value(VirtualClock clock) {
        assertThatThrownBy(() -> RateLimiter.of(0, ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("permits must be at least 1: 0");
        assertThatThrownBy(() -> RateLimiter.of(1, ZERO)).hasMessage("per must be positive: PT0S");
        assertThatThrownBy(() -> RateLimiter.of(1, ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RateLimiter.of(2, ofNanos(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("permits must not be more than one in a nanosecond: 2 per PT0.000000001S");
        assertThatThrownBy(() -> RateLimiter.of(1, ofSeconds(1), s -> s.burst(0)))
                .hasMessage("burst must be at least 1: 0");
        assertThatThrownBy(() -> RateLimiter.of(1, ofSeconds(1), s -> s.maxWait(ofNanos(-1))))
                .hasMessage("maxWait must not be negative: PT-0.000000001S");
        for (int weight : new int[] {0, -1, 2, Integer.MAX_VALUE}) {
            assertThatThrownBy(() -> tenASecond.tryAcquire(weight, clock))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("weight must be at least 1, and the burst of 1 at the most: " + weight);
            assertThatThrownBy(() -> tenASecond.acquire(weight, clock.never()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(RateLimiter.of(1, ofNanos(1)).tryAcquire(clock)).isTrue();
    }

    @Test
    void a_call_can_pass_as_of_a_moment_that_was_just_read(VirtualClock clock) {
        long now = clock.nanoTime();

        assertThat(tenASecond.tryAcquire(clock, now)).isTrue();
        assertThat(tenASecond.tryAcquire(clock, now)).isFalse();
        assertThat(tenASecond.tryAcquire(clock, now + ofMillis(100).toNanos() - 1))
                .isFalse();
        assertThat(tenASecond.tryAcquire(clock, now + ofMillis(100).toNanos())).isTrue();
        assertThat(tenASecond.tryAcquire(clock)).as("two have passed").isFalse();
    }

    @Test
    void the_first_call_passes_as_of_the_moment_that_was_read_before_it(VirtualClock clock) {
        long read = clock.nanoTime();
        clock.advance(ofMillis(1));

        assertThat(tenASecond.tryAcquire(clock, read)).isTrue();
        assertThat(tenASecond.tryAcquire(clock, read + ofMillis(100).toNanos())).isTrue();

        long now = TimeSource.system().nanoTime();
        assertThat(tenASecond.tryAcquire(TimeSource.system(), now))
                .as("on another clock")
                .isTrue();
    }

    @Test
    void a_moment_that_lies_back_lets_no_more_calls_pass(VirtualClock clock) {
        RateLimiter burst = RateLimiter.of(10, ofSeconds(1), l -> l.burst(3));
        clock.advance(ofSeconds(10));
        long now = clock.nanoTime();

        assertThat(burst.tryAcquire(clock, now)).isTrue();
        assertThat(burst.tryAcquire(clock, now - ofMillis(1).toNanos())).isTrue();
        assertThat(burst.tryAcquire(clock, now - ofMillis(1).toNanos()))
                .as("one more then")
                .isFalse();
        assertThat(burst.tryAcquire(clock, 0)).as("long ago").isFalse();
        assertThat(burst.tryAcquire(clock, now)).as("one more now").isTrue();
        assertThat(burst.tryAcquire(clock, now)).isFalse();
    }

    @Test
    void a_moment_that_lies_ahead_is_what_the_next_ones_wait_for(VirtualClock clock) {
        long ahead = clock.nanoTime() + ofSeconds(1).toNanos();

        assertThat(tenASecond.tryAcquire(clock, ahead)).isTrue();

        clock.advance(ofMillis(1_099));
        assertThat(tenASecond.tryAcquire(clock)).isFalse();
        clock.advance(ofMillis(1));
        assertThat(tenASecond.tryAcquire(clock)).isTrue();
    }
}
