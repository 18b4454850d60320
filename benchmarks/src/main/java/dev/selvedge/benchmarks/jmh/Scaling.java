package dev.selvedge.benchmarks.jmh;

import static dev.selvedge.Selvedge.scope;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Tasks that do nothing, more and more of them: what one costs must not grow with their number. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = Memory.HEAP)
public class Scaling {

    /** Nothing is left out. */
    static boolean isLeftOut(String contestant, Map<String, String> params) {
        return false;
    }

    /** The tasks. */
    @State(Scope.Benchmark)
    public static class Many {

        /** How many. */
        @Param({"100", "1000", "10000", "100000", "1000000"})
        @Less(
                quick = {"1000", "1000000"},
                once = {"100"})
        public int n;

        List<Callable<Integer>> tasks;
        List<Integer> items;

        /** Makes them. */
        @Setup
        public void make() {
            tasks = Collections.nCopies(n, () -> 1);
            items = IntStream.range(0, n).boxed().toList();
        }

        int checked(int sum) {
            return Work.checked(sum, n);
        }
    }

    @Benchmark
    public int gather(Many many) {
        return many.checked(FanOut.sum(scope().gather(many.tasks)));
    }

    @Benchmark
    public int map(Many many) {
        return many.checked(FanOut.sum(scope().map(many.items, item -> 1)));
    }

    @Benchmark
    public int rawScope(Many many) throws InterruptedException {
        return many.checked(FanOut.inRawScope(many.tasks));
    }

    @Benchmark
    public int plainVirtualThreads(Many many) throws InterruptedException {
        return many.checked(FanOut.onPlainThreads(many.n, place -> 1));
    }
}
