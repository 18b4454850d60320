package dev.selvedge;

import dev.selvedge.time.Alarm;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.VirtualClock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One block of the library on one thread: what can be asked to stop by itself. Frames of a thread form a stack, its {@link
 * Ledger}.
 *
 * <p>Two things happen to a frame from outside. It is <em>cancelled</em>: the first reason is kept, by a compare-and-set.
 * And it is <em>fired</em>: its thread is interrupted on its behalf. Firing and leaving exclude each other:
 *
 * <pre>
 *   OPEN → FIRING → FIRED     whoever fires; between the two the thread is interrupted
 *   OPEN → LEFT               the owner, done without having been fired
 * </pre>
 *
 * <p>So after a frame was left no interrupt comes on its behalf, and one that came is known.
 */
abstract class Frame extends Host {

    private static final VarHandle STATE;
    private static final VarHandle REASON;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(Frame.class, "state", int.class);
            REASON = lookup.findVarHandle(Frame.class, "reason", CancelReason.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int OPEN = 0;
    private static final int FIRING = 1;
    private static final int FIRED = 2;
    private static final int LEFT = 3;

    private static final int SPINS_BEFORE_YIELD = 100;

    /** The reason of a frame that has ended without one: later requests are refused. */
    private static final CancelReason ENDED = new CancelReason(CancelReason.Kind.CALLER, "ended", null);

    /** Cleared at the end, as {@link #below}: a scope that is held must hold neither its owner nor what lay around it. */
    Ledger ledger;

    @Nullable
    Frame below;

    final int depth;
    final Context context;
    private final @Nullable String name;

    /** This block's own deadline, if it is the one to fire it. */
    private final @Nullable Limit limit;

    private final long started;

    /** Those who listen, once they have been told that it is open. Set by the owner before there are forks. */
    private @Nullable Audience audience;

    /** OPEN → FIRING → FIRED by whoever fires; OPEN → LEFT by the owner. */
    private volatile int state;

    /** null → the first reason, by anyone; null → ENDED by the owner. */
    private volatile @Nullable CancelReason reason;

    /** Requests up to this number were delivered before the frame was entered. The owner's. */
    long baseline;

    /** The number of this frame's own request, 0 if there is none. Guarded by the ledger's lock. */
    long fired;

    /**
     * Prepares a frame on top of the calling thread's ledger; nothing is entered yet.
     *
     * @throws DeadlineExceededException if its deadline has passed already and no cancellation is pending
     * @throws ScopeCancelledException if its deadline has passed already and a cancellation is pending
     */
    Frame(Ledger ledger, ScopeSpec spec) {
        Context outer = ledger.context();
        this.started = spec.isTimed(outer) ? spec.timeWithin(outer).nanoTime() : 0;
        Deadline own = spec.deadlineWithin(outer);
        this.ledger = ledger;
        this.below = ledger.top();
        this.depth = below == null ? 1 : below.depth + 1;
        this.name = spec.name();
        this.context = outer.with(spec.handover(), own);
        if (spec.isOver(own)) {
            ledger.checkpoint();
            throw new DeadlineExceededException(
                    displayName(), Words.scope(name), spec.limitOf(own), elapsed(), List.of(), List.of(), null);
        }
        boolean earliest = context.deadline() == own && outer.deadline() != own;
        this.limit = earliest && !own.isNever() ? new Limit(this, "deadline", spec.limitOf(own)) : null;
    }

    /** One attempt of a task, with a timeout, which counts if it ends before any deadline around that is still to come. */
    Frame(Ledger ledger, @Nullable String scope, Duration timeout) {
        Context outer = ledger.context();
        Deadline own = outer.clock().after(timeout);
        boolean earliest = outer.outlasts(own);
        this.ledger = ledger;
        this.below = ledger.top();
        this.depth = below == null ? 1 : below.depth + 1;
        this.name = scope;
        this.context = earliest ? outer.until(own) : outer;
        this.limit = earliest && !own.isNever() ? new Limit(this, "timeout", timeout) : null;
        this.started = 0;
    }

    /** A frame without a deadline and a name: a shield. */
    Frame(Ledger ledger) {
        this.ledger = ledger;
        this.below = ledger.top();
        this.depth = below == null ? 1 : below.depth + 1;
        this.name = null;
        this.context = ledger.context().shielded();
        this.limit = null;
        this.started = 0;
    }

    @Override
    final @Nullable String givenName() {
        return name;
    }

    @Override
    final Context context() {
        return context;
    }

    /** Does the block's work between entering and leaving; gives or throws what leaves the block. */
    abstract @Nullable Object execute() throws Throwable;

    final void tellOpened() {
        if (context.hasListener()) {
            audience = new Audience(context, Objects.requireNonNull(context.listener()), newId());
            tell(new ScopeEvent.ScopeOpened(displayName()), 0);
            if (limit != null) {
                tell(new ScopeEvent.DeadlineSet(displayName(), limit.length), 0);
            }
        }
    }

    private ScopeId newId() {
        Frame around = Ledger.told(below);
        ForkTask<?> self = ledger.self;
        if (around != null || self == null) {
            return ScopeId.next(displayName(), around == null ? null : around.scopeId(), 0);
        }
        return ScopeId.next(displayName(), self.scope.scopeId(), self.scope.numberOf(self));
    }

    @Override
    final @Nullable ScopeId scopeId() {
        Audience mine = audience;
        return mine == null ? null : mine.scope;
    }

    /** Those who are told of it, and of its forks; null if nobody listened when it was opened. */
    final @Nullable Audience audience() {
        return audience;
    }

    final void tell(ScopeEvent event, long fork) {
        context.tell(event, scopeId(), fork);
    }

    final void unhandled(Throwable error) {
        context.unhandled(displayName(), scopeId(), error);
    }

    final void unhandled(List<Throwable> errors) {
        errors.forEach(this::unhandled);
    }

    /** Those for which there was no room. */
    final void unhandledRest(List<Throwable> errors) {
        context.unhandledRest(displayName(), scopeId(), errors);
    }

    /** The value of the block itself, which nobody gets. */
    final void discard(@Nullable Object value) {
        discard(displayName(), 0, value);
    }

    final void discard(String fork, long number, @Nullable Object value) {
        context.discard(displayName(), scopeId(), fork, number, value);
    }

    /** The last that is told of it: what it throws, or null. */
    final void tellClosed(@Nullable Throwable error) {
        if (audience != null) {
            tell(new ScopeEvent.ScopeClosed(displayName(), elapsed(), error), 0);
        }
    }

    /** Whether its deadline is its own, and no one around has an earlier one. */
    final boolean isEarliest() {
        return limit != null;
    }

    final void arm() {
        if (limit != null) {
            context.clock().set(limit, context.deadline());
        }
    }

    final void disarm() {
        if (limit != null) {
            limit.stop();
            limit.frame = null;
        }
    }

    /**
     * Asks the block to stop: the first reason is kept. From any thread.
     *
     * @return true if this call did it; false if it was asked before or has ended
     */
    final boolean cancel(CancelReason why) {
        if (!cancelSilently(why)) {
            return false;
        }
        announceCancel();
        return true;
    }

    /** As {@link #cancel}, but the listener is told later, by a thread of the scope: the timer must not run listeners. */
    final boolean cancelSilently(CancelReason why) {
        return atOneMoment(() -> cancelAndInterrupt(why));
    }

    /**
     * Sets a reason and interrupts those it is meant for. On a virtual clock no time passes between the two: else it could
     * jump over what is about to be cut off.
     */
    final boolean atOneMoment(BooleanSupplier steps) {
        return context.clock() instanceof VirtualClock virtual ? virtual.standingStill(steps) : steps.getAsBoolean();
    }

    private boolean cancelAndInterrupt(CancelReason why) {
        if (!REASON.compareAndSet(this, null, why)) {
            return false;
        }
        wasCancelled();
        cancelForks();
        ledger.fire(this);
        return true;
    }

    /** Once, by whoever has cancelled it, before anybody is interrupted. */
    void wasCancelled() {}

    /** If this block's own deadline has passed, it is cancelled, even if the timer has not come to it yet. */
    final void cancelIfPassed() {
        if (limit != null && context.deadline().passed()) {
            cancelPassed(limit);
        }
    }

    /** As the timer does; for tests that are the timer. */
    final boolean cancelAsPassed() {
        return limit != null && cancelSilently(limit.reason(name));
    }

    private void cancelPassed(Limit passed) {
        cancelSilently(passed.reason(name));
    }

    /** Whether a reason is that this block's own deadline has passed, and not another one. */
    private boolean isOwnDeadline(CancelReason why) {
        return limit != null && limit.reason == why;
    }

    /** Hands the request on to the forks, where there are any. */
    void cancelForks() {}

    /** Tells the listener that this block was cancelled, if it was and nobody has told so or is about to. */
    final void announceCancel() {
        Audience mine = audience;
        CancelReason why = mine == null ? null : reason();
        if (mine != null && why != null) {
            mine.cancel.make(() -> tellCancelled(why));
        }
    }

    /** The same; when it returns, the listener has been told of the cancellation, if there was one. */
    final void haveCancelAnnounced() {
        announceCancel();
        if (audience != null) {
            audience.cancel.awaitMade(context.clock());
        }
    }

    private void tellCancelled(CancelReason why) {
        if (isOwnDeadline(why) && limit != null) {
            tell(new ScopeEvent.DeadlinePassed(displayName(), limit.length), 0);
        }
        tell(new ScopeEvent.ScopeCancelled(displayName(), why), forkBehind(why));
    }

    /** The number of the fork whose end was the reason; 0 if it was something else. */
    long forkBehind(CancelReason why) {
        return 0;
    }

    /** Why the block was asked to stop, or null if it was not. */
    final @Nullable CancelReason reason() {
        CancelReason r = reason;
        return r == ENDED ? null : r;
    }

    /** From now on the block cannot be cancelled any more: what is decided is decided. */
    final void seal() {
        REASON.compareAndSet(this, null, ENDED);
    }

    /** The block is off the stack and concluded: lets go of all it was part of. */
    final void detach() {
        ledger = Ledger.NONE;
        below = null;
        reason = ENDED;
    }

    /** Whether a reason is that of a block around this one. */
    final boolean isInherited(CancelReason why) {
        return ledger.reasonAround(below) == why;
    }

    @Override
    final boolean wasCutOffByItsDeadline() {
        CancelReason why = reason();
        return why != null && isOwnDeadline(why) && ledger.reasonAround(below) == null;
    }

    @Override
    @Nullable
    ThreadFactory threads() {
        return null;
    }

    /** What this block throws because its own deadline passed, or because it was cancelled, by itself or by what is around it. */
    final RuntimeException stopped(
            CancelReason why, List<String> unfinished, List<Outcome<?>> outcomes, @Nullable Throwable cause) {
        if (isInherited(why)) {
            return ScopeCancelledException.inFlight(why, cause);
        }
        if (isOwnDeadline(why) && limit != null) {
            return new DeadlineExceededException(
                    displayName(), Words.scope(name), limit.length, elapsed(), unfinished, outcomes, cause);
        }
        return ScopeCancelledException.settled(why, cause == null ? why.cause() : cause);
    }

    /** What leaves the block for an exception that is not its own doing: an interrupt that is meant for something outside. */
    final Throwable asCancellation(Throwable thrown, Ledger.@Nullable Verdict verdict) {
        boolean named = thrown instanceof ScopeCancelledException && verdict != Ledger.Verdict.OUTSIDE;
        if (named || !(thrown instanceof InterruptedException || thrown instanceof ScopeCancelledException)) {
            return thrown;
        }
        return Cancellation.isInFlight(thrown)
                ? ScopeCancelledException.inFlight(ledger.reasonOutside(this), Cancellation.causeIn(thrown))
                : thrown;
    }

    final Duration elapsed() {
        return Duration.ofNanos(context.clock().nanoTime() - started);
    }

    /** Whether firing this frame is up to the caller from now on. */
    final boolean beginFiring() {
        return STATE.compareAndSet(this, OPEN, FIRING);
    }

    final void endFiring() {
        state = FIRED;
    }

    /** Leaves without having been fired: false if it was, and then {@link #awaitFired} comes first. */
    final boolean leaveUnfired() {
        return STATE.compareAndSet(this, OPEN, LEFT);
    }

    /** The firing thread only interrupts between the two states, so this is short. */
    final void awaitFired() {
        for (int spins = 0; state == FIRING; spins++) {
            spin(spins);
        }
    }

    /** Waits a moment for another thread that is between two steps of a handshake. */
    @SuppressWarnings("ThreadPriorityCheck") // that thread may need this one's carrier
    static void spin(int spins) {
        if (spins < SPINS_BEFORE_YIELD) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }

    /** The deadline of a block, as an alarm. */
    private static final class Limit extends Alarm {

        private static final VarHandle REASON_OF_LIMIT;

        static {
            try {
                REASON_OF_LIMIT = MethodHandles.lookup().findVarHandle(Limit.class, "reason", CancelReason.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final String word;
        private final Duration length;

        /** null → the one reason, by whoever finds first that the deadline has passed. */
        private volatile @Nullable CancelReason reason;

        /** Cleared by the owner at the end, so that a stopped alarm holds nothing. A ring that still sees it finds it left. */
        private @Nullable Frame frame;

        Limit(Frame frame, String word, Duration length) {
            this.frame = frame;
            this.word = word;
            this.length = length;
        }

        CancelReason reason(@Nullable String name) {
            CancelReason known = reason;
            if (known == null) {
                String message =
                        "the " + word + " of " + Deadline.inWords(length) + " of " + Words.scope(name) + " passed";
                CancelReason made = new CancelReason(CancelReason.Kind.DEADLINE, message, null);
                known = REASON_OF_LIMIT.compareAndSet(this, null, made) ? made : Objects.requireNonNull(reason);
            }
            return known;
        }

        @Override
        protected void ring() {
            Frame f = frame;
            if (f != null) {
                f.cancelPassed(this);
            }
        }

        @Override
        public String toString() {
            Frame f = frame;
            return "the " + word + " of " + Words.scope(f == null ? null : f.name);
        }
    }
}
