package dev.selvedge.time;

import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.Lesson;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DeadlineValueTest {

    private final VirtualClock clock = VirtualClock.manual();

    @Test
    void it_counts_down_and_never_below_zero() {
        Deadline d = clock.after(ofSeconds(5));

        clock.advance(ofSeconds(3));
        assertThat(d.remaining()).isEqualTo(ofSeconds(2));
        assertThat(d.passed()).isFalse();

        clock.advance(ofSeconds(2));
        assertThat(d.remaining()).isEqualTo(Duration.ZERO);
        assertThat(d.passed()).isTrue();

        clock.advance(ofSeconds(2));
        assertThat(d.remaining()).isEqualTo(Duration.ZERO);
    }

    @Test
    void it_has_passed_at_its_very_nanosecond() {
        Deadline d = clock.after(ofNanos(2));

        clock.advance(ofNanos(1));
        assertThat(d.passed()).isFalse();
        assertThat(d.remaining()).isEqualTo(ofNanos(1));

        clock.advance(ofNanos(1));
        assertThat(d.passed()).isTrue();
    }

    @Test
    void zero_and_negative_durations_have_passed_at_once() {
        assertThat(clock.after(Duration.ZERO).passed()).isTrue();
        assertThat(clock.after(ofSeconds(-1)).passed()).isTrue();
        assertThat(clock.after(ofSeconds(Long.MIN_VALUE)).passed()).isTrue();
        assertThat(Deadline.after(Duration.ZERO).passed()).isTrue();
    }

    @Test
    @Lesson(77)
    void a_duration_too_long_to_count_means_never() {
        for (Duration huge :
                new Duration[] {ofSeconds(Long.MAX_VALUE), ChronoUnit.FOREVER.getDuration(), ofNanos(Long.MAX_VALUE)}) {
            assertThat(clock.after(huge).isNever()).isTrue();
            assertThat(Deadline.after(huge).isNever()).isTrue();
        }
        clock.advance(ofSeconds(1));
        assertThat(clock.after(ofNanos(Long.MAX_VALUE - 1)).isNever()).isTrue();
        assertThat(clock.never().remaining()).isEqualTo(ChronoUnit.FOREVER.getDuration());
        assertThat(clock.never().passed()).isFalse();
    }

    @Test
    void the_earlier_of_two() {
        Deadline five = clock.after(ofSeconds(5));
        Deadline six = clock.after(ofSeconds(6));

        assertThat(five.earlier(six)).isSameAs(five);
        assertThat(six.earlier(five)).isSameAs(five);
        assertThat(five.earlier(Deadline.never())).isSameAs(five);
        assertThat(Deadline.never().earlier(five)).isSameAs(five);
        assertThat(five.earlier(clock.after(ofSeconds(5)))).isSameAs(five);
    }

    @Test
    @Lesson(78)
    void deadlines_of_two_clocks_cannot_be_compared() {
        Deadline five = clock.after(ofSeconds(5));
        Deadline real = Deadline.after(ofSeconds(5));

        assertThatThrownBy(() -> five.earlier(real))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a deadline of the system's time means nothing on a virtual clock at 0 s");
    }

    @Test
    void an_instant_is_read_against_the_wall_clock_once() {
        assertThat(Deadline.at(Instant.now().minusSeconds(1)).passed()).isTrue();
        assertThat(Deadline.at(Instant.MIN).passed()).isTrue();
        assertThat(Deadline.at(Instant.now().plusSeconds(100)).remaining()).isBetween(ofSeconds(1), ofSeconds(100));
        assertThat(Deadline.at(Instant.MAX).isNever()).isTrue();
    }

    @Test
    void it_reads_well() {
        assertThat(clock.after(ofSeconds(5))).hasToString("PT5S left");
        assertThat(clock.never()).hasToString("never");
        assertThat(clock.never().clock()).isSameAs(clock);
    }
}
