package dev.selvedge;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How durations, names and lists read in messages. */
final class Words {

    private static final int NAMES_SHOWN = 10;
    private static final String[] UNITS = {"ns", "µs", "ms", "s"};

    private Words() {}

    /** {@code 800 ms}, {@code 1.5 s}, {@code 2 h 3 min}: exact to three digits after the point. */
    static String duration(Duration d) {
        if (d.isNegative()) {
            boolean least = d.toSeconds() == Long.MIN_VALUE; // has no positive counterpart
            return "-" + duration(least ? Duration.ofSeconds(Long.MAX_VALUE) : d.negated());
        }
        if (d.toHours() > 0) {
            return d.toHours() + " h" + (d.toMinutesPart() > 0 ? " " + d.toMinutesPart() + " min" : "");
        }
        if (d.toMinutes() > 0) {
            return d.toMinutes() + " min" + (d.toSecondsPart() > 0 ? " " + d.toSecondsPart() + " s" : "");
        }
        long whole = d.toNanos();
        long unit = 1;
        int name = 0;
        while (name < UNITS.length - 1 && whole / unit >= 1000) {
            unit *= 1000;
            name++;
        }
        return number(whole, unit) + " " + UNITS[name];
    }

    private static String number(long nanos, long unit) {
        String fraction = unit == 1
                ? ""
                : Long.toString(1000 + nanos % unit / (unit / 1000)).substring(1);
        int end = fraction.length();
        while (end > 0 && fraction.charAt(end - 1) == '0') {
            end--;
        }
        return nanos / unit + (end == 0 ? "" : "." + fraction.substring(0, end));
    }

    /** {@code the scope "page"}, or {@code the scope} if it has no name. */
    static String scope(@Nullable String name) {
        return name == null ? "the scope" : "the scope \"" + name + "\"";
    }

    /** A few names, and how many more there are. */
    static String names(List<String> names) {
        if (names.size() <= NAMES_SHOWN) {
            return String.join(", ", names);
        }
        return String.join(", ", names.subList(0, NAMES_SHOWN)) + " and " + (names.size() - NAMES_SHOWN) + " more";
    }
}
