package dev.selvedge.policy;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.Lesson;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a header says about the wait. */
@Timeout(30)
@Lesson({25, 26, 27})
class RetryAfterTest {

    /** A Sunday. */
    private static final Instant NOW = Instant.parse("1994-11-06T08:49:37Z");

    private static final Duration IGNORED = null;

    static Stream<Arguments> values() {
        return Stream.of(
                // seconds
                value("0", ZERO),
                value("1", ofSeconds(1)),
                value("120", ofSeconds(120)),
                value("007", ofSeconds(7)),
                value(" 30 ", ofSeconds(30)),
                value("\t30", ofSeconds(30)),
                value("999999999999999999", ofSeconds(999_999_999_999_999_999L)),
                value("1000000000000000000", ofSeconds(Long.MAX_VALUE)),
                value("123456789012345678901234567890", ofSeconds(Long.MAX_VALUE)),
                // no seconds, and no date
                value("-3", IGNORED),
                value("+3", IGNORED),
                value("1.5", IGNORED),
                value("1e3", IGNORED),
                value("0x10", IGNORED),
                value("٣", IGNORED),
                value("", IGNORED),
                value("   ", IGNORED),
                value("soon", IGNORED),
                value("120, 240", IGNORED),
                value("120 s", IGNORED),
                value("PT5S", IGNORED),
                value("1994", ofSeconds(1994)),
                // IMF-fixdate
                value("Sun, 06 Nov 1994 08:49:37 GMT", ZERO),
                value("Sun, 06 Nov 1994 08:50:07 GMT", ofSeconds(30)),
                value("Mon, 07 Nov 1994 08:49:37 GMT", Duration.ofDays(1)),
                value("Sun, 06 Nov 1994 08:49:36 GMT", ZERO),
                value("Thu, 01 Jan 1970 00:00:00 GMT", ZERO),
                value("Mon, 06 Nov 1994 08:50:07 GMT", IGNORED), // it was a Sunday
                value("Sun, 06 Nov 1994 08:50:07", IGNORED),
                value("Sun, 06 Nov 1994 08:50:07 CET", IGNORED),
                value("Sun, 6 Nov 1994 08:50:07 GMT", IGNORED),
                value("Thu, 31 Feb 1994 08:50:07 GMT", IGNORED),
                value("Sun, 06 Nov 1994 25:50:07 GMT", IGNORED),
                value("Son, 06 Nov 1994 08:50:07 GMT", IGNORED),
                // RFC 850
                value("Sunday, 06-Nov-94 08:50:07 GMT", ofSeconds(30)),
                value("Monday, 07-Nov-94 08:49:37 GMT", Duration.ofDays(1)),
                value("Sunday, 06-Nov-94 08:49:36 GMT", ZERO),
                value("Wednesday, 06-Nov-43 08:49:37 GMT", IGNORED), // 2043 is a Friday
                value("Friday, 06-Nov-43 08:49:37 GMT", Duration.between(NOW, Instant.parse("2043-11-06T08:49:37Z"))),
                value("Wednesday, 07-Nov-45 08:49:37 GMT", ZERO), // 1945, not 2045
                value("Sun, 06-Nov-94 08:50:07 GMT", IGNORED),
                // asctime
                value("Sun Nov  6 08:50:07 1994", ofSeconds(30)),
                value("Sun Nov 13 08:49:37 1994", Duration.ofDays(7)),
                value("Sun Nov  6 08:49:36 1994", ZERO),
                value("Sun Nov 6 08:50:07 1994", IGNORED),
                value("Sun Nov  6 08:50:07 1994 GMT", IGNORED));
    }

    private static Arguments value(String header, Duration wait) {
        return Arguments.of(header, wait);
    }

    @ParameterizedTest(name = "\"{0}\"")
    @MethodSource("values")
    void a_value_means(String header, Duration wait) {
        assertThat(RetryAfter.parse(header, NOW)).isEqualTo(wait);
    }

    @Test
    void there_are_many_of_them() {
        assertThat(values()).hasSizeGreaterThanOrEqualTo(30);
    }
}
