package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.VirtualTime;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The back end is real, the waits are virtual: however slow the machine is, a cool-down is not over before somebody waits
 * for it.
 */
@Timeout(60)
@ExtendWith(VirtualTime.class)
class PolicyTourTest {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Printout out = new Printout(new PrintStream(bytes, true, UTF_8));

    @Test
    void a_retry_waits_as_asked_and_a_breaker_lets_nothing_through_until_its_trial(VirtualClock clock)
            throws IOException {
        try (BackEnds backEnds = new BackEnds();
                Web web = new Web(ofSeconds(10))) {
            PolicyTour tour = new PolicyTour(out, backEnds, web);

            scope().clock(clock).run(() -> tour.run());
        }

        assertThat(bytes.toString(UTF_8).lines().map(PolicyTourTest::withoutWhatWasMeasured))
                .containsExactly(
                        "5. Policies: a retry waits as asked, a circuit breaker gives a rest",
                        "   asked: /rates (busy: twice 503 with Retry-After: 1, then 200), with a retry",
                        "   retry: attempt 1 failed: /rates answered 503; the next in 1000 ms (RETRY_AFTER)",
                        "   retry: attempt 2 failed: /rates answered 503; the next in 1000 ms (RETRY_AFTER)",
                        "   got:   1.08",
                        "   took:  # ms",
                        "   asked: /rates (down: 500), with a breaker that opens after 3 failures, for 500 ms",
                        "   threw: /rates answered 500",
                        "   threw: /rates answered 500",
                        "   state: CLOSED -> OPEN",
                        "   threw: /rates answered 500",
                        "   threw: CircuitOpenException, retry after # ms",
                        "   threw: CircuitOpenException, retry after # ms",
                        "   count: 5 calls, of which 3 reached /rates",
                        "   asked: /rates (back), after the cool-down",
                        "   state: OPEN -> HALF_OPEN",
                        "   state: HALF_OPEN -> CLOSED",
                        "   got:   1.08",
                        "   took:  # ms");
        assertThat(clock.elapsed()).isGreaterThanOrEqualTo(ofSeconds(2).plus(ofMillis(500)));
    }

    private static String withoutWhatWasMeasured(String line) {
        return line.replaceFirst("(took:  |retry after )\\d+ ms$", "$1# ms");
    }
}
