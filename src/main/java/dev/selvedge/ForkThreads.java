package dev.selvedge;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** Makes the threads in which forks run, not started. */
final class ForkThreads {

    private static final ThreadFactory UNNAMED = Thread.ofVirtual().factory();

    private ForkThreads() {}

    /**
     * A virtual thread of ours. Names cost memory: it has one only if the scope or the fork was given one.
     *
     * @param scope its name
     * @param index the place of the fork in it
     */
    static Thread own(ForkTask<?> fork, int index, Runnable r, @Nullable String scope) {
        String name = scope != null ? scope + "/" + OpenScope.nameAt(fork, index) : fork.givenName(index);
        return name == null
                ? UNNAMED.newThread(r)
                : Thread.ofVirtual().name(name).unstarted(r);
    }

    /** A thread of a factory that users gave: what it may do wrong is refused before anything starts. */
    static Thread madeBy(ThreadFactory factory, Runnable r, @Nullable String scope) {
        Thread thread;
        try {
            thread = factory.newThread(r);
        } catch (Exception e) {
            throw new RejectedExecutionException("the thread factory of " + Words.scope(scope) + " threw " + e, e);
        }
        if (thread == null || thread.getState() != Thread.State.NEW) {
            throw new RejectedExecutionException("the thread factory of " + Words.scope(scope) + " gave "
                    + (thread == null ? "null" : "a thread that was started before: " + thread));
        }
        return thread;
    }
}
