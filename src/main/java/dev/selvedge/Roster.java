package dev.selvedge;

import dev.selvedge.time.Waiter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
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

    static final Roster EMPTY = new Roster(new Object[0]);

    /** Forks up to the count; behind it lies what its maker put there: a gathering its tasks, each until it is forked. */
    private final @Nullable Object[] slots;

    /** Whether ids of threads do not ascend: only where users make the threads. Set before such a thread is in its place. */
    private volatile boolean unordered;

    /** Published by a release store after the fork's place is filled. */
    private int count;

    /**
     * The fork for which a thread is being made. The owner's. Not a field of the scope: there each write would take away, from the forks
     * that run already, the memory in which they look for a reason to stop.
     */
    @Nullable
    ForkTask<?> starting;

    Roster(@Nullable Object[] slots) {
        this(slots, 0);
    }

    private Roster(@Nullable Object[] slots, int count) {
        this.slots = slots;
        this.count = count;
    }

    /** The newest fork is about to get a thread with this id. */
    void noticeId(long id) {
        for (int i = count - 2; i >= 0 && !unordered; i--) {
            Thread before = at(i).thread();
            if (before != null) {
                unordered = before.threadId() > id;
                return;
            }
        }
    }

    boolean isFull() {
        return count == slots.length;
    }

    void add(ForkTask<?> fork) {
        slots[count] = fork;
        COUNT.setRelease(this, count + 1);
    }

    /** The last fork could not be started. */
    void removeLast() {
        COUNT.setRelease(this, count - 1);
        slots[count] = null;
    }

    /** A roster with room for more and without the forks that are done: what endless loops of forks do not pile up in. */
    Roster swept() {
        @Nullable Object[] live = new Object[slots.length];
        int n = 0;
        for (int i = 0; i < count; i++) {
            ForkTask<?> f = at(i);
            if (f.isDone() && !isStillEnding(f.thread())) {
                f.detach();
            } else {
                live[n++] = f;
            }
        }
        Roster next = new Roster(n > live.length / 2 ? Arrays.copyOf(live, live.length * 2) : live, n);
        next.unordered = unordered;
        return next;
    }

    /** Whether it is a platform thread, which ends a moment after its fork: its scope will wait for it. */
    private static boolean isStillEnding(@Nullable Thread thread) {
        return thread != null && !thread.isVirtual() && thread.isAlive();
    }

    /** What lies at a place that no fork has taken yet. */
    Callable<?> slot(int i) {
        return (Callable<?>) Objects.requireNonNull(slots[i]);
    }

    int capacity() {
        return slots.length;
    }

    int size() {
        return (int) COUNT.getAcquire(this);
    }

    ForkTask<?> at(int i) {
        return Objects.requireNonNull((ForkTask<?>) slots[i]);
    }

    void interruptAll() {
        for (int i = 0, n = (int) COUNT.getVolatile(this); i < n; i++) {
            ForkTask<?> fork = (ForkTask<?>) slots[i];
            if (fork != null) {
                fork.interrupt(ForkTask.BY_SCOPE);
            }
        }
    }

    /** Those that have not ended, as any thread sees it. */
    List<ForkTask<?>> running() {
        List<ForkTask<?>> running = new ArrayList<>();
        for (int i = 0, n = size(); i < n; i++) {
            ForkTask<?> fork = (ForkTask<?>) slots[i];
            if (fork != null && !fork.isDone()) {
                running.add(fork);
            }
        }
        return running;
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
        return i < 0 ? null : (ForkTask<?>) slots[i];
    }

    /** The place of a fork, or -1. */
    int indexOf(ForkTask<?> fork) {
        Thread thread = fork.thread();
        if (thread != null) {
            return indexOf(thread);
        }
        int last = size() - 1; // only the newest can have no thread yet
        return last >= 0 && slots[last] == fork ? last : -1;
    }

    /** By binary search over the ids of the threads, which ascend. */
    private int indexOf(Thread thread) {
        long id = thread.threadId();
        int low = 0;
        int high = size() - 1;
        for (int middle = latest(id, high); low <= high; middle = (low + high) >>> 1) {
            ForkTask<?> fork = (ForkTask<?>) slots[middle];
            Thread its = fork == null ? null : fork.thread();
            long itsId = its == null ? Long.MAX_VALUE : its.threadId(); // the newest, whose thread is being made
            if (itsId == id) {
                return its == thread ? middle : -1; // ids are never used twice
            }
            if (itsId < id) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return unordered ? indexOneByOne(thread) : -1;
    }

    /** How far behind the first a thread with this id can be at the most: right there, if no others were made in between. */
    private int latest(long id, int last) {
        ForkTask<?> first = last < 0 ? null : (ForkTask<?>) slots[0];
        Thread its = first == null ? null : first.thread();
        long behind = its == null ? 0 : id - its.threadId();
        return behind < 0 || behind > last ? last >>> 1 : (int) behind;
    }

    private int indexOneByOne(Thread thread) {
        for (int i = size() - 1; i >= 0; i--) {
            ForkTask<?> fork = (ForkTask<?>) slots[i];
            if (fork != null && fork.thread() == thread) {
                return i;
            }
        }
        return -1;
    }

    // Once all threads have ended, or are about to: the owner.

    /** Waits in real time for the ends of the threads; whether an interrupt came meanwhile. */
    boolean awaitEnds() {
        boolean interrupted = false;
        for (int i = 0; i < count; i++) {
            Thread thread = at(i).thread();
            if (thread != null) {
                interrupted |= Waiter.awaitEndUninterruptibly(thread);
            }
        }
        return interrupted;
    }

    /** The names of the forks that were cut off, without those that were not meant to end by themselves. */
    List<String> unfinished() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            if (at(i).wasCutOff() && !at(i).isDaemon()) {
                names.add(OpenScope.nameAt(at(i), i));
            }
        }
        return Collections.unmodifiableList(names);
    }

    List<Outcome<?>> outcomes() {
        List<Outcome<?>> outcomes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            outcomes.add(at(i).outcomeWhenDone());
        }
        return Collections.unmodifiableList(outcomes);
    }
}
