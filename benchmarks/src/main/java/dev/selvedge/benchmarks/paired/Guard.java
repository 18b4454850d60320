package dev.selvedge.benchmarks.paired;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Whether anything has become grossly slower: a short run of each suite that has a limit here, and where one is broken a second,
 * which decides. Ratios only, since times are of a machine. Exit status: 0 if all hold, else 1.
 */
final class Guard {

    private static final int N = 1_000;
    private static final String RAW = "StructuredTaskScope";
    private static final String RESILIENCE4J = "Resilience4j";
    private static final String OURS = "selvedge";

    /** Twice the bars of the design; {@code Bars} of the report has them. */
    private static final List<Limit> LIMITS = List.of(
            Limit.time("gather", "scope().gather", RAW, 2 * 1.10),
            Limit.time("map", "scope().map", RAW, 2 * 0.10),
            Limit.time("map", "scope().map", "fixed pool of nCPU", 2 * 0.3),
            Limit.time("map", "scope().map", "virtual-thread executor", 2 * 0.3),
            Limit.time("map-limited", "concurrency(64).map", "scope and semaphore", 2 * 0.08),
            Limit.time("breaker", "in a row", RESILIENCE4J, 2 / 10.0),
            Limit.time("breaker", "of 100 calls", RESILIENCE4J, 2 / 10.0),
            Limit.bytes("breaker", "in a row", 0),
            Limit.bytes("breaker", "of 100 calls", 0),
            Limit.bytes("breaker", "of 10 s", 0),
            Limit.time("stack", OURS, RESILIENCE4J, 2 / 3.0),
            Limit.time("stack", OURS, "Failsafe", 2 / 3.0),
            Limit.bytes("stack", OURS, 0));

    /**
     * What must hold of a suite.
     *
     * @param suite its name
     * @param what is measured
     * @param most it may be
     * @param measured takes it from the figures
     */
    private record Limit(String suite, String what, double most, ToDoubleFunction<Report.Size> measured) {

        /** Of the time of a contender, over another's. */
        static Limit time(String suite, String contender, String other, double most) {
            return new Limit(
                    suite,
                    "time: %s × %s".formatted(contender, other),
                    most,
                    size -> summary(size, contender).ratio()
                            / summary(size, other).ratio());
        }

        /** Of the bytes of one of n; a few of the measuring itself, spread over many calls, are none. */
        static Limit bytes(String suite, String contender, double most) {
            return new Limit(
                    suite,
                    "bytes: " + contender,
                    most,
                    size -> Math.rint(summary(size, contender).bytesPerCall() / size.n()));
        }

        private static Summary summary(Report.Size size, String contender) {
            return size.medians().stream()
                    .filter(s -> s.contender().equals(contender))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("no contender " + contender));
        }

        boolean isBroken(Report.Size size) {
            double value = measured.applyAsDouble(size);
            boolean broken = !(value <= most);
            System.out.printf(
                    Locale.ROOT, "%-12s %-60s %7.3f of %.3f%s%n", suite, what, value, most, broken ? " BROKEN" : "");
            return broken;
        }
    }

    private Guard() {}

    /** Takes nothing. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Map<String, List<Limit>> bySuite =
                LIMITS.stream().collect(Collectors.groupingBy(Limit::suite, LinkedHashMap::new, Collectors.toList()));
        List<Limit> broken = new ArrayList<>();
        for (Map.Entry<String, List<Limit>> suite : bySuite.entrySet()) {
            List<Limit> suspects = broken(suite.getKey(), suite.getValue());
            if (!suspects.isEmpty()) {
                broken.addAll(broken(suite.getKey(), suspects));
            }
        }
        if (!broken.isEmpty()) {
            System.err.println(
                    "broken twice: " + broken.stream().map(Limit::what).collect(Collectors.joining(", ")));
            System.exit(1);
        }
    }

    private static List<Limit> broken(String suite, List<Limit> limits) throws IOException, InterruptedException {
        Options options = Options.parse(List.of(
                suite,
                "--n",
                String.valueOf(N),
                "--jvms",
                "1",
                "--warm-up",
                "100",
                "--rounds",
                "40",
                "--round-ms",
                "5"));
        Report.Size size = Paired.measure(options, N);
        return limits.stream().filter(l -> l.isBroken(size)).toList();
    }
}
