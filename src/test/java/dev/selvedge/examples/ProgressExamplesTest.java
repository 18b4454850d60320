package dev.selvedge.examples;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.Progress;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of progress do what the text around them says. */
@Timeout(30)
class ProgressExamplesTest {

    private final List<String> log = new ArrayList<>();

    @Test
    void lines_go_to_a_log_once_a_minute() {
        Consumer<Progress> lines = ProgressExamples.lines(new ListLogger(log));

        for (int second = 0; second <= 150; second += 30) {
            lines.accept(new Progress(600, second + 16, second, 0, 0, 0, 0, ofSeconds(second), false));
        }
        lines.accept(new Progress(600, 156, 151, 0, 5, 0, 0, ofSeconds(151), true));

        assertThat(log)
                .containsExactly(
                        "grading: 0 of 600 (0 %), 16 in flight",
                        "grading: 60 of 600 (10 %), 16 in flight, 1.0/s, 9 min left",
                        "grading: 120 of 600 (20 %), 16 in flight, 1.0/s, 8 min left",
                        "grading: 156 of 600 (26 %), 5 cancelled, 1.0/s, took 2 min 31 s");
    }

    @Test
    void the_first_failure_is_told_once() {
        Consumer<Progress> alarm = ProgressExamples.alarm(() -> log.add("page"));

        for (int failed : new int[] {0, 0, 1, 2}) {
            alarm.accept(new Progress(10, 5, 1, failed, 0, 0, 0, ofSeconds(1), false));
        }

        assertThat(log).containsExactly("page");
    }

    @Test
    void the_bar_is_told_by_the_step() {
        AtomicInteger graded = new AtomicInteger();

        ProgressExamples.bar(List.of("a", "b"), paper -> graded.incrementAndGet());

        assertThat(graded).hasValue(2);
    }

    private record ListLogger(List<String> lines) implements System.Logger {

        @Override
        public String getName() {
            return "list";
        }

        @Override
        public boolean isLoggable(Level level) {
            return true;
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String msg, @Nullable Throwable thrown) {
            lines.add(msg);
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String format, @Nullable Object... params) {
            lines.add(format);
        }
    }
}
