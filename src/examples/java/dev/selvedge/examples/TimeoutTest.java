package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.DeadlineExceededException;
import dev.selvedge.Selvedge;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.VirtualTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** How a test of timeouts looks. */
// @start region="extension"
@ExtendWith(VirtualTime.class)
class TimeoutTest {

    /** The code under test: knows nothing of tests. */
    static String answer() {
        return scope("answer").deadline(ofSeconds(30)).call(() -> {
            Selvedge.sleep(ofSeconds(45));
            return "42";
        });
    }

    @Test
    void the_inner_timeout_comes_after_thirty_seconds(VirtualClock clock) {
        assertThatThrownBy(
                        () -> scope("job").clock(clock).deadline(ofSeconds(60)).call(TimeoutTest::answer))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageContaining("the scope \"answer\" exceeded its deadline of 30 s");

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(30));
    }

    @Test
    void the_outer_timeout_stays_with_the_outer_block(VirtualClock clock) {
        assertThatThrownBy(
                        () -> scope("job").clock(clock).deadline(ofSeconds(10)).call(TimeoutTest::answer))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageContaining("the scope \"job\" exceeded its deadline of 10 s");

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(10));
    }
}
// @end
