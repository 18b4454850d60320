package dev.selvedge.benchmarks.paired;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.Progress;
import dev.selvedge.ScopeSpec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/** What it costs to be told, ten times a second, how far a call over {@code n} items is. */
final class ProgressCost implements Suite {

    /** About a microsecond of arithmetic. */
    private static final int STEPS = 500;

    private final String name;
    private final LongUnaryOperator work;

    private ProgressCost(String name, LongUnaryOperator work) {
        this.name = name;
        this.work = work;
    }

    static List<Suite> suites() {
        return List.of(
                new ProgressCost("progress", ProgressCost::microsecond),
                new ProgressCost("progress-no-op", LongUnaryOperator.identity()));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String about() {
        return "n items, with and without progress ten times a second";
    }

    @Override
    public List<Integer> sizes() {
        return List.of(1_000_000);
    }

    @Override
    public List<Contender> contenders(int n) {
        List<Integer> items = IntStream.range(0, n).boxed().toList();
        LongAdder told = new LongAdder();
        return List.of(
                new Contender("forEach", () -> run(scope(), items)),
                new Contender("progress(…).forEach", () -> run(
                        scope().progress(Duration.ofMillis(100), (Progress p) -> told.add(p.ended())), items)));
    }

    private long run(ScopeSpec spec, List<Integer> items) {
        LongAdder sum = new LongAdder();
        spec.forEach(items, item -> sum.add(work.applyAsLong(item)));
        return sum.sum();
    }

    private static long microsecond(long seed) {
        long x = seed + 1;
        for (int i = 0; i < STEPS; i++) { // each step needs the one before, and cannot be folded into it
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
