package dev.selvedge;

import dev.selvedge.time.VirtualClock;
import org.jspecify.annotations.Nullable;

/**
 * Where the calling thread stands: in which block, as which fork, with which ledger.
 *
 * <p>A thread that is no fork has its ledger in what its outermost scope has bound, or, if its outermost block has no forks,
 * in a thread-local, from that block's beginning to its end. A fork finds
 * itself among the forks of the scopes that are open on the thread whose ledger it inherited, and its ledger with it; so a
 * fork costs nothing for this until it asks.
 */
final class Here {

    private static final ThreadLocal<@Nullable Ledger> PLAIN = new ThreadLocal<>();

    private Here() {}

    /** The ledger of the calling thread, or null if it is in no block. */
    static @Nullable Ledger ledger() {
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
    static Ledger openLedger() {
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
        return own == null ? new Ledger(null) : own;
    }

    /**
     * A block without forks begins: if it is the outermost of its thread, the blocks inside must find the ledger. A scope does
     * without: it binds the ledger for its forks, and so for its owner.
     */
    static void hold(Ledger ledger) {
        if (ledger.isIdle() && ledger.self == null) {
            install(ledger);
        }
    }

    /** Makes a ledger that of the calling thread, until its outermost block has ended. */
    static void install(Ledger ledger) {
        PLAIN.set(ledger);
        ledger.isThreadLocal = true;
    }

    /** A block has ended; if it was the outermost of its thread, nothing is left behind. */
    static void release(Ledger ledger) {
        if (ledger.isThreadLocal && ledger.isIdle() && ledger.attempt == null) {
            PLAIN.set(null); // the thread keeps an empty entry, which holds nothing, and need not make another one
        }
    }

    /** The fork that the calling thread runs, or null if it runs none. */
    static @Nullable ForkTask<?> fork() {
        Ledger inherited = Inherited.ledger();
        if (inherited == null) {
            return null;
        }
        return inherited.owner == Thread.currentThread() ? inherited.self : inherited.forkOf(Thread.currentThread());
    }

    /** The innermost scope around the calling thread that has told a listener of itself; null if there is none. */
    static @Nullable Frame told() {
        Ledger ledger = ledger();
        Frame own = ledger == null ? null : Ledger.told(ledger.top());
        if (own != null) {
            return own;
        }
        ForkTask<?> fork = fork();
        return fork == null || fork.scope.scopeId() == null ? null : fork.scope;
    }

    /** Which one that is. */
    static @Nullable ScopeId scopeId() {
        Frame told = told();
        return told == null ? null : told.scopeId();
    }

    /** The context of the calling thread. */
    static Context context() {
        return context(ledger());
    }

    private static Context context(@Nullable Ledger ledger) {
        if (ledger != null) {
            return ledger.context();
        }
        ForkTask<?> fork = fork();
        return fork == null ? Defaults.context() : fork.scope.context;
    }

    /** Whether nobody listens to what the calling thread does, and it takes part in time, if it is to. */
    static boolean isQuiet() {
        if (Context.areAllPlain()) {
            return true;
        }
        Ledger ledger = ledger();
        Context around = context(ledger);
        return !around.hasListener() && (!(around.clock() instanceof VirtualClock) || ledger != null || fork() != null);
    }

    /** Whether the calling thread was asked to stop. */
    static boolean isAskedToStop() {
        if (Thread.currentThread().isInterrupted()) {
            return true;
        }
        Ledger ledger = ledger();
        if (ledger != null) {
            return ledger.reasonAround(ledger.top()) != null;
        }
        ForkTask<?> fork = fork();
        return fork != null && fork.cancelReasonAround() != null;
    }

    /** Throws if the calling thread was asked to stop; see {@link Selvedge#checkpoint()}. */
    static void checkpoint() {
        Ledger ledger = ledger();
        if (ledger != null) {
            ledger.checkpoint();
            return;
        }
        ForkTask<?> fork = fork();
        CancelReason why = fork == null ? null : fork.cancelReasonAround();
        if (Thread.interrupted()) {
            throw cancelledBy(new InterruptedException());
        }
        if (why != null) {
            throw ScopeCancelledException.inFlight(why, null);
        }
    }

    /** What an {@code InterruptedException} outside any frame becomes: in no block at all, the flag is set again. */
    static ScopeCancelledException cancelledBy(InterruptedException e) {
        Ledger ledger = ledger();
        if (ledger != null && !(ledger.isIdle() && ledger.self == null)) {
            return ledger.cancelled(e);
        }
        ForkTask<?> fork = fork();
        if (fork == null) {
            Thread.currentThread().interrupt();
        }
        CancelReason why = fork == null ? null : fork.cancelReasonAround();
        return ScopeCancelledException.inFlight(
                why == null ? CancelReason.ofInterrupt(Thread.currentThread()) : why, e);
    }

    /** Puts the calling thread's interrupt flag aside while code that is nobody's task runs. */
    static Aside putAside() {
        return putAside(ledger(), fork());
    }

    /** The same on a fork's thread, by somebody who knows the fork. */
    static Aside putAside(ForkTask<?> self) {
        return putAside(self.ledger(), self);
    }

    private static Aside putAside(@Nullable Ledger ledger, @Nullable ForkTask<?> fork) {
        return new Aside(
                Thread.interrupted(),
                ledger,
                ledger == null ? 0 : ledger.newestRequest(),
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
                return ledger.newestRequest() != seq && !ledger.isShielded();
            }
            return fork != null && !interrupted && fork.wasInterrupted();
        }
    }
}
