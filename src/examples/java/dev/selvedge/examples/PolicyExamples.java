package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.examples.DocExamples.Store;
import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitOpenException;
import dev.selvedge.policy.HttpResponseException;
import dev.selvedge.policy.PerKey;
import dev.selvedge.policy.RateLimitedException;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import dev.selvedge.policy.RetryBudget;
import dev.selvedge.time.Deadline;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** The policies, as values and used alone. */
public final class PolicyExamples {

    private PolicyExamples() {}

    // @start region="retry"
    static final Retry PATIENT =
            Retry.DEFAULT.attempts(5).backoff(ofMillis(50), ofSeconds(2)).on(IOException.class, TimeoutException.class);
    // @end

    // @start region="budget"
    /** One for all calls to the catalogue. */
    static final RetryBudget CATALOGUE = RetryBudget.standard();

    static final Retry SPARING = PATIENT.budget(CATALOGUE);
    // @end

    // @start region="breaker"
    static final CircuitBreaker DATABASE = CircuitBreaker.of(
            "database",
            b -> b.failures(3)
                    .coolDown(ofSeconds(5))
                    .onTransition((from, to) -> System.out.println("database: " + from + " -> " + to)));
    // @end

    static CircuitBreaker growing() {
        // @start region="cool-down"
        return CircuitBreaker.of("search", b -> b.coolDown(opening -> ofSeconds(1L << Math.min(opening, 6))));
        // @end
    }

    static String permit(CircuitBreaker breaker, Store store, String key) throws IOException {
        // @start region="permit"
        try (CircuitBreaker.Permit permit = breaker.admit()) {
            try {
                String value = store.load(key);
                permit.succeeded();
                return value;
            } catch (IOException e) {
                permit.failed(e);
                throw e;
            }
        }
        // @end
    }

    static String refused(CircuitBreaker breaker, Store store, String key) throws IOException {
        // @start region="refused"
        try {
            return permit(breaker, store, key);
        } catch (CircuitOpenException e) {
            return "down, back in " + e.retryAfter().toSeconds() + " s at the earliest";
        }
        // @end
    }

    // @start region="limiter"
    static final RateLimiter TEN_A_SECOND = RateLimiter.of(10, ofSeconds(1));

    static String limited(Store store, String key) throws IOException, InterruptedException {
        TEN_A_SECOND.acquire(Deadline.after(ofMillis(500)));
        return store.load(key);
    }
    // @end

    static Duration tooEarly(RateLimiter limiter) throws InterruptedException {
        // @start region="too-early"
        try {
            limiter.acquire(Deadline.after(ofMillis(10)));
            return Duration.ZERO;
        } catch (RateLimitedException e) {
            return e.retryAfter();
        }
        // @end
    }

    // @start region="bulkhead"
    static final Bulkhead EIGHT_AT_A_TIME = Bulkhead.of(8, b -> b.maxWait(ofMillis(50)));

    static String guarded(Store store, String key) throws IOException, InterruptedException {
        try (Bulkhead.Slot slot = EIGHT_AT_A_TIME.enter(Deadline.never())) {
            return store.load(key);
        }
    }
    // @end

    // @start region="per-key"
    static final PerKey<String, CircuitBreaker> HOSTS =
            CircuitBreaker.perKey(host -> CircuitBreaker.of(host, b -> b.failures(10)));

    static String from(String host, Store store) throws IOException {
        return permit(HOSTS.get(host), store, host);
    }
    // @end

    // @start region="steps"
    /** One value for each service, and all its calls. */
    static final ScopeSpec PRICES = scope("prices")
            .deadline(ofSeconds(2))
            .retry(r -> r.attempts(3).backoff(ofMillis(50), ofSeconds(1)))
            .breaker(CircuitBreaker.of("prices"))
            .timeout(ofMillis(200));

    static String price(Store store, String key) {
        return PRICES.call(() -> store.load(key), failure -> "unknown");
    }
    // @end

    static String perFork(Store store) {
        // @start region="per-fork"
        return scope().call(s -> {
            var name = s.fork(() -> store.load("name"));
            var price = s.retry(r -> r.onTransient()).timeout(ofMillis(300)).fork(() -> store.load("price"));
            return name.join() + ": " + price.join();
        });
        // @end
    }

    static String hedged(Store store, String key) throws IOException {
        // @start region="hedge"
        return scope().hedge(ofMillis(50)).call(() -> store.load(key));
        // @end
    }

    static String numbered(Store store, String key) throws IOException {
        // @start region="attempt"
        return scope().retry(PATIENT).call(() -> {
            int number = Selvedge.attempt().number();
            return store.load(number == 1 ? key : key + "?attempt=" + number);
        });
        // @end
    }

    // @start region="on-a-result"
    /** A result that is no exception, but not what was wanted. */
    static final class NotReadyException extends Exception {
        private static final long serialVersionUID = 1;

        NotReadyException(String state) {
            super("still " + state);
        }
    }

    static String whenReady(Store store, String job) throws Exception {
        Retry polling =
                Retry.DEFAULT.fixed(ofSeconds(1)).maxDuration(ofSeconds(30)).on(NotReadyException.class);
        return scope().retry(polling).call(() -> {
            String state = store.load(job);
            if (!state.equals("done")) {
                throw new NotReadyException(state);
            }
            return state;
        });
    }
    // @end

    static String status(HttpClient http, HttpRequest request) throws IOException, InterruptedException {
        // @start region="status"
        return HttpResponseException.check(http.send(request, BodyHandlers.ofString()))
                .body();
        // @end
    }
}
