package dev.selvedge.benchmarks.report;

import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/**
 * A figure with its spread.
 *
 * @param value what counts
 * @param low the lower end of the spread
 * @param high the upper end; both are {@code value} where no spread is known
 */
record Figure(double value, double low, double high) {

    /** Of one number. */
    static Figure exactly(double value) {
        return new Figure(value, value, value);
    }

    /** The median, and the least and the greatest. */
    static Figure of(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Figure(median, sorted[0], sorted[sorted.length - 1]);
    }

    /** This over another that is independent of it: the spreads at their worst. */
    Figure over(Figure other) {
        return new Figure(value / other.value, low / other.high, high / other.low);
    }

    /** Each of the three; {@code f} grows. */
    Figure map(DoubleUnaryOperator f) {
        return new Figure(f.applyAsDouble(value), f.applyAsDouble(low), f.applyAsDouble(high));
    }

    Figure dividedBy(double divisor) {
        return map(x -> x / divisor);
    }

    /** Times for rates, and rates for times. */
    Figure inverted() {
        return new Figure(1 / value, 1 / high, 1 / low);
    }

    /** As the page shows it: {@code 1.03 (0.98 to 1.09)}. */
    @Override
    public String toString() {
        return shown(Numbers.DIGITS);
    }

    /** With so many digits. */
    String shown(int digits) {
        String text = Numbers.shown(value, digits);
        return low == value && high == value
                ? text
                : "%s (%s to %s)".formatted(text, Numbers.shown(low, digits), Numbers.shown(high, digits));
    }
}
