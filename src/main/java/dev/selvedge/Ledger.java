package dev.selvedge;

import dev.selvedge.time.TimeSource;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/*
 * A thread's interrupt flag is one bit, set by anyone, read and cleared by anyone; requests to stop come from many: the
 * deadline of each block on the thread's stack, the failure of a fork, a cancel, the scope whose fork the thread is, and code
 * that knows nothing of this library. So the truth about who asked stands here, and the bit is only the doorbell.
 *
 * Every request gets the next number, seq. A frame's own request is written into the frame; a request that no frame on this
 * stack owns, into external. delivered says up to which number the requests are known to have been seen by the thread: as an
 * exception in flight, or swallowed by the code inside.
 *
 *   Invariant inside blocks: flag set ⇔ a request is posted and not yet delivered.
 *
 * Fire interrupts first and publishes seq after. Enter reads seq, then the flag, and without a lock: if the flag is clear,
 * everything up to that seq has been delivered. In the other order a thread could read the new seq and a flag not yet set,
 * take the request for delivered, and blame an inner block for the interrupt that then comes.
 *
 * A frame's baseline is delivered as it was at entry. Requests up to it count for nothing inside the frame; so a block that is
 * opened while cleaning up after a time-out has its own life. Newer ones that belong outside are what is left over when a
 * fired frame is left: if an exception of the interrupt is in flight, it keeps flying; else the flag is set again.
 *
 * What cannot be told: a raw interrupt that comes after a request of ours was posted and before the frame is left. The bit was
 * set already, or is cleared with ours; it counts as part of the time-out.
 */
class Ledger {

    private static final ThreadLocal<@Nullable Ledger> PLAIN = new ThreadLocal<>();

    /** The ledger of blocks that have ended: of a thread that never runs. */
    static final Ledger NONE = new Ledger(Thread.ofVirtual().unstarted(() -> {}), null);

    final Thread owner;

    /** The fork whose thread this is, if it is one. */
    final @Nullable ForkTask<?> self;

    private final ReentrantLock lock = new ReentrantLock();

    /** Written by the owner; read by its forks, which find themselves through it. */
    private volatile @Nullable Frame top;

    /** The newest request. Written under the lock. */
    private volatile long seq;

    /** The newest request known to have been delivered. The owner's; others read it under the lock. */
    private volatile long delivered;

    /** The newest request that no frame of this stack owns. Under the lock. */
    private long external;

    /** The depth of the innermost shield, 0 if there is none. Written by the owner under the lock. */
    private int shieldDepth;

    /** Whether a shield keeps a request from the thread. Written under the lock. */
    private volatile boolean deferred;

    Ledger(@Nullable ForkTask<?> self) {
        this(Thread.currentThread(), self);
    }

    private Ledger(Thread owner, @Nullable ForkTask<?> self) {
        this.owner = owner;
        this.self = self;
    }

    /** The ledger of the calling thread, or null if it is in no block. */
    static @Nullable Ledger current() {
        Ledger inherited = Inherited.ledger();
        if (inherited == null) {
            return PLAIN.get();
        }
        if (inherited.owner == Thread.currentThread()) {
            return inherited;
        }
        ForkTask<?> fork = inherited.forkOf(Thread.currentThread());
        return fork == null ? PLAIN.get() : fork.ledger();
    }

    /** The ledger of the calling thread, made if there is none. */
    static Ledger here() {
        Ledger inherited = Inherited.ledger();
        if (inherited != null) {
            if (inherited.owner == Thread.currentThread()) {
                return inherited;
            }
            ForkTask<?> fork = inherited.forkOf(Thread.currentThread());
            if (fork != null) {
                Ledger own = fork.ledger();
                return own == null ? fork.openLedger() : own;
            }
        }
        Ledger own = PLAIN.get();
        if (own == null) {
            own = new Ledger(null);
            PLAIN.set(own);
        }
        return own;
    }

    /** Makes a ledger that of the calling thread. For tests that hold its steps. */
    static void install(Ledger ledger) {
        PLAIN.set(ledger);
    }

    /** The fork that the calling thread runs, or null if it runs none. */
    static @Nullable ForkTask<?> currentFork() {
        Ledger inherited = Inherited.ledger();
        if (inherited == null) {
            return null;
        }
        return inherited.owner == Thread.currentThread() ? inherited.self : inherited.forkOf(Thread.currentThread());
    }

    /** The context of the calling thread. */
    static Context currentContext() {
        Ledger ledger = current();
        if (ledger != null) {
            return ledger.context();
        }
        ForkTask<?> fork = currentFork();
        return fork == null ? Context.NONE : fork.scope.context;
    }

    /** Throws if the calling thread was asked to stop; see {@link Selvedge#checkpoint()}. */
    static void checkpointHere() {
        Ledger ledger = current();
        if (ledger != null) {
            ledger.checkpoint();
            return;
        }
        ForkTask<?> fork = currentFork();
        CancelReason why = fork == null ? null : fork.cancelReasonAround();
        if (Thread.interrupted()) {
            throw cancelledBy(new InterruptedException());
        }
        if (why != null) {
            throw cancelled(why, Long.MAX_VALUE, null);
        }
    }

    /** What an {@code InterruptedException} outside any frame becomes: in no block at all, the flag is set again. */
    static ScopeCancelledException cancelledBy(InterruptedException e) {
        Ledger ledger = current();
        if (ledger != null) {
            return ledger.cancelled(ledger.reasonAround(ledger.top), e);
        }
        ForkTask<?> fork = currentFork();
        if (fork == null) {
            Thread.currentThread().interrupt();
        }
        return cancelled(fork == null ? null : fork.cancelReasonAround(), Long.MAX_VALUE, e);
    }

    private ScopeCancelledException cancelled(@Nullable CancelReason why, @Nullable InterruptedException e) {
        return cancelled(why, seq, e);
    }

    private static ScopeCancelledException cancelled(
            @Nullable CancelReason why, long madeAt, @Nullable InterruptedException e) {
        return ScopeCancelledException.inFlight(why == null ? interruptOf(Thread.currentThread()) : why, madeAt, e);
    }

    static CancelReason interruptOf(Thread thread) {
        String name = thread.getName().isEmpty() ? "the thread" : "the thread \"" + thread.getName() + "\"";
        return new CancelReason(CancelReason.Kind.INTERRUPT, name + " was interrupted", null);
    }

    final @Nullable Frame top() {
        return top;
    }

    /** Whether the thread is in no block. */
    final boolean isIdle() {
        return top == null;
    }

    final Context context() {
        Frame t = top;
        if (t != null) {
            return t.context;
        }
        return self == null ? Context.NONE : self.scope.context;
    }

    /** Removes the ledger of a thread that is no fork, when its outermost block has ended. */
    final void release() {
        if (top == null && self == null) {
            PLAIN.remove();
        }
    }

    /** Among the forks of the open scopes of this thread, the one that runs on {@code thread}. */
    private @Nullable ForkTask<?> forkOf(Thread thread) {
        for (Frame f = top; f != null; f = f.below) {
            if (f instanceof OpenScope scope) {
                ForkTask<?> fork = scope.forkOn(thread);
                if (fork != null) {
                    return fork;
                }
            }
        }
        return null;
    }

    // Entering and leaving: the owner.

    final void enter(Frame f) {
        long s = seq;
        if (Thread.currentThread().isInterrupted()) {
            enterInterrupted(f);
        } else if (deferred) {
            f.baseline = s; // what the shield keeps away has not been delivered, and is nothing to the frames inside
        } else {
            delivered = s;
            f.baseline = s;
        }
        top = f;
    }

    private void enterInterrupted(Frame f) {
        lock.lock();
        try {
            noticeForeign(f.context.clock());
            f.baseline = deferred ? Math.max(delivered, shieldBaseline()) : delivered;
        } finally {
            lock.unlock();
        }
    }

    private long shieldBaseline() {
        for (Frame p = top; p != null; p = p.below) {
            if (p instanceof Shield) {
                return p.baseline;
            }
        }
        return 0;
    }

    /** Ends the part of a frame in which it can be interrupted on its own behalf. */
    final Verdict leave(Frame f, @Nullable Throwable thrown) {
        if (f.leaveUnfired()) {
            return Verdict.NOT_FIRED;
        }
        f.awaitFired();
        lock.lock();
        try {
            Thread.interrupted();
            boolean outside = leftOver(f) || flewBefore(f, thrown);
            if (Cancellation.isInFlight(thrown)) {
                deliver();
                return outside ? Verdict.OUTSIDE : Verdict.OWN;
            }
            if (outside) {
                postAgain(f);
            } else {
                deliver();
            }
            return Verdict.PASSED;
        } finally {
            lock.unlock();
        }
    }

    /** Takes a frame that was left off the stack. */
    final void pop(Frame f) {
        if (top != f) {
            throw new IllegalStateException("blocks of one thread end in the order in which they nest");
        }
        top = f.below;
    }

    /** A request addressed outside {@code f} was consumed, but something else is to be thrown or returned: it stays pending. */
    final void keepPending(Frame f) {
        lock.lock();
        try {
            postAgain(f);
        } finally {
            lock.unlock();
        }
    }

    private void postAgain(Frame f) {
        delivered = Math.min(delivered, f.baseline);
        owner.interrupt();
    }

    private void deliver() {
        if (!deferred) {
            delivered = seq;
        }
    }

    /** Whether a request that is newer than the frame belongs to something outside it, up to the next shield. */
    private boolean leftOver(Frame f) {
        for (Frame p = f.below; p != null; p = p.below) {
            if (p instanceof Shield) {
                return false;
            }
            if (p.fired > f.baseline) {
                return true;
            }
        }
        return external > f.baseline;
    }

    /** Whether a cancellation was in flight already when the frame was fired: a raw interrupt that a wait of ours has met. */
    private static boolean flewBefore(Frame f, @Nullable Throwable thrown) {
        return thrown instanceof ScopeCancelledException e && e.isInFlight() && e.madeAt() < f.fired;
    }

    // Shields: the owner.

    final void enterShield(Shield shield) {
        lock.lock();
        try {
            noticeForeign(shield.context.clock());
            shield.hadFlag = Thread.interrupted();
            shield.outerShield = shieldDepth;
            deferred |= shield.hadFlag;
            shield.baseline = seq;
            shieldDepth = shield.depth;
            top = shield;
        } finally {
            lock.unlock();
        }
    }

    final void leaveShield(Shield shield) {
        lock.lock();
        try {
            top = shield.below;
            shieldDepth = shield.outerShield;
            if (shieldDepth == 0) {
                boolean pending = deferred;
                deferred = false;
                if (pending) {
                    owner.interrupt();
                }
            } else if (shield.hadFlag || firedSince(shield)) {
                owner.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether a frame between this shield and the next one was fired while it stood. */
    private boolean firedSince(Shield shield) {
        for (Frame p = shield.below; p != null && !(p instanceof Shield); p = p.below) {
            if (p.fired > shield.baseline) {
                return true;
            }
        }
        return false;
    }

    final boolean isShielded() {
        return shieldDepth > 0;
    }

    // Requests: any thread.

    /** Cancels the blocks from {@code f} outwards whose own deadline has passed. */
    final void cancelPassed(Frame from) {
        for (Frame f = from; f != null; f = f.below) {
            f.cancelIfPassed();
        }
        if (self != null) {
            self.scope.ledger.cancelPassed(self.scope);
        }
    }

    /** Interrupts the owner on behalf of a frame: false if the frame was left or fired before. */
    final boolean fire(Frame f) {
        if (!f.beginFiring()) {
            return false;
        }
        at(Step.DECIDED);
        lock.lock();
        try {
            noticeForeign(f.context.clock());
            post(f);
        } finally {
            f.endFiring();
            lock.unlock();
        }
        return true;
    }

    /** The two steps of which the order matters. */
    void post(Frame f) {
        interrupt(f.depth, f.context.clock());
        at(Step.INTERRUPTED);
        publish(f);
        at(Step.PUBLISHED);
    }

    final void interrupt(int depth, TimeSource clock) {
        if (depth < shieldDepth) {
            deferred = true;
        } else {
            clock.interrupt(owner);
        }
    }

    final void publish(Frame f) {
        long request = seq + 1;
        f.fired = request;
        seq = request;
    }

    /** A request that no frame of this stack owns: the scope whose fork the thread is was cancelled, or the fork itself. */
    final void cancelFromOutside(TimeSource clock) {
        lock.lock();
        try {
            noticeForeign(clock);
            interrupt(0, clock);
            long request = seq + 1;
            external = request;
            seq = request;
        } finally {
            lock.unlock();
        }
    }

    /** Under the lock: a flag that none of ours accounts for was set by somebody else. */
    private void noticeForeign(TimeSource clock) {
        if (delivered == seq && clock.isInterrupted(owner)) {
            long request = seq + 1;
            external = request;
            seq = request;
        }
    }

    /** What happens between the steps of a fire: nothing, but in tests. */
    void at(Step step) {}

    enum Step {
        DECIDED,
        INTERRUPTED,
        PUBLISHED
    }

    /** How a frame was left. */
    enum Verdict {
        /** It was not fired: whatever is in flight is none of its business. */
        NOT_FIRED,
        /** The interrupt in flight is its own. */
        OWN,
        /** It was fired, but the interrupt in flight is that of something outside, or both's. */
        OUTSIDE,
        /** It was fired, and a value or another exception leaves it. */
        PASSED
    }

    // Questions: the owner.

    /** Throws if the thread was asked to stop: by a flag that is set, or by a block around that is cancelled. */
    final void checkpoint() {
        CancelReason why = reasonAround(top);
        boolean interrupted = Thread.interrupted();
        if (interrupted || why != null) {
            throw cancelled(why, interrupted ? new InterruptedException() : null);
        }
    }

    /** Why {@code from} or a block around it was asked to stop: the outermost reason, up to a shield; null if none was. */
    final @Nullable CancelReason reasonAround(@Nullable Frame from) {
        CancelReason why = null;
        for (Frame f = from; f != null; f = f.below) {
            if (f instanceof Shield) {
                return why;
            }
            CancelReason r = f.reason();
            why = r == null ? why : r;
        }
        CancelReason outside = self == null ? null : self.cancelReasonAround();
        return outside == null ? why : outside;
    }

    /** What an interrupt that is not {@code f}'s own means. */
    final CancelReason reasonOutside(Frame f) {
        CancelReason why = reasonAround(f.below);
        return why == null ? interruptOf(owner) : why;
    }

    // Listeners.

    /** Puts the calling thread's interrupt flag aside while code that is nobody's task runs. */
    static Aside putAside() {
        Ledger ledger = current();
        ForkTask<?> fork = currentFork();
        return new Aside(
                Thread.interrupted(),
                ledger,
                ledger == null ? 0 : ledger.seq,
                fork,
                fork != null && fork.wasInterrupted());
    }

    /**
     * The flag as it was.
     *
     * @param flag whether it was set
     * @param ledger the thread's ledger, if it has one
     * @param seq its newest request then
     * @param fork the thread's fork, if it is one
     * @param interrupted whether the fork had been interrupted then
     */
    record Aside(
            boolean flag,
            @Nullable Ledger ledger,
            long seq,
            @Nullable ForkTask<?> fork,
            boolean interrupted) {

        /** Sets the flag again, if it was set or a request was posted meanwhile. */
        void putBack() {
            if (flag || wasPosted()) {
                Thread.currentThread().interrupt();
            }
        }

        private boolean wasPosted() {
            if (ledger != null) {
                return ledger.seq != seq && !ledger.isShielded();
            }
            return fork != null && !interrupted && fork.wasInterrupted();
        }
    }
}
