package dev.selvedge;

import dev.selvedge.time.TimeSource;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** Whose task it is that runs under policies: a block's, or that of a call that is no block of its own. */
abstract class Host {

    /** What people and events call a scope without a name. */
    static final String UNNAMED = "scope";

    /** The name, or null if it has none. */
    abstract @Nullable String givenName();

    /** The name for people and events. */
    final String displayName() {
        return displayName(givenName());
    }

    /** The name for people and events of a scope that was given this one, or none. */
    static String displayName(@Nullable String given) {
        return given == null ? UNNAMED : given;
    }

    /** The fork whose task the calling thread runs, by its name; the scope's, if the task runs in the thread of that. */
    String taskName() {
        ForkTask<?> fork = Here.fork();
        if (fork == null || fork.scope != this) {
            return displayName();
        }
        return fork.task() instanceof Worker worker ? worker.taskName() : fork.scope.nameOf(fork);
    }

    /** The number of that fork, or 0. */
    long taskNumber() {
        ForkTask<?> fork = Here.fork();
        return fork != null && fork.scope == this ? fork.scope.numberOf(fork) : 0;
    }

    /** Which scope it is to those who listen; null if nobody does. */
    @Nullable
    ScopeId scopeId() {
        return Here.scopeId();
    }

    /** Whether there is a listener. For the threads that run its tasks. */
    final boolean isHeard() {
        return !Context.areAllPlain() && context().hasListener();
    }

    /** Tells of something that its task meets. For the threads that run it, if there is a listener. */
    final void tell(ScopeEvent event) {
        context().tell(event, scopeId(), taskNumber());
    }

    /** What its task finds around. For the threads that run it. */
    abstract Context context();

    /** The time by which its policies go. For the threads that run its tasks. */
    TimeSource clock() {
        return context().clock();
    }

    /** The task makes another attempt. */
    void retries() {}

    /** Makes the threads of forks, if the user wants to. */
    abstract @Nullable ThreadFactory threads();

    /** Whether its own deadline was what stopped it, and nothing around it. For the threads that run its tasks. */
    abstract boolean wasCutOffByItsDeadline();

    /**
     * A call that sets nothing which could cut it off, and that nobody listens to: it runs in whatever is around.
     *
     * @see ScopeSpec#call(Task)
     */
    static final class Passing extends Host {

        private final @Nullable String name;
        private final @Nullable ThreadFactory threads;

        Passing(@Nullable String name, @Nullable ThreadFactory threads) {
            this.name = name;
            this.threads = threads;
        }

        @Override
        @Nullable
        String givenName() {
            return name;
        }

        /** Whatever there is where it is asked for: most calls end without having asked. */
        @Override
        Context context() {
            return Here.context();
        }

        @Override
        TimeSource clock() {
            return Context.areAllPlain() ? TimeSource.system() : context().clock();
        }

        @Override
        @Nullable
        ThreadFactory threads() {
            return threads;
        }

        @Override
        boolean wasCutOffByItsDeadline() {
            return false;
        }
    }
}
