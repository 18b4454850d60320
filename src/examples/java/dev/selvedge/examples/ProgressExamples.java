package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMinutes;

import dev.selvedge.Progress;
import dev.selvedge.Task;
import dev.selvedge.batch.ProgressBar;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** What the page about progress shows. */
final class ProgressExamples {

    private ProgressExamples() {}

    static void bar(List<String> papers, Task.VoidOf<String, IOException> grade) {
        // @start region="bar"
        ProgressBar bar = ProgressBar.auto().named("grading");
        scope("grading").concurrency(16).progress(bar).forEach(papers, grade);
        // @end
    }

    static Consumer<Progress> lines(System.Logger log) {
        // @start region="lines"
        ProgressBar lines = ProgressBar.lines(line -> log.log(System.Logger.Level.INFO, line))
                .named("grading")
                .every(ofMinutes(1));
        // @end
        return lines;
    }

    // @start region="own"
    /** Says so once when the first item has failed. */
    static Consumer<Progress> alarm(Runnable page) {
        boolean[] told = {false};
        return progress -> {
            if (progress.failed() > 0 && !told[0]) {
                told[0] = true;
                page.run();
            }
        };
    }
    // @end
}
