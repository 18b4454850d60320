package dev.selvedge;

import dev.selvedge.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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

    private static final VarHandle LOCK;

    static {
        try {
            LOCK = MethodHandles.lookup().findVarHandle(Ledger.class, "lock", ReentrantLock.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The ledger of blocks that have ended: of a thread that never runs. */
    static final Ledger NONE = new Ledger(Thread.ofVirtual().unstarted(() -> {}), null);

    final Thread owner;

    /** The fork whose thread this is, if it is one. */
    final @Nullable ForkTask<?> self;

    /** Made when it is first needed: most blocks are never asked to stop. null → the lock, by anyone. */
    volatile @Nullable ReentrantLock lock;

    /** Written by the owner; read by its forks, which find themselves through it. */
    private volatile @Nullable Frame top;

    /** The newest request. Written under the lock. */
    private volatile long seq;

    /** The newest request known to have been delivered. The owner's; others read it under the lock. */
    private volatile long delivered;

    /** The newest request that no frame of this stack owns. Under the lock. */
    private long external;

    /** The innermost shield. Written by the owner under the lock. */
    private @Nullable Shield shield;

    /** Which attempt of its task the thread is in, if that is not simply the first one. The owner's. */
    @Nullable
    Attempt attempt;

    /** Whether the thread's thread-local holds this ledger. The owner's. */
    boolean isThreadLocal;

    /** Whether some shield keeps a request from the thread. Written under the lock. */
    private volatile boolean deferred;

    Ledger(@Nullable ForkTask<?> self) {
        this(Thread.currentThread(), self);
    }

    private Ledger(Thread owner, @Nullable ForkTask<?> self) {
        this.owner = owner;
        this.self = self;
    }

    /** Takes the lock. */
    private ReentrantLock lock() {
        ReentrantLock l = lock;
        if (l == null) {
            ReentrantLock made = new ReentrantLock();
            l = LOCK.compareAndSet(this, null, made) ? made : Objects.requireNonNull(lock);
        }
        l.lock();
        return l;
    }

    /**
     * What the owner throws for an interrupt that it has met. A reason is always there before its interrupt; so if there is
     * none, the interrupt was raw, and requests that are published from now on have come after it.
     */
    final ScopeCancelledException cancelled(InterruptedException e) {
        long madeAt = seq;
        CancelReason why = reasonAround(top);
        return why == null
                ? ScopeCancelledException.raw(CancelReason.ofInterrupt(owner), madeAt, e)
                : ScopeCancelledException.inFlight(why, e);
    }

    final @Nullable Frame top() {
        return top;
    }

    /** The number of the newest request. */
    final long newestRequest() {
        return seq;
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
        return self == null ? Defaults.context() : self.scope.context;
    }

    /** Of the frames of this thread from one outwards, the first that has told a listener of itself. */
    static @Nullable Frame told(@Nullable Frame from) {
        Frame f = from;
        while (f != null && f.scopeId() == null) {
            f = f.below;
        }
        return f;
    }

    /** Among the forks of the open scopes of this thread, the one that runs on {@code thread}. */
    final @Nullable ForkTask<?> forkOf(Thread thread) {
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
            if (delivered != s) {
                delivered = s;
            }
            f.baseline = s;
        }
        top = f;
    }

    private void enterInterrupted(Frame f) {
        ReentrantLock held = lock();
        try {
            noticeForeign(f.context.clock());
            f.baseline = deferred && shield != null ? Math.max(delivered, shield.baseline) : delivered;
        } finally {
            held.unlock();
        }
    }

    /** Ends the part of a frame in which it can be interrupted on its own behalf. */
    final Verdict leave(Frame f, @Nullable Throwable thrown) {
        if (f.leaveUnfired()) {
            return isAnswerTo(f, thrown) ? Verdict.OWN : Verdict.NOT_FIRED;
        }
        f.awaitFired();
        ReentrantLock held = lock();
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
            held.unlock();
        }
    }

    /** Whatever the code that ran until now has left behind: blocks whose leaving broke off, an attempt. */
    final void reset() {
        leaveAbove(null);
        top = null;
        attempt = null;
    }

    /** Takes a frame that was left off the stack; and with it those above, whose own leaving broke off with a full stack. */
    final void pop(Frame f) {
        leaveAbove(f);
        top = f.below;
    }

    private void leaveAbove(@Nullable Frame f) {
        for (Frame broken = top; broken != f && broken != null; broken = broken.below) {
            Verdict unused = leave(broken, null);
            broken.disarm();
            broken.seal();
        }
    }

    /** A request addressed outside {@code f} was consumed, but something else is to be thrown or returned: it stays pending. */
    final void keepPending(Frame f) {
        ReentrantLock held = lock();
        try {
            if (!leftOver(f)) { // it was raw, and nobody has counted it yet
                long request = seq + 1;
                external = request;
                seq = request;
            }
            postAgain(f);
        } finally {
            held.unlock();
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

    /** Whether the frame's reason has come as an exception before its interrupt: by a checkpoint, or a fork it cut off. */
    private static boolean isAnswerTo(Frame f, @Nullable Throwable thrown) {
        return thrown instanceof ScopeCancelledException e && e.isInFlight() && e.reason() == f.reason();
    }

    /** Whether a cancellation was in flight already when the frame was fired: a raw interrupt that a wait of ours has met. */
    private static boolean flewBefore(Frame f, @Nullable Throwable thrown) {
        return thrown instanceof ScopeCancelledException e && e.isInFlight() && e.madeAt() < f.fired;
    }

    // Shields: the owner.

    final void enterShield(Shield entered) {
        ReentrantLock held = lock();
        try {
            noticeForeign(entered.context.clock());
            entered.outer = shield;
            entered.baseline = seq;
            if (Thread.interrupted()) {
                keepAway(entered);
            }
            shield = entered;
            top = entered;
        } finally {
            held.unlock();
        }
    }

    final void leaveShield(Shield left) {
        ReentrantLock held = lock();
        try {
            top = left.below;
            shield = left.outer;
            deferred = false;
            for (Shield s = shield; s != null; s = s.outer) {
                deferred |= s.keepsAway;
            }
            if (left.keepsAway) {
                owner.interrupt();
            }
        } finally {
            held.unlock();
        }
    }

    /** Under the lock: a request waits until this shield ends. */
    private void keepAway(Shield by) {
        by.keepsAway = true;
        deferred = true;
    }

    /** Under the lock: the outermost shield between a request addressed to a depth and the thread; null if there is none. */
    private @Nullable Shield outermostShieldAbove(int depth) {
        Shield outermost = null;
        for (Shield s = shield; s != null && s.depth > depth; s = s.outer) {
            outermost = s;
        }
        return outermost;
    }

    final boolean isShielded() {
        return shield != null;
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
        ReentrantLock held = lock();
        try {
            noticeForeign(f.context.clock());
            post(f);
            tellInside(f);
        } finally {
            f.endFiring();
            held.unlock();
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

    /**
     * Scopes inside a block that was asked to stop begin what they have to do on cancel, up to a shield: their owner may be in
     * a call that no interrupt ends. The owner may leave blocks meanwhile: then it is looked at again.
     */
    private void tellInside(@Nullable Frame asked) {
        int bottom = asked == null ? 0 : asked.depth;
        for (int spins = 0; ; spins++) {
            List<LiveScope> inside = null;
            Frame f = top;
            int depth = f == null ? 0 : f.depth;
            while (f != null && f.depth > bottom) {
                if (f instanceof Shield) {
                    inside = null;
                } else if (f instanceof LiveScope live && live.hasCancelActions()) {
                    inside = inside == null ? new ArrayList<>() : inside;
                    inside.add(live);
                }
                depth = f.depth - 1;
                f = f.below;
            }
            if (depth <= bottom) {
                if (inside != null) {
                    inside.forEach(LiveScope::beginCancelActions);
                }
                return;
            }
            Frame.spin(spins);
        }
    }

    final void interrupt(int depth, TimeSource clock) {
        Shield between = outermostShieldAbove(depth);
        if (between != null) {
            keepAway(between);
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
        ReentrantLock held = lock();
        try {
            noticeForeign(clock);
            interrupt(0, clock);
            long request = seq + 1;
            external = request;
            seq = request;
            tellInside(null);
        } finally {
            held.unlock();
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
        if (Thread.interrupted()) {
            throw cancelled(new InterruptedException());
        }
        CancelReason why = reasonAround(top);
        if (why != null) {
            throw ScopeCancelledException.inFlight(why, null);
        }
    }

    /**
     * Throws if a block around has been asked to stop and the thread has not been told yet. For calls that do nothing but
     * wait for what they start: whether they end before they come to wait must not be a matter of luck.
     */
    final void tellPosted() {
        if (Thread.currentThread().isInterrupted() && reasonAround(top) != null) {
            checkpoint();
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
        return why == null ? CancelReason.ofInterrupt(owner) : why;
    }
}
