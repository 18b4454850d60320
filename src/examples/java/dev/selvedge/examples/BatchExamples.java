package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import dev.selvedge.ErrorBudgetExceededException;
import dev.selvedge.FailureGroup;
import dev.selvedge.Outcome;
import dev.selvedge.Outcomes;
import dev.selvedge.Progress;
import dev.selvedge.ProgressMeter;
import dev.selvedge.Task;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** What the page about many items shows. */
final class BatchExamples {

    private BatchExamples() {}

    /** Somebody who grades papers. */
    interface Grader {
        int grade(String paper) throws IOException;
    }

    static List<Integer> map(List<String> papers, Grader grader) {
        // @start region="map"
        List<Integer> grades = scope("grading").concurrency(16).map(papers, paper -> grader.grade(paper));
        // @end
        return grades;
    }

    @SuppressWarnings("StreamToIterable") // it is read once
    static void lines(Path file, Grader grader) throws IOException {
        // @start region="lines"
        try (Stream<String> lines = Files.lines(file)) {
            scope("grading").concurrency(16).forEach(lines::iterator, grader::grade);
        }
        // @end
    }

    static List<FailureGroup> report(List<String> papers, Grader grader, Appendable out) throws IOException {
        // @start region="report"
        Outcomes<String, Integer> outcomes = scope("grading")
                .deadline(ofMinutes(10))
                .concurrency(16)
                .retry(r -> r.attempts(3))
                .outcomes(papers, grader::grade);

        out.append(outcomes.values().size() + " graded, " + outcomes.cancelled() + " not reached\n");
        for (FailureGroup group : outcomes.failureGroups()) {
            out.append(group + "\n");
        }
        // @end
        return outcomes.failureGroups();
    }

    static void each(List<String> papers, Grader grader, Writer out) throws IOException {
        // @start region="each"
        scope("grading").concurrency(16).eachCompleted(papers, grader::grade, (paper, outcome) -> {
            switch (outcome) {
                case Outcome.Success(Integer grade) -> out.write(paper + ": " + grade + "\n");
                case Outcome.Failure(Throwable e) -> out.write(paper + ": failed, " + e + "\n");
                case Outcome.Cancelled(var why) -> out.write(paper + ": not done, " + why.message() + "\n");
            }
        });
        // @end
    }

    static String budget(List<String> papers, Grader grader) {
        // @start region="budget"
        try {
            scope("grading").concurrency(16).errorBudget(0.05, 200).forEach(papers, grader::grade);
            return "done";
        } catch (ErrorBudgetExceededException e) {
            return e.failed() + " of " + e.completed() + " failed, most often: "
                    + e.failureGroups().get(0);
        }
        // @end
    }

    static void progress(List<String> papers, Task.VoidOf<String, IOException> grade, Consumer<Progress> log) {
        // @start region="progress"
        scope("grading").concurrency(16).progress(ofSeconds(5), log).forEach(papers, grade);
        // @end
    }

    static long meter(List<String> papers, Grader grader) {
        // @start region="meter"
        ProgressMeter meter = ProgressMeter.create(); // a page of an admin may show meter.now() meanwhile
        scope("grading").progress(meter).forEach(papers, grader::grade);

        long done = meter.now().succeeded();
        // @end
        return done;
    }
}
