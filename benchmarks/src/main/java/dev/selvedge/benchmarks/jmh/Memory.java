package dev.selvedge.benchmarks.jmh;

import static dev.selvedge.Selvedge.scope;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Forks that all wait at once. The score is the time from the first fork until all have ended, a full collection of garbage in
 * between included: its heap is what this is about.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 1)
@Measurement(iterations = 1)
@Fork(value = 3, jvmArgsAppend = Memory.HEAP)
public class Memory {

    /**
     * A million blocked threads hold about 1 GB, and collections need room beside them; a JVM takes a quarter of the machine's
     * memory, which may be less. The same for all who have so many, so that results do not depend on the machine's.
     */
    static final String HEAP = "-Xmx4g";

    /** Nothing is left out. */
    static boolean isLeftOut(String contestant, Map<String, String> params) {
        return false;
    }

    /** The forks' tasks, and a thread that waits until all of them wait, measures the heap, and lets them go. */
    @State(Scope.Benchmark)
    public static class Blocked {

        /** How many. */
        @Param({"1000000"})
        @Less(
                quick = {"100000"},
                once = {"1000"})
        public int n;

        List<Callable<Integer>> tasks;
        private CountDownLatch waiting;
        private CountDownLatch end;
        private Thread meter;

        /** Makes them. */
        @Setup(Level.Invocation)
        public void make() {
            waiting = new CountDownLatch(n);
            end = new CountDownLatch(1);
            tasks = Collections.nCopies(n, this::block);
            long before = Counted.liveHeap();
            meter = Thread.ofPlatform().start(() -> measure(before));
        }

        int block() throws InterruptedException {
            waiting.countDown();
            end.await();
            return 1;
        }

        private void measure(long before) {
            try {
                waiting.await();
                Counted.tell("heapOfOne", (double) (Counted.liveHeap() - before) / n, "B");
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                end.countDown();
            }
        }

        /** Waits for it. */
        @TearDown(Level.Invocation)
        public void end() throws InterruptedException {
            meter.join();
        }

        int checked(int sum) {
            return Work.checked(sum, n);
        }
    }

    @Benchmark
    public int gather(Blocked blocked) {
        return blocked.checked(FanOut.sum(scope().gather(blocked.tasks)));
    }

    @Benchmark
    public int liveScope(Blocked blocked) {
        return blocked.checked(scope().call(s -> {
            List<dev.selvedge.Fork<Integer>> forks = new ArrayList<>(blocked.n);
            for (Callable<Integer> task : blocked.tasks) {
                forks.add(s.fork(task::call));
            }
            return FanOut.sum(s.gather(forks));
        }));
    }

    @Benchmark
    public int rawScope(Blocked blocked) throws InterruptedException {
        return blocked.checked(FanOut.inRawScope(blocked.tasks));
    }

    @Benchmark
    public int plainVirtualThreads(Blocked blocked) throws InterruptedException {
        return blocked.checked(FanOut.onPlainThreads(blocked.n, place -> {
            try {
                return blocked.block();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }));
    }
}
