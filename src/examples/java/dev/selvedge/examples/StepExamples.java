package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import dev.selvedge.AttemptTimeoutException;
import dev.selvedge.DeadlineExceededException;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeSpec;
import dev.selvedge.examples.DocExamples.Store;
import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.BulkheadFullException;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitOpenException;
import dev.selvedge.policy.RateLimitedException;
import dev.selvedge.policy.RateLimiter;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** The policies as steps of a scope, one service each. */
public final class StepExamples {

    private StepExamples() {}

    // @start region="retry"
    static final ScopeSpec ORDERS = scope("orders")
            .deadline(ofSeconds(10))
            .retry(r -> r.attempts(4).backoff(ofMillis(50), ofSeconds(1)).onTransient());

    static String order(Store store, String id) throws IOException {
        return ORDERS.call(() -> store.load(id));
    }
    // @end

    static String watched(Store store, String id, Consumer<String> log) throws IOException {
        // @start region="retry-events"
        ScopeSpec watched = ORDERS.listener(event -> {
            switch (event) {
                case ScopeEvent.AttemptFailed e ->
                    log.accept("attempt " + e.attempt() + " failed, next in "
                            + e.nextDelay().toMillis() + " ms: " + e.error());
                case ScopeEvent.RetryGaveUp e -> log.accept("no further attempt: " + e.reason());
                default -> {}
            }
        });
        return watched.call(() -> store.load(id));
        // @end
    }

    // @start region="breaker"
    static final CircuitBreaker STOCK_BREAKER =
            CircuitBreaker.of("stock", b -> b.failureRate(0.5, 20).slowCalls(ofSeconds(1), 0.8));

    static final ScopeSpec STOCK =
            scope("stock").deadline(ofSeconds(2)).breaker(STOCK_BREAKER).retry(r -> r.attempts(3));

    static String stock(Store store, String item) throws IOException {
        return STOCK.call(() -> store.load(item));
    }
    // @end

    // @start region="limiter"
    static final ScopeSpec MAIL = scope("mail")
            .deadline(ofSeconds(5))
            .rateLimit(RateLimiter.of(10, ofSeconds(1), l -> l.burst(3).maxWait(ofMillis(250))));

    static List<String> send(Store store, List<String> letters) {
        return MAIL.map(letters, store::load);
    }
    // @end

    // @start region="bulkhead"
    static final Bulkhead REPORTS = Bulkhead.of(2, b -> b.maxWait(ofSeconds(1)));

    static final ScopeSpec REPORT = scope("report").deadline(ofSeconds(30)).bulkhead(REPORTS);

    static String report(Store store, String name) throws IOException {
        return REPORT.call(() -> store.load(name));
    }
    // @end

    // @start region="timeout"
    static final ScopeSpec RATES = scope("rates")
            .deadline(ofSeconds(1))
            .timeout(ofMillis(200))
            .retry(r -> r.attempts(3).immediately());

    static String rate(Store store, String currency) throws IOException {
        return RATES.call(() -> store.load(currency));
    }
    // @end

    // @start region="timeout-of-named"
    static final ScopeSpec STRICT = RATES.retry(r -> r.on(IOException.class, AttemptTimeoutException.class));
    // @end

    // @start region="hedge"
    static final ScopeSpec SEARCH = scope("search").deadline(ofSeconds(2)).hedge(ofMillis(50));

    static String find(Store replicas, String words) throws IOException {
        return SEARCH.call(() -> replicas.load(words));
    }
    // @end

    // @start region="fallback"
    static String forecast(Store store, String city) {
        return scope("forecast").deadline(ofSeconds(1)).call(() -> store.load(city), failure -> "no forecast");
    }
    // @end

    static String byKind(ScopeSpec spec, Store store, String city) throws Exception {
        // @start region="fallback-by-kind"
        return spec.call(() -> store.load(city), failure -> switch (failure) {
            case CircuitOpenException down ->
                "down, back in " + down.retryAfter().toSeconds() + " s";
            case RateLimitedException busy -> "busy";
            case BulkheadFullException busy -> "busy";
            case AttemptTimeoutException slow -> "slow";
            case DeadlineExceededException late -> "late";
            default -> throw failure;
        });
        // @end
    }

    // @start region="order"
    static final CircuitBreaker ARCHIVE_BREAKER = CircuitBreaker.of("archive", b -> b.failures(2));

    static final Bulkhead ARCHIVE_SLOTS = Bulkhead.of(1);

    static final ScopeSpec ARCHIVE = scope("archive")
            .breaker(ARCHIVE_BREAKER)
            .retry(r -> r.attempts(3).fixed(ofMillis(100)))
            .bulkhead(ARCHIVE_SLOTS)
            .rateLimit(RateLimiter.of(2, ofSeconds(1))) // one every 500 ms
            .timeout(ofMillis(200));
    // @end

    // @start region="order-attempts"
    static final ScopeSpec EACH_ATTEMPT =
            ARCHIVE.breaker(CircuitBreaker.of("archive", b -> b.failures(2).countAttempts()));
    // @end
}
