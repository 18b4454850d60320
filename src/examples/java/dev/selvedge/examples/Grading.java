package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import dev.selvedge.Outcomes;
import dev.selvedge.Progress;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.batch.Journal;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitOpenException;
import dev.selvedge.policy.HttpResponseException;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** How papers are graded: by a service that allows so many requests a second, and is not always well. */
final class Grading {

    private final Web web;
    private final URI papers;
    private final ScopeSpec service;

    /**
     * A service, and how to treat it.
     *
     * @param papers what the number of a paper is to be put behind
     * @param rate how many requests it allows in a second
     * @param log is told when the service is taken for down, and when it is back; on any thread
     */
    Grading(Web web, URI papers, int rate, Consumer<String> log) {
        this.web = web;
        this.papers = papers;
        this.service = serviceOf(rate, log);
    }

    // @start region="service"
    /** One request: so many a second, a retry for what passes by itself, and a rest for a service that is down. */
    private static ScopeSpec serviceOf(int rate, Consumer<String> log) {
        CircuitBreaker breaker = CircuitBreaker.of(
                "grading",
                b -> b.failures(5)
                        .failsOn(
                                e -> Retry.isTransient(e)) // a paper that cannot be read says nothing about the service
                        .coolDown(ofMillis(500))
                        .onTransition((from, to) -> log.accept("the breaker goes from " + from + " to " + to)));
        return scope("service")
                .timeout(ofSeconds(2))
                .rateLimit(RateLimiter.of(rate, ofSeconds(1)))
                .retry(r -> r.attempts(6).backoff(ofMillis(20), ofMillis(500)).onTransient())
                .breaker(breaker);
    }
    // @end

    // @start region="job"
    /** All of them: at most 32 at the same time, as long as no more than a twentieth fails. What is done is in the journal. */
    Outcomes<Integer, Integer> gradeAll(
            List<Integer> numbers, Journal<Integer> journal, Consumer<? super Progress> progress) {
        return scope("grading")
                .deadline(ofMinutes(10))
                .concurrency(32)
                .errorBudget(0.05, 200)
                .progress(progress)
                .outcomes(numbers, journal.recording(this::grade, String::valueOf, Integer::valueOf));
    }
    // @end

    // @start region="patient"
    /** While the breaker is open, the job stands still: else all papers that are left would be refused, one after the other. */
    private int grade(int paper) throws IOException {
        while (true) {
            try {
                return service.call(() -> ask(paper));
            } catch (CircuitOpenException down) {
                Selvedge.sleep(longer(down.retryAfter(), ofMillis(20))); // during a trial of another paper it is zero
            }
        }
    }
    // @end

    private int ask(int paper) throws IOException, InterruptedException {
        byte[] answer = HttpResponseException.check(web.get(papers.resolve(Integer.toString(paper))))
                .body();
        return Integer.parseInt(new String(answer, UTF_8));
    }

    private static Duration longer(Duration a, Duration b) {
        return a.compareTo(b) >= 0 ? a : b;
    }
}
