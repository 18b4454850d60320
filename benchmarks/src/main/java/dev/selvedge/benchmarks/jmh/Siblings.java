package dev.selvedge.benchmarks.jmh;

import static dev.selvedge.Selvedge.scope;

import com.softwaremill.jox.structured.JoxScopeExecutionException;
import dev.selvedge.DeadlineExceededException;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.ScopeSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.StructuredTaskScope;
import java.util.concurrent.StructuredTaskScope.FailedException;
import java.util.concurrent.StructuredTaskScope.Joiner;
import java.util.concurrent.StructuredTaskScope.TimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Tasks that wait for ever, with an owner in a thread of its own. They are started and waiting before a measurement begins; what
 * is measured is the time from the event that ends them until their owner has ended, and so have they.
 */
@State(Scope.Benchmark)
public abstract class Siblings {

    static final String FAIL = "fail";
    static final String DEADLINE = "deadline";
    static final String NESTED = "nested";

    /** How many tasks; for {@link #NESTED}, how many scopes in each other, the innermost with one task. */
    @Param({"1", "10", "100", "1000", "10000"})
    @Less(
            quick = {"100", "1000"},
            once = {"10"})
    public int n;

    /** What ends them: the failure of one more task, the scope's deadline, or such a failure beside nested scopes. */
    @Param({FAIL, DEADLINE, NESTED})
    @Less(
            quick = {FAIL, DEADLINE, NESTED},
            once = {FAIL, DEADLINE, NESTED})
    public String event;

    private Thread owner;
    private CountDownLatch waiting;
    private CountDownLatch failure;
    private AtomicInteger ended;
    private long due;
    private volatile boolean wasEnded;

    /** Of a scope with a deadline. */
    Duration limit;

    /** Starts them. */
    @Setup(Level.Invocation)
    public void start() throws InterruptedException {
        if (limit == null) {
            limit = Duration.ofMillis(100 + n / 20);
        }
        while (!allWait()) {
            // On a busy machine the deadline may pass while they are being started: then once more, with a later one.
            owner.join();
            limit = limit.multipliedBy(2);
        }
    }

    private boolean allWait() throws InterruptedException {
        waiting = new CountDownLatch(waiters());
        failure = new CountDownLatch(1);
        ended = new AtomicInteger();
        wasEnded = false;
        owner = Thread.ofPlatform().daemon().start(this::own);
        if (!event.equals(DEADLINE)) {
            waiting.await();
            return true;
        }
        return waiting.await(limit.toNanos(), TimeUnit.NANOSECONDS) && isAwaited();
    }

    private int waiters() {
        return event.equals(NESTED) ? 1 : n;
    }

    private void own() {
        List<Callable<Integer>> tasks = tasks(n);
        due = System.nanoTime() + limit.toNanos();
        try {
            switch (event) {
                case FAIL -> fail(tasks);
                case DEADLINE -> deadline(tasks);
                default -> fail(List.of(() -> nest(n), this::fails));
            }
        } catch (Exception e) {
            wasEnded = isExpected(e);
        }
    }

    private List<Callable<Integer>> tasks(int n) {
        List<Callable<Integer>> tasks = new ArrayList<>(n + 1);
        for (int i = 0; i < n; i++) {
            tasks.add(this::waits);
        }
        if (event.equals(FAIL)) {
            tasks.add(this::fails);
        }
        return tasks;
    }

    private int waits() throws InterruptedException {
        try {
            waiting.countDown();
            new CountDownLatch(1).await();
            return 0;
        } finally {
            ended.incrementAndGet();
        }
    }

    private int fails() throws InterruptedException {
        failure.await();
        throw new IllegalStateException("failed as it should");
    }

    private int nest(int depth) throws Exception {
        return depth == 1 ? waits() : one(() -> nest(depth - 1));
    }

    /** Waits for the deadline, asleep, and awake for the last bit: a timer of this thread is as late as the one that is measured. */
    private boolean isAwaited() {
        long left = due - System.nanoTime();
        LockSupport.parkNanos(left - 500_000);
        while (System.nanoTime() < due) {
            Thread.onSpinWait();
        }
        return left > 0;
    }

    /** The event, and the end: gives how many were ended. */
    int end() throws InterruptedException {
        failure.countDown();
        owner.join();
        if (!wasEnded || ended.get() != waiters()) {
            throw new IllegalStateException(ended + " of " + waiters() + " have ended; as they should: " + wasEnded);
        }
        return ended.get();
    }

    /** Runs tasks, one of which will fail. */
    abstract void fail(List<Callable<Integer>> tasks) throws Exception;

    /** Runs tasks with a deadline. */
    abstract void deadline(List<Callable<Integer>> tasks) throws Exception;

    /** Runs one task in a scope of its own. */
    abstract int one(Callable<Integer> task) throws Exception;

    abstract boolean isExpected(Exception e);

    /** This library's. */
    public static class Gather extends Siblings {

        private static final ScopeSpec SPEC = scope();

        @Override
        void fail(List<Callable<Integer>> tasks) {
            SPEC.gather(tasks);
        }

        @Override
        void deadline(List<Callable<Integer>> tasks) {
            SPEC.deadline(limit).gather(tasks);
        }

        @Override
        int one(Callable<Integer> task) {
            return SPEC.gather(List.of(task)).getFirst();
        }

        @Override
        boolean isExpected(Exception e) {
            return e instanceof ScopeFailedException || e instanceof DeadlineExceededException;
        }
    }

    /** The JDK's. */
    public static class RawScope extends Siblings {

        @Override
        void fail(List<Callable<Integer>> tasks) throws InterruptedException {
            FanOut.inRawScope(tasks);
        }

        @Override
        void deadline(List<Callable<Integer>> tasks) throws InterruptedException {
            try (var scope =
                    StructuredTaskScope.open(Joiner.<Integer>awaitAllSuccessfulOrThrow(), c -> c.withTimeout(limit))) {
                tasks.forEach(scope::fork);
                scope.join();
            }
        }

        @Override
        int one(Callable<Integer> task) throws InterruptedException {
            return FanOut.inRawScope(List.of(task));
        }

        @Override
        boolean isExpected(Exception e) {
            return e instanceof FailedException || e instanceof TimeoutException;
        }
    }

    /** Jox's. */
    public static class Jox extends Siblings {

        @Override
        void fail(List<Callable<Integer>> tasks) throws InterruptedException {
            FanOut.inJox(tasks);
        }

        @Override
        void deadline(List<Callable<Integer>> tasks) {
            throw new UnsupportedOperationException();
        }

        @Override
        int one(Callable<Integer> task) throws InterruptedException {
            return FanOut.inJox(List.of(task));
        }

        @Override
        boolean isExpected(Exception e) {
            return e instanceof JoxScopeExecutionException;
        }
    }

    /** By hand: whoever ends first tells whether the rest go on. */
    public static class Executor extends Siblings {

        @Override
        void fail(List<Callable<Integer>> tasks) throws Exception {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                ExecutorCompletionService<Integer> ends = new ExecutorCompletionService<>(executor);
                tasks.forEach(ends::submit);
                awaitAll(ends, executor, tasks.size());
            }
        }

        private static void awaitAll(ExecutorCompletionService<Integer> ends, ExecutorService executor, int count)
                throws InterruptedException, ExecutionException {
            try {
                for (int i = 0; i < count; i++) {
                    Future<Integer> end = ends.take();
                    end.get();
                }
            } catch (ExecutionException e) {
                executor.shutdownNow();
                throw e;
            }
        }

        @Override
        void deadline(List<Callable<Integer>> tasks) throws Exception {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                for (Future<Integer> future : executor.invokeAll(tasks, limit.toNanos(), TimeUnit.NANOSECONDS)) {
                    future.get();
                }
            }
        }

        @Override
        int one(Callable<Integer> task) throws Exception {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                try {
                    return executor.submit(task).get();
                } catch (InterruptedException e) {
                    executor.shutdownNow(); // its close would wait for the task for ever
                    throw e;
                }
            }
        }

        @Override
        boolean isExpected(Exception e) {
            return e instanceof ExecutionException || e instanceof CancellationException;
        }
    }
}
