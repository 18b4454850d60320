package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.selvedge.policy.RateLimiter;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A job that goes on after failures, until there are too many. */
@Timeout(60)
class ErrorBudgetTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private static List<Integer> upTo(int n) {
        return IntStream.range(0, n).boxed().toList();
    }

    private static ErrorBudgetExceededException spent(org.assertj.core.api.ThrowableAssert.ThrowingCallable code) {
        return catchThrowableOfType(ErrorBudgetExceededException.class, code);
    }

    private static int systemic(int i) throws IOException {
        Selvedge.sleep(ofMillis(10));
        if (i >= 20) {
            throw new IOException("the service is down");
        }
        return i;
    }

    @Test
    void a_budget_that_the_last_failure_spends_is_spent() {
        ErrorBudgetExceededException last =
                spent(() -> lab.scope("grades").concurrency(1).maxFailures(2).map(upTo(10), i -> {
                    if (i >= 7) {
                        throw new IOException("down");
                    }
                    return i;
                }));
        assertThat(last.failed()).isEqualTo(3);
        assertThat(last.succeeded()).isEqualTo(7);

        assertThat(spent(() -> lab.scope().maxFailures(0).map(upTo(1), ErrorBudgetTest::down)))
                .hasMessageContaining("1 of 1 failed");
        assertThat(spent(() -> lab.scope().maxFailures(2).eachCompleted(upTo(3), ErrorBudgetTest::down, (i, o) -> {})))
                .hasMessageContaining("3 of 3 failed");
    }

    private static int down(int i) throws IOException {
        throw new IOException("down " + i);
    }

    @Test
    @Catalogue(118)
    void a_systemic_failure_stops_the_job_soon() {
        AtomicInteger begun = new AtomicInteger();

        var spent = spent(
                () -> lab.scope("grades").concurrency(4).errorBudget(0.2, 20).map(upTo(1000), i -> {
                    begun.getAndIncrement();
                    return systemic(i);
                }));

        assertThat(spent.succeeded()).isEqualTo(20);
        assertThat(spent.failed()).isBetween(6L, 9L);
        assertThat(spent.completed()).isEqualTo(spent.succeeded() + spent.failed());
        assertThat(begun.get()).isBetween(26, 30);
        assertThat(spent)
                .hasMessageStartingWith("the error budget of the scope \"grades\" is spent: 6 of 26 failed, more than"
                        + " 20 % of 26; most often: ")
                .hasMessageEndingWith(" × java.io.IOException: the service is down")
                .hasCauseInstanceOf(IOException.class);
        assertThat(spent.failureGroups()).hasSize(1);
        assertThat(spent.outcomes()).hasSize(1000);
        assertThat(spent.outcomes().subList(0, 20)).allMatch(Outcome.Success.class::isInstance);
        assertThat(spent.outcomes().get(999))
                .isInstanceOfSatisfying(
                        Outcome.Cancelled.class,
                        c -> assertThat(c.reason().kind()).isEqualTo(CancelReason.Kind.ERROR_BUDGET));
    }

    @Test
    @Tag("real")
    void the_same_in_real_time() {
        for (int round = 0; round < 20; round++) {
            var spent = spent(() -> lab.realScope()
                    .concurrency(4)
                    .errorBudget(0.2, 20)
                    .forEach(upTo(1000), i -> {
                        int unused = systemic(i);
                    }));

            assertThat(spent.succeeded()).isEqualTo(20);
            assertThat(spent.failed()).isBetween(6L, 9L);
            assertThat(spent.outcomes()).isEmpty();
        }
    }

    @Test
    void outcomes_are_given_whether_it_is_spent_or_not() {
        Outcomes<Integer, Integer> outcomes =
                lab.scope().concurrency(4).errorBudget(0.2, 20).outcomes(upTo(1000), ErrorBudgetTest::systemic);

        assertThat(outcomes.values()).hasSize(20);
        assertThat(outcomes.failures().size()).isBetween(6, 9);
        assertThat(outcomes.cancelled()).isGreaterThanOrEqualTo(1000 - 29);
    }

    @Test
    void a_budget_that_lasts_gives_a_failure_at_the_end() {
        AtomicInteger begun = new AtomicInteger();

        var failed = Blocks.failed(() -> lab.scope("job").errorBudget(0.2, 20).map(upTo(100), i -> {
            begun.getAndIncrement();
            if (i == 3 || i == 7) {
                throw new IOException("no " + i);
            }
            return i;
        }));

        assertThat(begun).hasValue(100);
        assertThat(failed.failures()).extracting(Throwable::getMessage).containsExactly("no 3", "no 7");
        assertThat(failed).hasMessageStartingWith("the scope \"job\" failed: \"fork-4\" threw");
    }

    @Test
    void a_job_of_many_failures_keeps_the_first_thousand_and_counts_the_others() {
        var failed =
                Blocks.failed(() -> lab.scope().concurrency(1).maxFailures(5000).forEach(upTo(3000), i -> {
                    throw new IOException("no " + i);
                }));

        assertThat(failed.failures()).hasSize(1000);
        assertThat(failed).hasMessageEndingWith("threw java.io.IOException: no 0 (and 2999 more failures)");
    }

    @Test
    void the_ratio_must_be_exceeded() {
        assertThat(Tolerance.ofRatio(null, 0.2, 20).isSpent(25, 5)).isFalse();
        assertThat(Tolerance.ofRatio(null, 0.2, 20).isSpent(26, 6)).isTrue();
        assertThat(Tolerance.ofRatio(null, 0.2, 20).isSpent(19, 19)).isFalse();
        assertThat(Tolerance.ofRatio(null, 0, 1).isSpent(1, 1)).isTrue();
        assertThat(Tolerance.ofRatio(null, 0, 1).isSpent(1, 0)).isFalse();
        assertThat(Tolerance.ofFailures(null, 3).isSpent(1_000_000, 3)).isFalse();
        assertThat(Tolerance.ofFailures(null, 3).isSpent(4, 4)).isTrue();
        assertThat(Tolerance.ofFailures(null, 0).isSpent(1, 1)).isTrue();
        assertThat(Tolerance.ofFailures(Tolerance.ofRatio(null, 0.5, 10), 3).isSpent(10, 6))
                .isTrue();
        assertThat(Tolerance.ofRatio(Tolerance.ofFailures(null, 3), 0.5, 10).isSpent(5, 4))
                .isTrue();
    }

    @Test
    void a_success_may_make_the_samples_enough() {
        var spent = spent(() -> lab.scope().concurrency(1).errorBudget(0.5, 10).forEach(upTo(100), i -> {
            if (i < 9) {
                throw new IOException("early");
            }
        }));

        assertThat(spent.completed()).isEqualTo(10);
        assertThat(spent.failed()).isEqualTo(9);
    }

    @Test
    void max_failures_gives_up_at_the_next_one() {
        var spent = spent(() -> lab.scope().concurrency(1).maxFailures(2).forEach(upTo(100), i -> {
            if (i % 10 == 0) {
                throw new IOException("ten");
            }
        }));

        assertThat(spent.failed()).isEqualTo(3);
        assertThat(spent.succeeded()).isEqualTo(18);
        assertThat(spent).hasMessageContaining("3 of 21 failed, more than 2;");
    }

    @Test
    void failures_count_after_their_retries() {
        AtomicInteger calls = new AtomicInteger();

        var spent = spent(() -> lab.scope()
                .concurrency(1)
                .retry(r -> r.attempts(3))
                .maxFailures(1)
                .forEach(upTo(10), i -> {
                    calls.getAndIncrement();
                    throw new IOException("no");
                }));

        assertThat(spent.failed()).isEqualTo(2);
        assertThat(calls).hasValue(6);
    }

    @Test
    void refusals_of_policies_do_not_count() {
        RateLimiter slow = RateLimiter.of(1, ofSeconds(100), l -> l.maxWait(java.time.Duration.ZERO));

        var failed = Blocks.failed(
                () -> lab.scope().concurrency(1).rateLimit(slow).maxFailures(0).forEach(upTo(10), i -> {}));

        assertThat(failed.failures()).hasSize(9);
    }

    @Test
    void forks_of_a_live_scope_and_gathered_tasks_have_it_too() {
        var live = spent(() -> lab.scope("live").maxFailures(1).run(s -> {
            for (int i = 0; i < 10; i++) {
                int n = i;
                s.fork(() -> {
                    Selvedge.sleep(ofSeconds(n));
                    throw new IOException("no " + n);
                });
            }
        }));
        assertThat(live.failed()).isEqualTo(2);
        assertThat(lab.now()).isEqualTo(ofSeconds(1));

        Task<String, IOException> bad = () -> {
            throw new IOException("bad");
        };
        var gathered =
                spent(() -> lab.scope().concurrency(1).maxFailures(1).gather(bad, () -> "good", bad, () -> "never"));
        assertThat(gathered.failed()).isEqualTo(2);
        assertThat(gathered.succeeded()).isEqualTo(1);

        var lasted = Blocks.failed(() -> lab.scope().maxFailures(1).gather(bad, () -> "good"));
        assertThat(lasted.failures()).hasSize(1);
        assertThat(lab.scope().maxFailures(1).gather(() -> "a", () -> "b")).containsExactly("a", "b");
        assertThat(lab.scope().maxFailures(1).race(bad, bad, () -> "a")).isEqualTo("a");
    }

    @Test
    void an_error_of_the_machine_ends_even_this_job() {
        assertThat(catchThrowable(() -> lab.scope().maxFailures(9).forEach(upTo(9), i -> {
                    throw new OutOfMemoryError("not really");
                })))
                .isInstanceOf(OutOfMemoryError.class);
        assertThat(catchThrowable(() -> lab.scope().maxFailures(1).forEach(upTo(9), i -> {
                    throw new AssertionError("an item's");
                })))
                .isInstanceOf(ErrorBudgetExceededException.class);
    }

    @Test
    void the_message_is_of_the_moment_in_which_it_was_spent_and_the_numbers_are_of_the_end() {
        var spent = spent(() -> lab.scope("job").maxFailures(1).forEach(upTo(5), i -> {
            if (i < 2) {
                Selvedge.sleep(ofSeconds(1));
                throw new IOException("first");
            }
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2))); // they are under way then, and cannot be cut off
            throw new IOException("late");
        }));

        assertThat(spent)
                .hasMessage("the error budget of the scope \"job\" is spent: 2 of 2 failed, more than 1;"
                        + " most often: 2 × java.io.IOException: first")
                .cause()
                .hasMessage("first");
        assertThat(spent.failed()).isEqualTo(5);
        assertThat(spent.failureGroups())
                .extracting(FailureGroup::toString)
                .containsExactly("3 × java.io.IOException: late", "2 × java.io.IOException: first");
    }

    @Test
    @Tag("real")
    void however_many_fail_at_the_same_time_its_numbers_fit_together() {
        Pattern numbers = Pattern.compile(
                ".* spent: (\\d+) of (\\d+) failed, more than 3; most often: (\\d+) × java.io.IOException: down");
        for (int round = 0; round < 50; round++) {
            CountDownLatch all = new CountDownLatch(32);
            var spent =
                    spent(() -> lab.realScope().concurrency(32).maxFailures(3).forEach(upTo(32), i -> {
                        all.countDown();
                        all.await();
                        if (i % 2 == 0) {
                            throw new IOException("down");
                        }
                    }));

            Matcher found = numbers.matcher(spent.getMessage());
            assertThat(found.matches()).as(spent.getMessage()).isTrue();
            assertThat(found.group(3)).isEqualTo(found.group(1));
            assertThat(Long.parseLong(found.group(1))).isBetween(4L, Long.parseLong(found.group(2)));
        }
    }

    @Test
    void a_ratio_is_told_with_all_its_digits_and_no_others() {
        assertThat(words(0.2)).isEqualTo("more than 20 % of 4");
        assertThat(words(0)).isEqualTo("more than 0 % of 4");
        assertThat(words(0.005)).isEqualTo("more than 0.5 % of 4");
        assertThat(words(0.000_001)).isEqualTo("more than 0.0001 % of 4");
        assertThat(words(0.000_000_12)).isEqualTo("more than 0.000012 % of 4");
        assertThat(words(1.0 / 3)).isEqualTo("more than 33.33333333333333 % of 4");
        assertThat(words(Double.MIN_VALUE)).isEqualTo("more than 4.9E-322 % of 4");
    }

    private static String words(double ratio) {
        return Tolerance.ofRatio(null, ratio, 1).inWords(4, 4);
    }

    @Test
    void bad_arguments_are_refused() {
        for (double ratio : new double[] {-0.1, 1, 2, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> lab.scope().errorBudget(ratio, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("ratio must be at least 0 and less than 1: " + ratio);
        }
        assertThatThrownBy(() -> lab.scope().errorBudget(0.1, 0)).hasMessage("minSamples must be at least 1: 0");
        assertThatThrownBy(() -> lab.scope().maxFailures(-1)).hasMessage("maxFailures must not be negative: -1");
    }
}
