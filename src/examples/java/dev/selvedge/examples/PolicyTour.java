package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import dev.selvedge.Outcome.Cancelled;
import dev.selvedge.Outcome.Failure;
import dev.selvedge.Outcome.Success;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeEvent.AttemptFailed;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitOpenException;
import dev.selvedge.policy.HttpResponseException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The part of the {@link Tour} with a back end that is not always well: first it is busy, then it is down. */
final class PolicyTour {

    private static final String PATH = "/rates";

    private final Printout out;
    private final BackEnds.Flaky backEnd;
    private final Web web;
    private final ScopeSpec rates = scope("rates").deadline(ofSeconds(10)).listener(this::tell);

    PolicyTour(Printout out, BackEnds backEnds, Web web) {
        this.out = out;
        this.backEnd = backEnds.flaky(PATH, "1.08");
        this.web = web;
    }

    void run() {
        out.headline("5. Policies: a retry waits as asked, a circuit breaker gives a rest");
        whileItIsBusy();
        whileItIsDown();
    }

    private void whileItIsBusy() {
        backEnd.isBusy(2, ofSeconds(1));
        out.say("asked: " + PATH + " (busy: twice 503 with Retry-After: 1, then 200), with a retry");

        long start = System.nanoTime();
        ask(rates.retry(r -> r.attempts(4).onTransient()));

        out.took(start);
    }

    private void whileItIsDown() {
        backEnd.isDown();
        Duration coolDown = ofMillis(500);
        CircuitBreaker breaker = CircuitBreaker.of(
                "rates",
                b -> b.failures(3)
                        .coolDown(coolDown)
                        .onTransition((from, to) -> out.say("state: " + from + " -> " + to)));
        ScopeSpec guarded = rates.breaker(breaker);
        out.say("asked: " + PATH + " (down: 500), with a breaker that opens after 3 failures, for "
                + coolDown.toMillis() + " ms");

        long start = System.nanoTime();
        int before = backEnd.requests();
        int calls = 5;
        for (int i = 0; i < calls; i++) {
            ask(guarded);
        }
        out.say("count: " + calls + " calls, of which " + (backEnd.requests() - before) + " reached " + PATH);

        backEnd.isWell();
        out.say("asked: " + PATH + " (back), after the cool-down");
        Selvedge.sleep(breaker.remainingCoolDown());
        ask(guarded);
        out.took(start);
    }

    private void ask(ScopeSpec policies) {
        switch (policies.attempt(this::rate)) {
            case Success(var rate) -> out.say("got:   " + rate);
            case Failure(CircuitOpenException open) ->
                out.say("threw: CircuitOpenException, retry after "
                        + open.retryAfter().toMillis() + " ms");
            case Failure(var error) -> out.say("threw: " + words(error));
            case Cancelled(var why) -> out.say("threw: " + why.message());
        }
    }

    /** What the back end says; a status that means failure is thrown, so that the policies see it. */
    private String rate() throws IOException, InterruptedException {
        byte[] body = HttpResponseException.check(web.get(backEnd.url())).body();
        return new String(body, StandardCharsets.UTF_8);
    }

    /** Listens for attempts that will be followed by another. */
    private void tell(ScopeEvent event) {
        if (event instanceof AttemptFailed failed) {
            out.say("retry: attempt " + failed.attempt() + " failed: " + words(failed.error()) + "; the next in "
                    + failed.nextDelay().toMillis() + " ms (" + failed.source() + ")");
        }
    }

    private static String words(Throwable error) {
        return error instanceof HttpResponseException e ? PATH + " answered " + e.status() : error.toString();
    }
}
