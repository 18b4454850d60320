package dev.selvedge.benchmarks.jmh;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Figures that a benchmark counts itself, beside its score: averages over iterations. JMH's own auxiliary counters are sums,
 * which a percentile or a size has none of.
 */
public final class Counted implements InternalProfiler {

    private static final List<ScalarResult> COUNTED = new ArrayList<>();

    /** Tells one. */
    static synchronized void tell(String name, double value, String unit) {
        COUNTED.add(new ScalarResult(name, value, unit, AggregationPolicy.AVG));
    }

    /** Tells how often nanoseconds were as many. */
    static void tellPercentiles(long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        for (int percent : new int[] {50, 90, 99}) {
            tell("p" + percent, sorted[(sorted.length - 1) * percent / 100], "ns");
        }
        tell("max", sorted[sorted.length - 1], "ns");
    }

    /** The bytes of the heap that are in use after a full collection. */
    static long liveHeap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static synchronized List<ScalarResult> taken() {
        List<ScalarResult> taken = List.copyOf(COUNTED);
        COUNTED.clear();
        return taken;
    }

    @Override
    public String getDescription() {
        return "What the benchmarks count themselves";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        taken();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        return taken();
    }
}
