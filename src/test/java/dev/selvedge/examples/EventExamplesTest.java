package dev.selvedge.examples;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.Selvedge;
import dev.selvedge.time.VirtualClock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class EventExamplesTest {

    private final VirtualClock clock = VirtualClock.jumping();
    private final List<String> lines = new ArrayList<>();

    @Test
    void a_tree_of_scopes_is_indented() {
        EventExamples.indented(lines::add)
                .clock(clock)
                .run(s -> Selvedge.scope("part").run(() -> {}));

        assertThat(lines)
                .extracting(l -> l.replaceAll("#\\d+", ""))
                .containsExactly("page ScopeOpened", "  part ScopeOpened", "  part ScopeClosed", "page ScopeClosed");
    }

    @Test
    void a_task_that_ignores_its_deadline_is_told_of() {
        String report = EventExamples.impatient(lines::add)
                .clock(clock)
                .call(() -> Selvedge.shielded(() -> {
                    Selvedge.sleep(ofSeconds(60));
                    return "late";
                }));

        assertThat(report).isEqualTo("late");
        assertThat(lines).hasSize(1);
        assertThat(lines.get(0)).startsWith("report ignores its deadline, at ");
        assertThat(clock.elapsed()).isGreaterThan(ofMillis(1));
    }
}
