package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.CancelReason;
import dev.selvedge.Outcome;
import dev.selvedge.Outcome.Cancelled;
import dev.selvedge.Outcome.Failure;
import dev.selvedge.Outcome.Success;
import dev.selvedge.Outcomes;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeSpec;
import dev.selvedge.observe.JfrEvents;
import dev.selvedge.observe.Timeline;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Fetches URLs at the same time, under one deadline; without URLs, a tour of what scopes and policies do.
 *
 * <p>The heart of it is {@link #fetchAll}: each URL has a thread of its own, and when the scope has ended, by whichever
 * way, all of them have.
 */
public final class Fetch {

    private static final int ALL_FETCHED = 0;
    private static final int SOME_NOT = 1;
    private static final int BAD_ARGUMENT = 2;

    private static final int FIRST_BAD_STATUS = 400;

    /** Around all of it: it is in recordings of the flight recorder. */
    private static final ScopeSpec SEEN = scope("fetch").listener(JfrEvents.events());

    private Fetch() {}

    /** Runs it, with the exit code that the usage promises. */
    public static void main(String[] args) {
        int code = run(List.of(args), System.out, System.err);
        if (code != 0) {
            System.exit(code); // only for the code: no thread is left that would keep the JVM
        }
    }

    static int run(List<String> args, PrintStream out, PrintStream err) {
        Arguments asked;
        try {
            asked = Arguments.parse(args);
        } catch (Options.BadArgument e) {
            err.println("fetch: " + e.getMessage());
            err.println();
            err.print(Arguments.USAGE);
            return BAD_ARGUMENT;
        }
        if (asked.help()) {
            out.print(Arguments.USAGE);
            return ALL_FETCHED;
        }
        Timeline timeline = Timeline.create();
        Picture picture = asked.picture();
        int code = run(asked, picture == null ? SEEN : SEEN.listener(timeline), out, err);
        return picture == null || draw(picture, timeline, err) ? code : SOME_NOT;
    }

    private static int run(Arguments asked, ScopeSpec seen, PrintStream out, PrintStream err) {
        try {
            return seen.call(() -> run(asked, out)); // who listens hears of all that is done within
        } catch (ScopeCancelledException e) { // somebody interrupted this thread
            err.println("fetch: " + e.getMessage());
            return SOME_NOT;
        } catch (IOException e) {
            throw new UncheckedIOException("the back ends of the tour cannot be started", e);
        }
    }

    private static int run(Arguments asked, PrintStream out) throws IOException {
        if (asked.urls().isEmpty()) {
            Tour.run(out);
            return ALL_FETCHED;
        }
        return fetchAll(asked.urls(), asked.deadline(), out);
    }

    private static boolean draw(Picture picture, Timeline timeline, PrintStream err) {
        try {
            picture.draw(timeline);
            return true;
        } catch (IOException e) {
            err.println("fetch: the timeline cannot be written: " + e);
            return false;
        }
    }

    private static int fetchAll(List<URI> urls, Duration deadline, PrintStream out) {
        try (Web web = new Web(deadline)) {
            Report report = new Report(urls, out);
            Outcomes<URI, HttpResponse<byte[]>> outcomes = scope("urls")
                    .deadline(deadline)
                    .outcomes(urls, url -> {
                        Outcome<HttpResponse<byte[]>> outcome = scope().attempt(() -> web.get(url));
                        report.line(url, outcome); // in this URL's own thread, as soon as it is known
                        return outcome.orThrow();
                    });

            for (int i = 0; i < outcomes.size(); i++) {
                if (outcomes.get(i) instanceof Cancelled) { // its thread was stopped before it could say anything
                    report.line(outcomes.item(i), outcomes.get(i));
                }
            }

            List<Ending> endings = outcomes.stream().map(Ending::of).toList();
            report.summary(endings, deadline);
            return endings.stream().allMatch(e -> e.kind() == Kind.FETCHED) ? ALL_FETCHED : SOME_NOT;
        }
    }

    private enum Kind {
        FETCHED,
        FAILED,
        CUT_OFF
    }

    /** How a fetch ended, and in words. */
    private record Ending(Kind kind, String words) {

        static Ending of(Outcome<HttpResponse<byte[]>> outcome) {
            return switch (outcome) {
                case Success(var response) -> of(response);
                case Failure(var error) -> new Ending(Kind.FAILED, "failed: " + words(error));
                case Cancelled(var why) -> of(why);
            };
        }

        private static Ending of(HttpResponse<byte[]> response) {
            int length = response.body().length;
            String words = response.statusCode() + ", " + length + (length == 1 ? " byte" : " bytes");
            return response.statusCode() < FIRST_BAD_STATUS
                    ? new Ending(Kind.FETCHED, words)
                    : new Ending(Kind.FAILED, words + ", counts as failed");
        }

        private static Ending of(CancelReason why) {
            boolean late = why.kind() == CancelReason.Kind.DEADLINE;
            return new Ending(Kind.CUT_OFF, late ? "cut off by the deadline" : "cancelled: " + why.message());
        }

        /** The client's exceptions often have no message, and the reason in a cause. */
        private static String words(Throwable error) {
            String type = error.getClass().getSimpleName();
            if (error.getMessage() != null) {
                return type + ": " + error.getMessage();
            }
            Throwable reason = error.getCause();
            while (reason != null && reason.getCause() != null) {
                reason = reason.getCause();
            }
            return reason == null ? type : type + " (" + reason.getClass().getSimpleName() + ")";
        }
    }

    /** Prints from any thread: each line at one stroke, so that lines do not mix. */
    private static final class Report {

        private final long start = System.nanoTime();
        private final PrintStream out;
        private final int width;

        Report(List<URI> urls, PrintStream out) {
            this.out = out;
            this.width =
                    urls.stream().mapToInt(url -> url.toString().length()).max().orElse(1);
        }

        void line(URI url, Outcome<HttpResponse<byte[]>> outcome) {
            String words = Ending.of(outcome).words();
            out.println(String.format(Locale.ROOT, "%6d ms  %-" + width + "s  %s", millis(), url, words));
        }

        void summary(List<Ending> endings, Duration deadline) {
            out.println(String.format(
                    Locale.ROOT,
                    "%6d ms  in all: %d fetched, %d failed, %d cut off (deadline: %d ms)",
                    millis(),
                    count(endings, Kind.FETCHED),
                    count(endings, Kind.FAILED),
                    count(endings, Kind.CUT_OFF),
                    deadline.toMillis()));
        }

        private long millis() {
            return (System.nanoTime() - start) / 1_000_000;
        }

        private static long count(List<Ending> endings, Kind kind) {
            return endings.stream().filter(e -> e.kind() == kind).count();
        }
    }
}
