package dev.selvedge;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What of a tree of scopes has not ended, looked at by a thread that has no part in it.
 *
 * <p>A thread in {@code System.exit} stays there until all shutdown hooks have ended, so a hook must not wait for it; nor for
 * owners of scopes who, past their bodies, wait for such a thread. Both are <em>stuck</em>, and once they are, they stay so:
 * that is why looking at one after the other is enough, whoever waits before those whom it waits for.
 *
 * <p>An inner scope whose forks have ended is off its thread's ledger: one that waits for an exit in what it does on cancel
 * is taken for one that runs. Whoever asks has a limit of time anyway.
 */
final class Remains {

    private Remains() {}

    /** The body and the forks that have not ended, for people. */
    static String names(LiveScope scope) {
        List<String> names = new ArrayList<>();
        if (!scope.isWoven()) {
            names.add("the body");
        }
        for (ForkTask<?> fork : scope.roster().running()) {
            names.add("\"" + scope.nameOf(fork) + "\"");
        }
        return names.isEmpty() ? "what is done at its end" : Words.names(names);
    }

    /** Whether nothing goes on any more in a scope that was asked to stop, but somebody in it is in {@code System.exit}. */
    static boolean areStuck(LiveScope scope) {
        CancelReason why = scope.reason();
        if (why == null) {
            return false;
        }
        Ledger ledger = scope.ledger;
        return isOn(ledger, scope)
                ? isStuck(ledger.owner, ledger, scope.below, why)
                : restOf(scope, why) == Rest.STUCK; // all forks have ended: the owner waits for what is done on cancel
    }

    private static boolean isOn(Ledger ledger, Frame frame) {
        Frame f = ledger.top();
        while (f != null && f != frame) {
            f = f.below;
        }
        return f == frame;
    }

    private static boolean isStuck(
            @Nullable Thread thread, @Nullable Ledger ledger, @Nullable Frame below, CancelReason why) {
        Frame top = ledger == null ? null : ledger.top();
        boolean exits = thread != null && isExiting(thread);
        if (!exits && !(top instanceof OpenScope innermost && innermost.isWoven())) {
            return false;
        }
        boolean waits = false;
        for (Frame f = top; f != null && f != below; f = f.below) {
            if (f instanceof OpenScope scope) {
                if (exits) {
                    scope.cancelSilently(why); // its owner will not come to it
                }
                Rest rest = restOf(scope, why);
                if (rest == Rest.RUNS) {
                    return false;
                }
                waits |= f == top && rest == Rest.STUCK;
            }
        }
        return exits || waits;
    }

    private static Rest restOf(OpenScope scope, CancelReason why) {
        Rest rest = Rest.NONE;
        for (ForkTask<?> fork : scope.roster().running()) {
            if (!isStuck(fork.thread(), fork.ledger(), null, why)) {
                return Rest.RUNS;
            }
            rest = Rest.STUCK;
        }
        if (scope instanceof LiveScope live) {
            for (Thread helper : live.cancelThreads()) {
                if (!isExiting(helper)) {
                    return Rest.RUNS;
                }
                rest = Rest.STUCK;
            }
        }
        return rest;
    }

    private static boolean isExiting(Thread thread) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            String type = frame.getClassName();
            if (type.equals("java.lang.Shutdown")
                    || (type.equals("java.lang.Runtime")
                            && frame.getMethodName().equals("exit"))) {
                return true;
            }
        }
        return false;
    }

    /** The threads of a scope but for its owner's. */
    private enum Rest {
        NONE,
        STUCK,
        RUNS
    }
}
