package dev.selvedge.policy;

import static dev.selvedge.policy.CircuitBreaker.State.CLOSED;
import static dev.selvedge.policy.CircuitBreaker.State.HALF_OPEN;
import static dev.selvedge.policy.CircuitBreaker.State.OPEN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.policy.Circuit.Closed;
import dev.selvedge.policy.Circuit.HalfOpen;
import dev.selvedge.policy.Circuit.Open;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of transitions: each kind of circuit, and whatever can happen to it. */
@Timeout(30)
@SuppressWarnings("ReferenceEquality") // that nothing has changed shows by the very object
class CircuitTest {

    private static final Window WINDOW = new Window.Consecutive(5);
    private static final Closed FRESH = closed();
    private static final Object SERIES = new Object();
    private static final Object OTHER = new Object();

    private static final Circuit SHUT = closed(WINDOW);
    private static final Circuit HOT = new Open(100, 50, 1, null);
    private static final Circuit BY_HAND = new Open(100, Circuit.FOREVER, 1, null);
    private static final Circuit TRYING = new HalfOpen(100, 50, 1, 1, 0, SERIES, null);
    private static final Circuit ONE_OF_TWO_DONE = new HalfOpen(100, 50, 1, 1, 1, SERIES, null);
    private static final Circuit FREE = new HalfOpen(100, 50, 1, 0, 0, SERIES, null);

    private static Closed closed() {
        return closed(new Window.Consecutive(5));
    }

    private static Closed closed(Window window) {
        CircuitBreaker any = CircuitBreaker.of("any");
        return new Closed(window, any.admit());
    }

    private static Arguments row(String what, Circuit before, Circuit after, String expected) {
        return Arguments.of(what, before, after, expected);
    }

    static Stream<Arguments> table() {
        return Stream.of(
                // a call asks
                row("asked", SHUT, Circuit.asked(SHUT, 999, 1), "same"),
                row("asked before the cool-down is over", HOT, Circuit.asked(HOT, 149, 1), "same"),
                row("asked when it is over", HOT, Circuit.asked(HOT, 150, 1), "HALF_OPEN 1 running 0 ok at 150 #1"),
                row("asked, opened by hand", BY_HAND, Circuit.asked(BY_HAND, Long.MAX_VALUE, 1), "same"),
                row("asked while the trial runs", TRYING, Circuit.asked(TRYING, 149, 1), "same"),
                row(
                        "asked when it is presumed lost",
                        TRYING,
                        Circuit.asked(TRYING, 150, 1),
                        "HALF_OPEN 1 running 0 ok at 150 #1"),
                row("asked, two trials", TRYING, Circuit.asked(TRYING, 120, 2), "HALF_OPEN 2 running 0 ok at 120 #1"),
                row("asked, one of two done", ONE_OF_TWO_DONE, Circuit.asked(ONE_OF_TWO_DONE, 120, 2), "same"),
                row("asked, given back", FREE, Circuit.asked(FREE, 101, 1), "HALF_OPEN 1 running 0 ok at 101 #1"),
                // a trial succeeds
                row("trial ok", TRYING, Circuit.trialSucceeded(TRYING, SERIES, 1, FRESH), "fresh"),
                row(
                        "first of two ok",
                        TRYING,
                        Circuit.trialSucceeded(TRYING, SERIES, 2, FRESH),
                        "HALF_OPEN 0 running 1 ok at 100 #1"),
                row(
                        "second of two ok",
                        ONE_OF_TWO_DONE,
                        Circuit.trialSucceeded(ONE_OF_TWO_DONE, SERIES, 2, FRESH),
                        "fresh"),
                row("stale trial ok", TRYING, Circuit.trialSucceeded(TRYING, OTHER, 1, FRESH), "same"),
                row("late trial ok", HOT, Circuit.trialSucceeded(HOT, SERIES, 1, FRESH), "same"),
                row("late trial ok", SHUT, Circuit.trialSucceeded(SHUT, SERIES, 1, FRESH), "same"),
                // a trial fails
                row(
                        "trial failed",
                        TRYING,
                        Circuit.trialFailed(TRYING, SERIES, 130, 70, null),
                        "OPEN for 70 since 130 #2"),
                row(
                        "second of two failed",
                        ONE_OF_TWO_DONE,
                        Circuit.trialFailed(ONE_OF_TWO_DONE, SERIES, 130, 70, null),
                        "OPEN for 70 since 130 #2"),
                row("stale trial failed", TRYING, Circuit.trialFailed(TRYING, OTHER, 130, 70, null), "same"),
                row("late trial failed", HOT, Circuit.trialFailed(HOT, SERIES, 130, 70, null), "same"),
                row("late trial failed", SHUT, Circuit.trialFailed(SHUT, SERIES, 130, 70, null), "same"),
                // a trial comes to nothing
                row(
                        "trial given back",
                        TRYING,
                        Circuit.trialGivenBack(TRYING, SERIES),
                        "HALF_OPEN 0 running 0 ok at 100 #1"),
                row("stale trial given back", TRYING, Circuit.trialGivenBack(TRYING, OTHER), "same"),
                row("late trial given back", HOT, Circuit.trialGivenBack(HOT, SERIES), "same"),
                row("late trial given back", SHUT, Circuit.trialGivenBack(SHUT, SERIES), "same"),
                // too many failures
                row("tripped", SHUT, Circuit.tripped(SHUT, WINDOW, 200, 70, null), "OPEN for 70 since 200 #1"),
                row("tripped by a window before", FRESH, Circuit.tripped(FRESH, WINDOW, 200, 70, null), "same"),
                row("tripped late", HOT, Circuit.tripped(HOT, WINDOW, 200, 70, null), "same"),
                row("tripped late", TRYING, Circuit.tripped(TRYING, WINDOW, 200, 70, null), "same"));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("table")
    void goes_on_as(String what, Circuit before, Circuit after, String expected) {
        assertThat(before == after ? "same" : text(after)).isEqualTo(expected);
    }

    private static String text(Circuit circuit) {
        return switch (circuit) {
            case Closed closed -> closed == FRESH ? "fresh" : "CLOSED";
            case Open open -> "OPEN for " + open.coolDown() + " since " + open.since() + " #" + open.openings();
            case HalfOpen half ->
                "HALF_OPEN " + half.running() + " running " + half.succeeded() + " ok at " + half.latest() + " #"
                        + half.openings();
        };
    }

    @Test
    void each_knows_its_state_and_how_often_it_has_opened() {
        assertThat(Stream.of(SHUT, HOT, TRYING).map(Circuit::state)).containsExactly(CLOSED, OPEN, HALF_OPEN);
        assertThat(Stream.of(SHUT, HOT, TRYING).map(Circuit::openings)).containsExactly(0, 1, 1);
    }

    @Test
    void trials_of_a_new_series_have_nothing_to_do_with_those_before() {
        Circuit anew = Circuit.asked(TRYING, 150, 1);

        assertThat(Circuit.trialSucceeded(anew, SERIES, 1, FRESH)).isSameAs(anew);
        assertThat(Circuit.trialFailed(anew, SERIES, 160, 50, null)).isSameAs(anew);
        assertThat(Circuit.trialGivenBack(anew, SERIES)).isSameAs(anew);
    }
}
