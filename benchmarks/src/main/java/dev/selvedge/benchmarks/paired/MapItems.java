package dev.selvedge.benchmarks.paired;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.ScopeSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;

/** A function over {@code n} items that does next to nothing: what the call itself costs, and what it costs to limit it. */
final class MapItems implements Suite {

    private static final int LIMIT = 64;
    private static final ScopeSpec LIMITED = scope().concurrency(LIMIT);

    /** Pools as users have them: made once. */
    private static final ExecutorService FIXED =
            Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors(), MapItems::daemon);

    private static final ForkJoinPool FORK_JOIN = new ForkJoinPool();

    private final boolean limited;

    private MapItems(boolean limited) {
        this.limited = limited;
    }

    static List<Suite> suites() {
        return List.of(new MapItems(false), new MapItems(true));
    }

    private static Thread daemon(Runnable r) {
        return Thread.ofPlatform().daemon().unstarted(r);
    }

    @Override
    public String name() {
        return limited ? "map-limited" : "map";
    }

    @Override
    public String about() {
        return limited ? "n no-op items, 64 at a time" : "n no-op items, against a task for each";
    }

    @Override
    public List<Integer> sizes() {
        return List.of(1_000);
    }

    @Override
    public List<Contender> contenders(int n) {
        List<Integer> items = IntStream.range(0, n).boxed().toList();
        if (limited) {
            List<Contender> contenders = new ArrayList<>(List.of(
                    new Contender("scope and semaphore", () -> semaphore(items)),
                    new Contender("concurrency(64).map", () -> sum(LIMITED.map(items, MapItems::next)))));
            if (Jdk.hasGatherers()) {
                contenders.add(new Contender(
                        "Gatherers.mapConcurrent(64)",
                        () -> Jdk.mapConcurrent(items.stream(), LIMIT, MapItems::next)
                                .mapToLong(i -> i)
                                .sum()));
            }
            return contenders;
        }
        return List.of(
                new Contender("StructuredTaskScope", () -> rawScope(items)),
                new Contender("scope().map", () -> sum(scope().map(items, MapItems::next))),
                new Contender("fixed pool of nCPU", () -> submitted(FIXED, items)),
                new Contender("ForkJoinPool", () -> submitted(FORK_JOIN, items)),
                new Contender("virtual-thread executor", () -> virtual(items)),
                new Contender(
                        "parallel stream",
                        () -> items.parallelStream().mapToLong(MapItems::next).sum()));
    }

    private static int next(int i) {
        return i + 1;
    }

    private static long sum(List<Integer> values) {
        long sum = 0;
        for (int value : values) {
            sum += value;
        }
        return sum;
    }

    private static long rawScope(List<Integer> items) throws Exception {
        try (AutoCloseable scope = Jdk.openScope()) {
            List<Object> forks = new ArrayList<>(items.size());
            for (int item : items) {
                forks.add(Jdk.fork(scope, () -> next(item)));
            }
            Jdk.join(scope);
            return Gather.sum(forks);
        }
    }

    private static long semaphore(List<Integer> items) throws Exception {
        Semaphore permits = new Semaphore(LIMIT);
        try (AutoCloseable scope = Jdk.openScope()) {
            List<Object> forks = new ArrayList<>(items.size());
            for (int item : items) {
                permits.acquire();
                Callable<Integer> task = () -> {
                    try {
                        return next(item);
                    } finally {
                        permits.release();
                    }
                };
                forks.add(Jdk.fork(scope, task));
            }
            Jdk.join(scope);
            return Gather.sum(forks);
        }
    }

    private static long submitted(ExecutorService pool, List<Integer> items) throws Exception {
        List<Future<Integer>> futures = new ArrayList<>(items.size());
        for (int item : items) {
            futures.add(pool.submit(() -> next(item)));
        }
        long sum = 0;
        for (Future<Integer> future : futures) {
            sum += future.get();
        }
        return sum;
    }

    private static long virtual(List<Integer> items) throws Exception {
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            return submitted(executor, items);
        }
    }
}
