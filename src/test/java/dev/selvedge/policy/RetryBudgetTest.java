package dev.selvedge.policy;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.Lesson;
import dev.selvedge.policy.Retry.Again;
import dev.selvedge.policy.Retry.GiveUp;
import dev.selvedge.policy.Retry.Reason;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What many calls may spend on retries. */
@Timeout(30)
class RetryBudgetTest {

    private final VirtualClock clock = VirtualClock.manual();

    private void called(RetryBudget budget, int times) {
        for (int i = 0; i < times; i++) {
            budget.called(clock);
        }
    }

    /** How many retries it pays for right now. */
    private int drained(RetryBudget budget) {
        int n = 0;
        while (budget.tryRetry(clock)) {
            n++;
        }
        return n;
    }

    @Test
    void it_begins_with_what_one_second_grants() {
        assertThat(drained(RetryBudget.standard())).isEqualTo(10);
    }

    @Test
    @Lesson({88, 89})
    void calls_fill_it_by_their_share_and_retries_empty_it() {
        RetryBudget budget = RetryBudget.of(0.2, 0);

        assertThat(drained(budget)).isZero();
        called(budget, 4);
        assertThat(drained(budget)).isZero();
        called(budget, 1);
        assertThat(drained(budget)).isEqualTo(1);
        called(budget, 50);
        assertThat(drained(budget)).isEqualTo(10);
    }

    @Test
    @Lesson({88, 90})
    void it_recovers_with_the_time_however_few_the_calls() {
        RetryBudget budget = RetryBudget.of(0, 10);
        assertThat(drained(budget)).isEqualTo(10);

        clock.advance(ofMillis(99));
        assertThat(drained(budget)).isZero();
        clock.advance(ofMillis(1));
        assertThat(drained(budget)).isEqualTo(1);
        clock.advance(ofSeconds(1));
        assertThat(drained(budget)).isEqualTo(10);
    }

    @Test
    void it_holds_no_more_than_what_ten_seconds_grant() {
        RetryBudget many = RetryBudget.of(1, 50);
        RetryBudget few = RetryBudget.of(1, 1);

        clock.advance(ofDays(1));
        called(many, 100_000);
        called(few, 100_000);

        assertThat(drained(many)).isEqualTo(500);
        assertThat(drained(few)).isEqualTo(100);
    }

    @Test
    void on_another_clock_it_starts_fresh() {
        RetryBudget budget = RetryBudget.standard();
        assertThat(drained(budget)).isEqualTo(10);

        assertThat(budget.tryRetry(VirtualClock.manual())).isTrue();
    }

    @Test
    @Lesson(89)
    void a_retry_pays_only_if_it_is_made() {
        Retry retry = Retry.DEFAULT.withoutJitter().budget(RetryBudget.of(0, 1));

        assertThat(retry.decide(3, new IOException(), ZERO, clock.never()))
                .isEqualTo(new GiveUp(Reason.ATTEMPTS, null));
        assertThat(retry.decide(1, new IOException(), ZERO, clock.after(ofMillis(50))))
                .isEqualTo(new GiveUp(Reason.DEADLINE, null));
        assertThat(retry.decide(1, new IOException(), ZERO, clock.never())).isInstanceOf(Again.class);
        assertThat(retry.decide(1, new IOException(), ZERO, clock.never())).isEqualTo(new GiveUp(Reason.BUDGET, null));
    }

    @Test
    void numbers_out_of_range_are_refused() {
        for (double ratio : new double[] {-0.1, 1.1, Double.NaN}) {
            assertThatThrownBy(() -> RetryBudget.of(ratio, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("ratio must be between 0 and 1: " + ratio);
        }
        assertThatThrownBy(() -> RetryBudget.of(0.5, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("perSecond must be at least 0: -1");
    }
}
