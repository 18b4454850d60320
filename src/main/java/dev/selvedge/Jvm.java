package dev.selvedge;

import dev.selvedge.time.TimeSource;
import org.jspecify.annotations.Nullable;

/** What is asked of the process: signals, and ways to end, for a main scope; the tests have one that does not end them. */
interface Jvm {

    /** That of this process. */
    Jvm REAL = new Real();

    /** How many processors there were at first. */
    int PROCESSORS = Runtime.getRuntime().availableProcessors();

    /** Signals are real, and so is the time by which they are answered, whatever the clock of the scope. */
    TimeSource time();

    /** Ends the process after its shutdown hooks; does not come back. */
    void exit(int code);

    /** Ends the process at once. */
    void halt(int code);

    /** The process is ending: waits for that. */
    void stay();

    /**
     * Has a thread started when the process begins to exit.
     *
     * @throws IllegalStateException if it has begun to
     */
    void addHook(Thread hook);

    /** The thread is not to be started any more; too late if the process has begun to exit. */
    void removeHook(Thread hook);

    /** Has something done whenever a signal comes; what it gives restores the handler before, null if none is given away. */
    @Nullable
    Runnable handle(Signal signal, Runnable action);

    /** The signals that ask a process to end. */
    enum Signal {
        SIGINT(2),
        SIGTERM(15);

        private final int number;

        Signal(int number) {
            this.number = number;
        }

        /** With which the process ends, as a shell tells it. */
        int exitCode() {
            return 128 + number;
        }
    }

    /** The process that this is. */
    final class Real implements Jvm {

        private Real() {}

        @Override
        public TimeSource time() {
            return TimeSource.system();
        }

        @Override
        public void exit(int code) {
            Runtime.getRuntime().exit(code);
        }

        @Override
        public void halt(int code) {
            Runtime.getRuntime().halt(code);
        }

        @Override
        public void stay() {
            while (true) {
                try {
                    boolean unused = time().waiter().await(time().never());
                } catch (InterruptedException e) {
                    // nothing is left to be cut off
                }
            }
        }

        @Override
        public void addHook(Thread hook) {
            Runtime.getRuntime().addShutdownHook(hook);
        }

        @Override
        public void removeHook(Thread hook) {
            try {
                boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // the process is ending
            }
        }

        @Override
        public @Nullable Runnable handle(Signal signal, Runnable action) {
            return Signals.handle(signal.name().substring("SIG".length()), action);
        }
    }
}
