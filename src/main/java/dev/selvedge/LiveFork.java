package dev.selvedge;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.Waiter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A fork that others hold and may wait for. */
sealed class LiveFork<T extends @Nullable Object> extends ForkTask<T> implements Fork<T> permits VirtualFork {

    private static final VarHandle WAITING;
    private static final VarHandle OWN_REASON;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            WAITING = lookup.findVarHandle(LiveFork.class, "waiting", Waiting.class);
            OWN_REASON = lookup.findVarHandle(LiveFork.class, "ownReason", CancelReason.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final @Nullable String name;
    private final int number;

    /** Those who wait: pushed by them, taken as a whole when the fork ends. */
    private volatile @Nullable Waiting waiting;

    /** null → the reason, if the fork is cancelled by its handle. */
    private volatile @Nullable CancelReason ownReason;

    /** Whether somebody has seen how it ended. */
    private volatile boolean looked;

    /** Whether it runs in the background, to be cut off at the end of the scope at the latest. Set before it starts. */
    private boolean daemon;

    LiveFork(OpenScope scope, Callable<? extends T> task, @Nullable String name, int number) {
        super(scope, task);
        this.name = name;
        this.number = number;
    }

    @Override
    public final String name() {
        return name == null ? "fork-" + number : name;
    }

    @Override
    final @Nullable String givenName(int index) {
        return name;
    }

    @Override
    final int number(int index) {
        return number;
    }

    @Override
    public final T join() {
        if (!isDone()) {
            await(scope.context.clock().never());
        }
        return joined();
    }

    @Override
    public final T join(Duration atMost) {
        Objects.requireNonNull(atMost, "atMost");
        if (isDone()) {
            return joined();
        }
        long start = scope.context.clock().nanoTime();
        if (!await(scope.context.clock().after(atMost))) {
            CancelReason late =
                    new CancelReason(CancelReason.Kind.DEADLINE, "the fork \"" + name() + "\" was late", null);
            cancel(late);
            await(scope.context.clock().never());
            if (!hasSucceeded()) {
                looked = true;
                Duration elapsed = Duration.ofNanos(scope.context.clock().nanoTime() - start);
                throw new DeadlineExceededException(
                        name(),
                        "the join of the fork \"" + name() + "\"",
                        atMost,
                        elapsed,
                        List.of(name()),
                        List.of(outcomeWhenDone()),
                        hasFailed() ? failure() : null);
            }
        }
        return joined();
    }

    private T joined() {
        looked = true;
        if (hasSucceeded()) {
            return result();
        }
        if (hasFailed()) {
            throw scope.failureOf(this);
        }
        CancelReason why = whyCutOff();
        throw ownReason == null && !scope.isOver()
                ? ScopeCancelledException.inFlight(why, null)
                : ScopeCancelledException.settled(why);
    }

    @Override
    public final Outcome<T> outcome() {
        if (!isDone()) {
            throw new IllegalStateException("the fork \"" + name() + "\" has not ended: join it first");
        }
        looked = true;
        return outcomeWhenDone();
    }

    @Override
    public final boolean cancel() {
        return cancel(new CancelReason(CancelReason.Kind.CALLER, "the fork \"" + name() + "\" was cancelled", null));
    }

    final boolean cancel(CancelReason why) {
        return scope.atOneMoment(() -> cancelAndInterrupt(why));
    }

    private boolean cancelAndInterrupt(CancelReason why) {
        if (isDone() || !OWN_REASON.compareAndSet(this, null, why)) {
            return false;
        }
        interrupt(BY_HANDLE);
        return true;
    }

    @Override
    final @Nullable CancelReason cancelReason() {
        CancelReason own = ownReason;
        return own == null ? super.cancelReason() : own;
    }

    @Override
    final boolean wasCancelledItself() {
        return ownReason != null;
    }

    final LiveFork<T> asDaemon() {
        daemon = true;
        return this;
    }

    @Override
    final boolean isDaemon() {
        return daemon;
    }

    final boolean wasLookedAt() {
        return looked;
    }

    /** Waits for the end: false if {@code until} passed first. */
    private boolean await(Deadline until) {
        if (thread() == Thread.currentThread()) {
            throw new IllegalStateException("the fork \"" + name() + "\" cannot wait for itself");
        }
        try {
            return awaitEnd(until);
        } catch (InterruptedException e) {
            throw Here.cancelledBy(e);
        }
    }

    final boolean awaitEnd(Deadline until) throws InterruptedException {
        if (isDone()) {
            return true;
        }
        Waiter waiter = scope.context.clock().waiter(this);
        wakeAtEnd(waiter);
        return waiter.await(until) || isDone();
    }

    /** Has the end of this fork wake a waiter; if it has ended, at once. */
    final void wakeAtEnd(Waiter waiter) {
        atEnd(waiter::wake);
    }

    /** Has something done when the fork has ended, by its thread; if it has ended, at once. It is done once or more often. */
    private void atEnd(Runnable action) {
        Waiting head;
        do {
            head = waiting;
        } while (!WAITING.compareAndSet(this, head, new Waiting(action, head)));
        if (isDone()) {
            action.run();
        }
    }

    @Override
    public final CompletableFuture<T> toCompletableFuture() {
        looked = true;
        CompletableFuture<T> future = new CompletableFuture<>();
        atEnd(() -> complete(future));
        CompletableFuture<?> unused = future.whenComplete((value, error) -> {
            if (future.isCancelled()) {
                cancel();
            }
        });
        return future;
    }

    private void complete(CompletableFuture<T> future) {
        boolean unused = hasSucceeded()
                ? future.complete(result())
                : future.completeExceptionally(hasFailed() ? failure() : ScopeCancelledException.settled(whyCutOff()));
    }

    @Override
    void settle(int end) {
        settleVisibly(end);
        wakeAll();
    }

    private void wakeAll() {
        Waiting w = (Waiting) WAITING.getAndSet(this, null);
        if (w == null) {
            return;
        }
        Waiting firstCome = null; // they were pushed: the last is on top
        for (; w != null; w = w.next) {
            firstCome = new Waiting(w.action, firstCome);
        }
        for (; firstCome != null; firstCome = firstCome.next) {
            firstCome.action.run();
        }
    }

    @Override
    public final String toString() {
        return "the fork \"" + name() + "\"";
    }

    private record Waiting(Runnable action, @Nullable Waiting next) {}
}
