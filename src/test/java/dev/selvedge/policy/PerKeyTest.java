package dev.selvedge.policy;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.policy.Bulkhead.Slot;
import dev.selvedge.time.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A policy for each key. */
@Timeout(30)
class PerKeyTest {

    private final PerKey<String, CircuitBreaker> breakers =
            CircuitBreaker.perKey(host -> CircuitBreaker.of(host, b -> b.failures(1)));

    @Test
    void each_key_has_its_own() {
        breakers.get("a").admit().failed();

        assertThat(breakers.get("a").state()).isEqualTo(CircuitBreaker.State.OPEN);
        assertThat(breakers.get("b").state()).isEqualTo(CircuitBreaker.State.CLOSED);
        assertThat(breakers.get("a")).isSameAs(breakers.get("a")).hasToString("the circuit breaker \"a\"");
        assertThat(breakers.size()).isEqualTo(2);
    }

    @Test
    void when_it_is_full_one_that_is_as_new_is_forgotten() {
        PerKey<String, CircuitBreaker> three = breakers.atMost(3);
        CircuitBreaker open = three.get("open");
        open.admit().failed();
        CircuitBreaker idle = three.get("idle");
        CircuitBreaker used = three.get("used");
        assertThat(three.get("used")).isSameAs(used);

        three.get("new");

        assertThat(three.size()).isEqualTo(3);
        assertThat(three.get("open")).isSameAs(open);
        assertThat(three.get("used")).isSameAs(used);
        assertThat(three.get("idle")).isNotSameAs(idle);
    }

    @Test
    void it_stays_bounded_even_if_none_is_as_new() {
        PerKey<Integer, CircuitBreaker> ten =
                CircuitBreaker.<Integer>perKey(k -> CircuitBreaker.of("" + k)).atMost(10);

        for (int i = 0; i < 1_000; i++) {
            ten.get(i).forceOpen();
        }

        assertThat(ten.size()).isEqualTo(10);
    }

    @Test
    void ten_thousand_are_held_by_default() {
        for (int i = 0; i < 10_500; i++) {
            breakers.get("host-" + i);
        }

        assertThat(breakers.size()).isEqualTo(10_000);
    }

    @Test
    void a_limiter_that_was_used_just_now_and_a_bulkhead_with_a_call_inside_are_kept() throws InterruptedException {
        PerKey<String, RateLimiter> limiters = RateLimiter.<String>perKey(k -> RateLimiter.of(1, ofSeconds(1_000)))
                .atMost(2);
        RateLimiter limited = limiters.get("limited");
        assertThat(limited.tryAcquire()).isTrue();
        limiters.get("idle");
        limiters.get("new");
        assertThat(limiters.get("limited")).isSameAs(limited);

        PerKey<String, Bulkhead> bulkheads =
                Bulkhead.<String>perKey(k -> Bulkhead.of(1)).atMost(2);
        Bulkhead busy = bulkheads.get("busy");
        try (Slot slot = busy.enter(Deadline.never())) {
            bulkheads.get("idle");
            bulkheads.get("new");
            assertThat(bulkheads.get("busy")).isSameAs(busy);
        }
    }

    @Test
    void many_threads_get_the_same_one() throws Exception {
        PerKey<Integer, CircuitBreaker> few =
                CircuitBreaker.<Integer>perKey(k -> CircuitBreaker.of("" + k)).atMost(50);
        RealThreads.each(4, t -> () -> {
            for (int i = 0; i < 20_000; i++) {
                assertThat(few.get(i % 100).name()).isEqualTo("" + i % 100);
            }
        });

        assertThat(few.size()).isLessThanOrEqualTo(50);
    }

    @Test
    void nothing_is_taken_for_null() {
        PerKey<String, CircuitBreaker> broken = CircuitBreaker.perKey(k -> null);

        assertThatThrownBy(() -> breakers.get(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("key");
        assertThatThrownBy(() -> broken.get("a"))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("there is no policy for the key a");
        assertThat(broken.size()).isZero();
        assertThatThrownBy(() -> breakers.atMost(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("keys must be at least 1: 0");
    }
}
