package dev.selvedge.policy;

import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Work on several platform threads at once. */
public final class RealThreads {

    private RealThreads() {}

    /** Something that may throw. */
    public interface Work {
        void run() throws Exception;
    }

    /** Runs the work of each number on a thread of its own, and comes back when all have ended; throws what one throws. */
    public static void each(int threads, IntFunction<Work> work) throws Exception {
        List<FutureTask<Void>> tasks = IntStream.range(0, threads)
                .mapToObj(work)
                .map(w -> new FutureTask<Void>(() -> {
                    w.run();
                    return null;
                }))
                .toList();
        tasks.forEach(task -> Thread.ofPlatform().start(task));
        for (FutureTask<Void> task : tasks) {
            task.get();
        }
    }
}
