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
 * <pre>
 *   NEW → RUNNING                       the fork's thread begins the task
 *   NEW → CANCELLED                     it was cancelled before: the task never runs
 *   RUNNING → INTERRUPTING → INTERRUPTED    someone cancels it; between the two the thread is interrupted
 *   any but NEW → SUCCEEDED, FAILED, CANCELLED    the fork's thread ends the task
 * </pre>
 *
 * <p>A fork is not asked to wait for a canceller when it ends: interrupting a virtual thread that has ended does nothing.
 * Only when it opens its first block, and so its ledger, it waits until a canceller has interrupted the thread: from then on
 * requests go through the ledger, and none may be counted twice or not at all.
 */
sealed class ForkTask<T extends @Nullable Object> implements Callable<@Nullable Object> permits LiveFork {

    private static final VarHandle STATE;
    private static final VarHandle RUNNER;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(ForkTask.class, "state", int.class);
            RUNNER = lookup.findVarHandle(ForkTask.class, "runner", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int NEW = 0;
    private static final int RUNNING = 1;
    private static final int INTERRUPTING = 2;
    private static final int INTERRUPTED = 3;
    private static final int SUCCEEDED = 4;
    private static final int FAILED = 5;
    private static final int CANCELLED = 6;

    final OpenScope scope;

    /** The task until it ends; then its value, what it threw, or the reason why it was cut off. Published by the state. */
    private @Nullable Object cell;

    /** The thread, noted by the scope's owner before it starts; the thread's ledger, once it has one. */
    private volatile @Nullable Object runner;

    /** See the type. */
    private volatile int state;

    ForkTask(OpenScope scope, Callable<? extends T> task) {
        this.scope = scope;
        this.cell = task;
    }

    /** Runs on the fork's thread; never throws. */
    @Override
    public @Nullable Object call() {
        if (!STATE.compareAndSet(this, NEW, RUNNING)) {
            scope.forkEnded(this);
            return null;
        }
        scope.forkStarted(this);
        @Nullable Object result;
        int end;
        try {
            result = ((Callable<?>) Objects.requireNonNull(cell)).call();
            end = SUCCEEDED;
        } catch (Throwable t) {
            CancelReason why = whyCutOffBy(t);
            result = why == null ? t : why;
            end = why == null ? FAILED : CANCELLED;
        }
        cell = result;
        try {
            if (end == FAILED) {
                scope.record(this, (Throwable) Objects.requireNonNull(result));
            } else if (end == CANCELLED) {
                scope.cutOff();
            }
        } finally {
            settle(end);
            scope.forkEnded(this);
        }
        return null;
    }

    /**
     * Why the task was cut off, if that is what its exception tells; null if it failed. A checkpoint may have met the reason of
     * a block around the scope, of which the scope itself has not heard: then the scope is cancelled too.
     */
    private @Nullable CancelReason whyCutOffBy(Throwable thrown) {
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

    /** Publishes the end. Nobody can wait for a plain fork but by its thread's end, so a release store is enough. */
    void settle(int end) {
        STATE.setRelease(this, end);
    }

    /** The same for forks that others may wait for. */
    final void settleVisibly(int end) {
        STATE.setVolatile(this, end);
    }

    /** Asks it to stop: interrupts the task if it runs, or sees to it that it never runs. */
    final void interrupt() {
        for (int spins = 0; ; spins++) {
            int s = state;
            if (s == NEW) {
                if (STATE.compareAndSet(this, NEW, CANCELLED)) {
                    cell = whyCutOff(); // lets go of the task
                    scope.cutOff();
                    settledUnrun();
                    return;
                }
            } else if (s == RUNNING || s == INTERRUPTED) {
                if (STATE.compareAndSet(this, s, INTERRUPTING)) {
                    deliver();
                    STATE.compareAndSet(this, INTERRUPTING, INTERRUPTED); // fails if the task has ended meanwhile
                    return;
                }
            } else if (s != INTERRUPTING) {
                return;
            } else {
                Frame.spin(spins);
            }
        }
    }

    private void deliver() {
        TimeSource clock = scope.context.clock();
        if (runner instanceof Ledger ledger) {
            ledger.cancelFromOutside(clock);
        } else if (runner instanceof Thread thread) {
            clock.interrupt(thread);
        }
    }

    /** It was cancelled before it ran. */
    void settledUnrun() {}

    /** Its thread could not be started. */
    void neverStarted() {}

    final boolean wasInterrupted() {
        int s = state;
        return s == INTERRUPTING || s == INTERRUPTED;
    }

    /** Whether it has ended, or will never run. */
    public final boolean isDone() {
        return state >= SUCCEEDED;
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
        if (cell instanceof CancelReason why) {
            return why;
        }
        CancelReason why = cancelReason();
        return why == null ? scope.reasonOfUnrun() : why;
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
        for (int spins = 0; state == INTERRUPTING; spins++) {
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
