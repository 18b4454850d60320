package dev.selvedge;

import static dev.selvedge.Blocks.compute;
import static dev.selvedge.Blocks.flag;
import static dev.selvedge.Blocks.rawSleep;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A timeout for each attempt: whose it is, and what it leaves behind. */
@Timeout(30)
class AttemptTimeoutTest {

    private static final Retry AT_ONCE = Retry.DEFAULT.immediately();

    @RegisterExtension
    final Lab lab = new Lab();

    private ScopeSpec timed(Duration d) {
        return lab.scope("a").timeout(d);
    }

    @Test
    @Lesson(74)
    void an_attempt_that_takes_too_long_is_interrupted_and_throws() {
        AttemptTimeoutException late = (AttemptTimeoutException) catchThrowable(
                () -> timed(ofMillis(200)).run(() -> lab.sleep("task", ofSeconds(9))));

        assertThat(late).hasMessage("an attempt of the scope \"a\" exceeded its timeout of 200 ms");
        assertThat(late.limit()).isEqualTo(ofMillis(200));
        assertThat(late).hasCauseInstanceOf(InterruptedException.class);
        assertThat(lab.trail()).containsExactly("0.2s task cut off");
        assertThat(flag()).isFalse();
        assertThat(lab.events(ScopeEvent.ScopeCancelled.class)).isEmpty();
        assertThat(lab.events(ScopeEvent.DeadlineSet.class)).isEmpty();
    }

    @Test
    @Catalogue(67)
    void it_is_retried_and_each_attempt_has_the_whole_of_it() {
        String value = timed(ofSeconds(1)).retry(AT_ONCE).call(() -> {
            lab.sleep(
                    "attempt " + Selvedge.attempt().number(),
                    ofSeconds(4 - Selvedge.attempt().number() * 2L + 1));
            return "value";
        });

        assertThat(value).isEqualTo("value");
    }

    @Test
    void it_is_a_failure_that_a_fallback_answers_and_an_outcome_holds() {
        assertThat(timed(ofSeconds(1))
                        .<String, RuntimeException>call(
                                this::hang, e -> e.getClass().getSimpleName()))
                .isEqualTo("AttemptTimeoutException");
        assertThat(((Outcome.Failure<String>) timed(ofSeconds(1)).attempt(this::hang)).error())
                .isInstanceOf(AttemptTimeoutException.class);
    }

    private String hang() {
        Selvedge.sleep(ofSeconds(60));
        return "late";
    }

    @Test
    @Lesson(79)
    void a_value_that_comes_late_is_the_value() {
        assertThat(timed(ofSeconds(1)).<String, RuntimeException>call(() -> {
                    compute(lab, ofSeconds(2));
                    return "late";
                }))
                .isEqualTo("late");
        assertThat(flag()).isFalse();
    }

    @Test
    @Lesson(76)
    void an_exception_of_the_task_s_own_passes_and_the_timeout_is_told() {
        IOException own = new IOException("own");

        assertThatThrownBy(() -> timed(ofSeconds(1)).run(() -> {
                    compute(lab, ofSeconds(2));
                    throw own;
                }))
                .isSameAs(own);

        assertThat(lab.unhandled()).hasSize(1).allMatch(AttemptTimeoutException.class::isInstance);
        assertThat(flag()).isFalse();
    }

    @Test
    @Lesson({70, 71})
    void a_deadline_around_is_not_taken_for_it() {
        DeadlineExceededException late = (DeadlineExceededException) catchThrowable(() ->
                timed(ofSeconds(2)).deadline(ofSeconds(1)).retry(AT_ONCE).run(() -> lab.sleep("task", ofSeconds(9))));

        assertThat(late).hasMessage("the scope \"a\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(lab.trail()).containsExactly("1s task cut off");
    }

    @Test
    @Lesson({70, 71})
    void when_both_pass_at_the_same_moment_it_is_the_deadline() {
        assertThatThrownBy(() -> timed(ofSeconds(1))
                        .deadline(ofSeconds(1))
                        .retry(AT_ONCE)
                        .run(() -> rawSleep(lab, ofSeconds(9))))
                .isInstanceOf(DeadlineExceededException.class);
    }

    @Test
    @Lesson(70)
    void a_cancel_from_outside_during_an_attempt_is_not_taken_for_it() {
        assertThatThrownBy(() -> lab.scope("a").run(s -> {
                    Fork<?> worker =
                            s.timeout(ofSeconds(5)).retry(AT_ONCE).fork(() -> lab.sleep("worker", ofSeconds(9)));
                    Selvedge.sleep(ofSeconds(1));
                    s.cancel("enough");
                    worker.join();
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");

        assertThat(lab.trail()).containsExactly("1s worker cut off");
    }

    @Test
    @Lesson(72)
    void nothing_is_left_of_a_timeout_that_was_not_needed() {
        for (int i = 0; i < 10; i++) {
            timed(ofSeconds(1)).run(() -> lab.sleep("task", ofMillis(10)));
        }

        assertThat(lab.clock().pending()).isEmpty();
        assertThat(lab.now()).isEqualTo(ofMillis(100));
    }

    @Test
    void a_timeout_too_long_to_count_is_none() {
        timed(ofSeconds(Long.MAX_VALUE)).run(() -> lab.sleep("task", ofSeconds(1)));

        assertThat(lab.trail()).containsExactly("1s task slept");
    }

    @Test
    void waits_for_a_slot_and_for_a_rate_come_before_it() {
        Bulkhead one = Bulkhead.of(1);
        RateLimiter slow = RateLimiter.of(1, ofSeconds(3));
        List<Duration> begun = new ArrayList<>();

        lab.scope("a").bulkhead(one).rateLimit(slow).timeout(ofSeconds(1)).run(s -> {
            for (int i = 0; i < 3; i++) {
                Fork<?> unused = s.fork(() -> {
                    begun.add(lab.now());
                    Selvedge.sleep(ofMillis(900));
                });
            }
        });

        assertThat(begun).containsExactly(ofSeconds(0), ofSeconds(3), ofSeconds(6));
    }

    @Test
    void the_deadline_inside_is_the_timeout() {
        assertThat(timed(ofSeconds(1))
                        .deadline(ofSeconds(9))
                        .<Duration, RuntimeException>call(
                                () -> Selvedge.deadline().remaining()))
                .isEqualTo(ofSeconds(1));
        assertThat(timed(ofSeconds(1)).<Duration, RuntimeException>call(() -> Selvedge.timeLeft(ofSeconds(5))))
                .isEqualTo(ofSeconds(1));
    }

    @Test
    void forks_of_an_attempt_are_cut_off_with_it() {
        assertThatThrownBy(() -> timed(ofSeconds(1))
                        .run(() -> Selvedge.scope("inner").run(s -> {
                            s.fork("child", () -> lab.sleep("child", ofSeconds(9)));
                            lab.sleep("body", ofSeconds(9));
                        })))
                .isInstanceOf(AttemptTimeoutException.class);

        assertThat(lab.trail()).containsExactlyInAnyOrder("1s child cut off", "1s body cut off");
    }

    @Test
    void cleanup_after_a_timeout_has_its_time() {
        assertThatThrownBy(() -> timed(ofSeconds(1)).run(() -> {
                    try {
                        lab.sleep("task", ofSeconds(9));
                    } finally {
                        lab.sleep("cleanup", ofSeconds(1));
                    }
                }))
                .isInstanceOf(AttemptTimeoutException.class);

        assertThat(lab.trail()).containsExactly("1s task cut off", "2s cleanup slept");
    }

    /** As that of a block: what is around has had its say, and can cut nothing off any more. */
    @Test
    void in_the_cleanup_after_a_deadline_or_a_timeout_an_attempt_has_its_timeout() {
        for (ScopeSpec around : List.of(lab.scope("outer").deadline(ofSeconds(1)), timed(ofSeconds(1)))) {
            Duration begun = lab.now();
            Outcome<Object> outcome = around.attempt(() -> {
                try {
                    Selvedge.sleep(ofSeconds(50));
                    return "slept";
                } finally {
                    assertThatThrownBy(() -> Selvedge.scope("cleanup")
                                    .timeout(ofSeconds(2))
                                    .run(() -> Selvedge.sleep(ofSeconds(100))))
                            .isInstanceOf(AttemptTimeoutException.class)
                            .hasMessage("an attempt of the scope \"cleanup\" exceeded its timeout of 2 s");
                }
            });
            assertThat(lab.now().minus(begun)).isEqualTo(ofSeconds(3));
            assertThat(outcome).isNotInstanceOf(Outcome.Success.class);
        }
    }
}
