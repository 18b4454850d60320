package dev.selvedge.benchmarks.jmh;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** From the first failure, or a deadline, among tasks that wait, until all of them and their owner have ended. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 8, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class Cancellation {

    private static final int DEEPEST = 100;

    /** What is left out: thousands of scopes in each other, which nobody has, and a deadline of Jox, whose scopes have none. */
    static boolean isLeftOut(String contestant, Map<String, String> params) {
        return switch (params.get("event")) {
            case Siblings.NESTED -> Integer.parseInt(params.get("n")) > DEEPEST;
            case Siblings.DEADLINE -> contestant.equals("joxSupervised");
            default -> false;
        };
    }

    @Benchmark
    public int gather(Siblings.Gather siblings) throws InterruptedException {
        return siblings.end();
    }

    @Benchmark
    public int rawScope(Siblings.RawScope siblings) throws InterruptedException {
        return siblings.end();
    }

    @Benchmark
    public int joxSupervised(Siblings.Jox siblings) throws InterruptedException {
        return siblings.end();
    }

    @Benchmark
    public int virtualThreadExecutor(Siblings.Executor siblings) throws InterruptedException {
        return siblings.end();
    }
}
