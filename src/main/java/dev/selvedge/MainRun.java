package dev.selvedge;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** One run of a main scope: it can be asked to stop before the scope is open, and others can wait for its end. */
final class MainRun {

    private final String name;
    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private @Nullable LiveScope root;
    private @Nullable CancelReason asked;
    private boolean stopped;
    private boolean over;
    private final List<Waiter> watches = new ArrayList<>();

    /** By the thread that will open the scope. */
    MainRun(ScopeSpec spec) {
        this.name = Words.scope(spec.name());
        this.time = spec.timeWithin(Here.context());
    }

    /** The clock of the scope. */
    TimeSource time() {
        return time;
    }

    /** Opens the scope; if the run was asked to stop before, the body is never run. */
    <T extends @Nullable Object, X extends Exception> T open(ScopeSpec spec, Task.Of<Scope, T, X> body) throws X {
        Task.Of<Scope, T, X> known = s -> {
            if (opened(s.live)) {
                Selvedge.checkpoint(); // throws
            }
            return body.call(s);
        };
        return spec.call(known);
    }

    /**
     * Runs code that opens the scope and then tells of its end. On a virtual clock the thread takes part until it has: else
     * time could pass in between, for those who wait for the end.
     */
    <T extends @Nullable Object, X extends Exception> T inItsTime(Task<T, X> code) throws X {
        if (time instanceof VirtualClock) {
            return Selvedge.scope().clock(time).call(code);
        }
        try {
            return code.call();
        } catch (InterruptedException e) {
            throw Here.cancelledBy(e);
        }
    }

    private boolean opened(LiveScope scope) {
        lock.lock();
        try {
            root = scope;
            CancelReason why = asked;
            if (why != null) {
                stopped = scope.cancelSilently(why);
            }
            return why != null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Asks the scope to stop; the listener is told by a thread of the scope. From any thread.
     *
     * @return true if this is why it stops; false if it was asked before, by whomever, or has nothing left to stop
     */
    boolean ask(CancelReason why) {
        lock.lock();
        try {
            if (over || asked != null) {
                return false;
            }
            asked = why;
            LiveScope scope = root;
            if (scope != null) {
                stopped = scope.cancelSilently(why);
            }
            return scope == null || stopped;
        } finally {
            lock.unlock();
        }
    }

    /** Why the scope was stopped, if {@link #ask} did it. After the scope has ended. */
    @Nullable
    CancelReason whyStopped() {
        lock.lock();
        try {
            return stopped ? asked : null;
        } finally {
            lock.unlock();
        }
    }

    /** The run is over: whoever waits for that goes on. */
    void end() {
        lock.lock();
        try {
            over = true;
            root = null;
            watches.forEach(Waiter::wake);
            watches.clear();
        } finally {
            lock.unlock();
        }
    }

    boolean isOver() {
        lock.lock();
        try {
            return over;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the end of the run: false if {@code until} passed first. */
    boolean awaitEnd(Deadline until) throws InterruptedException {
        Waiter me;
        lock.lock();
        try {
            if (over) {
                return true;
            }
            me = until.clock().waiter("the end of " + name);
            watches.add(me);
        } finally {
            lock.unlock();
        }
        try {
            return me.await(until) || isOver();
        } finally {
            forget(me);
        }
    }

    private void forget(Waiter watch) {
        lock.lock();
        try {
            watches.remove(watch);
        } finally {
            lock.unlock();
        }
    }

    private @Nullable LiveScope root() {
        lock.lock();
        try {
            return root;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the calling thread is the scope's owner or a fork of it, of whatever depth. */
    boolean isInside() {
        LiveScope scope = root();
        if (scope == null) {
            return false;
        }
        Ledger ledger = Here.ledger();
        ForkTask<?> fork = ledger == null ? Here.fork() : ledger.self;
        Frame at = ledger == null ? null : ledger.top();
        while (at != scope && (at != null || fork != null)) {
            if (at == null) {
                at = Objects.requireNonNull(fork).scope;
            } else {
                fork = at.ledger.self;
                at = at.below;
            }
        }
        return at == scope;
    }

    /** Whether what is left of the scope is stuck in {@code System.exit}. */
    boolean isStuck() {
        LiveScope scope = root();
        return scope != null && Remains.areStuck(scope);
    }

    /** What of the scope has not ended, for people. */
    String remains() {
        LiveScope scope = root();
        return name + " has not ended" + (scope == null ? "" : ", still running: " + Remains.names(scope));
    }
}
