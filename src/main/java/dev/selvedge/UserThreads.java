package dev.selvedge;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** Threads of a factory that users gave: what it may do wrong is refused before anything starts. */
final class UserThreads {

    private UserThreads() {}

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
