package dev.selvedge.benchmarks.report;

import dev.selvedge.benchmarks.paired.Report;
import dev.selvedge.benchmarks.paired.Summary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The bars that the design set, and what was measured on JDK 25. */
final class Bars {

    private static final int RELEASE = 25;
    private static final int MANY = 10_000;
    private static final int MILLION = 1_000_000;
    private static final String ALL = "all";
    private static final String ONE = "1";
    private static final String PLATFORM = "platform";
    private static final String VIRTUAL = "virtual";
    private static final String CLOCK = "bare and a clock read";
    private static final String OURS = "selvedge";
    private static final String THEIRS = "Resilience4j";
    private static final String FAILSAFE = "Failsafe";
    private static final String GATHER = "gather";
    private static final String RAW = "rawScope";
    private static final double NANOS_PER_MILLI = 1e6;

    private final Results results;
    private final List<Bar> all = new ArrayList<>();

    private Bars(Results results) {
        this.results = results;
    }

    static List<Bar> of(Results results) {
        Bars bars = new Bars(results);
        bars.gather(1_000, 1.05, 1.10);
        bars.gather(10, 1.10, 1.05);
        bars.map();
        bars.limited();
        bars.blocking();
        bars.breaker();
        bars.stack();
        bars.timeout();
        bars.failure();
        bars.memory();
        bars.scaling();
        return List.copyOf(bars.all);
    }

    private void gather(int n, double oneCarrier, double allCarriers) {
        String work = "gather of " + Numbers.whole(n) + " no-op tasks";
        Optional<Report.Size> one = size("gather", ONE, VIRTUAL, n);
        Optional<Report.Size> paired = size("gather", ALL, PLATFORM, n);
        String contender = "scope().gather";
        atMost(oneCarrier, work, "time, one carrier, × raw scope", ratio(one, contender));
        atMost(allCarriers, work, "time, all carriers, × raw scope", ratio(paired, contender));
        atMost(1.12, work, "bytes, one carrier, × raw scope", byJvm(one, contender, Summary::bytesRatio));
    }

    private void map() {
        String work = "map over 1,000 no-op items";
        String contender = "scope().map";
        Optional<Report.Size> platform = size("map", ALL, PLATFORM, 1_000);
        atMost(0.10, work, "time, platform owner, × raw scope", ratio(platform, contender));
        atMost(0.25, work, "time, virtual owner, × raw scope", ratio(size("map", ALL, VIRTUAL, 1_000), contender));
        atMost(
                0.3,
                work,
                "time, × the best of the pools and the virtual-thread executor",
                platform.flatMap(s -> over(s, contender, best(s, Kind.POOL, Kind.VIRTUAL))));
    }

    private void limited() {
        String work = "concurrency(64).map over 1,000 no-op items";
        Optional<Report.Size> size = size("map-limited", ALL, PLATFORM, 1_000);
        for (String other : List.of("scope and semaphore", "Gatherers.mapConcurrent(64)")) {
            atMost(
                    0.08,
                    work,
                    "time, × " + other,
                    size.flatMap(s -> over(s, "concurrency(64).map", Optional.of(other))));
        }
    }

    private void blocking() {
        String work = "fan-out of 10,000 tasks that block 10 ms";
        Map<String, String> params = Map.of("task", "block10ms");
        Optional<Measurement> ours = jmh("FanOut", GATHER, MANY, params);
        atLeast(
                8,
                work,
                "throughput of gather, × a fixed pool of 200",
                over(jmh("FanOut", "fixedPool200", MANY, params), ours));
        atMost(1.05, work, "time of gather, × raw scope", over(ours, jmh("FanOut", RAW, MANY, params)));
    }

    private void breaker() {
        String work = "call under a closed breaker";
        Optional<Report.Size> size = size("breaker", ALL, PLATFORM, 1_000);
        atMost(5, work, "ns over the bare task, failures in a row", beyond(size, "in a row", "bare"));
        atMost(15, work, "ns over the bare task, of the last calls", beyond(size, "of 100 calls", "bare"));
        atMost(20, work, "ns over the bare task and a clock read, of the last seconds", beyond(size, "of 10 s", CLOCK));
        for (String window : List.of("in a row", "of 100 calls", "of 10 s")) {
            atMost(0, work, "bytes of a call, " + window, bytes(size, window));
        }
        atLeast(10, work, "times faster than Resilience4j's, both of 100 calls", faster(size, "of 100 calls", THEIRS));
        atLeast(40, work, "times faster than Failsafe's, both of 100 calls", faster(size, "of 100 calls", FAILSAFE));
        Map<String, String> params = Map.of("policy", "BREAKER_OF_100_CALLS", "threads", "4");
        atLeast(
                5,
                work,
                "times faster than Resilience4j's, both of 100 calls, 4 threads",
                over(jmh("Policies", "resilience4j", 1, params), jmh("Policies", OURS, 1, params)));
    }

    private void stack() {
        String work = "retry, breaker and rate limiter";
        Optional<Report.Size> size = size("stack", ALL, PLATFORM, 1_000);
        atMost(25, work, "ns over the bare task and a clock read", beyond(size, OURS, CLOCK));
        atMost(0, work, "bytes of a call", bytes(size, OURS));
        atLeast(3, work, "times faster than Resilience4j's", faster(size, OURS, THEIRS));
        atLeast(3, work, "times faster than Failsafe's", faster(size, OURS, FAILSAFE));
    }

    private void timeout() {
        String work = "attempt timeout that does not fire";
        Optional<Report.Size> size = size("timeout", ALL, PLATFORM, 1_000);
        atMost(100, work, "ns over the bare task", beyond(size, OURS, "bare"));
        atMost(40, work, "bytes of a call", bytes(size, OURS));
        atLeast(40, work, "times faster than Failsafe's", faster(size, OURS, FAILSAFE));
        atLeast(200, work, "times faster than Resilience4j's", faster(size, OURS, THEIRS));
        Map<String, String> late = Map.of("what", "late");
        Optional<Measurement> ours = jmh("Timers", OURS, 1_000, late);
        Optional<Measurement> scheduled = jmh("Timers", "scheduledThreadPool", 1_000, late);
        String fires = "attempt timeout that fires";
        atMost(0.3, fires, "ms late, median", counted(ours, "p50").map(f -> f.dividedBy(NANOS_PER_MILLI)));
        atMost(
                1,
                fires,
                "ms late, 99th percentile, × ScheduledThreadPoolExecutor",
                counted(ours, "p99").flatMap(p -> counted(scheduled, "p99").map(p::over)));
    }

    private void failure() {
        Map<String, String> params = Map.of("event", "fail");
        atMost(
                1.1,
                "first failure among 10,000 blocked siblings",
                "time until all have ended, × raw scope",
                over(jmh("Cancellation", GATHER, MANY, params), jmh("Cancellation", RAW, MANY, params)));
    }

    private void memory() {
        Optional<Figure> raw = counted(jmh("Memory", RAW, MILLION, Map.of()), "heapOfOne");
        for (String contestant : List.of(GATHER, "liveScope")) {
            atMost(
                    1.1,
                    "1,000,000 forks blocked at once",
                    "live heap of " + contestant + ", × raw scope",
                    counted(jmh("Memory", contestant, MILLION, Map.of()), "heapOfOne")
                            .flatMap(ours -> raw.map(ours::over)));
        }
    }

    private void scaling() {
        Optional<Figure> few = jmh("Scaling", GATHER, 1_000, Map.of()).map(Bars::ofOne);
        Optional<Figure> many = jmh("Scaling", GATHER, MILLION, Map.of()).map(Bars::ofOne);
        atMost(
                1.3,
                "gather of 1,000,000 no-op tasks",
                "time of one, × that of one of 1,000",
                many.flatMap(m -> few.map(m::over)));
    }

    private static Figure ofOne(Measurement m) {
        return m.figure().dividedBy(m.n());
    }

    private void atMost(double limit, String work, String what, Optional<Figure> measured) {
        all.add(Bar.atMost(limit, work, what, measured));
    }

    private void atLeast(double limit, String work, String what, Optional<Figure> measured) {
        all.add(Bar.atLeast(limit, work, what, measured));
    }

    // Of the paired runner.

    private Optional<Report.Size> size(String suite, String carriers, String owner, int n) {
        return results.paired(suite, carriers, owner, RELEASE).stream()
                .flatMap(r -> r.sizes().stream())
                .filter(s -> s.n() == n)
                .findFirst();
    }

    /** The best of some kinds, by time. */
    static Optional<String> best(Report.Size size, Kind... kinds) {
        return size.medians().stream()
                .filter(s -> List.of(kinds).contains(Kind.of(s.contender())))
                .min(Comparator.comparingDouble(Summary::ratio))
                .map(Summary::contender);
    }

    private static Optional<Figure> ratio(Optional<Report.Size> size, String contender) {
        return size.flatMap(s -> named(s.medians(), contender))
                .map(s -> new Figure(s.ratio(), s.lowestRatio(), s.highestRatio()));
    }

    private static Optional<Figure> byJvm(
            Optional<Report.Size> size, String contender, ToDoubleFunction<Summary> figure) {
        return size.flatMap(s -> paired(s, contender, contender, (one, same) -> figure.applyAsDouble(one)));
    }

    private static Optional<Figure> bytes(Optional<Report.Size> size, String contender) {
        // A count of all threads' bytes has a few of the measuring itself, spread over very many calls.
        return byJvm(size, contender, Summary::bytesPerCall)
                .map(f -> f.dividedBy(size.orElseThrow().n()))
                .map(f -> f.map(Math::rint));
    }

    /** The time of a contender over another's: by JVM. */
    static Optional<Figure> over(Report.Size size, String contender, Optional<String> other) {
        return other.flatMap(o -> paired(size, contender, o, (one, two) -> one.ratio() / two.ratio()));
    }

    private static Optional<Figure> faster(Optional<Report.Size> size, String contender, String than) {
        return size.flatMap(s -> over(s, than, Optional.of(contender)));
    }

    /** Nanoseconds of one of the calls beyond another's. */
    private static Optional<Figure> beyond(Optional<Report.Size> size, String contender, String other) {
        return size.flatMap(
                s -> paired(s, contender, other, (one, two) -> (one.nanosPerCall() - two.nanosPerCall()) / s.n()));
    }

    /** A figure made of those of two contenders. */
    @FunctionalInterface
    private interface OfTwo {
        double apply(Summary one, Summary two);
    }

    /** Made in each JVM, and the median of that. */
    private static Optional<Figure> paired(Report.Size size, String one, String two, OfTwo figure) {
        List<Optional<Double>> byJvm = size.byJvm().stream()
                .map(jvm -> named(jvm, one).flatMap(a -> named(jvm, two).map(b -> figure.apply(a, b))))
                .toList();
        if (byJvm.isEmpty() || byJvm.stream().anyMatch(Optional::isEmpty)) {
            return Optional.empty();
        }
        return Optional.of(Figure.of(IntStream.range(0, byJvm.size())
                .mapToDouble(i -> byJvm.get(i).orElseThrow())
                .toArray()));
    }

    private static Optional<Summary> named(List<Summary> contenders, String name) {
        return contenders.stream().filter(s -> s.contender().equals(name)).findFirst();
    }

    // Of JMH.

    /** Of a contestant, with such values of parameters among all that it has. */
    private Optional<Measurement> jmh(String suite, String contestant, long n, Map<String, String> params) {
        return results.suite(suite).stream()
                .filter(m -> m.contestant().equals(contestant)
                        && m.n() == n
                        && m.params().entrySet().containsAll(params.entrySet()))
                .findFirst();
    }

    /** What a benchmark counts itself. */
    private static Optional<Figure> counted(Optional<Measurement> m, String name) {
        return m.map(x -> x.others().get(name)).map(Measurement.Metric::figure);
    }

    private static Optional<Figure> over(Optional<Measurement> one, Optional<Measurement> other) {
        return Stream.of(one, other).allMatch(Optional::isPresent)
                ? Optional.of(
                        one.orElseThrow().figure().over(other.orElseThrow().figure()))
                : Optional.empty();
    }
}
