package dev.selvedge.benchmarks.jmh;

import static dev.selvedge.Selvedge.scope;

import com.softwaremill.jox.structured.Fork;
import com.softwaremill.jox.structured.Scopes;
import dev.selvedge.ScopeSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.Subtask;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.stream.Gatherers;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CoroutineDispatcher;
import kotlinx.coroutines.CoroutineStart;
import kotlinx.coroutines.Deferred;
import kotlinx.coroutines.Dispatchers;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** {@code n} times the same task, by everything that can run it, from the call until all results are there. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@org.openjdk.jmh.annotations.Fork(2)
public class FanOut {

    private static final int LIMIT = 64;
    private static final ScopeSpec LIMITED = scope().concurrency(LIMIT);

    /** A platform thread costs memory and time to start; a test is not to bring down the machine that runs it. */
    private static final int MOST_PLATFORM_THREADS = 1_000;

    /** All calls go to one server in the same JVM. */
    private static final int MOST_HTTP_CALLS = 1_000;

    private static final double LONGEST_MILLIS = 2_000;

    /**
     * What is left out: a cached pool that would have more than a thousand threads; what waits so long, with few threads, that
     * an iteration has no more than one call; and ten thousand HTTP calls, which would measure the one server.
     */
    static boolean isLeftOut(String contestant, Map<String, String> params) {
        int n = Integer.parseInt(params.get("n"));
        String task = params.get("task");
        return switch (contestant) {
                    case "cachedPool" -> n > MOST_PLATFORM_THREADS;
                    default -> n * Work.blockedMillis(task) / threads(contestant) > LONGEST_MILLIS;
                }
                || task.equals(Work.HTTP) && n > MOST_HTTP_CALLS;
    }

    /** How many tasks a contestant has waiting at the same time. */
    private static int threads(String contestant) {
        return switch (contestant) {
            case "fixedPoolOfCpus", "forkJoinPool", "parallelStream" ->
                Runtime.getRuntime().availableProcessors();
            case "fixedPool64", "mapLimited64", "mapConcurrent64", "scopeAndSemaphore64", "kotlinCoroutines" -> LIMIT;
            case "fixedPool200", "completableFuture200" -> 200;
            case "fixedPool1000" -> 1_000;
            default -> Integer.MAX_VALUE;
        };
    }

    // Ours.

    @Benchmark
    public int gather(Work work) {
        return work.checked(sum(scope().gather(work.tasks)));
    }

    @Benchmark
    public int map(Work work) {
        return work.checked(sum(scope().map(work.items, work::run)));
    }

    @Benchmark
    public int mapLimited64(Work work) {
        return work.checked(sum(LIMITED.map(work.items, work::run)));
    }

    // A thread for each task.

    @Benchmark
    public int rawScope(Work work) throws InterruptedException {
        return work.checked(inRawScope(work.tasks));
    }

    @Benchmark
    public int scopeAndSemaphore64(Work work) throws InterruptedException {
        Semaphore permits = new Semaphore(LIMIT);
        try (var scope = StructuredTaskScope.open()) {
            List<Subtask<Integer>> forks = new ArrayList<>(work.n);
            for (Callable<Integer> task : work.tasks) {
                permits.acquire();
                forks.add(scope.fork(() -> {
                    try {
                        return task.call();
                    } finally {
                        permits.release();
                    }
                }));
            }
            scope.join();
            return work.checked(sumOf(forks));
        }
    }

    @Benchmark
    public int virtualThreadExecutor(Work work) throws Exception {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            return submitted(executor, work);
        }
    }

    @Benchmark
    public int plainVirtualThreads(Work work) throws InterruptedException {
        return work.checked(onPlainThreads(work.n, work::apply));
    }

    @Benchmark
    public int joxSupervised(Work work) throws InterruptedException {
        return work.checked(inJox(work.tasks));
    }

    // Pools.

    @Benchmark
    public int fixedPoolOfCpus(Work work, Pool.FixedCpu pool) throws Exception {
        return submitted(pool.threads, work);
    }

    @Benchmark
    public int fixedPool64(Work work, Pool.Fixed64 pool) throws Exception {
        return submitted(pool.threads, work);
    }

    @Benchmark
    public int fixedPool200(Work work, Pool.Fixed200 pool) throws Exception {
        return submitted(pool.threads, work);
    }

    @Benchmark
    public int fixedPool1000(Work work, Pool.Fixed1000 pool) throws Exception {
        return submitted(pool.threads, work);
    }

    @Benchmark
    public int cachedPool(Work work, Pool.Cached pool) throws Exception {
        return submitted(pool.threads, work);
    }

    @Benchmark
    public int forkJoinPool(Work work, Pool.ForkJoin pool) throws Exception {
        return submitted(pool.threads, work);
    }

    @Benchmark
    public int completableFuture200(Work work, Pool.Fixed200 pool) {
        List<CompletableFuture<Integer>> futures = new ArrayList<>(work.n);
        for (int item : work.items) {
            futures.add(CompletableFuture.supplyAsync(() -> work.apply(item), pool.threads));
        }
        CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new)).join();
        int sum = 0;
        for (CompletableFuture<Integer> future : futures) {
            sum += future.join();
        }
        return work.checked(sum);
    }

    // Others.

    @Benchmark
    public int parallelStream(Work work) {
        return work.checked(work.items.parallelStream().mapToInt(work::apply).sum());
    }

    @Benchmark
    public int mapConcurrent64(Work work) {
        return work.checked(work.items.stream()
                .gather(Gatherers.mapConcurrent(LIMIT, work::apply))
                .mapToInt(i -> i)
                .sum());
    }

    /** On the dispatcher that Kotlin has for it: for what blocks, 64 threads. From Java a coroutine cannot suspend. */
    @Benchmark
    public int kotlinCoroutines(Work work) throws InterruptedException {
        CoroutineDispatcher dispatcher = Work.blocks(work.task) ? Dispatchers.getIO() : Dispatchers.getDefault();
        List<Deferred<Integer>> all = new ArrayList<>(work.n);
        BuildersKt.runBlocking(dispatcher, (scope, end) -> {
            for (int item : work.items) {
                all.add(BuildersKt.async(
                        scope, EmptyCoroutineContext.INSTANCE, CoroutineStart.DEFAULT, (s, e) -> work.apply(item)));
            }
            return all; // and ends when all have
        });
        int sum = 0;
        for (Deferred<Integer> one : all) {
            sum += one.getCompleted();
        }
        return work.checked(sum);
    }

    private static int submitted(ExecutorService executor, Work work) throws InterruptedException, ExecutionException {
        List<Future<Integer>> futures = new ArrayList<>(work.n);
        for (Callable<Integer> task : work.tasks) {
            futures.add(executor.submit(task));
        }
        int sum = 0;
        for (Future<Integer> future : futures) {
            sum += future.get();
        }
        return work.checked(sum);
    }

    /** Forks all, and gives the sum of the results. */
    static int inRawScope(List<Callable<Integer>> tasks) throws InterruptedException {
        try (var scope = StructuredTaskScope.open()) {
            List<Subtask<Integer>> forks = new ArrayList<>(tasks.size());
            for (Callable<Integer> task : tasks) {
                forks.add(scope.fork(task));
            }
            scope.join();
            return sumOf(forks);
        }
    }

    /** As {@link #inRawScope}, in a scope of Jox. */
    static int inJox(List<Callable<Integer>> tasks) throws InterruptedException {
        return Scopes.supervised(scope -> {
            List<Fork<Integer>> forks = new ArrayList<>(tasks.size());
            for (Callable<Integer> task : tasks) {
                forks.add(scope.fork(task));
            }
            int sum = 0;
            for (Fork<Integer> fork : forks) {
                sum += fork.join();
            }
            return sum;
        });
    }

    /** Starts a virtual thread for each of {@code n}, and gives the sum of the results. */
    static int onPlainThreads(int n, IntUnaryOperator task) throws InterruptedException {
        int[] results = new int[n];
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            int place = i;
            threads[i] = Thread.startVirtualThread(() -> results[place] = task.applyAsInt(place));
        }
        int sum = 0;
        for (int i = 0; i < n; i++) {
            threads[i].join();
            sum += results[i];
        }
        return sum;
    }

    static int sum(List<Integer> values) {
        int sum = 0;
        for (int value : values) {
            sum += value;
        }
        return sum;
    }

    private static int sumOf(List<Subtask<Integer>> forks) {
        int sum = 0;
        for (Subtask<Integer> fork : forks) {
            sum += fork.get();
        }
        return sum;
    }
}
