package dev.selvedge.benchmarks.report;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collections;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One result in a file of JMH.
 *
 * @param suite the class of the benchmark
 * @param contestant its method
 * @param params what it was run with, without {@code n}, and with {@code threads}
 * @param n how many tasks, calls or forks an operation has; 1 if it does not say
 * @param score what JMH calls so
 * @param bytes allocated by an operation, if the profiler of the garbage collector ran
 * @param others what the benchmark itself counts beside its score, by name
 */
record Measurement(
        String suite,
        String contestant,
        SortedMap<String, String> params,
        long n,
        Metric score,
        OptionalDouble bytes,
        SortedMap<String, Metric> others) {

    private static final Pattern TIME = Pattern.compile("(ns|us|ms|s|min)(?:/op)?");
    private static final Pattern RATE = Pattern.compile("ops/(ns|us|ms|s|min)");
    private static final Map<String, Double> NANOS = Map.of("ns", 1.0, "us", 1e3, "ms", 1e6, "s", 1e9, "min", 60e9);
    /** What profilers count. */
    private static final Pattern PROFILED = Pattern.compile("^·?(gc|stack|mem|safepoints|perf|async)[.:]");

    private static final String NANOSECONDS = "ns";
    static final String THREADS = "threads";

    Measurement {
        params = Collections.unmodifiableSortedMap(new TreeMap<>(params));
        others = Collections.unmodifiableSortedMap(new TreeMap<>(others));
    }

    static Measurement of(JsonNode result) {
        String[] names = result.path("benchmark").asText().split("\\.");
        SortedMap<String, String> params = new TreeMap<>();
        result.path("params")
                .properties()
                .forEach(p -> params.put(p.getKey(), p.getValue().asText()));
        params.put(THREADS, result.path("threads").asText());
        String size = params.remove("n");
        SortedMap<String, Metric> others = new TreeMap<>();
        result.path("secondaryMetrics").properties().stream()
                .filter(m -> !PROFILED.matcher(m.getKey()).find())
                .forEach(m -> others.put(m.getKey(), Metric.of(m.getValue())));
        return new Measurement(
                names[names.length - 2],
                names[names.length - 1],
                params,
                size == null ? 1 : Long.parseLong(size),
                Metric.of(result.path("primaryMetric")),
                allocated(result.path("secondaryMetrics")),
                others);
    }

    /**
     * A score of JMH.
     *
     * @param figure the score with its interval, inside what was measured; of a rate its inverse, so less is better
     * @param unit of the figure: {@code ns} for all times of an operation and rates, else JMH's
     */
    record Metric(Figure figure, String unit) {

        static Metric of(JsonNode metric) {
            String unit = metric.path("scoreUnit").asText();
            Matcher time = TIME.matcher(unit);
            Matcher rate = RATE.matcher(unit);
            Figure score = score(metric);
            if (time.matches()) {
                double nanos = NANOS.get(time.group(1));
                return new Metric(score.map(x -> x * nanos), NANOSECONDS);
            }
            if (rate.matches()) {
                double nanos = NANOS.get(rate.group(1));
                return new Metric(score.inverted().map(x -> x * nanos), NANOSECONDS);
            }
            return new Metric(score, unit);
        }

        boolean isTime() {
            return unit.equals(NANOSECONDS);
        }
    }

    /** Of few iterations the interval reaches far beyond what was ever measured, even below zero: there it is cut. */
    private static Figure score(JsonNode metric) {
        double score = number(metric.path("score"));
        double error = number(metric.path("scoreError"));
        if (Double.isNaN(error)) {
            return Figure.exactly(score);
        }
        JsonNode percentiles = metric.path("scorePercentiles");
        return new Figure(
                score,
                Math.max(score - error, number(percentiles.path("0.0"))),
                Math.min(score + error, number(percentiles.path("100.0"))));
    }

    /** Of JMH, which writes what is no number as a string. */
    private static double number(JsonNode node) {
        return node.isNumber() ? node.doubleValue() : Double.NaN;
    }

    /** The profiler's name had a dot before it once. */
    private static OptionalDouble allocated(JsonNode secondary) {
        for (Map.Entry<String, JsonNode> metric : secondary.properties()) {
            if (metric.getKey().endsWith("gc.alloc.rate.norm")) {
                return OptionalDouble.of(number(metric.getValue().path("score")));
            }
        }
        return OptionalDouble.empty();
    }

    /** On one thread, as nearly all are. */
    boolean isOnOneThread() {
        return "1".equals(params.get(THREADS));
    }

    /** What need not be said, since it is so in the whole suite, left out. */
    Measurement withoutThreads() {
        SortedMap<String, String> rest = new TreeMap<>(params);
        rest.remove(THREADS);
        return new Measurement(suite, contestant, rest, n, score, bytes, others);
    }

    Figure figure() {
        return score.figure();
    }

    String unit() {
        return score.unit();
    }

    boolean isTime() {
        return score.isTime();
    }

    Kind kind() {
        return Kind.of(contestant);
    }
}
