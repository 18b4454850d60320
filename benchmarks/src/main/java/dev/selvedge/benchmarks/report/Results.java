package dev.selvedge.benchmarks.report;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.selvedge.benchmarks.paired.Machine;
import dev.selvedge.benchmarks.paired.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All that was measured.
 *
 * @param measurements of JMH, in the order of the files' names
 * @param paired of the paired runner
 * @param origins of each file
 * @param data what is published of each file, by its name
 */
record Results(List<Measurement> measurements, List<Report> paired, List<Origin> origins, Map<String, JsonNode> data) {

    static final ObjectMapper JSON = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private static final String RUN = ".run.json";

    /**
     * The JSON files of a folder: arrays of JMH's results, or objects of the paired runner. Beside {@code x.json} of JMH, which
     * does not tell, {@code x.run.json} may have {@code date}, {@code machine} and {@code commandLine}.
     */
    static Results in(Path folder) throws IOException {
        List<Measurement> measurements = new ArrayList<>();
        List<Report> paired = new ArrayList<>();
        List<Origin> origins = new ArrayList<>();
        Map<String, JsonNode> data = new TreeMap<>();
        for (Path file : files(folder)) {
            String name = file.getFileName().toString();
            JsonNode root = JSON.readTree(file.toFile());
            if (name.endsWith(RUN)) {
                data.put(name, root);
            } else if (root.isArray()) {
                root.forEach(result -> measurements.add(Measurement.of(result)));
                origins.add(ofJmh(name, root, folder));
                data.put(name, withoutRawData((ArrayNode) root));
            } else if (root.has("suite") && root.has("sizes")) {
                Report report = JSON.treeToValue(root, Report.class);
                paired.add(report);
                origins.add(ofPaired(name, report));
                data.put(name, withoutRawData((ObjectNode) root));
            } else {
                throw new IOException(name + " is neither of JMH nor of the paired runner");
            }
        }
        Set<String> threaded = measurements.stream()
                .filter(m -> !m.isOnOneThread())
                .map(Measurement::suite)
                .collect(Collectors.toSet());
        measurements.replaceAll(m -> threaded.contains(m.suite()) ? m : m.withoutThreads());
        return new Results(List.copyOf(measurements), List.copyOf(paired), List.copyOf(origins), data);
    }

    private static List<Path> files(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(f -> f.toString().endsWith(".json"))
                    .sorted(Comparator.comparing(f -> f.getFileName().toString()))
                    .toList();
        }
    }

    private static Origin ofJmh(String name, JsonNode root, Path folder) throws IOException {
        JsonNode first = root.path(0);
        Path told = folder.resolve(name.replaceFirst("\\.json$", RUN));
        JsonNode run = Files.exists(told) ? JSON.readTree(told.toFile()) : JSON.createObjectNode();
        return new Origin(
                name,
                run.path("date").asText(""),
                run.has("machine") ? JSON.treeToValue(run.get("machine"), Machine.class) : null,
                first.path("vmVersion").asText(),
                run.path("commandLine").asText(""),
                "JMH %s; forks: %s; warm-up: %s × %s; measured: %s × %s"
                        .formatted(
                                first.path("jmhVersion").asText("?"),
                                first.path("forks").asText("?"),
                                first.path("warmupIterations").asText("?"),
                                first.path("warmupTime").asText("?"),
                                first.path("measurementIterations").asText("?"),
                                first.path("measurementTime").asText("?")));
    }

    private static Origin ofPaired(String name, Report r) {
        return new Origin(
                name,
                r.date(),
                r.machine(),
                r.machine().jdk(),
                r.commandLine(),
                "paired; JVMs: %d; rounds: %d of %d ms; carriers: %s; owner: %s"
                        .formatted(r.jvms(), r.rounds(), r.roundMillis(), r.carriers(), r.owner()));
    }

    /** Raw data are many; paths of a machine are nobody's concern. */
    private static JsonNode withoutRawData(ArrayNode jmh) {
        ArrayNode copy = jmh.deepCopy();
        for (JsonNode result : copy) {
            ObjectNode object = (ObjectNode) result;
            object.remove("jvm");
            if (object.get("jvmArgs") instanceof ArrayNode args) {
                args.removeIf(arg -> arg.asText().matches(".*[/\\\\].*"));
            }
            withoutRawMetric(object.path("primaryMetric"));
            object.path("secondaryMetrics").forEach(Results::withoutRawMetric);
        }
        return copy;
    }

    private static void withoutRawMetric(JsonNode metric) {
        if (metric instanceof ObjectNode object) {
            object.remove(List.of("rawData", "rawDataHistogram"));
        }
    }

    private static JsonNode withoutRawData(ObjectNode paired) {
        ObjectNode copy = paired.deepCopy();
        copy.path("sizes").forEach(size -> ((ObjectNode) size).remove("raw"));
        return copy;
    }

    /** The measurements of a suite of JMH. */
    List<Measurement> suite(String name) {
        return measurements.stream().filter(m -> m.suite().equals(name)).toList();
    }

    /** The names of the suites of JMH. */
    List<String> suites() {
        return measurements.stream().map(Measurement::suite).distinct().toList();
    }

    /** A run of the paired runner. */
    Optional<Report> paired(String suite, String carriers, String owner, int release) {
        return paired.stream()
                .filter(r -> r.suite().equals(suite)
                        && r.carriers().equals(carriers)
                        && r.owner().equals(owner)
                        && r.machine().release() == release)
                .max(Comparator.comparing(Report::date));
    }
}
