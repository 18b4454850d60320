package dev.selvedge.benchmarks.report;

import java.util.Optional;

/**
 * What is demanded, and what was measured.
 *
 * @param work what is done
 * @param what of it is measured, and how
 * @param sense whether more or less is better
 * @param limit what is demanded
 * @param measured empty if it was not
 */
record Bar(String work, String what, Sense sense, double limit, Optional<Figure> measured) {

    /** Which side of the limit is good. */
    enum Sense {
        AT_MOST("≤"),
        AT_LEAST("≥");

        private final String sign;

        Sense(String sign) {
            this.sign = sign;
        }

        boolean holds(double value, double limit) {
            return this == AT_MOST ? value <= limit : value >= limit;
        }
    }

    static Bar atMost(double limit, String work, String what, Optional<Figure> measured) {
        return new Bar(work, what, Sense.AT_MOST, limit, measured);
    }

    static Bar atLeast(double limit, String work, String what, Optional<Figure> measured) {
        return new Bar(work, what, Sense.AT_LEAST, limit, measured);
    }

    String demanded() {
        return sense.sign + " " + Numbers.plain(limit);
    }

    /** Met or not is told by the figure; whether one may be sure of it, by the spread. */
    String verdict() {
        return measured.map(this::verdict).orElse("not measured");
    }

    private String verdict(Figure m) {
        String plain = sense.holds(m.value(), limit) ? "met" : "not met";
        boolean sure = sense.holds(m.low(), limit) == sense.holds(m.high(), limit);
        return sure ? plain : plain + ", within the spread";
    }

    boolean isMet() {
        return measured.isPresent() && sense.holds(measured.get().value(), limit);
    }

    /** At most 1 where it is met: for the chart. */
    Optional<Figure> ofLimit() {
        return measured.map(m ->
                sense == Sense.AT_MOST ? m.dividedBy(limit) : m.dividedBy(limit).inverted());
    }
}
