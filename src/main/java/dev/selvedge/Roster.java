package dev.selvedge;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The forks of a scope in the order of forking, and so in the order of their threads' ids. Written by the owner, read by
 * anyone: a fork is in its place before the count says so.
 */
final class Roster {

    private static final VarHandle COUNT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(Roster.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static final Roster EMPTY = new Roster(0);

    private final @Nullable ForkTask<?>[] forks;

    /** Published by a release store after the fork's place is filled. */
    private int count;

    Roster(int capacity) {
        forks = new ForkTask<?>[capacity];
    }

    private Roster(@Nullable ForkTask<?>[] forks, int count) {
        this.forks = forks;
        this.count = count;
    }

    boolean isFull() {
        return count == forks.length;
    }

    void add(ForkTask<?> fork) {
        forks[count] = fork;
        COUNT.setRelease(this, count + 1);
    }

    /** The last fork could not be started. */
    void removeLast() {
        COUNT.setRelease(this, count - 1);
        forks[count] = null;
    }

    /** A roster with room for more and without the forks that are done: what endless loops of forks do not pile up in. */
    Roster swept() {
        @Nullable ForkTask<?>[] live = new ForkTask<?>[forks.length];
        int n = 0;
        for (int i = 0; i < count; i++) {
            ForkTask<?> f = at(i);
            if (f.isDone()) {
                f.detach();
            } else {
                live[n++] = f;
            }
        }
        return new Roster(n > live.length / 2 ? Arrays.copyOf(live, live.length * 2) : live, n);
    }

    int size() {
        return (int) COUNT.getAcquire(this);
    }

    ForkTask<?> at(int i) {
        return Objects.requireNonNull(forks[i]);
    }

    void interruptAll() {
        for (int i = 0, n = (int) COUNT.getVolatile(this); i < n; i++) {
            ForkTask<?> fork = forks[i];
            if (fork != null) {
                fork.interrupt();
            }
        }
    }

    /** Nobody will interrupt the forks any more. */
    void detachAll() {
        for (int i = 0; i < count; i++) {
            at(i).detach();
        }
    }

    /** The fork that runs on a thread; null if none does. */
    @Nullable
    ForkTask<?> on(Thread thread) {
        int i = indexOf(thread);
        return i < 0 ? null : forks[i];
    }

    /** The place of a fork, or -1. */
    int indexOf(ForkTask<?> fork) {
        Thread thread = fork.thread();
        if (thread != null) {
            return indexOf(thread);
        }
        int last = size() - 1; // only the newest can have no thread yet
        return last >= 0 && forks[last] == fork ? last : -1;
    }

    /** By binary search over the ids of the threads, which ascend. */
    private int indexOf(Thread thread) {
        long id = thread.threadId();
        int low = 0;
        int high = size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            ForkTask<?> fork = forks[middle];
            Thread its = fork == null ? null : fork.thread();
            long itsId = its == null ? Long.MAX_VALUE : its.threadId(); // the newest, whose thread is being made
            if (itsId == id) {
                return its == thread ? middle : -1;
            }
            if (itsId < id) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }
}
