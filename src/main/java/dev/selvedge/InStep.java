package dev.selvedge;

import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;

/**
 * Has a virtual clock go along with real time as long as a process is alive: for the process no other time passes, so a clock
 * that jumps would leave it none.
 */
final class InStep {

    private final Thread thread;

    private InStep(Thread thread) {
        this.thread = thread;
    }

    /** From when this returns on. The process is not waited for by anybody else. */
    static InStep with(Process process, VirtualClock clock, String name) {
        Waiter begun = TimeSource.system().waiter("the clock to go along");
        Thread thread = Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                int unused = clock.external(() -> {
                    boolean unusedWake = begun.wake();
                    return process.waitFor();
                });
            } catch (InterruptedException e) {
                // the process is given up
            }
        });
        boolean interrupted = Thread.interrupted();
        try {
            boolean unused = begun.await(TimeSource.system().never());
        } catch (InterruptedException e) {
            interrupted = true; // rare, and the thread is about to begin
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return new InStep(thread);
    }

    boolean isOver() {
        return !thread.isAlive();
    }

    /** The process has ended, or is given up. Whether an interrupt came meanwhile. */
    boolean end(boolean exited) {
        if (!exited) {
            thread.interrupt();
        }
        return Waiter.awaitEndUninterruptibly(thread);
    }
}
