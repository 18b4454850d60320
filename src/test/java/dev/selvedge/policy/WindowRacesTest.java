package dev.selvedge.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.policy.CircuitBreaker.Counts;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The windows of a breaker, told results by several threads at once: as if they had come in some order. */
@Timeout(120)
@Tag("stress")
class WindowRacesTest {

    private static final int MANY = 1_000_000;
    private static final int FAILURES = 4_000;

    private static Window inARow(int n) {
        return new Window.Consecutive(n);
    }

    private static Window ofTheLast(int size) {
        return new Window.LastCalls(size, new Window.Limits(1, 2, size));
    }

    private static Stream<Window> thatTwoFailuresInARowOpen() {
        return Stream.of(inARow(2), ofTheLast(2));
    }

    /** One thread fails and succeeds in turn, others succeed: never are there two failures without a success in between. */
    @ParameterizedTest
    @MethodSource("thatTwoFailuresInARowOpen")
    void it_does_not_open_by_failures_that_had_a_success_between_them(Window window) throws Exception {
        AtomicInteger tooEarly = new AtomicInteger();
        AtomicInteger over = new AtomicInteger();

        RealThreads.each(3, t -> () -> {
            if (t > 0) {
                while (over.get() == 0) {
                    window.succeeded(0);
                }
                return;
            }
            for (int i = 0; i < MANY; i++) {
                tooEarly.addAndGet(window.failed(0) ? 1 : 0);
                window.succeeded(0);
            }
            over.set(1);
        });

        assertThat(tooEarly).hasValue(0);
    }

    private static Stream<Supplier<Window>> thatFourFailuresInARowOpen() {
        return Stream.of(() -> inARow(4), () -> ofTheLast(4));
    }

    /** Several threads tell all kinds of results; when they have ended, the window is as one that only one thread has known. */
    @ParameterizedTest
    @MethodSource("thatFourFailuresInARowOpen")
    void whatever_has_met_what_is_left_is_a_window_that_counts(Supplier<Window> kind) throws Exception {
        int rounds = 20_000;
        Window[] windows = Stream.generate(kind).limit(rounds).toArray(Window[]::new);
        CyclicBarrier next = new CyclicBarrier(2);

        RealThreads.each(2, t -> () -> {
            Random dice = new Random(t);
            for (Window window : windows) {
                int results = 4 + dice.nextInt(8);
                next.await();
                for (int i = 0; i < results; i++) {
                    if (dice.nextInt(3) == 0) {
                        boolean unused = window.failed(0);
                    } else {
                        window.succeeded(0);
                    }
                }
            }
        });

        int spotless = 0;
        for (Window window : windows) {
            if (window.isSpotless) {
                spotless++;
                assertThat(window.counts(0).failures()).isZero();
            }
            for (int i = 0; i < 4; i++) {
                window.succeeded(0);
            }
            assertThat(window.isSpotless).isTrue();
            assertThat(window.counts(0).failures()).isZero();
            assertThat(Stream.generate(() -> window.failed(0)).limit(4).toList())
                    .isEqualTo(List.of(false, false, false, true));
        }
        assertThat(spotless).isBetween(1, rounds - 1);
    }

    private static Stream<Window> thatLookAtAll() {
        return Stream.of(inARow(FAILURES), ofTheLast(FAILURES));
    }

    /** A service that fails for good: no failure is lost, whoever tells of it, and the last one opens it. */
    @ParameterizedTest
    @MethodSource("thatLookAtAll")
    void no_failure_is_lost(Window window) throws Exception {
        int threads = 4;
        AtomicInteger opened = new AtomicInteger();

        RealThreads.each(threads, t -> () -> {
            for (int i = 0; i < FAILURES / threads; i++) {
                opened.addAndGet(window.failed(0) ? 1 : 0);
            }
        });

        assertThat(window.counts(0)).isEqualTo(new Counts(FAILURES, FAILURES, 0));
        assertThat(opened).hasValue(1);
    }

    /** Successes that have been looked at, and were not counted, do not make a share of failures larger than it is. */
    @Test
    void of_the_last_calls_those_count_that_were_not_counted() throws Exception {
        Window window = new Window.LastCalls(10, new Window.Limits(0.2, 2, 10));
        AtomicInteger tooEarly = new AtomicInteger();
        AtomicInteger over = new AtomicInteger();

        RealThreads.each(2, t -> () -> {
            if (t > 0) {
                while (over.get() == 0) {
                    window.succeeded(0);
                }
                return;
            }
            for (int i = 0; i < MANY / 100; i++) {
                for (int s = 0; s < 9; s++) {
                    window.succeeded(0);
                }
                tooEarly.addAndGet(window.failed(0) ? 1 : 0);
            }
            over.set(1);
        });

        assertThat(tooEarly).hasValue(0);
    }
}
