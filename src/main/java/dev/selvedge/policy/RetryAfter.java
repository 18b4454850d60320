package dev.selvedge.policy;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The value of the HTTP header {@code Retry-After}, as RFC 9110 has it (sections 10.2.3 and 5.6.7): seconds as digits, or a
 * date in one of three forms.
 */
final class RetryAfter {

    /** More digits than any {@code long} of seconds has. */
    private static final int DIGITS = 18;

    private static final Pattern SECONDS = Pattern.compile("[0-9]+");

    private static final DateTimeFormatter IMF_FIXDATE = dates("EEE, dd MMM uuuu HH:mm:ss 'GMT'");
    private static final DateTimeFormatter ASCTIME = dates("EEE MMM ppd HH:mm:ss uuuu");

    private RetryAfter() {}

    /** How long to wait; zero for a date that lies back; null for what is no such value, which is to be ignored. */
    static @Nullable Duration parse(String header, Instant now) {
        String value = header.strip();
        if (SECONDS.matcher(value).matches()) {
            return Duration.ofSeconds(value.length() > DIGITS ? Long.MAX_VALUE : Long.parseLong(value));
        }
        for (DateTimeFormatter form : List.of(IMF_FIXDATE, rfc850(now), ASCTIME)) {
            try {
                Instant when = LocalDateTime.parse(value, form).toInstant(ZoneOffset.UTC);
                return when.isAfter(now) ? Duration.between(now, when) : Duration.ZERO;
            } catch (DateTimeException e) {
                // not of this form
            }
        }
        return null;
    }

    /** Its year has two digits, and means one that is not more than fifty years ahead. */
    private static DateTimeFormatter rfc850(Instant now) {
        LocalDate earliest = LocalDate.ofInstant(now, ZoneOffset.UTC).minusYears(49);
        return strict(new DateTimeFormatterBuilder()
                .appendPattern("EEEE, dd-MMM-")
                .appendValueReduced(ChronoField.YEAR, 2, 2, earliest)
                .appendPattern(" HH:mm:ss 'GMT'"));
    }

    private static DateTimeFormatter dates(String pattern) {
        return strict(new DateTimeFormatterBuilder().appendPattern(pattern));
    }

    private static DateTimeFormatter strict(DateTimeFormatterBuilder form) {
        return form.toFormatter(Locale.ENGLISH).withResolverStyle(ResolverStyle.STRICT);
    }
}
