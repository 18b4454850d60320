package dev.selvedge.benchmarks.jmh;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.AttemptTimeoutException;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Task;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
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
 * Timeouts: {@code n} of 30 s are started and ended, one after the other or by as many threads at once, and what is retained is
 * counted; or {@code n} that do fire, one after the other, and how late the task hears of it: what a thread does with that afterwards, an
 * exception that says whose time is over, is no part of it. The other way is what one writes by hand: a {@link
 * ScheduledThreadPoolExecutor} that interrupts, and drops what has been cancelled.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 2)
@Measurement(iterations = 3)
@Fork(value = 2, jvmArgsAppend = Memory.HEAP)
public class Timers {

    private static final String ONE_THREAD = "oneThread";
    private static final String MANY_THREADS = "manyThreads";
    private static final String LATE = "late";

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(3);
    private static final int FEW = 1_000;

    /** What is left out: a thousand that are ended, which says nothing of a million, and a million that fire, which takes an hour. */
    static boolean isLeftOut(String contestant, Map<String, String> params) {
        int n = Integer.parseInt(params.get("n"));
        return params.get("what").equals(LATE) ? n > FEW : n == FEW;
    }

    /** How many timeouts, and what becomes of them. */
    @State(Scope.Benchmark)
    public abstract static class Timeouts {

        /** How many. */
        @Param({"1000", "1000000"})
        @Less(
                quick = {"1000", "100000"},
                once = {"100"})
        public int n;

        /** What becomes of them. */
        @Param({ONE_THREAD, MANY_THREADS, LATE})
        @Less(
                quick = {ONE_THREAD, MANY_THREADS, LATE},
                once = {ONE_THREAD, MANY_THREADS, LATE})
        public String what;

        private long before;

        /** Looks at the heap. */
        @Setup(Level.Invocation)
        public void before() {
            before = Counted.liveHeap();
        }

        /** Looks at it again. */
        @TearDown(Level.Invocation)
        public void after() {
            if (!what.equals(LATE)) {
                Counted.tell("retained", Counted.liveHeap() - before, "B");
            }
        }

        /** Runs a task under a timeout that does not fire. */
        abstract int inTime(Task<Integer, RuntimeException> task);

        /** Sleeps until a timeout fires; gives the moment in which the sleep was cut off. */
        abstract long tooLate() throws InterruptedException;

        int run() throws InterruptedException {
            return switch (what) {
                case ONE_THREAD -> onOneThread();
                case MANY_THREADS -> onManyThreads();
                default -> late();
            };
        }

        private int onOneThread() {
            int sum = 0;
            for (int i = 0; i < n; i++) {
                sum += inTime(() -> 1);
            }
            return sum;
        }

        private int onManyThreads() throws InterruptedException {
            CountDownLatch waiting = new CountDownLatch(n);
            return FanOut.onPlainThreads(
                    n,
                    place -> inTime(() -> {
                        waiting.countDown();
                        waiting.await();
                        return 1;
                    }));
        }

        private int late() throws InterruptedException {
            long[] late = new long[n];
            for (int i = 0; i < n; i++) {
                long due = System.nanoTime() + SHORT.toNanos();
                late[i] = tooLate() - due;
            }
            Counted.tellPercentiles(late);
            return n;
        }
    }

    /** This library's. */
    public static class Selvedge extends Timeouts {

        private static final ScopeSpec IN_TIME = scope().timeout(LONG);
        private static final ScopeSpec TOO_LATE = scope().timeout(SHORT);

        @Override
        int inTime(Task<Integer, RuntimeException> task) {
            return IN_TIME.call(task);
        }

        private long cutOff;

        @Override
        long tooLate() {
            try {
                TOO_LATE.run(this::sleep);
            } catch (AttemptTimeoutException e) {
                return cutOff;
            }
            throw new IllegalStateException("no timeout");
        }

        private void sleep() throws InterruptedException {
            try {
                Thread.sleep(LONG);
            } catch (InterruptedException e) {
                cutOff = System.nanoTime();
                throw e;
            }
        }
    }

    /** By hand. */
    public static class Scheduled extends Timeouts {

        private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);

        /** Starts it. */
        public Scheduled() {
            timer.setRemoveOnCancelPolicy(true);
        }

        /** Ends it. */
        @TearDown
        public void close() {
            timer.close();
        }

        private Future<?> interruptAfter(Duration d) {
            Thread thread = Thread.currentThread();
            return timer.schedule(thread::interrupt, d.toNanos(), TimeUnit.NANOSECONDS);
        }

        @Override
        int inTime(Task<Integer, RuntimeException> task) {
            Future<?> timeout = interruptAfter(LONG);
            try {
                return task.call();
            } catch (InterruptedException e) {
                throw new IllegalStateException("the machine is too slow for so many", e);
            } finally {
                timeout.cancel(false);
            }
        }

        @Override
        long tooLate() {
            interruptAfter(SHORT);
            try {
                Thread.sleep(LONG);
            } catch (InterruptedException e) {
                return System.nanoTime();
            }
            throw new IllegalStateException("no timeout");
        }
    }

    @Benchmark
    public int selvedge(Selvedge timeouts) throws InterruptedException {
        return timeouts.run();
    }

    @Benchmark
    public int scheduledThreadPool(Scheduled timeouts) throws InterruptedException {
        return timeouts.run();
    }
}
