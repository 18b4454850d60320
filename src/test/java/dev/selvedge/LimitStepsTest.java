package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.BulkheadFullException;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.RateLimitedException;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rate limiters and bulkheads as steps of a scope. */
@Timeout(60)
class LimitStepsTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final List<Duration> starts = new CopyOnWriteArrayList<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    private Object work(Duration length) {
        starts.add(lab.now());
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        try {
            Selvedge.sleep(length);
            return "value";
        } finally {
            running.decrementAndGet();
        }
    }

    private static List<Integer> items(int n) {
        return IntStream.range(0, n).boxed().toList();
    }

    // Rate.

    @Test
    @Catalogue(181)
    void attempts_start_at_the_pace_of_the_limiter() {
        RateLimiter limiter = RateLimiter.of(10, ofSeconds(1));

        List<Object> unused = lab.scope().rateLimit(limiter).map(items(4), i -> work(ofSeconds(1)));

        assertThat(starts).containsExactly(ZERO, ofMillis(100), ofMillis(200), ofMillis(300));
        assertThat(most).hasValue(4);
    }

    @Test
    @Lesson(55)
    void retries_go_at_that_pace_too() {
        RateLimiter limiter = RateLimiter.of(1, ofSeconds(1));

        assertThatThrownBy(() -> lab.scope()
                        .rateLimit(limiter)
                        .retry(Retry.DEFAULT.fixed(ofMillis(300)))
                        .run(() -> {
                            starts.add(lab.now());
                            throw new IOException("no");
                        }))
                .isInstanceOf(IOException.class);

        assertThat(starts).containsExactly(ZERO, ofSeconds(1), ofSeconds(2));
    }

    @Test
    @Lesson(61)
    void a_wait_longer_than_the_deadline_allows_is_refused_at_once_and_takes_no_moment() {
        RateLimiter limiter = RateLimiter.of(1, ofSeconds(10));
        lab.scope().rateLimit(limiter).run(() -> {});

        RateLimitedException refused = (RateLimitedException) catchThrowable(
                () -> lab.scope().deadline(ofSeconds(5)).rateLimit(limiter).run(() -> starts.add(lab.now())));

        assertThat(refused.retryAfter()).isEqualTo(ofSeconds(10));
        assertThat(lab.now()).isZero();
        lab.scope().rateLimit(limiter).run(() -> starts.add(lab.now()));
        assertThat(starts).containsExactly(ofSeconds(10));
    }

    @Test
    void a_refusal_is_retried_only_if_asked_for() {
        RateLimiter limiter = RateLimiter.of(1, ofSeconds(10), l -> l.maxWait(ZERO));
        lab.scope().rateLimit(limiter).run(() -> {});
        Retry patient = Retry.DEFAULT.fixed(ofSeconds(10));

        assertThatThrownBy(() -> lab.scope().rateLimit(limiter).retry(patient).run(() -> {}))
                .isInstanceOf(RateLimitedException.class);
        assertThat(lab.now()).isZero();

        lab.scope()
                .rateLimit(limiter)
                .retry(patient.on(RateLimitedException.class))
                .run(() -> {});
        assertThat(lab.now()).isEqualTo(ofSeconds(10));
    }

    @Test
    @Lesson(64)
    void a_fork_that_is_cancelled_while_it_waits_gives_its_moment_to_those_behind() {
        RateLimiter limiter = RateLimiter.of(1, ofSeconds(1));

        lab.scope().rateLimit(limiter).run(s -> {
            s.fork("now", () -> work(ZERO));
            Fork<?> gone = s.fork("gone", () -> work(ZERO));
            s.fork("behind", () -> work(ZERO));
            Selvedge.sleep(ofMillis(500));
            boolean unused = gone.cancel();
        });

        assertThat(starts).containsExactly(ZERO, ofSeconds(1));
    }

    @Test
    @Lesson({17, 61})
    void the_longest_duration_of_a_retry_bounds_its_waits_too() {
        RateLimiter usedUp = RateLimiter.of(1, ofSeconds(10));
        lab.scope().rateLimit(usedUp).run(() -> {});
        Retry short_ = Retry.DEFAULT.maxDuration(ofSeconds(1));

        assertThatThrownBy(() -> lab.scope().retry(short_).rateLimit(usedUp).run(() -> starts.add(lab.now())))
                .isInstanceOf(RateLimitedException.class);
        assertThat(lab.now()).isZero();

        Bulkhead one = Bulkhead.of(1);
        lab.scope().bulkhead(one).run(s -> {
            Fork<?> holder = s.fork("holder", () -> Selvedge.sleep(ofSeconds(10)));
            Selvedge.sleep(ZERO);
            assertThatThrownBy(
                            () -> Selvedge.scope().retry(short_).bulkhead(one).run(() -> starts.add(lab.now())))
                    .isInstanceOf(BulkheadFullException.class);
            assertThat(lab.now()).isEqualTo(ofSeconds(1));
            holder.join();
        });

        assertThat(starts).isEmpty();
        assertThat(one.free()).isEqualTo(1);
    }

    // Slots.

    @Test
    @Lesson(60)
    void so_many_attempts_run_at_the_same_time_also_across_scopes() {
        Bulkhead two = Bulkhead.of(2);

        List<Object> unused =
                lab.scope().map(items(6), i -> Selvedge.scope().bulkhead(two).call(() -> work(ofSeconds(1))));

        assertThat(most).hasValue(2);
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
        assertThat(two.free()).isEqualTo(2);
    }

    @Test
    @Lesson(68)
    void no_slot_is_held_while_a_retry_waits() {
        Bulkhead one = Bulkhead.of(1);
        Retry slow = Retry.DEFAULT.fixed(ofSeconds(10));

        lab.scope().bulkhead(one).run(s -> {
            s.retry(slow).fork("flaky", () -> {
                starts.add(lab.now());
                if (Selvedge.attempt().number() == 1) {
                    throw new IOException("no");
                }
                return null;
            });
            s.fork("other", () -> work(ofSeconds(1)));
        });

        assertThat(starts).containsExactly(ZERO, ZERO, ofSeconds(10));
        assertThat(one.free()).isEqualTo(1);
    }

    @Test
    @Lesson(59)
    void a_slot_is_held_until_a_deaf_attempt_has_really_ended() {
        Bulkhead one = Bulkhead.of(1);

        lab.scope().run(s -> {
            s.bulkhead(one).timeout(ofSeconds(1)).fork("deaf", () -> {
                Blocks.compute(lab, ofSeconds(5));
                return "late";
            });
            Selvedge.sleep(ofSeconds(2));
            s.bulkhead(one).fork("next", () -> work(ZERO));
        });

        assertThat(starts).containsExactly(ofSeconds(5));
    }

    @Test
    void a_bulkhead_that_is_full_for_too_long_refuses() {
        Bulkhead one = Bulkhead.of(1, b -> b.maxWait(ofSeconds(1)));

        lab.scope().isolated().bulkhead(one).run(s -> {
            Fork<?> holder = s.fork("holder", () -> work(ofSeconds(5)));
            Fork<?> late = s.fork("late", () -> work(ZERO));
            assertThatThrownBy(late::join).hasCauseInstanceOf(BulkheadFullException.class);
            assertThat(lab.now()).isEqualTo(ofSeconds(1));
            holder.join();
        });
    }

    @Test
    @Catalogue(88)
    @Lesson(56)
    void after_many_timeouts_and_cancels_all_slots_and_moments_are_back() {
        Bulkhead three = Bulkhead.of(3);
        RateLimiter limiter = RateLimiter.of(1000, ofSeconds(1), l -> l.burst(5));
        CircuitBreaker breaker = CircuitBreaker.of("b", b -> b.failures(Integer.MAX_VALUE));
        Random dice = new Random(4);

        for (int round = 0; round < 100; round++) {
            long deadline = dice.nextInt(1, 60);
            List<Integer> lengths = dice.ints(100, 0, 20).boxed().toList();
            List<Outcome<Object>> unused = lab.scope()
                    .deadline(ofMillis(deadline))
                    .bulkhead(three)
                    .rateLimit(limiter)
                    .timeout(ofMillis(10))
                    .breaker(breaker)
                    .retry(r -> r.attempts(2).immediately())
                    .outcomes(lengths, ms -> work(ofMillis(ms)));
        }

        assertThat(three.free()).isEqualTo(3);
        assertThat(three.waiting()).isZero();
        assertThat(running).hasValue(0);
        assertThat(most).hasValue(3);
        lab.scope().run(() -> Selvedge.sleep(ofSeconds(1)));
        starts.clear();
        List<Object> unused = lab.scope().rateLimit(limiter).map(items(5), i -> work(ZERO));
        assertThat(starts).allMatch(lab.now()::equals).hasSize(5);
    }
}
