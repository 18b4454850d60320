package dev.selvedge.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.ext.gfm.tables.TableRow;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.CustomNode;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Paragraph;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of a few results that are small enough to reckon with. */
@Timeout(60)
class ReportTest {

    @TempDir
    private Path dir;

    @Test
    void the_same_results_give_the_same_bytes() throws IOException {
        Path one = page("one");
        Path two = page("two");

        assertThat(contents(one)).isEqualTo(contents(two)).isNotEmpty();
    }

    @Test
    void the_data_beside_the_page_give_the_page_again() throws IOException {
        Path one = page("one");
        Path two = dir.resolve("two");

        Main.main(new String[] {one.resolve("data").toString(), two.toString()});

        assertThat(contents(two)).isEqualTo(contents(one));
    }

    @Test
    void a_new_page_leaves_nothing_of_an_old_one() throws IOException {
        Path folder = page("one");
        assertThat(folder.resolve("charts/fanout-task-nothing.png")).exists();

        Main.write(Results.in(dir.resolve("nowhere")), folder);

        assertThat(contents(folder).keySet()).containsExactly("README.md");
    }

    @Test
    void all_links_lead_to_files_and_all_pictures_are_drawn() throws Exception {
        Path folder = page("docs/benchmarks");
        Files.createDirectories(dir.resolve("benchmarks"));
        Files.createFile(dir.resolve("benchmarks/README.md"));
        List<String> links = links(folder.resolve("README.md"));

        assertThat(links).contains("data/fanout.json", "charts/bars.png", "charts/policies-threads-4.png");
        for (String link : links) {
            assertThat(folder.resolve(link.replaceFirst("#.*", ""))).as(link).exists();
        }
        try (Stream<Path> charts = Files.list(folder.resolve("charts"))) {
            for (Path chart : charts.toList()) {
                assertThat(links).contains("charts/" + chart.getFileName());
                BufferedImage image = ImageIO.read(chart.toFile());
                assertThat(image.getWidth()).isEqualTo(1720);
                assertThat(Arrays.stream(image.getRGB(0, 0, 1720, image.getHeight(), null, 0, 1720))
                                .distinct()
                                .count())
                        .isGreaterThan(20);
            }
        }
    }

    @Test
    void a_table_of_the_paired_runner_has_its_medians() throws IOException {
        List<List<String>> rows = rows(page("one"));

        JsonNode size = Results.JSON
                .readTree(
                        results().resolve("paired-gather-1-virtual-jdk25.json").toFile())
                .at("/sizes/0");
        for (JsonNode s : size.path("medians")) {
            assertThat(rows)
                    .contains(List.of(
                            s.path("contender").asText(),
                            Numbers.shown(s.path("nanosPerCall").asDouble() / 1e3),
                            Numbers.shown(s.path("ratio").asDouble()),
                            span(s, "ratioLowerQuartile", "ratioUpperQuartile"),
                            span(s, "lowestRatio", "highestRatio"),
                            Numbers.shown(s.path("cpuRatio").asDouble()),
                            Numbers.shown(s.path("bytesPerCall").asDouble()),
                            Numbers.shown(s.path("bytesRatio").asDouble())));
        }
    }

    private static String span(JsonNode s, String low, String high) {
        return Numbers.shown(s.path(low).asDouble()) + " to "
                + Numbers.shown(s.path(high).asDouble());
    }

    @Test
    void a_table_of_jmh_has_times_ratios_and_bytes() throws IOException {
        List<List<String>> rows = rows(page("one"));

        assertThat(rows)
                .contains(List.of("gather", "1,000 (980 to 1,020)", "900 (882 to 918)"))
                .contains(List.of("bare", "0.500 (0.490 to 0.510)"))
                .contains(List.of("rawScope", "1", "1"))
                .contains(List.of("gather", "1.05 (1.01 to 1.10)", "1.05 (1.01 to 1.10)"))
                .contains(List.of("map", "1.33 (1.28 to 1.39) fixedPool200", "1.33 (1.28 to 1.39) fixedPool200"))
                .contains(List.of("parallelStream", "400", "400"));
    }

    @Test
    void a_bar_has_the_figure_its_spread_and_a_verdict() throws IOException {
        List<List<String>> rows = rows(page("one"));

        assertThat(rows)
                .contains(List.of(
                        "1",
                        "gather of 1,000 no-op tasks",
                        "time, one carrier, × raw scope",
                        "≤ 1.05",
                        "1.020 (1.020 to 1.030)",
                        "met"))
                .contains(List.of(
                        "9",
                        "map over 1,000 no-op items",
                        "time, × the best of the pools and the virtual-thread executor",
                        "≤ 0.3",
                        "0.2750 (0.2500 to 0.3000)",
                        "met"))
                .contains(List.of(
                        "14",
                        "call under a closed breaker",
                        "ns over the bare task, failures in a row",
                        "≤ 5",
                        "5.000 (4.000 to 6.000)",
                        "met, within the spread"))
                .contains(List.of(
                        "15",
                        "call under a closed breaker",
                        "ns over the bare task, of the last calls",
                        "≤ 15",
                        "19.00",
                        "not met"))
                .contains(List.of(
                        "12",
                        "fan-out of 10,000 tasks that block 10 ms",
                        "throughput of gather, × a fixed pool of 200",
                        "≥ 8",
                        "50.00 (49.34 to 50.67)",
                        "met"));
    }

    @Test
    void what_a_benchmark_counts_itself_is_shown_and_judged() throws IOException {
        List<List<String>> rows = rows(page("one"));

        assertThat(rows)
                .contains(List.of("p99, ns", "n = 1,000"))
                .contains(List.of("selvedge", "900,000"))
                .contains(List.of("31", "attempt timeout that fires", "ms late, median", "≤ 0.3", "0.2000", "met"))
                .contains(List.of(
                        "32",
                        "attempt timeout that fires",
                        "ms late, 99th percentile, × ScheduledThreadPoolExecutor",
                        "≤ 1",
                        "0.9000",
                        "met"));
    }

    @Test
    void a_bar_of_jmh_takes_the_results_that_it_is_about() {
        assertThat(Bars.of(all()).stream()
                        .filter(b -> b.measured().isPresent())
                        .map(b -> b.what() + ": " + b.measured().get().shown(2)))
                .contains(
                        "throughput of gather, × a fixed pool of 200: 50 (49 to 51)",
                        "time of gather, × raw scope: 1.0 (1.0 to 1.0)",
                        "times faster than Resilience4j's, both of 100 calls, 4 threads: 8.0 (7.8 to 8.2)",
                        "ms late, median: 0.20",
                        "ms late, 99th percentile, × ScheduledThreadPoolExecutor: 0.90",
                        "time until all have ended, × raw scope: 1.0",
                        "live heap of gather, × raw scope: 1.1",
                        "live heap of liveScope, × raw scope: 1.2",
                        "time of one, × that of one of 1,000: 1.2");
    }

    @Test
    void a_rate_is_shown_as_the_time_of_a_call() {
        Measurement breaker = all().suite("Policies").get(1);

        assertThat(breaker.params()).isEqualTo(Map.of("policy", "BREAKER_OF_100_CALLS", "threads", "4"));
        assertThat(breaker.unit()).isEqualTo("ns");
        assertThat(breaker.figure().value()).isCloseTo(10, within(1e-9));
        assertThat(breaker.figure().low()).isCloseTo(1e6 / 102_000, within(1e-9));
    }

    @Test
    void an_error_that_is_no_number_is_no_spread() {
        assertThat(all().suite("Policies").get(2).figure()).hasToString("80.0");
    }

    @Test
    void an_interval_ends_where_the_measured_ends() {
        Measurement stream = all().suite("FanOut").stream()
                .filter(m -> m.contestant().equals("parallelStream") && m.n() == 10)
                .findFirst()
                .orElseThrow();

        assertThat(stream.figure()).hasToString("200 (190 to 210)");
    }

    @Test
    void who_wins_is_said_as_the_data_have_it() throws IOException {
        String text = text(page("one"));

        assertThat(text)
                .contains(
                        "of 4 combinations of a task and a size, a pool is faster than gather, which makes a thread for each task, in 2,"
                                + " a pool is faster than everything of this library in 2, and anything at all is in 2.")
                .contains("faster: parallel stream 5.50 times; slower: StructuredTaskScope 18.2 times,")
                .contains("Pools, against a thread for each task", "Pools, against a call over items")
                .contains("A parallel stream makes no object")
                .doesNotContain("Virtual threads without a scope");
    }

    @Test
    void what_was_not_measured_is_said_to_be_missing() throws IOException {
        assertThat(text(page("one")))
                .contains("missing from this page: map-limited of the paired runner, stack of the paired runner,");

        Main.write(Results.in(dir.resolve("nowhere")), dir.resolve("empty"));

        assertThat(text(dir.resolve("empty"))).contains("missing from this page: FanOut, Policies, Cancellation,");
    }

    @Test
    void without_any_results_there_is_a_page_that_says_so() throws IOException {
        Path folder = dir.resolve("empty");

        Main.write(Results.in(dir.resolve("nowhere")), folder);

        assertThat(text(folder)).contains("There are no results yet").contains("0 of ");
    }

    @Test
    void no_path_and_no_raw_data_is_published() throws IOException {
        assertThat(contents(page("one")).values())
                .noneMatch(c -> c.contains("/somewhere") || c.contains("rawData") || c.contains("\"raw\""));
    }

    @Test
    void a_file_of_another_kind_is_refused(@TempDir Path results) throws IOException {
        Files.writeString(results.resolve("x.json"), "{}");

        assertThatThrownBy(() -> Results.in(results))
                .isInstanceOf(IOException.class)
                .hasMessage("x.json is neither of JMH nor of the paired runner");
    }

    private Path page(String name) throws IOException {
        Path folder = dir.resolve(name);
        Main.write(all(), folder);
        return folder;
    }

    private static Results all() {
        try {
            return Results.in(results());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path results() {
        try {
            return Path.of(ReportTest.class.getResource("results").toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, String> contents(Path folder) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                contents.put(
                        folder.relativize(file).toString(),
                        Files.readString(file, StandardCharsets.ISO_8859_1)); // pictures, too
            }
        }
        return contents;
    }

    private static Node parsed(Path page) throws IOException {
        return Parser.builder()
                .extensions(List.of(TablesExtension.create()))
                .build()
                .parse(Files.readString(page));
    }

    private static List<List<String>> rows(Path folder) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        parsed(folder.resolve("README.md")).accept(new AbstractVisitor() {
            @Override
            public void visit(CustomNode node) {
                if (node instanceof TableRow) {
                    List<String> row = new ArrayList<>();
                    for (Node cell = node.getFirstChild(); cell != null; cell = cell.getNext()) {
                        row.add(cell instanceof TableCell ? plain(cell) : "?");
                    }
                    rows.add(row);
                } else {
                    visitChildren(node);
                }
            }
        });
        return rows;
    }

    private static List<String> links(Path page) throws IOException {
        List<String> links = new ArrayList<>();
        parsed(page).accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                links.add(link.getDestination());
            }

            @Override
            public void visit(Image image) {
                links.add(image.getDestination());
            }
        });
        links.removeIf(link -> URI.create(link).isAbsolute());
        return links;
    }

    /** All paragraphs, each on a line, without what Markdown marks. */
    private static String text(Path folder) throws IOException {
        StringBuilder text = new StringBuilder();
        parsed(folder.resolve("README.md")).accept(new AbstractVisitor() {
            @Override
            public void visit(Paragraph paragraph) {
                text.append(plain(paragraph)).append('\n');
            }
        });
        return text.toString();
    }

    private static String plain(Node node) {
        StringBuilder text = new StringBuilder();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Text t) {
                text.append(t.getLiteral());
            }

            @Override
            public void visit(Code code) {
                text.append(code.getLiteral());
            }

            @Override
            public void visit(SoftLineBreak line) {
                text.append(' ');
            }
        });
        return text.toString();
    }
}
