package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.Progress;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The examples of the page about many items do what it says. */
@Timeout(60)
class BatchExamplesTest {

    private static final List<String> PAPERS = List.of("a", "bb", "ccc");

    private static int grade(String paper) throws IOException {
        if (paper.length() == 2) {
            throw new IOException("unreadable");
        }
        return paper.length();
    }

    @Test
    void map_gives_the_results_in_order() {
        assertThat(BatchExamples.map(PAPERS, String::length)).containsExactly(1, 2, 3);
    }

    @Test
    void lines_of_a_file_are_worked_on(@TempDir Path dir) throws IOException {
        Path file = Files.write(dir.resolve("papers"), PAPERS);
        AtomicInteger sum = new AtomicInteger();

        BatchExamples.lines(file, paper -> sum.addAndGet(paper.length()));

        assertThat(sum).hasValue(6);
    }

    @Test
    void the_report_groups_failures() throws IOException {
        StringBuilder out = new StringBuilder();

        scope().clock(VirtualClock.jumping()).call(() -> BatchExamples.report(PAPERS, BatchExamplesTest::grade, out));

        assertThat(out).hasToString("2 graded, 0 not reached\n1 × java.io.IOException: unreadable\n");
    }

    @Test
    void each_outcome_is_written_as_it_comes() throws IOException {
        StringWriter out = new StringWriter();

        BatchExamples.each(PAPERS, BatchExamplesTest::grade, out);

        assertThat(out.toString().lines())
                .containsExactlyInAnyOrder("a: 1", "bb: failed, java.io.IOException: unreadable", "ccc: 3");
    }

    @Test
    void a_budget_that_is_spent_says_why() {
        List<String> many = IntStream.range(0, 1000).mapToObj(i -> "bb").toList();

        assertThat(BatchExamples.budget(PAPERS.subList(0, 1), BatchExamplesTest::grade))
                .isEqualTo("done");
        assertThat(BatchExamples.budget(many, BatchExamplesTest::grade))
                .matches("2\\d\\d of 2\\d\\d failed, most often: 2\\d\\d × java.io.IOException: unreadable");
    }

    @Test
    void the_progress_is_told_at_the_end_at_the_latest() {
        List<Progress> told = new ArrayList<>();

        BatchExamples.progress(PAPERS, paper -> {}, told::add);

        assertThat(told.get(told.size() - 1).succeeded()).isEqualTo(3);
        assertThat(BatchExamples.meter(PAPERS, String::length)).isEqualTo(3);
    }
}
