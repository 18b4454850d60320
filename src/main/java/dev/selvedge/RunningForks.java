package dev.selvedge;

import dev.selvedge.time.Waiter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Some forks of one scope that its owner waits for together. */
final class RunningForks<T extends @Nullable Object> {

    private final LiveScope scope;
    private final List<LiveFork<? extends T>> forks;

    private RunningForks(LiveScope scope, List<LiveFork<? extends T>> forks) {
        this.scope = scope;
        this.forks = forks;
    }

    static <T extends @Nullable Object> RunningForks<T> of(
            LiveScope scope, Collection<? extends Fork<? extends T>> running) {
        List<LiveFork<? extends T>> forks = new ArrayList<>(running.size());
        for (Fork<? extends T> f : running) {
            if (f == null) {
                throw new NullPointerException("running[" + forks.size() + "]");
            }
            LiveFork<? extends T> fork = (LiveFork<? extends T>) f;
            if (fork.scope != scope) {
                throw new IllegalArgumentException("the fork \"" + fork.name() + "\" is not of "
                        + Words.scope(scope.givenName()) + ": join it instead");
            }
            forks.add(fork);
        }
        return new RunningForks<>(scope, forks);
    }

    /** Where a failure does not cancel the others, nobody must wait for those before the one that failed. */
    void awaitAllOrFirstFailure() {
        for (LiveFork<?> fork : forks) {
            while (!fork.isDone()) {
                Waiter watch = scope.context.clock().waiter(fork);
                scope.watchFailures(watch);
                throwFirstFailure();
                fork.wakeAtEnd(watch);
                try {
                    watch.await(scope.context.clock().never());
                } catch (InterruptedException e) {
                    throw Here.cancelledBy(e);
                } finally {
                    scope.watchFailures(null);
                }
            }
            throwFirstFailure();
        }
    }

    /** Their values in the order in which they were given, or what the first of them to fail threw. */
    List<T> values() {
        try {
            List<T> values = new ArrayList<>(forks.size());
            for (LiveFork<? extends T> fork : forks) {
                values.add(fork.join());
            }
            return Collections.unmodifiableList(values);
        } catch (ScopeCancelledException e) {
            throwFirstFailure(); // if that is why the join was cut off
            throw e;
        }
    }

    private void throwFirstFailure() {
        LiveFork<?> first = null;
        for (Failure f = scope.failures(); f != null; f = f.earlier()) {
            if (f.fork() instanceof LiveFork<?> fork && forks.contains(fork) && fork.isDone()) {
                first = fork;
            }
        }
        if (first != null) {
            first.join();
        }
    }
}
