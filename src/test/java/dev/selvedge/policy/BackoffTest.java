package dev.selvedge.policy;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.selvedge.Lesson;
import dev.selvedge.policy.Backoff.Jitter;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How long the waits are, for any number of failures. */
@Timeout(60)
class BackoffTest {

    private static final Duration HUGE = ofSeconds(Long.MAX_VALUE);

    /** Some hundred pairs of a base and a cap, from nothing to what no clock can count. */
    private static List<Backoff> pairs() {
        List<Duration> bases = List.of(
                ZERO,
                ofNanos(1),
                ofNanos(900_000),
                ofMillis(1),
                ofMillis(100),
                ofSeconds(1),
                Duration.ofHours(1),
                Duration.ofDays(365),
                Duration.ofDays(36_500),
                HUGE);
        List<Duration> spans = List.of(
                ZERO,
                ofNanos(1),
                ofMillis(1),
                ofMillis(500),
                ofSeconds(20),
                ofSeconds(60),
                Duration.ofMinutes(3),
                Duration.ofDays(1),
                Duration.ofDays(400_000),
                ofSeconds(Long.MAX_VALUE / 2),
                HUGE);
        return bases.stream()
                .flatMap(base -> spans.stream().map(span -> {
                    long from = Backoff.nanos(base);
                    long to = Math.max(from, Backoff.nanos(span));
                    return Backoff.DEFAULT.between(from, to);
                }))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 1.000001, 1.5, 2, 3, 10, 1e300})
    @Lesson({1, 2, 3, 4, 7, 8})
    void the_wait_grows_from_the_base_to_the_cap_and_never_beyond(double factor) {
        for (Backoff backoff : pairs()) {
            Backoff plain = backoff.growing(factor).with(Jitter.NONE);
            long before = plain.nanos(1);
            assertThat(before).isEqualTo(plain.base());
            for (int n = 2; n <= 1_000_000; n += n < 200 ? 1 : n / 7) {
                long wait = plain.nanos(n);
                assertThat(wait).as("%s after %d", plain, n).isBetween(before, plain.cap());
                before = wait;
            }
            assertThat(plain.nanos(Integer.MAX_VALUE)).isBetween(before, plain.cap());
        }
    }

    @ParameterizedTest
    @EnumSource(Jitter.class)
    @Lesson({5, 7, 9, 10, 11})
    void every_wait_lies_between_nothing_and_the_cap(Jitter jitter) {
        Random dice = new Random(42);
        for (Backoff backoff : pairs()) {
            Backoff any = backoff.with(jitter).with(dice);
            for (int n = 1; n <= 1_000_000; n += n < 100 ? 1 : n / 3) {
                assertThat(any.nanos(n)).as("%s after %d", any, n).isBetween(0L, any.cap());
            }
        }
    }

    @Test
    void for_each_n_up_to_a_million_the_default_stays_within_its_cap() {
        assertThat(IntStream.rangeClosed(1, 1_000_000)
                        .mapToLong(Backoff.DEFAULT::nanos)
                        .allMatch(wait -> 0 <= wait && wait <= Backoff.DEFAULT.cap()))
                .isTrue();
    }

    @Test
    @Lesson(9)
    void the_mean_of_full_jitter_is_half_the_cap_within_its_error() {
        Backoff capped = Backoff.DEFAULT.with(new Random(1));
        int n = 100_000;

        double mean =
                IntStream.range(0, n).mapToLong(i -> capped.nanos(50)).average().orElseThrow();

        double error = capped.cap() / Math.sqrt(12) / Math.sqrt(n);
        assertThat(mean).isCloseTo(capped.cap() / 2.0, within(4 * error));
    }

    @Test
    void equal_jitter_leaves_the_upper_half_to_chance() {
        Backoff capped = Backoff.DEFAULT.with(Jitter.EQUAL).with(new Random(1));
        int n = 100_000;

        assertThat(IntStream.range(0, n).mapToLong(i -> capped.nanos(50)))
                .allMatch(wait -> capped.cap() / 2 <= wait && wait <= capped.cap());
        assertThat(IntStream.range(0, n)
                        .mapToLong(i -> capped.nanos(50))
                        .average()
                        .orElseThrow())
                .isCloseTo(0.75 * capped.cap(), within(capped.cap() / 100.0));
    }

    @Test
    @Lesson({8, 13})
    void the_wait_depends_on_the_number_of_the_failure_alone() {
        Backoff plain = Backoff.DEFAULT.with(Jitter.NONE);

        assertThat(Stream.of(1, 2, 3, 4, 8, 9, 60, 100, 2, 1).map(plain::nanos).map(Duration::ofNanos))
                .containsExactly(
                        ofMillis(100),
                        ofMillis(200),
                        ofMillis(400),
                        ofMillis(800),
                        ofMillis(12_800),
                        ofSeconds(20),
                        ofSeconds(20),
                        ofSeconds(20),
                        ofMillis(200),
                        ofMillis(100));
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 2, 1.5, 1e300})
    @Lesson(6)
    void a_base_of_nothing_stays_nothing(double factor) {
        Backoff none = Backoff.DEFAULT.between(0, Backoff.MOST).growing(factor);

        assertThat(IntStream.of(1, 2, 31, 63, 64, 1_000_000).mapToLong(none::nanos))
                .containsOnly(0L);
    }

    @Test
    @Lesson({1, 12})
    void durations_are_counted_in_nanoseconds_up_to_a_hundred_years() {
        assertThat(Backoff.nanos(ofNanos(900_000))).isEqualTo(900_000);
        assertThat(Backoff.nanos(HUGE)).isEqualTo(Duration.ofDays(36_500).toNanos());
        assertThat(Backoff.nanos(Duration.ofDays(36_500).plusNanos(1)))
                .isEqualTo(Duration.ofDays(36_500).toNanos());
    }
}
