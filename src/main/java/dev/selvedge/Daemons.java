package dev.selvedge;

import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** The forks of a scope that run in its background: they are cancelled when all others have ended. The owner's. */
final class Daemons {

    private final LiveScope scope;
    private int started;

    Daemons(LiveScope scope) {
        this.scope = scope;
    }

    void add(Callable<?> task) {
        started++;
        scope.startDaemon("daemon-" + started, task);
    }

    /** The moments are counted from now on, so that a late start of one does not make the next one later. */
    void every(Duration period, Callable<?> action) {
        long step = TimeUnit.NANOSECONDS.convert(period); // saturates
        long first = later(now(), step);
        add(() -> {
            for (long due = first; ; due = nextAfter(due, step)) {
                boolean unused = scope.context.clock().waiter("its next turn").await(moment(due));
                Object ignored = action.call();
            }
        });
    }

    private Deadline moment(long due) {
        return due == Long.MAX_VALUE
                ? scope.context.clock().never()
                : scope.context.clock().after(Duration.ofNanos(due - now()));
    }

    /** The next moment that has not passed, it may be now: those that a slow action has missed are left out. */
    private long nextAfter(long due, long step) {
        long missed = Math.max(0, (now() - due - 1) / step);
        return later(due + missed * step, step);
    }

    private static long later(long moment, long step) {
        return moment > Long.MAX_VALUE - step ? Long.MAX_VALUE : moment + step;
    }

    private long now() {
        return scope.context.clock().nanoTime();
    }

    /** Waits for the others, then cancels these in the order of their starts; whether an interrupt is to be posted again. */
    boolean awaitOthers() {
        if (started == 0) {
            return false;
        }
        boolean interrupted = false;
        Roster forks = scope.roster();
        for (int i = 0, n = forks.size(); i < n; i++) {
            LiveFork<?> fork = (LiveFork<?>) forks.at(i);
            if (!fork.isDaemon()) {
                interrupted |= scope.await(fork::isDone, () -> {
                    boolean unused = fork.awaitEnd(scope.context.clock().never());
                });
            }
        }
        if (scope.reason() == null) { // else they have been asked to stop already: their cleanup is not to be cut off
            cancel(forks);
        }
        return interrupted;
    }

    private void cancel(Roster forks) {
        String message = "the body and the forks of " + Words.scope(scope.givenName()) + " have ended";
        CancelReason why = new CancelReason(CancelReason.Kind.CALLER, message, null);
        for (int i = 0, n = forks.size(); i < n; i++) {
            LiveFork<?> fork = (LiveFork<?>) forks.at(i);
            if (fork.isDaemon()) {
                fork.cancel(why);
            }
        }
    }
}
