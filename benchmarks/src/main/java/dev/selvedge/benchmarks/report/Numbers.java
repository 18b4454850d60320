package dev.selvedge.benchmarks.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** Numbers as the page shows them: the same on every machine. */
final class Numbers {

    /** How many are shown as a rule. */
    static final int DIGITS = 3;

    private static final double NOTHING = 1e-6;

    private Numbers() {}

    /** What is demanded, as it was written. */
    static String plain(double value) {
        return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
    }

    /** With three significant digits. */
    static String shown(double value) {
        return shown(value, DIGITS);
    }

    /** With so many significant digits, and all before the point, with commas. */
    static String shown(double value, int digits) {
        if (!Double.isFinite(value)) {
            return "–";
        }
        if (Math.abs(value) < NOTHING) {
            return "0";
        }
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(digits, RoundingMode.HALF_EVEN));
        int decimals = digits - (rounded.precision() - rounded.scale());
        return decimals > 0
                ? rounded.setScale(decimals, RoundingMode.UNNECESSARY).toPlainString()
                : whole(Math.round(value));
    }

    /** A whole number with commas. */
    static String whole(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
