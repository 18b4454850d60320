package dev.selvedge.observe;

import static dev.selvedge.Selvedge.scope;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.selvedge.Fork;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.ScopeId;
import dev.selvedge.ScopeListener.Where;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.Task;
import dev.selvedge.examples.TimelineExamples;
import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.VirtualClock;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** What a timeline draws, in each of its forms. */
@Timeout(60)
class TimelineTest {

    private final VirtualClock clock = VirtualClock.jumping();
    private final Timeline timeline = Timeline.create();

    private ScopeSpec heard(String name) {
        return scope(name).clock(clock).listener(timeline);
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

    // Reading.

    private static Document parsed(String svg) {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            return factory.newDocumentBuilder().parse(new ByteArrayInputStream(svg.getBytes(UTF_8)));
        } catch (Exception e) {
            throw new AssertionError("not well-formed: " + e.getMessage(), e);
        }
    }

    private static List<Element> elements(Document svg, String name, Predicate<Element> which) {
        NodeList nodes = svg.getElementsByTagName(name);
        return IntStream.range(0, nodes.getLength())
                .mapToObj(i -> (Element) nodes.item(i))
                .filter(which)
                .toList();
    }

    private static List<Element> spans(Document svg) {
        return elements(svg, "g", g -> g.hasAttribute("data-start"));
    }

    private static List<String> titles(Document svg) {
        return elements(svg, "title", t -> true).stream()
                .map(t -> t.getTextContent().strip())
                .toList();
    }

    /** Kind, scope, fork, attempt, start and end of each span. */
    private static List<String> drawn(Document svg) {
        return spans(svg).stream()
                .map(g -> String.join(
                        " ",
                        g.getAttribute("data-kind"),
                        g.getAttribute("data-scope"),
                        g.getAttribute("data-fork"),
                        g.getAttribute("data-attempt"),
                        g.getAttribute("data-start"),
                        g.getAttribute("data-end"),
                        g.getAttribute("data-how")))
                .sorted()
                .toList();
    }

    private static List<JsonNode> events(String trace) throws IOException {
        List<JsonNode> events = new ArrayList<>();
        new ObjectMapper().readTree(trace).get("traceEvents").forEach(events::add);
        return events;
    }

    private static List<String> traced(String trace) throws IOException {
        return events(trace).stream()
                .filter(e -> e.get("ph").asText().equals("X"))
                .map(e -> {
                    long start = nanos(e.get("ts"));
                    return String.join(
                            " ",
                            e.get("cat").asText(),
                            e.get("pid").asText(),
                            e.get("tid").asText(),
                            e.get("args").get("attempt").asText(),
                            String.valueOf(start),
                            String.valueOf(start + nanos(e.get("dur"))),
                            e.get("args").get("how").asText());
                })
                .sorted()
                .toList();
    }

    private static long nanos(JsonNode micros) {
        return new BigDecimal(micros.asText()).movePointRight(3).longValueExact();
    }

    private static double percent(Element e, String attribute) {
        String text = e.getAttribute(attribute);
        assertThat(text).endsWith("%");
        return Double.parseDouble(text.substring(0, text.length() - 1));
    }

    // All forms tell the same.

    @Test
    void a_page_of_parts_as_a_tree() {
        assertThat(TimelineExamples.page().text()).isEqualTo("""
                page  450 ms of 450 ms  ✗ failed: the scope "page" exceeded its deadline of 450 ms (after 450 ms)
                │  ! asked to stop after 450 ms: the deadline of 450 ms of the scope "page" passed
                │  * after 450 ms: the deadline of 450 ms has passed
                └─ parts  450 ms  ⊘ cancelled: the deadline of 450 ms of the scope "page" passed
                   │  ! asked to stop after 450 ms: the deadline of 450 ms of the scope "page" passed
                   ├─ prices  300 ms  ✓ succeeded
                   │  │  * after 450 ms: a value was discarded
                   │  └─ prices  300 ms  ✓ succeeded
                   │     ├─ attempt 1  40 ms  ✗ failed: IOException: 503 from /prices
                   │     ├─ back-off  60 ms: 60 ms, by backoff
                   │     ├─ attempt 2  40 ms  ✗ failed: IOException: 503 from /prices
                   │     ├─ back-off  120 ms: 120 ms, by backoff
                   │     └─ attempt 3  40 ms  ✓ succeeded
                   ├─ reviews  140 ms  ✓ succeeded
                   │  │  * after 450 ms: a value was discarded
                   │  └─ reviews  140 ms  ✓ succeeded
                   │     ├─ newest  90 ms  ✓ succeeded
                   │     └─ best  140 ms  ✓ succeeded
                   ├─ related  180 ms  ✗ failed: the scope "shelf" failed: "games" threw java.lang.IllegalStateException: no games today
                   │  └─ shelf  180 ms  ✗ failed: the scope "shelf" failed: "games" threw java.lang.IllegalStateException: no games today
                   │     │  ! asked to stop after 180 ms: "games" failed: java.lang.IllegalStateException: no games today
                   │     ├─ books  180 ms  ⊘ cancelled: "games" failed: java.lang.IllegalStateException: no games today
                   │     ├─ films  180 ms  ⊘ cancelled: "games" failed: java.lang.IllegalStateException: no games today
                   │     └─ games  180 ms  ✗ failed: IllegalStateException: no games today
                   └─ history  450 ms  ⊘ cancelled: the deadline of 450 ms of the scope "page" passed
                """);
    }

    @Test
    void the_trace_holds_the_same_spans_as_the_picture() throws IOException {
        Timeline page = TimelineExamples.page();

        List<String> drawn = drawn(parsed(page.svg()));

        assertThat(drawn).hasSize(19).isEqualTo(traced(page.chromeTrace()));
        assertThat(drawn).filteredOn(s -> s.startsWith("attempt")).hasSize(3);
        assertThat(drawn).filteredOn(s -> s.startsWith("back-off")).hasSize(2);
    }

    @Test
    void an_arrow_leads_from_the_cause_to_each_victim() throws IOException {
        assertThat(catchThrowable(() -> heard("page").gather(List.of(nap(50), failing(10), nap(60), nap(5)))))
                .isInstanceOf(ScopeFailedException.class);

        List<Element> arrows = elements(
                parsed(timeline.svg()),
                "line",
                l -> l.getAttribute("class").equals("cancel") && l.hasAttribute("data-kind"));
        assertThat(arrows)
                .extracting(a -> a.getAttribute("data-cause") + " → " + a.getAttribute("data-fork"))
                .containsExactly("2 → 1", "2 → 3");
        List<JsonNode> flows = events(timeline.chromeTrace()).stream()
                .filter(e -> e.path("cat").asText().equals("cancel"))
                .toList();
        assertThat(flows)
                .extracting(e -> e.get("ph").asText() + e.get("id").asText() + " at "
                        + e.get("tid").asText())
                .containsExactly("s1 at 2", "f1 at 1", "s2 at 2", "f2 at 3");
    }

    @Test
    void a_deadline_is_a_line_at_its_moment() {
        assertThat(catchThrowable(() -> heard("page").deadline(ofMillis(80)).gather(List.of(nap(100)))))
                .isNotNull();
        heard("in time").deadline(ofSeconds(5)).gather(List.of(nap(80)));

        List<Element> lines = elements(
                parsed(timeline.svg()),
                "line",
                l -> l.hasAttribute("data-kind") && l.getAttribute("class").equals("deadline"));

        assertThat(lines).hasSize(1); // that of the second scope lies beyond the picture
        assertThat(percent(lines.get(0), "x1")).isEqualTo(2 + 94 * 80.0 / 160);
        assertThat(timeline.text()).contains("page  80 ms of 80 ms  ✗ failed", "in time  80 ms of 5 s  ✓ succeeded");
    }

    @Test
    void bars_lie_where_their_times_say() {
        heard("page").gather(List.of(nap(25), nap(100)));

        Element fork = elements(
                        parsed(timeline.svg()),
                        "g",
                        g -> g.getAttribute("data-fork").equals("1"))
                .get(0);
        Element bar = (Element) fork.getElementsByTagName("rect").item(0);
        assertThat(percent(bar, "x")).isEqualTo(2);
        assertThat(percent(bar, "width")).isEqualTo(23.5);
    }

    /** Each kind of event can be seen. */
    @Test
    void what_happens_to_tasks_is_marked() {
        CircuitBreaker breaker = CircuitBreaker.of("store", b -> b.failures(1).coolDown(ofSeconds(10)));
        RateLimiter limiter = RateLimiter.of(1, ofMillis(100));
        Bulkhead bulkhead = Bulkhead.of(1, b -> b.maxWait(ofSeconds(9)));
        assertThat(catchThrowable(() -> heard("breaker").breaker(breaker).run(failing(1)::call)))
                .isNotNull();
        heard("limiter").rateLimit(limiter).gather(List.of(nap(1), nap(1)));
        heard("bulkhead").bulkhead(bulkhead).gather(List.of(nap(10), nap(10)));
        int[] calls = {0};
        heard("hedge")
                .hedge(ofMillis(50))
                .call(() -> nap(++calls[0] == 1 ? 500 : 10).call());
        heard("race").race(nap(1), () -> Selvedge.shielded(nap(2)));
        heard("unhandled").run(s -> {
            s.onCancel(() -> {
                throw new IllegalStateException("late");
            });
            s.cancel("enough");
        });

        String text = timeline.text();
        assertThat(text)
                .contains(
                        "* after 1 ms: breaker \"store\": closed → open",
                        "rate limiter  100 ms",
                        "bulkhead  10 ms",
                        "hedge 1, after 50 ms",
                        "a value was discarded",
                        "! asked to stop after 0 ns: enough",
                        "unhandled: IllegalStateException: late");
        assertThat(titles(parsed(timeline.svg())))
                .anyMatch(t -> t.startsWith("breaker \"store\": closed → open at 1 ms"))
                .anyMatch(t -> t.startsWith("hedge 1, after 50 ms at"))
                .anyMatch(t -> t.startsWith("wait rate limiter"))
                .anyMatch(t -> t.startsWith("wait bulkhead"))
                .anyMatch(t -> t.startsWith("unhandled: IllegalStateException: late at"));
    }

    @Test
    void an_attempt_that_is_cut_off_ends_with_its_task() {
        assertThat(catchThrowable(() -> heard("page")
                        .deadline(ofMillis(30))
                        .retry(Retry.DEFAULT)
                        .gather(List.of(nap(100)))))
                .isNotNull();

        assertThat(timeline.text()).contains("attempt 1  30 ms  ⊘ cancelled: cut off");
    }

    @Test
    void a_wait_for_the_next_attempt_that_is_cut_off_ends_with_its_task() {
        assertThat(catchThrowable(() -> heard("page")
                        .deadline(ofMillis(30))
                        .retry(Retry.DEFAULT.backoff(ofMillis(20), ofSeconds(1)).withoutJitter())
                        .gather(List.of(failing(1)))))
                .isNotNull();

        assertThat(timeline.text()).contains("back-off  20 ms");
    }

    // The tree.

    @Test
    void scopes_within_scopes_and_of_the_same_name() {
        heard("page").run(s -> {
            s.fork(() -> scope("page").run(t -> t.fork(() -> scope("page").gather(List.of(nap(10))))));
            scope("page").run(nap(5)::call);
        });
        heard("page").run(nap(1)::call);

        assertThat(timeline.text()).isEqualTo("""
                page  10 ms  ✓ succeeded
                ├─ fork-1  10 ms  ✓ succeeded
                │  └─ page  10 ms  ✓ succeeded
                │     └─ fork-1  10 ms  ✓ succeeded
                │        └─ page  10 ms  ✓ succeeded
                │           └─ fork-1  10 ms  ✓ succeeded
                └─ page  5 ms  ✓ succeeded
                page  1 ms  ✓ succeeded
                """);
        Document svg = parsed(timeline.svg());
        assertThat(elements(svg, "g", g -> g.getAttribute("class").equals("root")))
                .hasSize(2);
        assertThat(elements(svg, "g", g -> g.getAttribute("class").equals("scope")))
                .hasSize(5);
    }

    @Test
    void no_name_lies_upon_another_one_and_no_bar_upon_a_bar() {
        heard("page").run(s -> {
            for (int i = 0; i < 12; i++) {
                s.fork("part " + i, () -> scope("inner").retry(Retry.DEFAULT).gather(List.of(nap(3), nap(4))));
            }
        });
        Document svg = parsed(timeline.svg());

        List<Integer> names = elements(
                        svg, "text", t -> !t.getAttribute("class").isEmpty())
                .stream()
                .map(t -> Integer.valueOf(t.getAttribute("y")))
                .toList();
        assertThat(names).hasSize(1 + 12 + 12 + 24).isSorted().doesNotHaveDuplicates();
        int below = 0;
        for (Element bar : elements(
                svg,
                "rect",
                r -> r.getAttribute("class").startsWith("bar")
                        && ((Element) r.getParentNode()).hasAttribute("data-kind"))) {
            int y = Integer.parseInt(bar.getAttribute("y"));
            assertThat(y).isGreaterThanOrEqualTo(below);
            below = y + Integer.parseInt(bar.getAttribute("height"));
        }
        int height = Integer.parseInt(svg.getDocumentElement().getAttribute("height"));
        assertThat(height).isGreaterThan(below);
    }

    // Nothing, and much.

    @Test
    void one_that_has_heard_of_nothing_is_empty() throws IOException {
        assertThat(timeline.text()).isEmpty();
        assertThat(parsed(timeline.svg()).getDocumentElement().getAttribute("aria-label"))
                .isEqualTo("A timeline of 0 scopes with 0 forks in 0 ns");
        assertThat(events(timeline.chromeTrace())).isEmpty();
        assertThat(timeline.html()).contains("<svg");
    }

    @Test
    void a_scope_that_takes_no_time_is_drawn() {
        heard("page").gather(List.of(() -> 1));

        assertThat(spans(parsed(timeline.svg()))).hasSize(2);
    }

    @Test
    void of_ten_thousand_forks_the_telling_ones_are_drawn_and_the_rest_is_counted() throws IOException {
        List<Callable<Integer>> tasks = IntStream.range(0, 10_000)
                .<Callable<Integer>>mapToObj(i -> () -> {
                    Selvedge.sleep(ofMillis(100 + i % 400));
                    if (i == 6_250) {
                        throw new IllegalStateException("the one");
                    }
                    return i;
                })
                .toList();
        assertThat(catchThrowable(() -> heard("many").gather(tasks))).isNotNull();

        String svg = timeline.svg();
        Document drawn = parsed(svg);

        assertThat(svg.length()).isLessThan(100_000);
        assertThat(spans(drawn)).hasSizeBetween(2, 40);
        assertThat(spans(drawn)).anyMatch(g -> g.getAttribute("data-fork").equals("6251"));
        List<Element> bands = elements(drawn, "g", g -> g.getAttribute("class").equals("band"));
        assertThat(bands).hasSize(1);
        int counted = Integer.parseInt(bands.get(0).getAttribute("data-count"));
        assertThat(counted + spans(drawn).size() - 1).isEqualTo(10_000);
        assertThat(timeline.text().lines().count()).isLessThan(60);
        assertThat(timeline.text()).contains("fork-6251", "the one", " more: ");
        assertThat(traced(timeline.chromeTrace())).hasSize(10_001);
    }

    @Test
    void of_very_many_failures_ten_are_drawn_and_the_rest_is_counted() throws IOException {
        List<Callable<Integer>> tasks = IntStream.range(0, 100)
                .<Callable<Integer>>mapToObj(i -> () -> {
                    Selvedge.sleep(ofMillis(10));
                    if (i >= 40 && i < 60) {
                        throw new IllegalStateException("no " + i);
                    }
                    return i;
                })
                .toList();
        heard("many").outcomes(tasks);

        Document drawn = parsed(timeline.svg());
        assertThat(drawn(drawn)).filteredOn(s -> s.endsWith(" failed")).hasSize(10);
        assertThat(titles(drawn)).anyMatch(t -> t.contains("80 more: 70 succeeded, 10 failed"));
        assertThat(traced(timeline.chromeTrace())).hasSize(101);
    }

    @Test
    void very_many_scopes_are_folded_too() {
        for (int i = 0; i < 1_000; i++) {
            heard("request").run(nap(1)::call);
        }
        heard("nested").run(s -> {
            for (int i = 0; i < 100; i++) {
                s.fork(() -> scope("inner").run(t -> {
                    for (int j = 0; j < 100; j++) {
                        t.fork(nap(j));
                    }
                }));
            }
        });

        assertThat(spans(parsed(timeline.svg()))).hasSizeLessThan(500);
        assertThat(timeline.svg().length()).isLessThan(1_000_000);
        assertThat(timeline.text().lines().count()).isLessThan(600);
    }

    @Test
    void what_there_is_no_room_for_is_counted() {
        Timeline small = Timeline.ofAtMost(3);

        scope("page").clock(clock).listener(small).gather(List.of(nap(1), nap(1)));

        assertThat(small.text()).contains("5 events more were not kept.");
        assertThat(small.svg()).contains("5 events more were not kept.");
    }

    @Test
    void scopes_of_another_clock_are_left_out_and_counted() {
        heard("first").run(nap(1)::call);
        scope("other").clock(VirtualClock.jumping()).listener(timeline).run(s -> s.fork(nap(1)));

        assertThat(timeline.text())
                .isEqualTo("first  1 ms  ✓ succeeded\n1 scopes go by another clock and are left out.\n");
    }

    // What is open.

    @Test
    void a_tree_of_what_runs_says_since_when_and_where() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        List<String> texts = new ArrayList<>();

        scope("page").listener(timeline).run(s -> {
            Fork<String> fork = s.fork("blocked", () -> {
                begun.countDown();
                go.await();
                return "free";
            });
            begun.await();
            while (!isIn(timeline.text(), "CountDownLatch")) {
                Thread.onSpinWait(); // until it has come there
            }
            texts.add(timeline.text());
            texts.add(timeline.svg());
            go.countDown();
            assertThat(fork.join()).isEqualTo("free");
        });

        assertThat(texts.get(0))
                .containsPattern("page  runs for \\d")
                .containsPattern("blocked  runs for \\d")
                .contains("at dev.selvedge.observe.TimelineTest");
        assertThat(texts.get(1)).contains("data-how=\"running\"");
        assertThat(timeline.text()).doesNotContain("runs for", " at dev.");
    }

    private static boolean isIn(String text, String part) {
        return text.contains(part) || text.contains("park");
    }

    // Whatever names there are.

    private static final List<String> HOSTILE = List.of(
            "<script>alert(1)</script>",
            "\"quoted' & <b>",
            "\u202Egnirts desrever\u202C",
            "\u05e9\u05dc\u05d5\u05dd",
            "x".repeat(10_000),
            "]]> --> \u0000\u001b[31m \ud800 \udc00 \uffff",
            "line\nbreak\r\ttab",
            "\\ </style> %s {0}");

    @Test
    void hostile_names_are_shown_as_text() throws IOException {
        assertThat(catchThrowable(() -> heard("</title><script>").run(s -> {
                    for (String name : HOSTILE) {
                        s.fork(name, nap(10));
                    }
                    s.fork("failing", () -> {
                        Selvedge.sleep(ofMillis(20));
                        throw new IllegalStateException(String.join(" ", HOSTILE));
                    });
                })))
                .isNotNull();

        String svg = timeline.svg();
        Document drawn = parsed(svg);
        assertThat(drawn.getElementsByTagName("script").getLength()).isZero();
        assertThat(svg).doesNotContain("\u202e", "\u001b", "x".repeat(700));
        assertThat(titles(drawn)).anyMatch(t -> t.contains("<script>alert(1)</script>"));
        String html = timeline.html();
        assertThat(html.split("<script>", -1)).hasSize(2); // its own
        assertThat(html.split("</script>", -1)).hasSize(2);
        assertThat(events(timeline.chromeTrace()))
                .anyMatch(e -> e.get("name").asText().equals("\"quoted' & <b>"));
        assertThat(timeline.text()).doesNotContain("\u001b", "\u202e", "\r", "\t", "x".repeat(100));
        assertThat(timeline.text().lines()).hasSize(2 + HOSTILE.size() + 1);
    }

    @Test
    void an_exception_that_cannot_say_what_it_is_does_not_spoil_the_picture() {
        assertThat(catchThrowable(() -> heard("page").run(() -> {
                    throw new IllegalStateException() {
                        @Override
                        public String getMessage() {
                            throw new UnsupportedOperationException();
                        }
                    };
                })))
                .isNotNull();

        assertThat(timeline.text()).startsWith("page  0 ns  ✗ failed");
    }

    @Test
    void numbers_are_the_same_in_every_language() {
        heard("page").gather(List.of(nap(25), nap(100)));
        String before = timeline.svg() + timeline.text() + timeline.chromeTrace() + timeline.html();

        Locale locale = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
            assertThat(timeline.svg() + timeline.text() + timeline.chromeTrace() + timeline.html())
                    .isEqualTo(before);
        } finally {
            Locale.setDefault(locale);
        }
    }

    // The page.

    @Test
    void the_page_asks_nobody_for_anything() {
        heard("page").gather(List.of(nap(1)));

        String html = timeline.html();
        assertThat(html).contains("default-src 'none'").doesNotContain("@import", "src=\"", "<link");
        assertThat(html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "")).doesNotContain("http:", "https:", "//cdn");
    }

    @Test
    void the_picture_in_the_documentation_is_the_one_of_the_example() throws IOException {
        String svg = TimelineExamples.page().svg();

        Path file = Path.of("docs/observe/timeline.svg");
        assertThat(svg.replaceAll("data-scope=\"\\d+\"", "data-scope=\"\""))
                .as("to be written anew by: bin/example TimelineExamples")
                .isEqualTo(Files.readString(file).replaceAll("data-scope=\"\\d+\"", "data-scope=\"\""));
    }

    // By hand.

    @Test
    void events_without_a_place_are_drawn_by_their_names() {
        timeline.accept(new ScopeEvent.ScopeOpened("page"));
        timeline.accept(new ScopeEvent.ForkStarted("page", "a"));

        assertThat(timeline.text()).containsPattern("page  runs for .*\n(.*\n)*└─ a  runs for ");
    }

    @Test
    void events_in_any_order_do_no_harm() throws IOException {
        ScopeId id = new ScopeId(7, "page", null, 0);
        timeline.on(new ScopeEvent.AttemptSucceeded("page", "a", 2), new Where(50, id, 1));
        timeline.on(new ScopeEvent.ForkStarted("page", "a"), new Where(40, id, 1));
        timeline.on(
                new ScopeEvent.DeadlineSet("page", ofSeconds(Long.MAX_VALUE / 1_000_000_000)), new Where(20, id, 0));
        timeline.on(new ScopeEvent.ScopeClosed("page", ofMillis(1), null), new Where(10, id, 0));

        assertThat(spans(parsed(timeline.svg()))).hasSize(2);
        assertThat(traced(timeline.chromeTrace())).hasSize(2);
    }

    // Times.

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 9, 1_000, 999_999, 450_000_000, 61_000_000_000L, 90_000_000_000_000L, Long.MAX_VALUE})
    void an_axis_has_a_few_lines_at_round_times(long length) {
        long step = Ticks.step(length);

        assertThat(step).isPositive();
        assertThat(length / step).isLessThanOrEqualTo(6);
    }

    @Test
    void spans_are_counted_where_they_run() {
        heard("page").gather(List.of(nap(10), nap(20)));
        List<Span> forks =
                timeline.run().all().filter(s -> s.kind() == Span.Kind.FORK).toList();
        long begin =
                forks.stream().map(Span::start).min(Comparator.naturalOrder()).orElseThrow();

        assertThat(Ticks.running(forks, begin, begin + 20_000_000, 4)).containsExactly(2, 2, 2, 1);
    }
}
