package dev.selvedge.examples;

import dev.selvedge.CancelReason;
import dev.selvedge.Outcome;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeListener;
import dev.selvedge.policy.CircuitBreaker;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Micrometer meters of scopes. Tags are names of scopes and breakers, and kinds of ends: as many as a program has. What has a number
 * of its own, as each fork has, is no tag.
 *
 * <p>Durations are those of the scope's clock, so a test in virtual time sees exact ones.
 */
// @start region="meters"
public final class ScopeMeters implements ScopeListener {

    private final MeterRegistry registry;
    private final Map<Place, Long> started = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> openScopes = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> runningForks = new ConcurrentHashMap<>();

    /** @param registry where the meters are */
    public ScopeMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    /**
     * Adds a gauge of a breaker's state. It asks the breaker whenever it is read: what scopes tell is not enough, since a breaker may be
     * reset by hand outside any scope.
     *
     * @param breaker of which no other has the name
     * @return this
     */
    public ScopeMeters watch(CircuitBreaker breaker) {
        Gauge.builder("selvedge.breaker.state", breaker, b -> level(b.state()))
                .tag("breaker", breaker.name())
                .register(registry);
        return this;
    }

    private record Place(long scope, long fork) {}

    @Override
    public boolean replacesLog() {
        return false; // a count is no message
    }

    @Override
    public void on(ScopeEvent event, Where where) {
        Place place = new Place(where.scope().number(), where.fork());
        switch (event) {
            case ScopeEvent.ScopeOpened e ->
                gauge("selvedge.scopes.open", openScopes, e.scope()).incrementAndGet();
            case ScopeEvent.ScopeClosed e -> {
                gauge("selvedge.scopes.open", openScopes, e.scope()).decrementAndGet();
                String outcome = e.error() == null
                        ? "succeeded"
                        : e.error() instanceof ScopeCancelledException ? "cancelled" : "failed";
                timer("selvedge.scope", Tags.of("scope", e.scope()).and(ending(outcome, e.error())))
                        .record(e.elapsed());
            }
            case ScopeEvent.ForkStarted e -> {
                started.put(place, where.nanoTime());
                gauge("selvedge.forks.running", runningForks, e.scope()).incrementAndGet();
            }
            case ScopeEvent.ForkEnded e -> {
                Long begun = started.remove(place);
                if (begun != null) { // else it was cancelled before it ran
                    gauge("selvedge.forks.running", runningForks, e.scope()).decrementAndGet();
                }
                timer("selvedge.fork", Tags.of("scope", e.scope()).and(ending(e.outcome())))
                        .record(Duration.ofNanos(begun == null ? 0 : where.nanoTime() - begun));
            }
            case ScopeEvent.AttemptSucceeded e -> attempt(e.scope(), "succeeded");
            case ScopeEvent.AttemptFailed e -> {
                attempt(e.scope(), "failed");
                timer("selvedge.retry.delay", Tags.of("scope", e.scope(), "source", word(e.source())))
                        .record(e.nextDelay());
            }
            case ScopeEvent.RetryGaveUp e -> {
                attempt(e.scope(), "failed");
                counter("selvedge.retry.exhausted", Tags.of("scope", e.scope(), "reason", word(e.reason())));
            }
            case ScopeEvent.HedgeStarted e -> counter("selvedge.hedges", Tags.of("scope", e.scope()));
            case ScopeEvent.BreakerChanged e ->
                counter("selvedge.breaker.transitions", Tags.of("breaker", e.breaker(), "to", word(e.to())));
            case ScopeEvent.RateLimitAwaited e ->
                timer("selvedge.limiter.wait", Tags.of("scope", e.scope())).record(e.waited());
            case ScopeEvent.BulkheadAwaited e ->
                timer("selvedge.bulkhead.wait", Tags.of("scope", e.scope())).record(e.waited());
            case ScopeEvent.ScopeCancelled e -> cancelled(e.scope(), e.reason());
            case ScopeEvent.ValueDiscarded e -> counter("selvedge.values.discarded", Tags.of("scope", e.scope()));
            case ScopeEvent.StragglerFound e -> counter("selvedge.stragglers", Tags.of("scope", e.scope()));
            case ScopeEvent.Unhandled e ->
                counter("selvedge.errors.unhandled", Tags.of("scope", e.scope()).and(exception(e.error())));
            default -> {}
        }
    }

    private void attempt(String scope, String outcome) {
        counter("selvedge.attempts", Tags.of("scope", scope, "outcome", outcome));
    }

    private static int level(CircuitBreaker.State state) {
        return switch (state) {
            case CLOSED -> 0;
            case HALF_OPEN -> 1;
            case OPEN -> 2;
        };
    }

    private void cancelled(String scope, CancelReason why) {
        counter("selvedge.cancellations", Tags.of("scope", scope, "kind", word(why.kind())));
    }

    private static Tags ending(Outcome<?> outcome) {
        return switch (outcome) {
            case Outcome.Success<?> s -> ending("succeeded", null);
            case Outcome.Failure<?> f -> ending("failed", f.error());
            case Outcome.Cancelled<?> c -> ending("cancelled", null);
        };
    }

    private static Tags ending(String outcome, @Nullable Throwable error) {
        return Tags.of("outcome", outcome).and(exception(error));
    }

    private static Tags exception(@Nullable Throwable error) {
        if (error == null) {
            return Tags.of("exception", "none");
        }
        Class<?> type = error.getClass(); // an anonymous one has no simple name, and a tag must not be empty
        return Tags.of("exception", type.isAnonymousClass() ? type.getName() : type.getSimpleName());
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private Timer timer(String name, Tags tags) {
        return registry.timer(name, tags);
    }

    private void counter(String name, Tags tags) {
        Counter counter = registry.counter(name, tags);
        counter.increment();
    }

    private AtomicInteger gauge(String name, Map<String, AtomicInteger> all, String scope) {
        return all.computeIfAbsent(scope, s -> registry.gauge(name, Tags.of("scope", s), new AtomicInteger()));
    }
}
// @end
