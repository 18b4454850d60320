package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofSeconds;

import dev.selvedge.MainScope;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.Shutdown;
import dev.selvedge.Task;

// @start region="worker"
/** A component of an application whose container calls {@code start} and {@code close}. */
final class Worker implements AutoCloseable {

    private final Shutdown shutdown = new Shutdown();
    private final Task.Void<RuntimeException> work;

    Worker(Task.Void<RuntimeException> work) {
        this.work = work;
    }

    void start() {
        Thread unused = Thread.ofVirtual().name("worker").start(this::run);
    }

    private void run() {
        try {
            MainScope.of(scope("worker"))
                    .grace(ofSeconds(5))
                    .stoppedBy(shutdown)
                    .run(s -> s.fork(work).join());
        } catch (ScopeCancelledException stopped) {
            // as it was asked to
        }
    }

    /** Comes back when nothing of the worker runs any more. */
    @Override
    public void close() {
        if (!shutdown.stop("the application closes")) {
            throw new IllegalStateException("the worker has not ended within its grace");
        }
    }
}
// @end
