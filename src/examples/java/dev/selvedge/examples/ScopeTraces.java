package dev.selvedge.examples;

import dev.selvedge.CancelReason;
import dev.selvedge.Outcome;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeId;
import dev.selvedge.ScopeListener;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * OpenTelemetry spans of scopes: one for each scope and each fork, as a tree. The span of a scope is current in its owner's thread, that of a
 * fork in the fork's, so spans that tasks start lie within them; whatever else is in the caller's context, such as baggage, is there,
 * too. So there is no need to propagate the context as well.
 *
 * <p>Attempts and their failures, waits, hedges and breakers are events of these spans. A scope or fork that fails has the status error,
 * with its exception; one that is cancelled has not: nothing was wrong with it.
 */
// @start region="traces"
public final class ScopeTraces implements ScopeListener {

    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("selvedge.outcome");
    private static final AttributeKey<String> ERROR_TYPE = AttributeKey.stringKey("error.type");
    private static final AttributeKey<String> EXCEPTION_TYPE = AttributeKey.stringKey("exception.type");
    private static final AttributeKey<String> EXCEPTION_MESSAGE = AttributeKey.stringKey("exception.message");
    private static final AttributeKey<String> EXCEPTION_STACK = AttributeKey.stringKey("exception.stacktrace");
    private static final AttributeKey<String> REASON = AttributeKey.stringKey("selvedge.reason");
    private static final AttributeKey<String> FORK_NAME = AttributeKey.stringKey("selvedge.fork.name");
    private static final AttributeKey<Long> SCOPE_NUMBER = AttributeKey.longKey("selvedge.scope.number");
    private static final AttributeKey<Long> FORK_NUMBER = AttributeKey.longKey("selvedge.fork.number");
    private static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("selvedge.attempt");
    private static final AttributeKey<Long> HEDGE = AttributeKey.longKey("selvedge.hedge");
    private static final AttributeKey<String> CANCEL_KIND = AttributeKey.stringKey("selvedge.cancel.kind");
    private static final AttributeKey<Double> DELAY = AttributeKey.doubleKey("selvedge.delay");
    private static final AttributeKey<String> BREAKER = AttributeKey.stringKey("selvedge.breaker");
    private static final AttributeKey<String> BREAKER_STATE = AttributeKey.stringKey("selvedge.breaker.state");

    private static final Pattern UNNAMED = Pattern.compile("fork-\\d+");

    /** In which scope or fork a context is. */
    private static final ContextKey<Place> PLACE = ContextKey.named("selvedge.place");

    private final Tracer tracer;
    private final InstantSource calendar;
    private final Map<Place, Open> open = new ConcurrentHashMap<>();

    /** Of forks that have not begun: where their owner was, if within something of its own. */
    private final Map<Place, Context> within = new ConcurrentHashMap<>();

    /** @param tracer makes the spans */
    public ScopeTraces(Tracer tracer) {
        this(tracer, InstantSource.system());
    }

    ScopeTraces(Tracer tracer, InstantSource calendar) {
        this.tracer = tracer;
        this.calendar = calendar;
    }

    /** A scope, or, with a number that is not 0, a fork of it. */
    private record Place(long scope, long fork) {}

    /** A span that is current; the offset is by how much the scope's clock lies behind the calendar, in nanoseconds. */
    private record Open(Span span, Context context, io.opentelemetry.context.Scope current, long offset) {}

    @Override
    public boolean replacesLog() {
        return false; // a trace may not be sampled
    }

    @Override
    public void on(ScopeEvent event, Where where) {
        ScopeId scope = where.scope();
        long offset = offset(scope, where.nanoTime());
        long at = where.nanoTime() + offset;
        Place place = new Place(scope.number(), where.fork());
        switch (event) {
            case ScopeEvent.ScopeOpened e -> start(place, e.scope(), around(scope), at, offset, Attributes.empty());
            case ScopeEvent.ScopeClosed e -> {
                if (e.error() == null) {
                    end(place, "succeeded", null, null, at);
                } else if (e.error() instanceof ScopeCancelledException cut) {
                    end(place, "cancelled", null, cut.reason(), at);
                } else {
                    end(place, "failed", e.error(), null, at);
                }
            }
            case ScopeEvent.ForkCreated e -> {
                Place owner = new Place(scope.number(), 0);
                Context current = Context.current();
                if (owner.equals(current.get(PLACE)) && !current.equals(contextOf(owner))) {
                    within.put(place, current);
                }
            }
            case ScopeEvent.ForkStarted e -> {
                Context itsOwn = within.remove(place);
                start(
                        place,
                        e.scope() + "/"
                                + (UNNAMED.matcher(e.fork()).matches() ? "fork" : e.fork()), // names are to be few
                        itsOwn == null ? contextOf(new Place(scope.number(), 0)) : itsOwn,
                        at,
                        offset,
                        Attributes.of(FORK_NAME, e.fork(), FORK_NUMBER, where.fork()));
            }
            case ScopeEvent.ForkEnded e -> {
                within.remove(place); // if it never began
                switch (e.outcome()) {
                    case Outcome.Success<?> s -> end(place, "succeeded", null, null, at);
                    case Outcome.Failure<?> f -> end(place, "failed", f.error(), null, at);
                    case Outcome.Cancelled<?> c -> end(place, "cancelled", null, c.reason(), at);
                }
            }
            case ScopeEvent.AttemptStarted e ->
                add(place, "attempt started", Attributes.of(ATTEMPT, (long) e.attempt()), at);
            case ScopeEvent.AttemptSucceeded e ->
                add(place, "attempt succeeded", Attributes.of(ATTEMPT, (long) e.attempt()), at);
            case ScopeEvent.AttemptFailed e ->
                add(
                        place,
                        "attempt failed",
                        Attributes.of(
                                ATTEMPT,
                                (long) e.attempt(),
                                ERROR_TYPE,
                                e.error().getClass().getName(),
                                DELAY,
                                e.nextDelay().toNanos() / 1e9,
                                REASON,
                                word(e.source())),
                        at);
            case ScopeEvent.RetryGaveUp e ->
                add(
                        place,
                        "retry gave up",
                        Attributes.of(
                                ATTEMPT, (long) e.attempts(),
                                ERROR_TYPE, e.error().getClass().getName(),
                                REASON, word(e.reason())),
                        at);
            case ScopeEvent.HedgeStarted e ->
                add(new Place(scope.number(), 0), "hedge started", Attributes.of(HEDGE, (long) e.number()), at);
            case ScopeEvent.BreakerChanged e ->
                add(place, "breaker changed", Attributes.of(BREAKER, e.breaker(), BREAKER_STATE, word(e.to())), at);
            case ScopeEvent.RateLimitAwaited e ->
                add(place, "rate limit awaited", Attributes.of(DELAY, e.waited().toNanos() / 1e9), at);
            case ScopeEvent.BulkheadAwaited e ->
                add(place, "bulkhead awaited", Attributes.of(DELAY, e.waited().toNanos() / 1e9), at);
            case ScopeEvent.ScopeCancelled e ->
                add(
                        new Place(scope.number(), 0),
                        "cancelled",
                        Attributes.of(
                                CANCEL_KIND, word(e.reason().kind()),
                                REASON, e.reason().message()),
                        at);
            case ScopeEvent.StragglerFound e ->
                add(place, "goes on", Attributes.of(DELAY, e.since().toNanos() / 1e9), at);
            case ScopeEvent.Unhandled e ->
                add(
                        new Place(scope.number(), 0),
                        "unhandled error",
                        Attributes.of(ERROR_TYPE, e.error().getClass().getName()),
                        at);
            default -> {}
        }
    }

    /**
     * As it was when the outermost scope was opened: so all of a trace has one, whatever happens to the calendar meanwhile, and the next
     * trace is right again after the calendar was set or the machine was asleep.
     */
    private long offset(ScopeId scope, long nanoTime) {
        for (ScopeId around = scope; around != null; around = around.parent()) {
            Open its = open.get(new Place(around.number(), 0));
            if (its != null) {
                return its.offset;
            }
        }
        Instant now = calendar.instant();
        return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - nanoTime;
    }

    /**
     * Where a scope is opened: in whatever the calling thread is, with the spans and baggage of its own; if that has nothing to do with
     * the scope or fork around it, as on a thread that the task has started by itself, in that scope or fork.
     */
    private Context around(ScopeId scope) {
        Context current = Context.current();
        ScopeId parent = scope.parent();
        if (parent == null) {
            return current;
        }
        Place place = new Place(parent.number(), scope.parentFork());
        return place.equals(current.get(PLACE)) ? current : contextOf(place);
    }

    private Context contextOf(Place place) {
        Open its = open.get(place);
        return its == null ? Context.current() : its.context;
    }

    /** On the thread that begins. */
    @SuppressWarnings("MustBeClosedChecker") // it is, by the end, on the same thread
    private void start(Place place, String name, Context parent, long at, long offset, Attributes attributes) {
        Span span = tracer.spanBuilder(name)
                .setParent(parent)
                .setStartTimestamp(at, TimeUnit.NANOSECONDS)
                .setAllAttributes(attributes)
                .setAttribute(SCOPE_NUMBER, place.scope())
                .startSpan();
        Context context = parent.with(span).with(PLACE, place);
        open.put(place, new Open(span, context, context.makeCurrent(), offset));
    }

    /** On the same thread: what was current before is so again, whatever the error does when it is asked for its message. */
    private void end(Place place, String outcome, @Nullable Throwable error, @Nullable CancelReason reason, long at) {
        Open its = open.remove(place);
        if (its == null) {
            return; // a fork that was cancelled before it began
        }
        its.current.close();
        try {
            its.span.setAttribute(OUTCOME, outcome);
            if (reason != null) {
                its.span.setAttribute(CANCEL_KIND, word(reason.kind())).setAttribute(REASON, reason.message());
            }
            if (error != null) {
                failed(its.span, error, at);
            }
        } finally {
            its.span.end(at, TimeUnit.NANOSECONDS);
        }
    }

    /** By hand, since {@code recordException} takes the moment from a clock of its own. */
    private static void failed(Span span, Throwable error, long at) {
        String type = error.getClass().getName();
        span.setStatus(StatusCode.ERROR).setAttribute(ERROR_TYPE, type);
        AttributesBuilder told = Attributes.builder().put(EXCEPTION_TYPE, type);
        try {
            String message = error.getMessage();
            if (message != null) {
                span.setStatus(StatusCode.ERROR, message);
                told.put(EXCEPTION_MESSAGE, message);
            }
            StringWriter stack = new StringWriter();
            error.printStackTrace(new PrintWriter(stack, true));
            told.put(EXCEPTION_STACK, stack.toString());
        } finally {
            span.addEvent("exception", told.build(), at, TimeUnit.NANOSECONDS);
        }
    }

    private void add(Place place, String event, Attributes attributes, long at) {
        Open its = open.get(place);
        if (its != null) {
            its.span.addEvent(event, attributes, at, TimeUnit.NANOSECONDS);
        }
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
// @end
