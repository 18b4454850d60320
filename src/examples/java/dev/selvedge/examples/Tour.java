package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import dev.selvedge.Outcome;
import dev.selvedge.Outcome.Cancelled;
import dev.selvedge.Outcome.Failure;
import dev.selvedge.Outcome.Success;
import dev.selvedge.Outcomes;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeEvent.ForkEnded;
import dev.selvedge.ScopeFailedException;
import java.io.IOException;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * Five things that a scope does, each against back ends on loopback: all or none, a failure that stops the others, a
 * deadline that keeps what was there in time, a race, and, in {@link PolicyTour}, policies.
 */
final class Tour {

    private final Printout out;
    private final BackEnds backEnds;
    private final Web web;

    private Tour(Printout out, BackEnds backEnds, Web web) {
        this.out = out;
        this.backEnds = backEnds;
        this.web = web;
    }

    static void run(PrintStream out) throws IOException {
        try (BackEnds backEnds = new BackEnds();
                Web web = new Web(ofSeconds(10))) {
            URI ready = backEnds.answering("/ready", Duration.ZERO, "yes");
            scope().run(() -> web.get(ready)); // loads the classes, so that the times below are those of the work

            Printout printout = new Printout(out);
            Tour tour = new Tour(printout, backEnds, web);
            tour.allOrNone();
            tour.aFailureStopsTheOthers();
            tour.whatCameInTimeStays();
            tour.theFastestMirror();
            new PolicyTour(printout, backEnds, web).run();
        }
    }

    private record Basket(String customer, int items, BigDecimal total) {}

    private void allOrNone() {
        out.headline("1. Gather: three answers of three types, at the same time");
        URI customer = backEnds.answering("/customer", ofMillis(150), "Ada");
        URI items = backEnds.answering("/items", ofMillis(200), "3");
        URI total = backEnds.answering("/total", ofMillis(250), "12.50");
        out.say("asked: /customer (150 ms), /items (200 ms), /total (250 ms); one after the other, 600 ms");

        long start = System.nanoTime();
        Basket basket = scope("basket")
                .deadline(ofSeconds(10))
                .fork(() -> text(customer))
                .fork(() -> Integer.valueOf(text(items)))
                .fork(() -> new BigDecimal(text(total)))
                .gather(Basket::new);

        out.say("got:   " + basket);
        out.took(start);
    }

    private void aFailureStopsTheOthers() {
        out.headline("2. Failure: the first one cancels the others");
        Duration slowest = ofSeconds(2);
        URI stock = backEnds.answering("/stock", ofMillis(1500), "7");
        URI price = backEnds.broken("/price", ofMillis(100));
        URI rating = backEnds.answering("/rating", slowest, "4.5");
        out.say("asked: /stock (1500 ms), /price (broken, says so after 100 ms), /rating (2000 ms)");

        long start = System.nanoTime();
        CutOff cutOff = new CutOff();
        try {
            String product = scope("product")
                    .listener(cutOff)
                    .fork("stock", () -> text(stock))
                    .fork("price", () -> text(price))
                    .fork("rating", () -> text(rating))
                    .gather((s, p, r) -> s + " in stock, at " + p + ", rated " + r);
            out.say("got:   " + product);
        } catch (ScopeFailedException e) {
            out.say("threw: " + e.getMessage());
        }

        cutOff.names().forEach(name -> out.say("       \"" + name + "\" was cancelled"));
        Duration took = out.took(start);
        out.say("saved: " + slowest.minus(took).toMillis() + " ms, against waiting for the slowest");
    }

    private void whatCameInTimeStays() {
        out.headline("3. Deadline: what came in time stays");
        List<URI> feeds = List.of(
                backEnds.answering("/news", ofMillis(50), "rain stops"),
                backEnds.answering("/weather", ofMillis(150), "sunny"),
                backEnds.hanging("/traffic"));
        out.say("asked: /news (50 ms), /weather (150 ms), /traffic (hangs), with a deadline of 500 ms");

        long start = System.nanoTime();
        Outcomes<URI, String> outcomes = scope("feeds").deadline(ofMillis(500)).outcomes(feeds, feed -> text(feed));

        for (int i = 0; i < outcomes.size(); i++) {
            out.say("got:   " + outcomes.item(i).getPath() + ": " + words(outcomes.get(i)));
        }
        out.took(start);
    }

    private void theFastestMirror() {
        out.headline("4. Race: the fastest of three mirrors");
        List<URI> mirrors = List.of(
                backEnds.answering("/mirror/oslo", ofMillis(900), "a copy from Oslo"),
                backEnds.answering("/mirror/rome", ofMillis(100), "a copy from Rome"),
                backEnds.answering("/mirror/lima", ofMillis(1200), "a copy from Lima"));
        out.say("asked: /mirror/oslo (900 ms), /mirror/rome (100 ms), /mirror/lima (1200 ms)");

        long start = System.nanoTime();
        CutOff cutOff = new CutOff();
        List<Callable<String>> downloads = mirrors.stream()
                .<Callable<String>>map(mirror -> () -> text(mirror))
                .toList();
        String copy = scope("mirrors").listener(cutOff).race(downloads);

        out.say("got:   " + copy);
        out.say("       " + cutOff.names().size() + " others were cancelled");
        out.took(start);
    }

    /** What a back end says; an exception, if that is that it is broken. */
    private String text(URI url) throws IOException, InterruptedException {
        HttpResponse<byte[]> response = web.get(url);
        if (response.statusCode() != 200) {
            throw new IOException(url.getPath() + " answered " + response.statusCode());
        }
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    private static String words(Outcome<String> outcome) {
        return switch (outcome) {
            case Success(var text) -> text;
            case Failure(var error) -> "failed: " + error.getMessage();
            case Cancelled(var why) -> "cut off: " + why.message();
        };
    }

    /** Listens for forks that were cut off; it is told of them in their threads. */
    private record CutOff(Queue<String> names) implements Consumer<ScopeEvent> {

        CutOff() {
            this(new ConcurrentLinkedQueue<>());
        }

        @Override
        public void accept(ScopeEvent event) {
            if (event instanceof ForkEnded ended && ended.outcome() instanceof Cancelled<?>) {
                names.add(ended.fork());
            }
        }
    }
}
