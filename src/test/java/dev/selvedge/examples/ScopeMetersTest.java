package dev.selvedge.examples;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.ScopeFailedException;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.Task;
import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.VirtualClock;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against a real registry, in virtual time. */
@Timeout(30)
class ScopeMetersTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final ScopeMeters meters = new ScopeMeters(registry);
    private final VirtualClock clock = VirtualClock.jumping();

    private ScopeSpec metered(String name) {
        return Selvedge.scope(name).clock(clock).listener(meters);
    }

    private static Task<String, RuntimeException> nap(int millis) {
        return () -> {
            Selvedge.sleep(ofMillis(millis));
            return "rested";
        };
    }

    private static Task<String, RuntimeException> failing(int millis) {
        return () -> {
            Selvedge.sleep(ofMillis(millis));
            throw new IllegalStateException("no");
        };
    }

    private Timer timer(String name, String... tags) {
        return registry.get(name).tags(tags).timer();
    }

    private double count(String name, String... tags) {
        return registry.get(name).tags(tags).counter().count();
    }

    @AfterEach
    void nothing_runs_any_more() {
        registry.find("selvedge.scopes.open")
                .gauges()
                .forEach(g -> assertThat(g.value()).isZero());
        registry.find("selvedge.forks.running")
                .gauges()
                .forEach(g -> assertThat(g.value()).isZero());
    }

    @Test
    void scopes_and_forks_are_timed_by_how_they_end() {
        metered("page").gather(List.of(nap(100), nap(300)));
        Throwable thrown = catchThrowable(() -> metered("page").gather(List.of(nap(100), failing(50))));

        assertThat(thrown).isInstanceOf(ScopeFailedException.class);
        Timer good = timer("selvedge.scope", "scope", "page", "outcome", "succeeded", "exception", "none");
        assertThat(good.count()).isEqualTo(1);
        assertThat(good.totalTime(MILLISECONDS)).isEqualTo(300);
        Timer bad = timer("selvedge.scope", "scope", "page", "outcome", "failed", "exception", "ScopeFailedException");
        assertThat(bad.totalTime(MILLISECONDS)).isEqualTo(50);
        Timer forks = timer("selvedge.fork", "scope", "page", "outcome", "succeeded", "exception", "none");
        assertThat(forks.count()).isEqualTo(2);
        assertThat(forks.totalTime(MILLISECONDS)).isEqualTo(400);
        assertThat(timer("selvedge.fork", "outcome", "failed", "exception", "IllegalStateException")
                        .totalTime(MILLISECONDS))
                .isEqualTo(50);
        assertThat(timer("selvedge.fork", "outcome", "cancelled", "exception", "none")
                        .totalTime(MILLISECONDS))
                .isEqualTo(50);
        assertThat(count("selvedge.cancellations", "scope", "page", "kind", "sibling_failed"))
                .isEqualTo(1);
    }

    @Test
    void gauges_say_what_runs_now() {
        metered("page").run(s -> {
            s.fork(nap(10));
            s.fork(nap(20));
            Selvedge.sleep(ofMillis(15));
            assertThat(registry.get("selvedge.scopes.open").gauge().value()).isEqualTo(1);
            assertThat(registry.get("selvedge.forks.running").gauge().value()).isEqualTo(1);
        });
    }

    @Test
    void attempts_and_the_waits_between_them_are_counted() {
        int[] calls = {0};
        metered("call")
                .retry(Retry.DEFAULT
                        .attempts(3)
                        .backoff(ofMillis(100), ofSeconds(1))
                        .withoutJitter())
                .run(() -> {
                    if (++calls[0] < 3) {
                        throw new IllegalStateException("no");
                    }
                });
        Throwable thrown = catchThrowable(() ->
                metered("call").retry(Retry.DEFAULT.attempts(2).immediately()).run(failing(1)::call));

        assertThat(thrown).isInstanceOf(IllegalStateException.class);
        assertThat(count("selvedge.attempts", "scope", "call", "outcome", "succeeded"))
                .isEqualTo(1);
        assertThat(count("selvedge.attempts", "scope", "call", "outcome", "failed"))
                .isEqualTo(4);
        assertThat(timer("selvedge.retry.delay", "scope", "call", "source", "backoff")
                        .totalTime(MILLISECONDS))
                .isEqualTo(300);
        assertThat(count("selvedge.retry.exhausted", "scope", "call", "reason", "attempts"))
                .isEqualTo(1);
    }

    @Test
    void a_breaker_has_a_state_and_transitions() {
        CircuitBreaker breaker = CircuitBreaker.of("store", b -> b.failures(1).coolDown(ofSeconds(10)));
        meters.watch(breaker);
        Throwable thrown = catchThrowable(() -> metered("page").breaker(breaker).run(failing(1)::call));

        assertThat(thrown).isInstanceOf(IllegalStateException.class);
        assertThat(registry.get("selvedge.breaker.state").gauge().value()).isEqualTo(2);
        metered("pause").run(nap(10_000)::call);
        metered("page").breaker(breaker).run(() -> {});
        assertThat(registry.get("selvedge.breaker.state").gauge().value()).isZero();
        assertThat(count("selvedge.breaker.transitions", "breaker", "store", "to", "open"))
                .isEqualTo(1);
        assertThat(count("selvedge.breaker.transitions", "breaker", "store", "to", "half_open"))
                .isEqualTo(1);
        assertThat(count("selvedge.breaker.transitions", "breaker", "store", "to", "closed"))
                .isEqualTo(1);
    }

    @Test
    void a_breaker_that_is_reset_outside_any_scope_is_seen_to_be_closed() {
        CircuitBreaker breaker = CircuitBreaker.of("store", b -> b.failures(1).coolDown(ofSeconds(10)));
        meters.watch(breaker);
        Throwable thrown = catchThrowable(() -> metered("page").breaker(breaker).run(failing(1)::call));

        breaker.reset();

        assertThat(thrown).isInstanceOf(IllegalStateException.class);
        assertThat(registry.get("selvedge.breaker.state").gauge().value()).isZero();
    }

    @Test
    void an_exception_without_a_simple_name_has_a_tag() {
        RuntimeException anonymous = new RuntimeException("no") {
            private static final long serialVersionUID = 1;
        };
        Throwable thrown = catchThrowable(() -> metered("page").run(() -> {
            throw anonymous;
        }));

        assertThat(thrown).isSameAs(anonymous);
        assertThat(timer("selvedge.scope", "exception", anonymous.getClass().getName())
                        .count())
                .isEqualTo(1);
    }

    @Test
    void waits_hedges_and_what_gets_lost() {
        metered("limited").rateLimit(RateLimiter.of(1, ofMillis(100))).gather(List.of(nap(1), nap(1)));
        Bulkhead bulkhead = Bulkhead.of(1, b -> b.maxWait(ofSeconds(9)));
        metered("narrow").bulkhead(bulkhead).gather(List.of(nap(10), nap(10)));
        int[] calls = {0};
        metered("hedged")
                .hedge(ofMillis(50))
                .call(() -> nap(++calls[0] == 1 ? 500 : 10).call());
        metered("race").race(nap(1), () -> Selvedge.shielded(nap(2)));
        metered("late").deadline(ofSeconds(1)).call(() -> Selvedge.shielded(nap(10_000)));
        metered("unhandled").run(s -> {
            s.onCancel(() -> {
                throw new IllegalStateException("late");
            });
            s.cancel("enough");
        });

        assertThat(timer("selvedge.limiter.wait", "scope", "limited").totalTime(MILLISECONDS))
                .isEqualTo(100);
        assertThat(timer("selvedge.bulkhead.wait", "scope", "narrow").totalTime(MILLISECONDS))
                .isEqualTo(10);
        assertThat(count("selvedge.hedges", "scope", "hedged/hedge")).isEqualTo(1);
        assertThat(count("selvedge.values.discarded", "scope", "race")).isEqualTo(1);
        assertThat(count("selvedge.stragglers", "scope", "late")).isEqualTo(1);
        assertThat(count("selvedge.errors.unhandled", "scope", "unhandled", "exception", "IllegalStateException"))
                .isEqualTo(1);
    }

    @Test
    void a_registry_that_is_broken_changes_nothing() {
        registry.config().onMeterAdded(m -> {
            throw new IllegalStateException("broken");
        });

        assertThat(metered("page").gather(List.of(nap(1), nap(2)))).containsExactly("rested", "rested");
    }
}
