package dev.selvedge.policy;

import org.jspecify.annotations.Nullable;

/**
 * Where a circuit breaker stands, and how it goes on from there: values, and functions of them alone. All moments and
 * durations are in nanoseconds of one clock.
 *
 * <pre>
 *   CLOSED → OPEN                 too many failures; or by hand
 *   OPEN → HALF_OPEN              the first call after the cool-down: a trial
 *   HALF_OPEN → CLOSED            so many trials as are wanted have succeeded
 *   HALF_OPEN → OPEN              a trial has failed: for a full cool-down
 *   HALF_OPEN → HALF_OPEN         a further trial; one given back; or anew, once those that run are presumed lost
 *   any → CLOSED                  by hand
 * </pre>
 *
 * <p>What was admitted knows the circuit that admitted it. A result counts only as long as that one stands; so a result that
 * comes late means nothing to its successors.
 */
sealed interface Circuit {

    /** How long a cool-down lasts that no time ends. */
    long FOREVER = Long.MAX_VALUE;

    CircuitBreaker.State state();

    /**
     * Calls pass.
     *
     * @param window counts their results
     * @param permit what all of them get; null if each has its own, since it matters how long they take
     */
    record Closed(Window window, CircuitBreaker.@Nullable Permit permit) implements Circuit {
        @Override
        public CircuitBreaker.State state() {
            return CircuitBreaker.State.CLOSED;
        }
    }

    /**
     * Calls are refused.
     *
     * @param since when it opened
     * @param coolDown for how long
     * @param openings how often it has opened since it was closed
     * @param cause the failure that opened it
     */
    record Open(
            long since,
            long coolDown,
            int openings,
            @Nullable Throwable cause) implements Circuit {
        @Override
        public CircuitBreaker.State state() {
            return CircuitBreaker.State.OPEN;
        }

        long remaining(long now) {
            return coolDown == FOREVER ? FOREVER : Math.max(0, coolDown - (now - since));
        }
    }

    /**
     * Trials pass.
     *
     * @param latest when the latest trial began
     * @param coolDown after how long a trial that has not reported is presumed lost
     * @param openings how often it has opened since it was closed
     * @param running how many trials run
     * @param succeeded how many have succeeded
     * @param series the trials whose results count
     * @param cause the failure that opened it
     */
    record HalfOpen(
            long latest,
            long coolDown,
            int openings,
            int running,
            int succeeded,
            Object series,
            @Nullable Throwable cause)
            implements Circuit {

        @Override
        public CircuitBreaker.State state() {
            return CircuitBreaker.State.HALF_OPEN;
        }

        /** How long until those that run are presumed lost. */
        long remaining(long now) {
            return Math.max(0, coolDown - (now - latest));
        }

        private HalfOpen with(int nowRunning, int nowSucceeded) {
            return new HalfOpen(latest, coolDown, openings, nowRunning, nowSucceeded, series, cause);
        }
    }

    /** How often a circuit has opened since it was closed. */
    static int openings(Circuit circuit) {
        return switch (circuit) {
            case Closed closed -> 0;
            case Open open -> open.openings;
            case HalfOpen half -> half.openings;
        };
    }

    /**
     * A call asks to be let through an open or half-open circuit.
     *
     * @return the circuit with one trial more; the same one if the call is refused
     */
    static Circuit asked(Circuit circuit, long now, int trials) {
        return switch (circuit) {
            case Closed closed -> closed;
            case Open open ->
                open.remaining(now) > 0
                        ? open
                        : new HalfOpen(now, open.coolDown, open.openings, 1, 0, new Object(), open.cause);
            case HalfOpen half -> {
                if (half.running + half.succeeded < trials) {
                    yield new HalfOpen(
                            now,
                            half.coolDown,
                            half.openings,
                            half.running + 1,
                            half.succeeded,
                            half.series,
                            half.cause);
                }
                yield half.remaining(now) > 0
                        ? half
                        : new HalfOpen(now, half.coolDown, half.openings, 1, 0, new Object(), half.cause);
            }
        };
    }

    /** A trial of a series has succeeded. */
    static Circuit trialSucceeded(Circuit circuit, Object series, int trials, Closed fresh) {
        if (!(circuit instanceof HalfOpen half) || half.series != series) {
            return circuit;
        }
        return half.succeeded + 1 >= trials ? fresh : half.with(half.running - 1, half.succeeded + 1);
    }

    /** A trial of a series has failed. */
    static Circuit trialFailed(Circuit circuit, Object series, long now, long coolDown, @Nullable Throwable cause) {
        return circuit instanceof HalfOpen half && half.series == series
                ? new Open(now, coolDown, half.openings + 1, cause)
                : circuit;
    }

    /** A trial of a series has come to nothing: it was cancelled, or refused further in. Another one may have its place. */
    static Circuit trialGivenBack(Circuit circuit, Object series) {
        return circuit instanceof HalfOpen half && half.series == series
                ? half.with(half.running - 1, half.succeeded)
                : circuit;
    }

    /** The window of a closed circuit says that there are too many failures. */
    static Circuit tripped(Circuit circuit, Window by, long now, long coolDown, @Nullable Throwable cause) {
        return circuit instanceof Closed closed && closed.window == by ? new Open(now, coolDown, 1, cause) : circuit;
    }
}
