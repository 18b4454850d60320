package dev.selvedge;

import dev.selvedge.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A task in a thread of its own: itself what the container runs, and where its result lies. 32 bytes.
 *
 * <p>Only the fork's thread settles it: it looks whether there is a reason not to run, runs the task, publishes the end. A
 * canceller sets the reason first, then interrupts the thread, begun or not. So either the fork sees the reason before the
 * task begins, and the task never runs; or the task runs, and is interrupted.
 *
 * <p>A fork is not asked to wait for a canceller when it ends: interrupting a virtual thread that has ended does nothing.
 * Only when it opens its first block, and so its ledger, it waits until a canceller has interrupted the thread: from then on
 * requests go through the ledger, and none may be counted twice or not at all.
 */
sealed class ForkTask<T extends @Nullable Object> implements Callable<@Nullable Object> permits LiveFork {

    private static final VarHandle STATE;
    private static final VarHandle RUNNER;
    private static final VarHandle CANCELS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(ForkTask.class, "state", int.class);
            RUNNER = lookup.findVarHandle(ForkTask.class, "runner", Object.class);
            CANCELS = lookup.findVarHandle(ForkTask.class, "cancels", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int SUCCEEDED = 1;
    private static final int FAILED = 2;
    private static final int CANCELLED = 3;

    /** Who asked the fork to stop: each interrupts it once. */
    static final int BY_SCOPE = 1;

    static final int BY_HANDLE = 2;
    private static final int INTERRUPTING = 4;

    final OpenScope scope;

    /** The task until it ends; then its value, what it threw, or the reason why it was cut off. Published by the state. */
    private @Nullable Object cell;

    /** The thread, noted by the scope's owner before it starts; the thread's ledger, once it has one. */
    private volatile @Nullable Object runner;

    /** 0 → SUCCEEDED, FAILED or CANCELLED, by the fork's thread. */
    private volatile int state;

    /** Who has interrupted it, and whether somebody is about to; by cancellers. */
    private volatile int cancels;

    ForkTask(OpenScope scope, Callable<? extends T> task) {
        this.scope = scope;
        this.cell = task;
    }

    /** Runs on the fork's thread; never throws. */
    @Override
    public @Nullable Object call() {
        CancelReason before = cancelReason();
        if (before != null) {
            neverRuns(before);
            scope.forkEnded(this, null);
            return null;
        }
        Audience listening = scope.audience();
        ForkTale tale = listening == null ? null : scope.forkStarted(this, listening);
        @Nullable Object result;
        int end;
        try {
            result = ((Callable<?>) Objects.requireNonNull(cell)).call();
            end = SUCCEEDED;
        } catch (Throwable t) {
            CancelReason why = whyCutOffBy(t);
            if (why != null) {
                scope.unhandled(Cancellation.attachedTo(t)); // the reason is kept, and cannot carry them
            }
            result = why == null ? t : why;
            end = why == null ? FAILED : CANCELLED;
        }
        cell = result;
        try {
            if (end == FAILED) {
                scope.record(
                        this, scope.nameOf(this), scope.numberOf(this), (Throwable) Objects.requireNonNull(result));
            } else if (end == CANCELLED) {
                tellCutOff();
            }
        } finally {
            settle(end);
            scope.forkEnded(this, tale);
        }
        return null;
    }

    /**
     * Why the task was cut off, if that is what its exception tells; null if it failed. A checkpoint may have met the reason of
     * a block around the scope, of which the scope itself has not heard: then the scope is cancelled too.
     */
    final @Nullable CancelReason whyCutOffBy(Throwable thrown) {
        if (!Cancellation.isInFlight(thrown)) {
            return null;
        }
        CancelReason why = cancelReason();
        if (why == null && thrown instanceof ScopeCancelledException e && scope.isInherited(e.reason())) {
            scope.cancelSilently(e.reason());
            return e.reason();
        }
        return why;
    }

    /** It was cancelled before it began. */
    final void neverRuns(CancelReason why) {
        cell = why; // lets go of the task
        tellCutOff();
        settle(CANCELLED);
    }

    /** The scope is not what it was to be, unless somebody wanted this fork alone to stop, or it would never have ended. */
    private void tellCutOff() {
        if (!wasCancelledItself() && !isDaemon()) {
            scope.cutOff();
        }
    }

    /** Publishes the end. Nobody can wait for a plain fork but by its thread's end, so a release store is enough. */
    void settle(int end) {
        STATE.setRelease(this, end);
    }

    /** The same for forks that others may wait for. */
    final void settleVisibly(int end) {
        STATE.setVolatile(this, end);
    }

    /** Interrupts it, once for each who asks; the reason has been set. */
    final void interrupt(int by) {
        for (int spins = 0; ; spins++) {
            int c = cancels;
            if (isDone() || (c & by) != 0) {
                return;
            }
            if ((c & INTERRUPTING) != 0) {
                Frame.spin(spins);
            } else if (CANCELS.compareAndSet(this, c, c | INTERRUPTING)) {
                cancels = deliver() ? c | by : c; // without a thread yet: the owner looks again when it has started one
                return;
            }
        }
    }

    private boolean deliver() {
        TimeSource clock = scope.context.clock();
        switch (runner) {
            case Ledger ledger -> ledger.cancelFromOutside(clock);
            case Thread thread -> clock.interrupt(thread);
            case null, default -> {
                return false;
            }
        }
        return true;
    }

    /** Its thread could not be started. */
    void neverStarted() {}

    final boolean wasInterrupted() {
        return (cancels & (BY_SCOPE | BY_HANDLE)) != 0;
    }

    /** Whether it has ended, or will never run. */
    public final boolean isDone() {
        return state != 0;
    }

    final boolean hasSucceeded() {
        return state == SUCCEEDED;
    }

    final boolean hasFailed() {
        return state == FAILED;
    }

    final boolean wasCutOff() {
        return state == CANCELLED;
    }

    /** The value of a fork that has succeeded, or what a failed one threw. */
    @SuppressWarnings({"unchecked", "NullAway"}) // the cell holds a T, which may be null, once the state says so
    final T result() {
        return (T) cell;
    }

    /** Before its end: what it runs. */
    final @Nullable Object task() {
        return cell;
    }

    final Throwable failure() {
        return (Throwable) Objects.requireNonNull(cell);
    }

    /** How it ended. */
    final Outcome<T> outcomeWhenDone() {
        return switch (state) {
            case SUCCEEDED -> new Outcome.Success<>(result());
            case FAILED -> new Outcome.Failure<>(failure());
            default -> new Outcome.Cancelled<>(whyCutOff());
        };
    }

    final CancelReason whyCutOff() {
        return (CancelReason) Objects.requireNonNull(cell);
    }

    /** Whether it was cancelled by its handle. */
    boolean wasCancelledItself() {
        return false;
    }

    /** Whether it is not waited for, but cut off when all others have ended. */
    boolean isDaemon() {
        return false;
    }

    /** Why this fork was cancelled, by its scope or by itself; null if it was not. */
    @Nullable
    CancelReason cancelReason() {
        return scope.reason();
    }

    /** The same, or why anything around it was. */
    final @Nullable CancelReason cancelReasonAround() {
        CancelReason why = cancelReason();
        return why == null ? scope.ledger.reasonAround(scope) : why;
    }

    /** The fork is done and its thread over, or about to be: lets go of it. */
    final void detach() {
        runner = null;
    }

    /** Before the thread starts: whoever sees the task run sees its thread, so a fence less is enough. */
    final void runsOn(Thread thread) {
        RUNNER.setRelease(this, thread);
    }

    /** Its thread, or null if that has not been made yet. */
    final @Nullable Thread thread() {
        Object r = runner;
        return r instanceof Ledger ledger ? ledger.owner : (Thread) r;
    }

    /** The ledger of its thread, or null if it has opened no block. */
    final @Nullable Ledger ledger() {
        return runner instanceof Ledger ledger ? ledger : null;
    }

    /** On the fork's thread: from now on requests go through a ledger. */
    final Ledger openLedger() {
        Ledger ledger = new Ledger(this);
        runner = ledger;
        for (int spins = 0; (cancels & INTERRUPTING) != 0; spins++) {
            Frame.spin(spins);
        }
        return ledger;
    }

    /** The name it was given, or null. A plain fork knows neither name nor number: both follow from its place. */
    @Nullable
    String givenName(int index) {
        return index < 0 ? null : scope.givenNameAt(index);
    }

    /** Its number among the forks of the scope, from 1. */
    int number(int index) {
        return index + 1;
    }
}
