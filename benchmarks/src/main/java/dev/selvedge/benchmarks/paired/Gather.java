package dev.selvedge.benchmarks.paired;

import static dev.selvedge.Selvedge.scope;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A thread for each of {@code n} tasks that do nothing, and the sum of their values: what a fan-out itself costs. */
final class Gather implements Suite {

    @Override
    public String name() {
        return "gather";
    }

    @Override
    public String about() {
        return "n no-op tasks, each in a thread of its own, in an unnamed scope";
    }

    @Override
    public List<Integer> sizes() {
        return List.of(10, 1_000);
    }

    @Override
    public List<Contender> contenders(int n) {
        Callable<Integer>[] tasks = noOps(n);
        return List.of(
                new Contender("StructuredTaskScope", () -> rawScope(tasks)),
                new Contender("scope().gather", () -> gather(tasks)),
                new Contender("virtual-thread executor", () -> executor(tasks)));
    }

    private static Callable<Integer>[] noOps(int n) {
        @SuppressWarnings({"unchecked", "rawtypes"}) // filled with nothing else
        Callable<Integer>[] tasks = new Callable[n];
        Arrays.fill(tasks, (Callable<Integer>) () -> 1);
        return tasks;
    }

    private static long rawScope(Callable<Integer>[] tasks) throws Exception {
        try (AutoCloseable scope = Jdk.openScope()) {
            List<Object> forks = new ArrayList<>(tasks.length);
            for (Callable<Integer> task : tasks) {
                forks.add(Jdk.fork(scope, task));
            }
            Jdk.join(scope);
            return sum(forks);
        }
    }

    /** Of forks that have succeeded. */
    static long sum(List<Object> forks) {
        long sum = 0;
        for (Object fork : forks) {
            sum += Jdk.value(fork);
        }
        return sum;
    }

    private static long gather(Callable<Integer>[] tasks) {
        long sum = 0;
        for (int value : scope().gather(tasks)) {
            sum += value;
        }
        return sum;
    }

    private static long executor(Callable<Integer>[] tasks) throws Exception {
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> futures = new ArrayList<>(tasks.length);
            for (Callable<Integer> task : tasks) {
                futures.add(executor.submit(task));
            }
            long sum = 0;
            for (Future<Integer> future : futures) {
                sum += future.get();
            }
            return sum;
        }
    }
}
