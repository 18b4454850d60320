package dev.selvedge;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One failure, and those before it.
 *
 * @param fork the fork that failed
 * @param name the name of what failed: of the fork, or of an item that its thread worked on
 * @param number the number of the same
 * @param error what its task threw
 * @param givenUp whether a retry of the fork has given up on it
 * @param earlier the failure before this one in time, if there is one
 */
record Failure(
        ForkTask<?> fork,
        String name,
        long number,
        Throwable error,
        boolean givenUp,
        @Nullable Failure earlier) {

    /** How many suppressed exceptions a scope's own exception gets at the most. */
    private static final int SUPPRESSED = 10;

    /** The first in time. */
    static Failure first(Failure newest) {
        Failure f = newest;
        while (f.earlier != null) {
            f = f.earlier;
        }
        return f;
    }

    /** The errors, the first in time first, each object once. */
    static List<Throwable> errors(@Nullable Failure newest) {
        List<Throwable> errors = new ArrayList<>();
        for (Failure f = newest; f != null; f = f.earlier) {
            errors.add(f.error);
        }
        Collections.reverse(errors);
        Set<Throwable> seen = identitySet();
        errors.removeIf(e -> !seen.add(e));
        return errors;
    }

    /** The number of the fork whose task threw {@code error}, or 0. */
    static long numberOf(@Nullable Failure newest, @Nullable Throwable error) {
        for (Failure f = newest; f != null && error != null; f = f.earlier) {
            if (f.error == error) {
                return f.number;
            }
        }
        return 0;
    }

    /** Whether a retry of a fork has given up on what the fork threw. */
    static boolean wasGivenUp(@Nullable Failure newest, ForkTask<?> fork) {
        for (Failure f = newest; f != null; f = f.earlier) {
            if (f.fork == fork) {
                return f.givenUp;
            }
        }
        return false;
    }

    /** The errors that have come after a certain one. */
    static List<Throwable> errorsSince(@Nullable Failure before, @Nullable Failure newest) {
        List<Throwable> errors = new ArrayList<>();
        for (Failure f = newest; f != before && f != null; f = f.earlier()) {
            errors.add(0, f.error());
        }
        return errors;
    }

    /** The first error in time of the kind after which going on makes no sense; null if there is none. */
    static @Nullable Error fatal(@Nullable Failure newest) {
        Error fatal = null;
        for (Failure f = newest; f != null; f = f.earlier) {
            if (f.error instanceof Error e && endsTheJob(e)) {
                fatal = e;
            }
        }
        return fatal;
    }

    /** Whether an error is of the machine, and so ends even a job in which failures are outcomes. */
    static boolean endsTheJob(Throwable error) {
        return error instanceof VirtualMachineError && !(error instanceof StackOverflowError);
    }

    /** Whether a list holds this very object. */
    static boolean holds(List<Throwable> errors, @Nullable Throwable error) {
        return errors.stream().anyMatch(e -> e == error);
    }

    /**
     * Attaches errors to an exception that this library has just made: as suppressed ones, but for what its chain of causes or
     * that of another suppressed one shows already, and what wraps it, and up to ten.
     *
     * @return those for which there was no room
     */
    static List<Throwable> attach(Throwable ours, List<Throwable> errors) {
        List<Throwable> left = new ArrayList<>();
        Set<Throwable> shown = identitySet();
        addChain(ours, shown);
        for (Throwable already : ours.getSuppressed()) {
            addChain(already, shown);
        }
        int attached = 0;
        for (Throwable e : errors) {
            if (shown.contains(e)) {
                continue;
            }
            if (attached == SUPPRESSED || isAround(e, ours)) {
                left.add(e);
                continue;
            }
            ours.addSuppressed(e);
            addChain(e, shown);
            attached++;
        }
        return left;
    }

    /** Whether one was made to wrap the other: attaching it would close a circle. */
    private static boolean isAround(Throwable e, Throwable ours) {
        Set<Throwable> chain = identitySet();
        addChain(e, chain);
        return chain.contains(ours);
    }

    private static void addChain(Throwable from, Set<Throwable> to) {
        Throwable t = from;
        while (t != null && to.add(t)) {
            t = t.getCause();
        }
    }

    private static Set<Throwable> identitySet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }
}
