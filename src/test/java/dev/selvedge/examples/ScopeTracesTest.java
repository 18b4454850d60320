package dev.selvedge.examples;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.DeadlineExceededException;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.ScopeId;
import dev.selvedge.ScopeListener;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.Task;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.VirtualClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against the real exporter that keeps spans in memory, in virtual time. */
@Timeout(60)
class ScopeTracesTest {

    private static final AttributeKey<Long> SCOPE = AttributeKey.longKey("selvedge.scope.number");
    private static final AttributeKey<Long> FORK = AttributeKey.longKey("selvedge.fork.number");
    private static final AttributeKey<String> CANCEL_KIND = AttributeKey.stringKey("selvedge.cancel.kind");
    private static final AttributeKey<String> REASON = AttributeKey.stringKey("selvedge.reason");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("selvedge.outcome");

    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final SdkTracerProvider provider = SdkTracerProvider.builder()
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build();
    private final Tracer tracer = provider.get("test");
    private final ScopeTraces traces = new ScopeTraces(tracer);
    private final VirtualClock clock = VirtualClock.jumping();

    /** What there should be: a scope or fork, and within which one. */
    private final List<String> tree = new CopyOnWriteArrayList<>();

    /** From when to when each of them should be, by the clock. */
    private final Map<String, Long> begun = new ConcurrentHashMap<>();

    private final Map<String, Long> ended = new ConcurrentHashMap<>();

    private void grow(ScopeEvent event, ScopeListener.Where where) {
        ScopeId id = where.scope();
        String place = id.number() + "." + where.fork();
        if (event instanceof ScopeEvent.ScopeOpened || event instanceof ScopeEvent.ForkStarted) {
            begun.put(place, where.nanoTime());
        } else if (event instanceof ScopeEvent.ScopeClosed || event instanceof ScopeEvent.ForkEnded) {
            ended.put(place, where.nanoTime());
        }
        if (event instanceof ScopeEvent.ScopeOpened) {
            ScopeId parent = id.parent();
            tree.add(id.number() + "." + 0 + " in "
                    + (parent == null ? "none" : parent.number() + "." + id.parentFork()));
        } else if (event instanceof ScopeEvent.ForkStarted) {
            tree.add(id.number() + "." + where.fork() + " in " + id.number() + "." + 0);
        }
    }

    private ScopeSpec traced(String name) {
        return Selvedge.scope(name).clock(clock).listener(traces).listener((ScopeListener) this::grow);
    }

    private static Task<String, RuntimeException> nap(int millis) {
        return () -> {
            Selvedge.sleep(ofMillis(millis));
            return "rested";
        };
    }

    private static Task<String, RuntimeException> failing(int millis) {
        return () -> {
            Selvedge.sleep(ofMillis(millis));
            throw new IllegalStateException("no");
        };
    }

    @AfterEach
    void the_context_is_as_it_was() {
        assertThat(Span.current().getSpanContext().isValid()).isFalse();
    }

    private List<SpanData> spans() {
        return exporter.getFinishedSpanItems();
    }

    private SpanData span(String name) {
        List<SpanData> found =
                spans().stream().filter(s -> s.getName().equals(name)).toList();
        assertThat(found).as(name).hasSize(1);
        return found.get(0);
    }

    private static long millis(SpanData span) {
        return (span.getEndEpochNanos() - span.getStartEpochNanos()) / 1_000_000;
    }

    /** As {@link #tree}, whatever spans of tasks lie between. */
    private List<String> traced() {
        Map<String, SpanData> byId = new HashMap<>();
        spans().forEach(s -> byId.put(s.getSpanId(), s));
        return spansOfScopes().stream()
                .map(s -> {
                    SpanData above = byId.get(s.getParentSpanId());
                    while (above != null && above.getAttributes().get(SCOPE) == null) {
                        above = byId.get(above.getParentSpanId());
                    }
                    return place(s) + " in " + (above == null ? "none" : place(above));
                })
                .toList();
    }

    private List<SpanData> spansOfScopes() {
        return spans().stream()
                .filter(s -> s.getAttributes().get(SCOPE) != null)
                .toList();
    }

    /** All of one trace: each span begins and ends when its scope or fork does, and what happens in it is between. */
    private void check_the_times() {
        long difference = spansOfScopes().stream()
                        .mapToLong(SpanData::getStartEpochNanos)
                        .min()
                        .orElseThrow()
                - begun.values().stream().mapToLong(n -> n).min().orElseThrow();
        for (SpanData s : spansOfScopes()) {
            assertThat(s.getStartEpochNanos() - difference).isEqualTo(begun.get(place(s)));
            assertThat(s.getEndEpochNanos() - difference).isEqualTo(ended.get(place(s)));
            assertThat(s.getEvents())
                    .allSatisfy(
                            e -> assertThat(e.getEpochNanos()).isBetween(s.getStartEpochNanos(), s.getEndEpochNanos()));
        }
    }

    private static String place(SpanData s) {
        Long fork = s.getAttributes().get(FORK);
        return s.getAttributes().get(SCOPE) + "." + (fork == null ? 0 : fork);
    }

    // The tree.

    @Test
    void each_scope_and_each_fork_is_a_span_with_its_times() {
        traced("page").fork("prices", nap(20)).fork(nap(30)).gather((a, b) -> a + b);

        SpanData page = span("page");
        assertThat(millis(page)).isEqualTo(30);
        assertThat(page.getParentSpanContext().isValid()).isFalse();
        assertThat(millis(span("page/prices"))).isEqualTo(20);
        assertThat(millis(span("page/fork"))).isEqualTo(30);
        assertThat(span("page/prices").getParentSpanId()).isEqualTo(page.getSpanId());
        assertThat(page.getAttributes().get(OUTCOME)).isEqualTo("succeeded");
        assertThat(page.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    }

    @Test
    void what_a_task_starts_lies_within_its_fork_and_what_the_owner_starts_within_the_scope() {
        Span outer = tracer.spanBuilder("request").startSpan();
        try (Scope current = outer.makeCurrent()) {
            assertThat(current).isNotNull();
            traced("page").run(s -> {
                s.fork("part", () -> tracer.spanBuilder("query").startSpan().end());
                tracer.spanBuilder("render").startSpan().end();
            });
        }
        outer.end();

        assertThat(span("page").getParentSpanId()).isEqualTo(span("request").getSpanId());
        assertThat(span("query").getParentSpanId()).isEqualTo(span("page/part").getSpanId());
        assertThat(span("render").getParentSpanId()).isEqualTo(span("page").getSpanId());
        assertThat(spans())
                .extracting(SpanData::getTraceId)
                .containsOnly(span("request").getTraceId());
    }

    @Test
    void baggage_is_seen_in_forks() {
        List<String> seen = new CopyOnWriteArrayList<>();
        try (Scope current = Baggage.builder().put("tenant", "acme").build().makeCurrent()) {
            assertThat(current).isNotNull();
            traced("page")
                    .run(s -> s.fork(() -> Selvedge.scope("inner")
                            .run(t -> t.fork(() -> seen.add(Baggage.current().getEntryValue("tenant"))))));
        }

        assertThat(seen).containsExactly("acme");
    }

    @Test
    void a_scope_within_a_span_of_a_task_lies_in_it_and_sees_its_baggage() {
        List<String> seen = new CopyOnWriteArrayList<>();
        traced("page")
                .run(s -> s.fork("part", () -> {
                    Span query = tracer.spanBuilder("query").startSpan();
                    try (Scope span = query.makeCurrent();
                            Scope baggage = Baggage.builder()
                                    .put("tenant", "acme")
                                    .build()
                                    .makeCurrent()) {
                        assertThat(span).isNotSameAs(baggage);
                        Selvedge.scope("inner")
                                .run(() -> seen.add(Baggage.current().getEntryValue("tenant")));
                    }
                    query.end();
                }));

        assertThat(seen).containsExactly("acme");
        assertThat(span("inner").getParentSpanId()).isEqualTo(span("query").getSpanId());
        assertThat(span("query").getParentSpanId()).isEqualTo(span("page/part").getSpanId());
    }

    @Test
    void a_fork_within_a_span_of_the_owner_lies_in_it_and_sees_its_baggage() {
        List<String> seen = new CopyOnWriteArrayList<>();
        traced("page").run(s -> {
            Span section = tracer.spanBuilder("section").startSpan();
            try (Scope span = section.makeCurrent();
                    Scope baggage =
                            Baggage.builder().put("tenant", "acme").build().makeCurrent()) {
                assertThat(span).isNotSameAs(baggage);
                s.fork("part", () -> seen.add(Baggage.current().getEntryValue("tenant")));
            }
            section.end();
            s.fork("other", () -> seen.add(String.valueOf(Baggage.current().getEntryValue("tenant"))));
        });

        assertThat(seen).containsExactlyInAnyOrder("acme", "null");
        assertThat(span("page/part").getParentSpanId())
                .isEqualTo(span("section").getSpanId());
        assertThat(span("page/other").getParentSpanId()).isEqualTo(span("page").getSpanId());
    }

    @Test
    void the_tree_of_spans_is_the_tree_of_scopes_whatever_happens() {
        CircuitBreaker breaker = CircuitBreaker.of("store", b -> b.failures(1).coolDown(ofSeconds(10)));
        Throwable thrown =
                catchThrowable(() -> traced("page").deadline(ofMillis(200)).run(s -> {
                    s.fork(() -> Selvedge.scope("inner").gather(List.of(nap(10), nap(20))));
                    s.fork(() -> Selvedge.scope("race").race(nap(5), nap(50)));
                    s.fork(() -> Selvedge.scope("hedge").hedge(ofMillis(10)).call(nap(30)));
                    s.fork(() -> Selvedge.scope("items").concurrency(2).map(List.of(1, 2, 3, 4, 5), n -> {
                        Selvedge.sleep(ofMillis(n));
                        return Selvedge.scope("item").call(nap(n));
                    }));
                    s.fork(() -> Selvedge.scope("retried")
                            .breaker(breaker)
                            .retry(Retry.DEFAULT.attempts(2).immediately())
                            .attempt(failing(1)));
                    s.fork(nap(1_000));
                }));

        assertThat(thrown).isInstanceOf(DeadlineExceededException.class);
        assertThat(traced()).containsExactlyInAnyOrderElementsOf(tree).hasSizeGreaterThan(20);
    }

    @Test
    void so_it_is_for_random_programs() {
        for (int seed = 0; seed < 150; seed++) {
            Random random = new Random(seed);
            tree.clear();
            begun.clear();
            ended.clear();
            exporter.reset();

            Throwable unused = catchThrowable(() -> grown(random, 3).call());

            assertThat(traced()).as("seed %s", seed).containsExactlyInAnyOrderElementsOf(tree);
            check_the_times();
        }
    }

    private Callable<String> grown(Random random, int depth) {
        int length = random.nextInt(50);
        if (depth == 0) {
            return random.nextInt(6) == 0 ? failing(length) : nap(length);
        }
        if (depth < 3 && random.nextInt(3) == 0) {
            return spanned(scopes(random, depth, length));
        }
        return scopes(random, depth, length);
    }

    /** Within a span of the task's own. */
    private Callable<String> spanned(Callable<String> task) {
        return () -> {
            Span own = tracer.spanBuilder("own").startSpan();
            try (Scope current = own.makeCurrent()) {
                assertThat(current).isNotNull();
                return task.call();
            } finally {
                own.end();
            }
        };
    }

    private Callable<String> scopes(Random random, int depth, int length) {
        List<Callable<String>> tasks = new ArrayList<>(IntStream.range(0, 1 + random.nextInt(3))
                .mapToObj(i -> grown(random, depth - 1))
                .toList());
        ScopeSpec spec = depth == 3 ? traced("root") : Selvedge.scope("scope");
        return switch (random.nextInt(5)) {
            case 0 -> () -> spec.deadline(ofMillis(length)).gather(tasks).get(0);
            case 1 -> () -> spec.race(tasks);
            case 2 -> () -> spec.outcomes(tasks).toString();
            case 3 ->
                () -> spec.hedge(ofMillis(length)).call(() -> "" + tasks.get(0).call());
            default ->
                () -> spec.retry(Retry.DEFAULT.attempts(2).immediately())
                        .map(tasks, Callable::call)
                        .toString();
        };
    }

    // How it ends.

    @Test
    void a_failure_is_an_error_and_a_cancellation_is_none() {
        Throwable thrown = catchThrowable(() ->
                traced("page").fork("bad", failing(10)).fork("good", nap(50)).gather((a, b) -> ""));

        assertThat(thrown).isInstanceOf(ScopeFailedException.class);
        SpanData bad = span("page/bad");
        assertThat(bad.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(bad.getStatus().getDescription()).isEqualTo("no");
        assertThat(bad.getAttributes().get(AttributeKey.stringKey("error.type")))
                .isEqualTo("java.lang.IllegalStateException");
        assertThat(bad.getEvents()).extracting(EventData::getName).containsExactly("exception");
        EventData told = bad.getEvents().get(0);
        assertThat(told.getEpochNanos()).isEqualTo(bad.getEndEpochNanos());
        assertThat(told.getAttributes().get(AttributeKey.stringKey("exception.message")))
                .isEqualTo("no");
        assertThat(told.getAttributes().get(AttributeKey.stringKey("exception.stacktrace")))
                .startsWith("java.lang.IllegalStateException: no" + System.lineSeparator() + "\tat ");
        SpanData good = span("page/good");
        assertThat(good.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(good.getAttributes().get(OUTCOME)).isEqualTo("cancelled");
        assertThat(good.getAttributes().get(CANCEL_KIND)).isEqualTo("sibling_failed");
        assertThat(good.getAttributes().get(REASON)).isEqualTo("\"bad\" failed: java.lang.IllegalStateException: no");
        assertThat(span("page").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(span("page").getEvents()).extracting(EventData::getName).contains("cancelled", "exception");
    }

    @Test
    void an_error_whose_message_cannot_be_read_leaves_no_span_open_and_nothing_current() {
        class Unreadable extends RuntimeException {
            private static final long serialVersionUID = 1;

            @Override
            public String getMessage() {
                throw new IllegalStateException("unreadable");
            }
        }
        Unreadable error = new Unreadable();
        Throwable thrown = catchThrowable(() -> traced("page").run(() -> {
            throw error;
        }));

        assertThat(thrown).isSameAs(error);
        assertThat(Context.current()).isSameAs(Context.root());
        assertThat(span("page").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(span("page").getAttributes().get(OUTCOME)).isEqualTo("failed");
        assertThat(span("page").getEvents())
                .filteredOn(e -> e.getName().equals("exception"))
                .extracting(e -> e.getAttributes().get(AttributeKey.stringKey("exception.type")))
                .containsExactly(Unreadable.class.getName());
    }

    @Test
    void an_error_without_a_message_has_no_description() {
        Throwable thrown = catchThrowable(() -> traced("page").run(() -> {
            throw new IllegalStateException();
        }));

        assertThat(thrown).isInstanceOf(IllegalStateException.class);
        assertThat(span("page").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(span("page").getStatus().getDescription()).isEmpty();
    }

    @Test
    void a_scope_that_is_cancelled_from_outside_says_so_and_is_no_error() {
        Throwable thrown = catchThrowable(() -> traced("page").run(s -> {
            s.fork("part", () -> Selvedge.scope("inner").run(nap(1_000)::call));
            Selvedge.sleep(ofMillis(10));
            s.cancel("enough");
        }));

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class);
        for (String name : List.of("inner", "page/part")) {
            assertThat(span(name).getStatus().getStatusCode()).as(name).isEqualTo(StatusCode.UNSET);
            assertThat(span(name).getAttributes().get(OUTCOME)).as(name).isEqualTo("cancelled");
            assertThat(span(name).getAttributes().get(CANCEL_KIND)).as(name).isEqualTo("caller");
            assertThat(span(name).getAttributes().get(REASON)).as(name).isEqualTo("enough");
            assertThat(millis(span(name))).as(name).isEqualTo(10);
        }
    }

    @Test
    void each_trace_begins_by_the_calendar_and_keeps_to_the_clock() {
        AtomicReference<Instant> calendar = new AtomicReference<>(Instant.ofEpochSecond(1_000));
        ScopeTraces dated = new ScopeTraces(tracer, calendar::get);
        ScopeSpec page = Selvedge.scope("page").clock(clock).listener(dated);
        page.run(() -> {
            calendar.set(Instant.ofEpochSecond(500)); // somebody sets it back
            Selvedge.scope("inner").run(nap(20)::call);
        });
        page.clock(VirtualClock.jumping()).run(nap(30)::call); // another clock, which is at another moment

        assertThat(spans())
                .extracting(s -> s.getName() + " from " + s.getStartEpochNanos() / 1_000_000 + " to "
                        + s.getEndEpochNanos() / 1_000_000)
                .containsExactly(
                        "inner from 1000000 to 1000020", "page from 1000000 to 1000020", "page from 500000 to 500030");
    }

    // What happens within.

    @Test
    void attempts_are_events_with_their_times() {
        int[] calls = {0};
        traced("call")
                .retry(Retry.DEFAULT
                        .attempts(3)
                        .backoff(ofMillis(100), ofSeconds(1))
                        .withoutJitter())
                .run(() -> {
                    if (++calls[0] < 2) {
                        throw new IllegalStateException("no");
                    }
                });

        SpanData call = span("call");
        assertThat(call.getEvents())
                .extracting(e -> e.getName() + " after " + (e.getEpochNanos() - call.getStartEpochNanos()) / 1_000_000)
                .containsExactly(
                        "attempt started after 0",
                        "attempt failed after 0",
                        "attempt started after 100",
                        "attempt succeeded after 100");
        assertThat(call.getEvents().get(1).getAttributes().get(AttributeKey.doubleKey("selvedge.delay")))
                .isEqualTo(0.1);
    }

    @Test
    void other_things_are_events_too() {
        CircuitBreaker breaker = CircuitBreaker.of("store", b -> b.failures(1).coolDown(ofSeconds(10)));
        Throwable thrown = catchThrowable(() ->
                traced("page").breaker(breaker).retry(Retry.DEFAULT.attempts(1)).run(failing(1)::call));
        int[] calls = {0};
        traced("hedged")
                .hedge(ofMillis(50))
                .call(() -> nap(++calls[0] == 1 ? 500 : 10).call());
        traced("late").deadline(ofSeconds(1)).call(() -> Selvedge.shielded(nap(10_000)));

        assertThat(thrown).isInstanceOf(IllegalStateException.class);
        assertThat(span("page").getEvents())
                .extracting(EventData::getName)
                .contains("retry gave up", "breaker changed");
        assertThat(span("hedged/hedge").getEvents())
                .extracting(EventData::getName)
                .contains("hedge started", "cancelled");
        assertThat(span("late").getEvents()).extracting(EventData::getName).contains("cancelled", "goes on");
    }

    @Test
    void meters_and_traces_at_the_same_time() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();

        TelemetryExamples.both(registry, tracer).clock(clock).gather(List.of(nap(1)));

        assertThat(spans()).hasSize(2);
        assertThat(registry.get("selvedge.fork").timer().count()).isEqualTo(1);
        assertThat(Context.current()).isSameAs(Context.root());
    }

    @Test
    void an_exporter_that_throws_changes_nothing() {
        List<String> asked = new CopyOnWriteArrayList<>();
        SpanExporter broken = new SpanExporter() {
            @Override
            public CompletableResultCode export(Collection<SpanData> spans) {
                spans.forEach(s -> asked.add(s.getName()));
                throw new IllegalStateException("broken");
            }

            @Override
            public CompletableResultCode flush() {
                return CompletableResultCode.ofSuccess();
            }

            @Override
            public CompletableResultCode shutdown() {
                return CompletableResultCode.ofSuccess();
            }
        };
        Tracer toIt = SdkTracerProvider.builder()
                .addSpanProcessor(SimpleSpanProcessor.create(broken))
                .build()
                .get("test");

        ScopeSpec page = Selvedge.scope("page").clock(clock).listener(new ScopeTraces(toIt));
        assertThat(page.gather(List.of(nap(1), nap(2)))).containsExactly("rested", "rested");
        assertThat(asked).containsExactly("page/fork", "page/fork", "page");
    }

    @Test
    void a_tracer_that_is_shut_down_changes_nothing() {
        provider.shutdown();

        assertThat(traced("page").gather(List.of(nap(1), nap(2)))).containsExactly("rested", "rested");
        assertThat(spans()).isEmpty();
    }
}
