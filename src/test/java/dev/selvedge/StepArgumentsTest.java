package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the steps of policies are given, and must not be; of a specification and of a live scope alike. */
@Timeout(30)
class StepArgumentsTest {

    private static final Duration HUGE = ofSeconds(Long.MAX_VALUE);

    @RegisterExtension
    final Lab lab = new Lab();

    private void withEach(Consumer<PolicySteps<?>> check) {
        check.accept(lab.scope());
        lab.scope().run(check::accept);
    }

    @Test
    @SuppressWarnings("NullAway")
    void null_is_refused_by_the_name_of_the_argument() {
        withEach(steps -> {
            nullIsRefused("perAttempt", () -> steps.timeout(null));
            nullIsRefused("policy", () -> steps.retry((Retry) null));
            nullIsRefused("policy", () -> steps.retry((UnaryOperator<Retry>) null));
            nullIsRefused("policy gave null", () -> steps.retry(r -> null));
            nullIsRefused("shared", () -> steps.breaker(null));
            nullIsRefused("shared", () -> steps.rateLimit(null));
            nullIsRefused("shared", () -> steps.bulkhead(null));
            nullIsRefused("after", () -> steps.hedge(null));
            nullIsRefused("after", () -> steps.hedge(null, 2));
        });
    }

    private static void nullIsRefused(String name, ThrowingCallable call) {
        assertThatNullPointerException().isThrownBy(call).withMessage(name);
    }

    @Test
    void a_timeout_is_positive() {
        withEach(steps -> {
            for (Duration bad : new Duration[] {ZERO, ofNanos(-1), ofSeconds(Long.MIN_VALUE)}) {
                assertThatThrownBy(() -> steps.timeout(bad))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("perAttempt must be positive: " + bad);
            }
        });
    }

    @Test
    void the_delay_of_a_hedge_is_not_negative_and_there_is_at_least_one() {
        withEach(steps -> {
            for (Duration bad : new Duration[] {ofNanos(-1), ofSeconds(Long.MIN_VALUE)}) {
                assertThatThrownBy(() -> steps.hedge(bad))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("after must not be negative: " + bad);
            }
            for (int bad : new int[] {0, -1, Integer.MIN_VALUE}) {
                assertThatThrownBy(() -> steps.hedge(ZERO, bad))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("extra must be at least 1: " + bad);
            }
        });
    }

    static Stream<Duration> extremes() {
        return Stream.of(ofNanos(1), HUGE);
    }

    @ParameterizedTest
    @MethodSource("extremes")
    void the_shortest_and_the_longest_work(Duration d) {
        ScopeSpec all = lab.scope()
                .timeout(HUGE)
                .hedge(d, Integer.MAX_VALUE)
                .retry(r -> r.backoff(d, d).maxDuration(HUGE))
                .breaker(CircuitBreaker.of("b", b -> b.coolDown(d)))
                .rateLimit(RateLimiter.of(1, d, l -> l.maxWait(d)))
                .bulkhead(Bulkhead.of(Integer.MAX_VALUE, b -> b.maxWait(d)));

        assertThat(all.<String, RuntimeException>call(() -> "value")).isEqualTo("value");
        assertThatThrownBy(() -> lab.scope().timeout(ofNanos(1)).run(() -> Selvedge.sleep(ofNanos(2))))
                .isInstanceOf(AttemptTimeoutException.class);
    }

    @Test
    void a_step_leaves_what_it_was_made_from_as_it_is() {
        ScopeSpec plain = lab.scope();

        ScopeSpec retried = plain.retry(Retry.DEFAULT);

        assertThat(plain.policies()).isSameAs(Policies.NONE);
        assertThat(retried.deadline(ofSeconds(1)).named("n").isolated().policies())
                .isSameAs(retried.policies());
        assertThatThrownBy(() -> Selvedge.defaults(Selvedge.scope().retry(Retry.DEFAULT)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("this has a policy");
    }

    @Test
    void a_step_given_again_replaces_the_one_before() {
        CircuitBreaker open = CircuitBreaker.of("open");
        open.forceOpen();

        lab.scope()
                .breaker(open)
                .breaker(CircuitBreaker.of("other"))
                .timeout(ofNanos(1))
                .timeout(ofSeconds(2))
                .run(() -> Selvedge.sleep(ofSeconds(1)));

        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }
}
