package dev.selvedge.examples;

import static java.time.Duration.ofMinutes;

import dev.selvedge.Progress;
import dev.selvedge.batch.ProgressBar;
import java.util.function.Consumer;

/** What the page about progress shows. */
final class ProgressExamples {

    private ProgressExamples() {}

    static Consumer<Progress> bar() {
        // @start region="bar"
        ProgressBar bar = ProgressBar.auto().named("grading");
        // @end
        return bar;
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
