package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;

import dev.selvedge.Outcome;
import dev.selvedge.Selvedge;
import dev.selvedge.observe.Timeline;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** Pictures of what scopes do. */
public final class TimelineExamples {

    private TimelineExamples() {}

    /** Prints the picture of a page. */
    public static void main(String[] args) {
        System.out.print(page().svg());
    }

    /** Draws into a file what a page does that loads its parts. */
    static void picture(Path file, Callable<String> prices, Callable<String> stock) throws IOException {
        // @start region="picture"
        Timeline timeline = Timeline.create();
        scope("page")
                .listener(timeline)
                .fork("prices", prices)
                .fork("stock", stock)
                .gather((p, s) -> p + s);
        Files.writeString(file, timeline.svg());
        // @end
    }

    /** What is open at the moment, and where. */
    static String live(Timeline timeline) {
        // @start region="live"
        String now = timeline.text();
        // @end
        return now;
    }

    /**
     * A page with all there is to be drawn, on a virtual clock, so that its picture is always the same: one part is tried three times,
     * one opens a scope of its own, one fails and so cuts off the others.
     */
    public static Timeline page() {
        Timeline timeline = Timeline.create();
        Retry twice =
                Retry.DEFAULT.attempts(3).backoff(ofMillis(60), ofMillis(200)).withoutJitter();
        int[] calls = {0};
        Callable<String> prices = () -> scope("prices").retry(twice).call(() -> {
            Selvedge.sleep(ofMillis(40));
            if (++calls[0] < 3) {
                throw new IOException("503 from /prices");
            }
            return "12.50";
        });
        Callable<String> reviews = () -> scope("reviews")
                .fork("newest", () -> slow(90))
                .fork("best", () -> slow(140))
                .gather((newest, best) -> newest + best);
        Callable<String> related = () -> scope("shelf")
                .fork("books", () -> slow(300))
                .fork("films", () -> slow(400))
                .fork("games", TimelineExamples::broken)
                .gather((books, films, games) -> books + films + games);
        Outcome<String> page = scope("page")
                .clock(VirtualClock.jumping())
                .listener(timeline)
                .deadline(ofMillis(450))
                .attempt(() -> scope("parts")
                        .fork("prices", prices)
                        .fork("reviews", reviews)
                        .fork("related", related)
                        .fork("history", () -> slow(800))
                        .outcomes((a, b, c, d) -> a.toString() + b + c + d));
        if (page instanceof Outcome.Success) {
            throw new IllegalStateException("the history was to be too slow");
        }
        return timeline;
    }

    private static String slow(int millis) {
        Selvedge.sleep(ofMillis(millis));
        return millis + " ms";
    }

    private static String broken() {
        slow(180);
        throw new IllegalStateException("no games today");
    }
}
