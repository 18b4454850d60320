package dev.selvedge.benchmarks.report;

import dev.selvedge.benchmarks.paired.Report;
import dev.selvedge.benchmarks.paired.Summary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The bars that the design set, and what was measured on JDK 25. */
final class Bars {

    private static final int RELEASE = 25;
    private static final int MANY = 10_000;
    private static final String ALL = "all";
    private static final String ONE = "1";
    private static final String PLATFORM = "platform";
    private static final String VIRTUAL = "virtual";
    private static final String CLOCK = "bare and a clock read";
    private static final String OURS = "selvedge";
    private static final String THEIRS = "Resilience4j";
    private static final String FAILSAFE = "Failsafe";
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
        Predicate<Measurement> group = inGroup("FanOut", MANY).and(m -> {
            String label = label(m);
            return label.contains("block") && label.contains("10") && !label.contains("100");
        });
        Optional<Measurement> ours = first(group.and(m -> m.contestant().equals("gather")));
        atLeast(
                8,
                work,
                "throughput of gather, × a fixed pool of 200",
                over(first(group.and(m -> label(m).contains("fixed") && label(m).contains("200"))), ours));
        atMost(1.05, work, "time of gather, × raw scope", over(ours, first(group.and(m -> m.kind() == Kind.RAW))));
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
        Predicate<Measurement> four = m -> m.suite().equals("Policies")
                && "4".equals(m.params().get("threads"))
                && label(m).contains("breaker")
                && !label(m).contains("stack")
                // Like with like: both of 100 calls.
                && !label(m).contains("row")
                && !label(m).contains("10_s");
        atLeast(
                5,
                work,
                "times faster than Resilience4j's, 4 threads",
                over(
                        first(four.and(m -> label(m).contains("resilience4j"))),
                        first(four.and(m -> m.kind() == Kind.SELVEDGE || label(m).contains(OURS)))));
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
        Predicate<Measurement> late = m -> m.suite().equals("Timers") && label(m).contains("late");
        Optional<Measurement> ours = first(late.and(m -> m.kind() != Kind.POOL));
        Optional<Measurement> scheduled = first(late.and(m -> m.kind() == Kind.POOL));
        String fires = "attempt timeout that fires";
        atMost(0.3, fires, "ms late, median", ours.flatMap(m -> late(m, "50")).map(f -> f.dividedBy(NANOS_PER_MILLI)));
        atMost(
                1,
                fires,
                "ms late, 99th percentile, × ScheduledThreadPoolExecutor",
                ours.flatMap(m -> late(m, "99"))
                        .flatMap(p -> scheduled.flatMap(m -> late(m, "99")).map(p::over)));
    }

    /** A percentile in nanoseconds, as the benchmark counted it, else of its samples. */
    private static Optional<Figure> late(Measurement m, String percent) {
        return other(m, "p" + percent + "(\\D.*)?")
                .or(() -> m.percentile(percent + ".0").map(Figure::exactly));
    }

    private static Optional<Figure> other(Measurement m, String name) {
        return m.others().entrySet().stream()
                .filter(e -> e.getKey().toLowerCase(Locale.ROOT).matches(name))
                .map(e -> e.getValue().figure())
                .findFirst();
    }

    private void failure() {
        Predicate<Measurement> group = inGroup("Cancellation", MANY).and(m -> label(m).contains("fail"));
        atMost(
                1.1,
                "first failure among 10,000 blocked siblings",
                "time until all have ended, × raw scope",
                over(first(group.and(m -> !isRaw(m))), first(group.and(Bars::isRaw))));
    }

    private void memory() {
        Predicate<Measurement> group = inGroup("Memory", 1_000_000);
        atMost(
                1.1,
                "1,000,000 forks blocked at once",
                "peak heap, × raw scope",
                first(group.and(m -> m.kind() == Kind.SELVEDGE && !isRaw(m)))
                        .flatMap(Bars::heap)
                        .flatMap(ours -> first(group.and(Bars::isRaw))
                                .flatMap(Bars::heap)
                                .map(ours::over)));
    }

    private static Optional<Figure> heap(Measurement m) {
        return m.unit().startsWith("B") ? Optional.of(m.figure()) : other(m, ".*(heap|bytes|peak).*");
    }

    private static boolean isRaw(Measurement m) {
        return m.kind() == Kind.RAW || label(m).contains("raw") || label(m).contains("structuredtaskscope");
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

    private static Predicate<Measurement> inGroup(String suite, int n) {
        return m -> m.suite().equals(suite) && m.n() == n;
    }

    /** All that tells one measurement from another, in small letters. */
    private static String label(Measurement m) {
        return (m.contestant() + " " + String.join(" ", m.params().values())).toLowerCase(Locale.ROOT);
    }

    private Optional<Measurement> first(Predicate<Measurement> wanted) {
        return results.measurements().stream().filter(wanted).findFirst();
    }

    private static Optional<Figure> over(Optional<Measurement> one, Optional<Measurement> other) {
        return Stream.of(one, other).allMatch(Optional::isPresent)
                ? Optional.of(
                        one.orElseThrow().figure().over(other.orElseThrow().figure()))
                : Optional.empty();
    }
}
