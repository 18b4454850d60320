package dev.selvedge.benchmarks.jmh;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A pool as users have it: made once, and only for the contestant that runs on it. */
@State(Scope.Benchmark)
public abstract class Pool {

    final ExecutorService threads;

    Pool(Supplier<ExecutorService> threads) {
        this.threads = threads.get();
    }

    /** Ends it. */
    @TearDown
    public void close() {
        threads.close();
    }

    /** A thread for each processor. */
    public static class FixedCpu extends Pool {
        /** Starts it. */
        public FixedCpu() {
            super(() -> Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors()));
        }
    }

    /** 64 threads. */
    public static class Fixed64 extends Pool {
        /** Starts it. */
        public Fixed64() {
            super(() -> Executors.newFixedThreadPool(64));
        }
    }

    /** 200 threads. */
    public static class Fixed200 extends Pool {
        /** Starts it. */
        public Fixed200() {
            super(() -> Executors.newFixedThreadPool(200));
        }
    }

    /** 1,000 threads. */
    public static class Fixed1000 extends Pool {
        /** Starts it. */
        public Fixed1000() {
            super(() -> Executors.newFixedThreadPool(1_000));
        }
    }

    /** As many threads as are needed at once. */
    public static class Cached extends Pool {
        /** Starts it. */
        public Cached() {
            super(Executors::newCachedThreadPool);
        }
    }

    /** A thread for each processor, each with a queue of its own. */
    public static class ForkJoin extends Pool {
        /** Starts it. */
        public ForkJoin() {
            super(ForkJoinPool::new);
        }
    }
}
