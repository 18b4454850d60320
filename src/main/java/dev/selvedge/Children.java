package dev.selvedge;

import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * The processes of a scope, for when it is asked to stop: all are asked to end at once, the last one first, and only then
 * each is waited for; so together they take as long as the longest grace.
 */
final class Children {

    /** The last one first. Filled by the owner; read by the helper too. */
    private final ConcurrentLinkedDeque<ChildProcess> alive = new ConcurrentLinkedDeque<>();

    private boolean registered;

    /** One more, and those that have exited by themselves are let go of. The owner. */
    void add(ChildProcess child, CancelActions onCancel) {
        alive.removeIf(ChildProcess::hasExited);
        alive.push(child);
        if (!registered) {
            registered = true;
            register(onCancel);
        }
    }

    /** The scope was asked to stop while the last one was being started: the others may have been ended before. The owner. */
    void endAgain(CancelActions onCancel) {
        register(onCancel);
        onCancel.begin();
    }

    private void register(CancelActions onCancel) {
        onCancel.add(
                () -> {
                    alive.forEach(ChildProcess::ask);
                    return null;
                },
                () -> {
                    alive.forEach(ChildProcess::finish);
                    return null;
                });
    }
}
