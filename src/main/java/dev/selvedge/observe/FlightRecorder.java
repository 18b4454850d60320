package dev.selvedge.observe;

import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeId;
import dev.selvedge.ScopeListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/** Makes events of the flight recorder of the events of scopes. What has begun and not ended yet is kept until then. */
final class FlightRecorder implements ScopeListener {

    /** One of each kind, to be asked whether any recording wants such. */
    private final Event[] kinds = {
        new Recorded.OfScope(),
        new Recorded.OfFork(null),
        new Recorded.OfAttempt(),
        new Recorded.OfBreaker(),
        new Recorded.OfCancel(),
        new Recorded.OfStraggler(),
        new Recorded.OfUnhandled()
    };

    private final Map<Long, Recorded.OfScope> scopes = new ConcurrentHashMap<>();
    private final Map<Place, Recorded.OfAttempt> attempts = new ConcurrentHashMap<>();

    /**
     * Whose task an attempt is of.
     *
     * @param scope the number of the scope
     * @param fork the number of the fork
     */
    private record Place(long scope, long fork) {
        Place(Where where) {
            this(where.scope().number(), where.fork());
        }
    }

    @Override
    public boolean isListening() {
        for (Event kind : kinds) {
            if (kind.isEnabled()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean replacesLog() {
        return false;
    }

    @Override
    public void on(ScopeEvent event, Where where) {
        switch (event) {
            case ScopeEvent.ScopeOpened e -> opened(where.scope());
            case ScopeEvent.DeadlineSet e -> {
                Recorded.OfScope open = scopes.get(where.scope().number());
                if (open != null) {
                    open.deadline = e.limit().toNanos();
                }
            }
            case ScopeEvent.AttemptStarted e -> started(e, where);
            case ScopeEvent.AttemptSucceeded e -> {
                Recorded.OfAttempt attempt = endOfAttempt(where);
                if (attempt != null) {
                    attempt.outcome = "succeeded";
                    attempt.commit();
                }
            }
            case ScopeEvent.AttemptFailed e -> {
                Recorded.OfAttempt attempt = endOfAttempt(where);
                if (attempt != null) {
                    attempt.failed(e.error(), e.nextDelay(), e.source());
                    attempt.commit();
                }
            }
            case ScopeEvent.RetryGaveUp e -> {
                Recorded.OfAttempt attempt = endOfAttempt(where);
                if (attempt != null) {
                    attempt.gaveUp(e.error(), e.reason());
                    attempt.commit();
                }
            }
            case ScopeEvent.BreakerChanged e -> changed(e, where);
            case ScopeEvent.ScopeCancelled e -> cancelled(e, where);
            case ScopeEvent.StragglerFound e -> {
                Recorded.OfStraggler straggler = new Recorded.OfStraggler();
                straggler.in(where, e.fork());
                straggler.found(e);
                straggler.commit();
            }
            case ScopeEvent.Unhandled e -> {
                Recorded.OfUnhandled unhandled = new Recorded.OfUnhandled();
                unhandled.in(where.scope());
                unhandled.error(e.error());
                unhandled.commit();
            }
            case ScopeEvent.ScopeClosed e -> closed(e, where);
            default -> {}
        }
    }

    private void opened(ScopeId id) {
        Recorded.OfScope scope = new Recorded.OfScope();
        if (scope.isEnabled()) {
            scope.opened(id);
            scopes.put(id.number(), scope);
            scope.begin();
        }
    }

    private void closed(ScopeEvent.ScopeClosed event, Where where) {
        cutOff(where);
        Recorded.OfScope scope = scopes.remove(where.scope().number());
        if (scope != null) {
            scope.end();
            if (scope.shouldCommit()) {
                scope.closed(event.elapsed(), event.error());
                scope.commit();
            }
        }
    }

    private void started(ScopeEvent.AttemptStarted event, Where where) {
        Recorded.OfAttempt attempt = new Recorded.OfAttempt();
        if (attempt.isEnabled() && where.scope().number() != 0) {
            attempt.in(where, event.fork());
            attempt.attempt = event.attempt();
            attempt.around = attempts.put(new Place(where), attempt);
            attempt.begin();
        }
    }

    /** The innermost attempt of a task is over: a task of one attempt may have been tried within it. */
    private Recorded.@Nullable OfAttempt endOfAttempt(Where where) {
        if (attempts.isEmpty()) {
            return null;
        }
        Place place = new Place(where);
        Recorded.OfAttempt attempt = attempts.remove(place);
        if (attempt != null) {
            attempt.end();
            if (attempt.around != null) {
                attempts.put(place, attempt.around);
            }
        }
        return attempt;
    }

    /** Whatever attempts are not over yet, end with what they are part of. */
    void cutOff(Where where) {
        for (var attempt = endOfAttempt(where); attempt != null; attempt = endOfAttempt(where)) {
            attempt.outcome = "cut off";
            attempt.commit();
        }
    }

    boolean hasAttempts() {
        return !attempts.isEmpty();
    }

    private static void changed(ScopeEvent.BreakerChanged event, Where where) {
        Recorded.OfBreaker changed = new Recorded.OfBreaker();
        changed.in(where, event.fork());
        changed.breaker = event.breaker();
        changed.from = event.from().name();
        changed.to = event.to().name();
        changed.commit();
    }

    private static void cancelled(ScopeEvent.ScopeCancelled event, Where where) {
        Recorded.OfCancel cancelled = new Recorded.OfCancel();
        cancelled.in(where.scope());
        cancelled.kind = event.reason().kind().name();
        cancelled.reason = event.reason().message();
        cancelled.causeFork = where.fork();
        cancelled.commit();
    }

    // Forks.

    @Override
    public boolean timesForks() {
        return true;
    }

    @Override
    public Stopwatch stopwatch(ScopeId scope) {
        Recorded.OfFork fork = new Recorded.OfFork(this);
        fork.begin();
        return fork;
    }

    /** Whether nothing is kept. */
    boolean isIdle() {
        return scopes.isEmpty() && attempts.isEmpty();
    }
}
