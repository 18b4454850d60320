package dev.selvedge;

import dev.selvedge.time.Participant;
import dev.selvedge.time.StuckClockError;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done when a scope is asked to stop: on a platform thread of its own, the last one first. The scope waits for
 * that thread.
 *
 * <p>A thread of its own, since whoever cancels must not wait (the timer), and the owner may be blocked in the very call that
 * the action is to end.
 */
final class CancelActions {

    private final LiveScope scope;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private final Deque<Callable<?>> actions = new ArrayDeque<>();
    private boolean cancelled;
    private boolean over;
    private boolean busy;

    /** The latest, and those before it that may not have ended yet. */
    private final List<Thread> helpers = new ArrayList<>();

    private @Nullable Waiter watch;

    CancelActions(LiveScope scope) {
        this.scope = scope;
    }

    /** One more; if the scope has been asked to stop, it begins at once. The owner. */
    void add(Callable<?> action) {
        lock.lock();
        try {
            actions.push(action);
            startHelper();
        } finally {
            lock.unlock();
        }
    }

    /** Two more, of which one is short and comes in its turn, and one may take its time and comes after all others. The owner. */
    void add(Callable<?> first, Callable<?> atLast) {
        lock.lock();
        try {
            actions.push(first);
            actions.addLast(atLast);
            startHelper();
        } finally {
            lock.unlock();
        }
    }

    /** The scope was asked to stop. Any thread, more than once. */
    void begin() {
        lock.lock();
        try {
            cancelled = true;
            startHelper();
        } finally {
            lock.unlock();
        }
    }

    private void startHelper() {
        if (!cancelled || over || busy || actions.isEmpty()) {
            return;
        }
        Participant participant =
                scope.context.clock() instanceof VirtualClock virtual ? virtual.enroll("on cancel") : null;
        try {
            busy = true;
            helpers.removeIf(helper -> !helper.isAlive());
            helpers.add(Thread.ofPlatform()
                    .daemon()
                    .name(scope.displayName() + "/on-cancel")
                    .start(() -> help(participant)));
        } catch (Throwable e) {
            busy = false; // no thread to be had: the owner does it at the end
            if (participant != null) {
                participant.withdraw();
            }
            scope.unhandled(e);
        }
    }

    private void help(@Nullable Participant participant) {
        if (participant != null) {
            participant.begin();
        }
        try {
            for (Callable<?> next = next(); next != null; next = next()) {
                run(next);
            }
        } finally {
            if (participant != null) {
                participant.end();
            }
        }
    }

    /** Those that have not ended. Any thread. */
    List<Thread> threads() {
        lock.lock();
        try {
            return helpers.stream().filter(Thread::isAlive).toList();
        } finally {
            lock.unlock();
        }
    }

    /** The next action; if there is none, the helper is done with. */
    private @Nullable Callable<?> next() {
        lock.lock();
        try {
            Callable<?> next = actions.poll();
            if (next == null) {
                busy = false;
                if (watch != null) {
                    watch.wake();
                }
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    /** Outside the scope, but in its time. */
    private void run(Callable<?> action) {
        try {
            Object unused = Selvedge.scope().clock(scope.context.clock()).call(action::call);
        } catch (Throwable e) {
            scope.unhandled(e);
        }
    }

    /** From now on nothing begins any more; waits for what has begun. The owner. */
    void end() {
        List<Thread> running;
        lock.lock();
        try {
            if (scope.reason() != null) { // whoever asked may not have come to this yet
                cancelled = true;
                startHelper();
            }
            over = true;
            running = List.copyOf(helpers);
            if (!cancelled) {
                actions.clear();
            }
        } finally {
            lock.unlock();
        }
        awaitEnd(running);
        for (Callable<?> left = next(); left != null; left = next()) {
            run(left); // there was no thread for it
        }
    }

    /** Waits for what runs, and for its threads to end. An interrupt that comes meanwhile is for whoever waits next. */
    private void awaitEnd(List<Thread> running) {
        boolean interrupted = false;
        for (Waiter me = watched(); me != null; me = watched()) {
            try {
                boolean unused = me.await(scope.context.clock().never());
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (StuckClockError e) {
                break; // the helper is told the same
            }
        }
        for (Thread helper : running) { // they have nothing left to do
            interrupted |= scope.context.clock() instanceof VirtualClock virtual
                    ? virtual.holdDuring(() -> Waiter.awaitEndUninterruptibly(helper))
                    : Waiter.awaitEndUninterruptibly(helper);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A waiter that is woken when the helper has nothing left to do; null if it has nothing now. */
    private @Nullable Waiter watched() {
        lock.lock();
        try {
            watch = !busy ? null : scope.context.clock().waiter("what is done on cancel");
            return watch;
        } finally {
            lock.unlock();
        }
    }
}
