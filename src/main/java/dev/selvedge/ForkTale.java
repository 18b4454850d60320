package dev.selvedge;

import org.jspecify.annotations.Nullable;

/**
 * What listeners know a fork by, or an item that a worker is at: its name and its number, which are looked up once, and only if
 * somebody is told of it.
 */
final class ForkTale {

    private final OpenScope scope;
    private final ForkTask<?> fork;
    private final @Nullable Worker worker;

    /** Those that run from the start of the task to its end, the last that was started first. */
    @Nullable
    Watch watches;

    private @Nullable String name;
    private long number;

    ForkTale(OpenScope scope, ForkTask<?> fork) {
        this.scope = scope;
        this.fork = fork;
        this.worker = null;
    }

    /** Of the item that a worker is at. */
    ForkTale(OpenScope scope, Worker worker) {
        this.scope = scope;
        this.fork = worker.fork();
        this.worker = worker;
    }

    /** The name of the scope. */
    String scope() {
        return scope.displayName();
    }

    /** The fork on whose thread the task runs. */
    ForkTask<?> fork() {
        return fork;
    }

    String name() {
        String known = name;
        if (known == null) {
            known = lookUp();
            name = known;
        }
        return known;
    }

    long number() {
        String unused = name();
        return number;
    }

    private String lookUp() {
        if (worker != null) {
            number = worker.taskNumber();
            return worker.taskName();
        }
        int place = scope.roster().indexOf(fork);
        number = fork.number(place);
        return OpenScope.nameAt(fork, place);
    }

    /**
     * A stopwatch.
     *
     * @param watch the stopwatch
     * @param of whose it is
     * @param next one more; null for none
     */
    record Watch(
            ScopeListener.Stopwatch watch,
            ScopeListener of,
            @Nullable Watch next) {}
}
