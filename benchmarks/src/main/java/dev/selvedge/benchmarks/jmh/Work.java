package dev.selvedge.benchmarks.jmh;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/** The same task, {@code n} times. */
@State(Scope.Benchmark)
public class Work {

    /** Of {@link Blackhole#consumeCPU}; fixed, so all contestants have the same work. About a microsecond. */
    private static final long TOKENS = 500;

    private static final String NOTHING = "nothing";
    private static final String CPU_1_US = "cpu1us";
    private static final String CPU_100_US = "cpu100us";
    private static final String BLOCK_1_MS = "block1ms";
    private static final String BLOCK_10_MS = "block10ms";
    private static final String MIX = "mix";
    static final String HTTP = "http";

    /** How many tasks. */
    @Param({"1", "10", "100", "1000", "10000"})
    @Less(
            quick = {"1000"},
            once = {"10"})
    public int n;

    /** What each does. */
    @Param({NOTHING, CPU_1_US, CPU_100_US, BLOCK_1_MS, BLOCK_10_MS, MIX, HTTP})
    @Less(
            quick = {NOTHING, BLOCK_10_MS},
            once = {MIX, HTTP})
    public String task;

    private Body body;
    private Loopback web;

    /** For those who are given tasks. */
    List<Callable<Integer>> tasks;

    /** For those who are given a function and items. */
    List<Integer> items;

    /** What is done with an item. */
    @FunctionalInterface
    private interface Body {

        /** Gives 1. */
        int run(int item) throws Exception;
    }

    /** Makes them. */
    @Setup
    public void make() {
        if (task.equals(HTTP)) {
            web = new Loopback();
        }
        body = body(task);
        items = IntStream.range(0, n).boxed().toList();
        // All the same object: what is measured is what is done with it.
        tasks = Collections.nCopies(n, () -> run(0));
        if (task.equals(MIX)) {
            tasks = items.stream().<Callable<Integer>>map(i -> () -> run(i)).toList();
        }
    }

    /** Ends what they needed. */
    @TearDown
    public void close() {
        if (web != null) {
            web.close();
        }
    }

    private Body body(String name) {
        return switch (name) {
            case NOTHING -> item -> 1;
            case CPU_1_US -> item -> cpu(TOKENS);
            case CPU_100_US -> item -> cpu(100 * TOKENS);
            case BLOCK_1_MS -> item -> sleep(1);
            case BLOCK_10_MS -> item -> sleep(10);
            // Seven of ten do nothing, two compute, one waits.
            case MIX ->
                item -> switch (item % 10) {
                    case 0 -> sleep(1);
                    case 1, 2 -> cpu(10 * TOKENS);
                    default -> 1;
                };
            case HTTP -> item -> web.call();
            default -> throw new IllegalArgumentException("no such task: " + name);
        };
    }

    private static int cpu(long tokens) {
        Blackhole.consumeCPU(tokens);
        return 1;
    }

    private static int sleep(long millis) throws InterruptedException {
        Thread.sleep(millis);
        return 1;
    }

    /** Does the task. */
    int run(int item) throws Exception {
        return body.run(item);
    }

    /** As {@link #run}, for functions that may not throw. */
    int apply(int item) {
        try {
            return body.run(item);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Gives the sum of all results, if it is what it must be. */
    int checked(int sum) {
        return checked(sum, n);
    }

    static int checked(int sum, int n) {
        if (sum != n) {
            throw new IllegalStateException("the sum of " + n + " ones was " + sum);
        }
        return sum;
    }

    /** Whether the task waits for something. */
    static boolean blocks(String task) {
        return blockedMillis(task) > 0 || task.equals(HTTP);
    }

    /** How long a task waits, on average. */
    static double blockedMillis(String task) {
        return switch (task) {
            case BLOCK_1_MS -> 1;
            case BLOCK_10_MS -> 10;
            case MIX -> 0.1;
            default -> 0;
        };
    }
}
