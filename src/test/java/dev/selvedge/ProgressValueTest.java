package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.Locale;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The numbers of a moment, and what they say. */
@Timeout(10)
class ProgressValueTest {

    private static final long MANY = Long.MAX_VALUE;
    private static final Duration HUGE = ofSeconds(Long.MAX_VALUE);

    // Sums.

    @Test
    void items_end_in_three_ways_and_the_others_that_began_are_in_flight() {
        Progress p = new Progress(100, 50, 20, 7, 3, 9, 5, ofSeconds(1), false);

        assertThat(p.ended()).isEqualTo(30);
        assertThat(p.inFlight()).isEqualTo(20);
        assertThat(p.over()).isFalse();
    }

    @Test
    void numbers_read_one_after_the_other_never_give_less_than_nothing() {
        Progress p = new Progress(10, 3, 4, 0, 0, 0, 6, ofSeconds(1), false);

        assertThat(p.inFlight()).isZero();
        assertThat(p.perSecond()).isZero();
        assertThat(p.timeLeft()).isEmpty();
    }

    // The rate.

    @Test
    void the_rate_counts_what_was_worked_on_to_its_end() {
        Progress p = new Progress(100, 50, 20, 10, 5, 0, 6, ofMillis(1500), false);

        assertThat(p.perSecond()).isEqualTo(16.0);
    }

    @Test
    void without_time_or_work_there_is_no_rate() {
        assertThat(new Progress(100, 50, 20, 10, 5, 0, 0, ZERO, false).perSecond())
                .isZero();
        assertThat(new Progress(100, 50, 0, 0, 5, 0, 0, ofSeconds(1), false).perSecond())
                .isZero();
        assertThat(new Progress(100, 50, 20, 0, 0, 0, 20, ofSeconds(1), false).rateInWords())
                .isEmpty();
        assertThat(new Progress(100, 50, 20, 0, 0, 0, 20, ofSeconds(1), false).timeLeft())
                .isEmpty();
    }

    @Test
    void the_rate_is_told_in_the_unit_that_shows_it() {
        assertThat(rate(2_100, ofSeconds(1))).isEqualTo("2,100/s");
        assertThat(rate(100, ofSeconds(10))).isEqualTo("10/s");
        assertThat(rate(996, ofSeconds(100))).isEqualTo("10/s");
        assertThat(rate(98, ofSeconds(10))).isEqualTo("9.8/s");
        assertThat(rate(1, ofSeconds(1))).isEqualTo("1.0/s");
        assertThat(rate(1, ofSeconds(24))).isEqualTo("2.5/min");
        assertThat(rate(30, ofMinutes(1))).isEqualTo("30/min");
        assertThat(rate(12, ofHours(1))).isEqualTo("12/h");
        assertThat(rate(1, ofHours(10))).isEqualTo("0.1/h");
    }

    private static String rate(long items, Duration in) {
        return new Progress(Progress.UNKNOWN, items, items, 0, 0, 0, 0, in, false).rateInWords();
    }

    // The time left.

    @Test
    void the_rest_takes_as_long_as_the_rate_says() {
        assertThat(new Progress(100, 30, 20, 5, 0, 0, 0, ofSeconds(5), false).timeLeft())
                .contains(ofSeconds(15));
    }

    @Test
    void what_an_earlier_run_has_done_does_not_make_this_one_faster() {
        assertThat(new Progress(100, 60, 50, 0, 0, 0, 40, ofSeconds(5), false).timeLeft())
                .contains(ofSeconds(25));
    }

    @Test
    void cancelled_items_need_no_more_time() {
        assertThat(new Progress(100, 60, 20, 0, 40, 0, 0, ofSeconds(5), false).timeLeft())
                .contains(ofSeconds(10));
    }

    @Test
    void nothing_left_takes_no_time_even_without_a_rate() {
        assertThat(new Progress(0, 0, 0, 0, 0, 0, 0, ZERO, false).timeLeft()).contains(ZERO);
        assertThat(new Progress(5, 5, 5, 0, 0, 0, 5, ZERO, false).timeLeft()).contains(ZERO);
        assertThat(new Progress(5, 6, 6, 0, 0, 0, 0, ofSeconds(1), false).timeLeft())
                .contains(ZERO);
    }

    @Test
    void nobody_knows_how_long_an_unknown_number_of_items_takes() {
        assertThat(new Progress(Progress.UNKNOWN, 60, 50, 0, 0, 0, 0, ofSeconds(5), false).timeLeft())
                .isEmpty();
    }

    // What cannot be.

    @Test
    void the_longest_times_and_the_largest_numbers_do_not_overflow() {
        Progress p = new Progress(MANY, MANY, MANY, MANY, MANY, MANY, 1, HUGE, true);

        assertThat(p.ended()).isEqualTo(MANY);
        assertThat(p.inFlight()).isZero();
        assertThat(p.perSecond()).isEqualTo(1.0, within(1e-9));
        assertThat(p.timeLeft()).contains(ZERO);
        assertThat(p)
                .hasToString("9,223,372,036,854,775,807 of 9,223,372,036,854,775,807 (100 %), 1 known before,"
                        + " 9,223,372,036,854,775,807 failed, 9,223,372,036,854,775,807 cancelled,"
                        + " 9,223,372,036,854,775,807 retried, 1.0/s, took 2562047788015215 h 30 min");
    }

    @Test
    void an_estimate_beyond_all_times_is_the_longest_that_can_be_counted() {
        Progress p = new Progress(MANY, 1, 1, 0, 0, 0, 0, HUGE, false);

        assertThat(p.timeLeft()).contains(ofNanos(Long.MAX_VALUE));
        assertThat(p).hasToString("1 of 9,223,372,036,854,775,807 (0 %), 0.0/h, 2562047 h 47 min left");
    }

    @Test
    void all_but_one_of_very_many_are_not_all() {
        Progress p = new Progress(MANY - 7, MANY, MANY - 8, 0, 0, 0, 0, ZERO, false);

        assertThat(p).hasToString("9,223,372,036,854,775,799 of 9,223,372,036,854,775,800 (99 %), 8 in flight");
    }

    @Test
    void negative_numbers_are_refused_by_name() {
        Duration second = ofSeconds(1);
        refused(() -> new Progress(-2, 0, 0, 0, 0, 0, 0, second, false), "total must be -1 (not known) or more: -2");
        refused(() -> new Progress(1, -1, 0, 0, 0, 0, 0, second, false), "started must not be negative: -1");
        refused(() -> new Progress(1, 0, -2, 0, 0, 0, 0, second, false), "succeeded must not be negative: -2");
        refused(() -> new Progress(1, 0, 0, -3, 0, 0, 0, second, false), "failed must not be negative: -3");
        refused(() -> new Progress(1, 0, 0, 0, -4, 0, 0, second, false), "cancelled must not be negative: -4");
        refused(() -> new Progress(1, 0, 0, 0, 0, -5, 0, second, false), "retried must not be negative: -5");
        refused(
                () -> new Progress(1, 0, 0, 0, 0, 0, Long.MIN_VALUE, second, false),
                "known must not be negative: -9223372036854775808");
        refused(
                () -> new Progress(1, 0, 0, 0, 0, 0, 0, ofNanos(-1), false),
                "elapsed must not be negative: PT-0.000000001S");
    }

    private static void refused(ThrowingCallable made, String message) {
        assertThatThrownBy(made)
                .isExactlyInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    // Texts.

    @Test
    void one_line_says_it_all() {
        assertThat(new Progress(5_000, 1_220, 1_201, 3, 0, 0, 0, ofNanos(5_733_333_333L), false))
                .hasToString("1,204 of 5,000 (24 %), 3 failed, 16 in flight, 210/s, 19 s left");
        assertThat(new Progress(5_000, 1_220, 1_100, 3, 2, 17, 1_000, ofSeconds(100), false))
                .hasToString("1,105 of 5,000 (22 %), 1,000 known before, 3 failed, 2 cancelled, 17 retried,"
                        + " 115 in flight, 1.0/s, 1 h 3 min left");
    }

    @Test
    void what_is_not_known_is_left_out() {
        assertThat(new Progress(5_000, 0, 0, 0, 0, 0, 0, ZERO, false)).hasToString("0 of 5,000 (0 %)");
        assertThat(new Progress(0, 0, 0, 0, 0, 0, 0, ZERO, false)).hasToString("0 of 0");
        assertThat(new Progress(Progress.UNKNOWN, 20, 12, 0, 0, 0, 0, ofSeconds(4), false))
                .hasToString("12, 8 in flight, 3.0/s");
    }

    @Test
    void the_last_one_says_how_long_it_took() {
        assertThat(new Progress(5, 5, 4, 1, 0, 0, 0, ofMillis(2500), true))
                .hasToString("5 of 5 (100 %), 1 failed, 2.0/s, took 2.5 s");
        assertThat(new Progress(5, 3, 1, 1, 1, 0, 0, ofSeconds(2), true))
                .hasToString("3 of 5 (60 %), 1 failed, 1 cancelled, 1.0/s, took 2 s");
    }

    @Test
    void a_hundred_percent_is_all() {
        assertThat(new Progress(1_000, 1_000, 999, 0, 0, 0, 0, ZERO, false).toString())
                .contains("(99 %)");
        assertThat(new Progress(5, 6, 6, 0, 0, 0, 0, ZERO, false).toString()).startsWith("6 of 5 (100 %)");
    }

    @Test
    void the_end_is_not_near_before_it_is_there() {
        assertThat(new Progress(100_000, 99_999, 99_999, 0, 0, 0, 0, ofSeconds(1), false).toString())
                .endsWith(", 1 s left");
    }

    @Test
    void the_language_of_the_system_does_not_matter() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            assertThat(new Progress(5_000, 1_500, 1_500, 0, 0, 0, 0, ofSeconds(1_000), false))
                    .hasToString("1,500 of 5,000 (30 %), 1.5/s, 38 min 54 s left");
        } finally {
            Locale.setDefault(before);
        }
    }
}
