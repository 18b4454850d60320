package dev.selvedge;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a live scope closes when all its forks have ended, the last one first; its processes among them. The owner's. */
final class Resources {

    private final LiveScope scope;
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** The processes, if there ever was one. */
    private @Nullable Children children;

    Resources(LiveScope scope) {
        this.scope = scope;
    }

    void add(AutoCloseable resource) {
        open.push(resource);
    }

    ChildProcess process(ProcessBuilder command, Duration grace) throws IOException {
        ChildProcess child = ChildProcess.start(command, grace, scope);
        open.removeIf(r -> r instanceof ChildProcess.End end && end.isOver()); // a long job starts many of them
        open.push(child.end());
        Children all = children;
        if (all == null) {
            all = new Children();
            children = all;
        }
        all.add(child, scope.cancelActions());
        if (scope.reasonHereOrAround() != null) {
            all.endAgain(scope.cancelActions());
        }
        return child;
    }

    /** Closes all; what some of them threw. */
    List<Throwable> close() {
        List<Throwable> errors = new ArrayList<>();
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Throwable t) {
                errors.add(t);
            }
        }
        children = null;
        return errors;
    }
}
