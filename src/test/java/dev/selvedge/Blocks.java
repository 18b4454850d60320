package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.selvedge.time.Deadline;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** What the tests of blocks have in common: blocks inside blocks, and what leaves them. */
final class Blocks {

    private static final long PATIENCE_NANOS = 20_000_000_000L;

    private static final int COLLECTIONS = 1_000;

    private Blocks() {}

    /** A block for the inside of another, whose clock and listener it inherits. */
    static ScopeSpec inner(Duration deadline) {
        return Selvedge.scope("inner").deadline(deadline);
    }

    /** Runs a block, notes what leaves it, and lets that fly on. */
    static void through(Lab lab, ScopeSpec block, Task.Void<RuntimeException> body) {
        try {
            block.run(body);
            lab.note(block.name() + " left");
        } catch (RuntimeException e) {
            lab.note(block.name() + " left by " + e.getClass().getSimpleName() + ": " + e.getMessage());
            throw e;
        }
    }

    /** Runs code that is to be cut off, and keeps it from the code around. */
    static void swallow(Runnable code) {
        ScopeCancelledException unused = cancelled(code::run);
    }

    static DeadlineExceededException late(ThrowingCallable code) {
        return catchThrowableOfType(DeadlineExceededException.class, code);
    }

    static ScopeCancelledException cancelled(ThrowingCallable code) {
        return catchThrowableOfType(ScopeCancelledException.class, code);
    }

    static ScopeFailedException failed(ThrowingCallable code) {
        return catchThrowableOfType(ScopeFailedException.class, code);
    }

    /** The names of the blocks whose own deadline passed, in the order in which that was told. */
    static List<String> passed(Lab lab) {
        return lab.events(ScopeEvent.DeadlinePassed.class).stream()
                .map(ScopeEvent.DeadlinePassed::scope)
                .toList();
    }

    static boolean flag() {
        return Thread.currentThread().isInterrupted();
    }

    /** The deadline of the innermost block passes now, and its thread is interrupted, whatever the clock says. */
    static void passDeadline() {
        Frame top = Here.openLedger().top();
        if (top == null || !top.cancelAsPassed()) {
            throw new IllegalStateException("there is no block here, or it was cancelled before");
        }
    }

    /** Lets time pass as a computation does: an interrupt does not end it, and the flag is set afterwards if one came. */
    static void compute(Lab lab, Duration d) {
        Deadline end = lab.clock().after(d);
        boolean interrupted = Thread.interrupted();
        while (!end.passed()) {
            try {
                boolean unused = lab.clock().waiter().await(end);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits on the clock of the scope around, and is cut off by an exception that the library had no hand in. */
    static void rawSleep(Lab lab, Duration d) throws InterruptedException {
        boolean unused = lab.clock().waiter().await(lab.clock().after(d));
    }

    /** Runs code on a thread of its own, to its end. */
    static <T> T on(Lab lab, Thread.Builder kind, Callable<T> code) throws Exception {
        FutureTask<T> task = new FutureTask<>(code);
        Thread thread = kind.start(task);
        lab.watch(thread);
        thread.join();
        return task.get();
    }

    /** Asks for collections until the references are clear; fails if they stay. */
    static void awaitCollected(List<WeakReference<Object>> refs) {
        for (int i = 0; i < COLLECTIONS && refs.stream().anyMatch(r -> r.get() != null); i++) {
            System.gc();
            Thread.yield();
        }
        assertThat(refs).allMatch(r -> r.get() == null);
    }

    /** Blocks as code does that knows nothing of clocks: nothing but an interrupt ends it. */
    static int untilInterrupted() throws InterruptedException {
        new CountDownLatch(1).await();
        throw new AssertionError("nobody opens it");
    }

    /** Spins until another thread has done something, which it does soon. */
    static void spinUntil(BooleanSupplier so) {
        long start = System.nanoTime();
        while (!so.getAsBoolean()) {
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                throw new AssertionError("waited in vain");
            }
            Thread.onSpinWait();
        }
    }

    /** Forks something that happens after some time, whatever becomes of the scope. */
    static void after(Scope s, Duration d, Runnable what) {
        Fork<?> unused = s.fork("helper", () -> {
            Selvedge.shielded(() -> Selvedge.sleep(d));
            what.run();
        });
    }

    /** Has a scope be cancelled after some time. */
    static void cancelAfter(Scope s, Duration d) {
        after(s, d, () -> {
            if (!s.cancel("stop")) {
                throw new AssertionError("cancelled before");
            }
        });
    }
}
