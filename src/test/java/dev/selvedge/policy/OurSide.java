package dev.selvedge.policy;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ZERO;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** What the tests of both guides to migration ask of this library, on a virtual clock; they ask the same of the other one. */
abstract class OurSide {

    final VirtualClock time = VirtualClock.jumping();

    final ScopeSpec on(ScopeSpec spec) {
        return spec.clock(time);
    }

    final void sleep(Duration d) {
        on(scope()).run(() -> Selvedge.sleep(d));
    }

    /** How often a task is called that fails each time. */
    final int callsOf(Retry policy, Throwable failure) {
        AtomicInteger calls = new AtomicInteger();
        assertThat(catchThrowable(() -> on(scope().retry(policy)).run(() -> {
                    calls.incrementAndGet();
                    if (failure instanceof Error error) {
                        throw error;
                    }
                    throw (Exception) failure;
                })))
                .isSameAs(failure);
        return calls.get();
    }

    /** The first waits; the policy is asked, nothing waits. */
    static List<Duration> waitsAfter(Exception failure, Retry policy, int n) {
        List<Duration> waits = new ArrayList<>();
        for (int i = 1; i <= n; i++) {
            Retry.Decision next = policy.attempts(n + 1).decide(i, failure, ZERO, Deadline.never());
            waits.add(((Retry.Again) next).delay());
        }
        return waits;
    }

    final int failuresUntilOpen(CircuitBreaker breaker) {
        int n = 0;
        while (breaker.state() != CircuitBreaker.State.OPEN) {
            breaker.admit(time).failed();
            n++;
        }
        return n;
    }

    /** How many a limiter lets through at once. */
    final int passed(RateLimiter limiter) {
        int n = 0;
        while (limiter.tryAcquire(time)) {
            n++;
        }
        return n;
    }
}
