package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofSeconds;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;

import dev.selvedge.CancelReason;
import dev.selvedge.MainScope;
import dev.selvedge.Outcome;
import dev.selvedge.Outcomes;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.batch.Journal;
import dev.selvedge.batch.ProgressBar;
import dev.selvedge.policy.HttpResponseException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A long job that can be stopped at any moment, and goes on where it was: grades 5,000 papers by a service that is not
 * always well.
 *
 * <p>The heart of it is {@link Grading}. Here is what surrounds it: arguments, signals, the journal, and the report.
 */
public final class Batch {

    private static final int ALL_GRADED = 0;
    private static final int SOME_NOT = 1;
    private static final int BAD_ARGUMENT = 2;

    private Batch() {}

    // @start region="main"
    /** Ctrl-C, or SIGTERM, cancels the job: the journal is closed, and the exit code is 130, or 143. */
    public static void main(String[] args) {
        int code =
                MainScope.of(scope("batch")).grace(ofSeconds(5)).call(s -> run(List.of(args), System.out, System.err));
        if (code != 0) {
            System.exit(code);
        }
    }
    // @end

    static int run(List<String> args, PrintStream out, PrintStream err) {
        try {
            BatchArguments asked = BatchArguments.parse(args);
            if (asked.help()) {
                out.print(BatchArguments.USAGE);
                return ALL_GRADED;
            }
            return run(asked, out, err);
        } catch (Options.BadArgument e) {
            err.println("batch: " + e.getMessage());
            err.println();
            err.print(BatchArguments.USAGE);
            return BAD_ARGUMENT;
        } catch (ScopeCancelledException e) {
            throw e; // a main scope knows what to do
        } catch (IllegalStateException | UncheckedIOException e) { // of the journal
            err.println("batch: " + e.getMessage());
            return BAD_ARGUMENT;
        }
    }

    private static int run(BatchArguments asked, PrintStream out, PrintStream err) {
        URI service = asked.service();
        try (Journal<Integer> journal = Journal.open(asked.journal(), String::valueOf)) {
            if (service != null) {
                return grade(asked, service, journal, out, err);
            }
            try (GradingService own = new GradingService(ofSeconds(2), paper -> {})) {
                return grade(asked, own.uri(), journal, out, err);
            } catch (IOException e) {
                throw new UncheckedIOException("the service cannot be started", e);
            }
        }
    }

    private static int grade(
            BatchArguments asked, URI service, Journal<Integer> journal, PrintStream out, PrintStream err) {
        List<Integer> papers = IntStream.rangeClosed(1, asked.papers()).boxed().toList();
        int before = journal.size();
        if (before > 0) {
            out.println(before + " papers are graded already, by an earlier run");
        }
        try (Web web = new Web(ofSeconds(2))) {
            Grading grading = new Grading(web, service, asked.rate(), err::println);
            ProgressBar bar = ProgressBar.auto().named("grading");
            return report(grading.gradeAll(papers, journal, bar), journal, out);
        } catch (ScopeCancelledException e) {
            err.println("stopped: " + journal.size() + " papers are graded; start it again for the rest");
            throw e;
        } catch (ScopeFailedException e) { // what is done could not be kept
            throw e.getCause() instanceof UncheckedIOException broken ? broken : e;
        }
    }

    // @start region="report"
    private static int report(Outcomes<Integer, Integer> outcomes, Journal<Integer> journal, PrintStream out) {
        List<Integer> grades = outcomes.values();
        int failed = outcomes.size() - grades.size() - outcomes.cancelled();
        out.println(grades.size() + " of " + outcomes.size() + " papers are graded, " + failed + " failed, "
                + outcomes.cancelled() + " were not reached");
        outcomes.failures().stream()
                .collect(groupingBy(Batch::kind, TreeMap::new, counting()))
                .forEach((kind, count) -> out.println("  " + count + " × " + kind));
        whyCutOff(outcomes).ifPresent(why -> out.println("not reached: " + why.message()));
        grades.stream()
                .mapToInt(Integer::intValue)
                .average()
                .ifPresent(average -> out.println(String.format(Locale.ROOT, "the average grade is %.2f", average)));
        if (grades.size() == outcomes.size()) {
            return ALL_GRADED;
        }
        out.println("start it again to try those that are not graded: what is done is in " + journal);
        return SOME_NOT;
    }

    /** The message says which paper it is, too: then all would be different. */
    private static String kind(Throwable failure) {
        return failure instanceof HttpResponseException answer ? "status " + answer.status() : failure.toString();
    }

    private static Optional<CancelReason> whyCutOff(Outcomes<Integer, Integer> outcomes) {
        return outcomes.stream()
                .filter(outcome -> outcome instanceof Outcome.Cancelled)
                .map(outcome -> ((Outcome.Cancelled<Integer>) outcome).reason())
                .findFirst();
    }
    // @end
}
