package dev.selvedge.benchmarks.report;

import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectWriter;
import dev.selvedge.benchmarks.paired.Machine;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Makes a page of the results: text, tables, charts and the data behind them. */
public final class Main {

    private static final String DATA = "data";

    /** The suites of JMH, and what each measures. */
    private static final Map<String, String> SUITES = new LinkedHashMap<>();

    static {
        SUITES.put("FanOut", "The same task `n` times, by everything that can run it.");
        SUITES.put("Policies", "A call under policies that have nothing to do.");
        SUITES.put("Cancellation", "From the first failure, or the deadline, until all have ended.");
        SUITES.put("Timers", "Timeouts started and ended, what they retain, and how late they fire.");
        SUITES.put("Memory", "What a blocked fork holds.");
        SUITES.put("Scaling", "What a fork costs as they become more; it should stay flat.");
    }

    private Main() {}

    /**
     * Takes the folder of the results and the folder of the page: by default {@code target/results} and {@code ../docs/benchmarks}.
     * The data that it writes give the same page again.
     */
    public static void main(String[] args) throws IOException {
        if (args.length != 0 && args.length != 2) {
            System.err.println("usage: [RESULTS PAGE]   folders; default: target/results ../docs/benchmarks");
            System.exit(2);
        }
        Path from = args.length == 0 ? Path.of("target", "results") : Path.of(args[0]);
        Path to = args.length == 0 ? Path.of("..", "docs", "benchmarks") : Path.of(args[1]);
        Results results = Results.in(from);
        if (results.origins().isEmpty()) { // and a page of something would be replaced by one of nothing
            System.err.println("no results in " + from.toAbsolutePath().normalize() + ": " + to.normalize() + " is left as it is");
            System.exit(1);
        }
        write(results, to);
        System.out.println(to.resolve("README.md"));
    }

    static void write(Results results, Path folder) throws IOException {
        clear(folder.resolve(Charts.CHARTS), ".png");
        clear(folder.resolve(DATA), ".json");
        Files.createDirectories(folder);
        Page page = new Page();
        Charts charts = new Charts(folder);
        page.add(text("intro.md"));
        origins(page, results);
        missing(page, results);
        BarsSection.add(page, charts, results);
        WinnersSection.add(page, results);
        PairedSection.add(page, results);
        for (Map.Entry<String, String> suite : SUITES.entrySet()) {
            SuiteSection.add(page, charts, results, suite.getKey(), suite.getValue());
        }
        for (String suite : results.suites()) {
            if (!SUITES.containsKey(suite)) {
                SuiteSection.add(page, charts, results, suite, "A suite that this report knows nothing of.");
            }
        }
        page.add(text("method.md"));
        Files.writeString(folder.resolve("README.md"), page.markdown());
        data(folder, results);
    }

    private static void origins(Page page, Results results) {
        page.add("## Where and when");
        if (results.origins().isEmpty()) {
            page.add("There are no results yet: this page was made without any.");
            return;
        }
        TreeSet<String> machines = new TreeSet<>();
        results.origins().stream().map(Origin::machine).filter(m -> m != null).forEach(m -> machines.add(told(m)));
        if (machines.isEmpty()) {
            page.add("The results do not tell the machine.");
        } else {
            page.add("Measured on " + String.join("; and on ", machines) + ".");
        }
        page.add("The data, without single rounds and iterations:");
        page.table(
                List.of("file", "began (UTC)", "JDK", "command line", "how"),
                results.origins().stream()
                        .map(o -> List.of(
                                o.file(),
                                o.date().isEmpty() ? "not told" : o.date(),
                                o.jdk(),
                                o.commandLine().isEmpty() ? "not told" : o.commandLine(),
                                o.method()))
                        .toList(),
                DATA);
    }

    private static String told(Machine machine) {
        return "%d × %s, %s".formatted(machine.processors(), machine.cpu(), machine.os());
    }

    private static void missing(Page page, Results results) {
        List<String> missing = new ArrayList<>();
        SUITES.keySet().stream().filter(s -> results.suite(s).isEmpty()).forEach(s -> missing.add("`" + s + "`"));
        Stream.of("gather", "map", "map-limited", "breaker", "stack", "timeout")
                .filter(s -> results.paired().stream().noneMatch(r -> r.suite().equals(s)))
                .forEach(s -> missing.add("`" + s + "` of the paired runner"));
        if (!missing.isEmpty()) {
            page.add("Not measured, and so missing from this page: " + String.join(", ", missing) + ".");
        }
    }

    private static void data(Path folder, Results results) throws IOException {
        DefaultIndenter lines = new DefaultIndenter("  ", "\n");
        ObjectWriter writer = Results.JSON.writer(new DefaultPrettyPrinter().withObjectIndenter(lines));
        Path data = Files.createDirectories(folder.resolve(DATA));
        for (Map.Entry<String, JsonNode> file : results.data().entrySet()) {
            Files.writeString(data.resolve(file.getKey()), writer.writeValueAsString(file.getValue()) + "\n");
        }
    }

    /** What an earlier page left and this one may not write again. */
    private static void clear(Path folder, String ending) throws IOException {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(ending)).toList()) {
                Files.delete(file);
            }
        }
    }

    private static String text(String name) throws IOException {
        try (InputStream in = Main.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
