package dev.selvedge;

import dev.selvedge.time.Alarm;
import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A process that a main scope owns: SIGINT, SIGTERM and the beginning of its exit ask the scope to stop. One scope at a time.
 *
 * <p>Who ends the process? After a signal has stopped the scope, the owner's thread, once the scope has ended; if the grace
 * passes first, or another signal comes, whoever notices. If the process is exiting anyway, nobody: the hook comes back when
 * the scope has ended, and the owner's thread stays where it is, since a caller could do nothing any more.
 */
final class MainProcess {

    static final MainProcess REAL = new MainProcess(Jvm.REAL);

    private static final System.Logger LOG = System.getLogger("dev.selvedge");

    /** For a log that is stuck. */
    private static final Duration TIME_TO_LOG = Duration.ofSeconds(1);

    private static final Duration FIRST_LOOK = Duration.ofMillis(10);
    private static final Duration LAST_LOOK = Duration.ofMillis(200);

    private final Jvm jvm;

    /** The run that has the signals: null → one → null, by its owner. */
    private final AtomicReference<@Nullable Run> current = new AtomicReference<>();

    /** A signal that found nothing to stop: the next run is not to begin. */
    private final AtomicReference<Jvm.@Nullable Signal> late = new AtomicReference<>();

    MainProcess(Jvm jvm) {
        this.jvm = jvm;
    }

    <T extends @Nullable Object, X extends Exception> T call(ScopeSpec spec, Duration grace, Task.Of<Scope, T, X> body)
            throws X {
        Run run = new Run(spec, grace);
        run.begin();
        try {
            return run.main.inItsTime(() -> {
                T value;
                try {
                    value = run.main.open(spec, body);
                } catch (Throwable t) {
                    run.end(t, null);
                    throw t;
                }
                run.end(null, value);
                return value;
            });
        } finally {
            current.set(null);
        }
    }

    /** Whether there is a main scope that a signal would cancel. */
    boolean isRunning() {
        return current.get() != null;
    }

    private static void log(String line, @Nullable Throwable error) {
        try {
            LOG.log(System.Logger.Level.WARNING, line, error);
        } catch (Throwable hopeless) {
            // the log itself is broken: whether the process ends must not depend on it
        }
    }

    /** One scope from its beginning to its end. */
    private final class Run {

        private final ScopeSpec spec;
        private final String name;
        private final Duration grace;
        private final MainRun main;
        private final CancelReason exit;
        private final Thread hook;
        private final Alarm patience;

        /** null → the first signal. */
        private final AtomicReference<Jvm.@Nullable Signal> first = new AtomicReference<>();

        /** The owner's. */
        private final List<Runnable> restore = new ArrayList<>();

        Run(ScopeSpec spec, Duration grace) {
            this.spec = spec;
            this.name = Words.scope(spec.name());
            this.grace = grace;
            this.main = new MainRun(spec);
            this.exit = new CancelReason(CancelReason.Kind.SHUTDOWN, "the process is exiting", null);
            this.hook = Thread.ofPlatform().name("selvedge-exit").unstarted(this::exiting);
            this.patience = new Patience(this);
        }

        void begin() {
            if (!current.compareAndSet(null, this)) {
                throw new IllegalStateException("a main scope has the signals of this process already: fork into that"
                        + " one, or have " + name + " stopped by a Shutdown");
            }
            try {
                addHook();
                for (Jvm.Signal signal : Jvm.Signal.values()) {
                    Runnable before = jvm.handle(signal, () -> received(signal));
                    if (before != null) {
                        restore.add(before);
                    }
                }
            } catch (Throwable t) {
                letGo();
                current.set(null);
                throw t;
            }
            Jvm.Signal missed = late.getAndSet(null);
            if (missed != null) {
                received(missed);
            }
        }

        private void addHook() {
            try {
                jvm.addHook(hook);
            } catch (IllegalStateException e) {
                throw new IllegalStateException(name + " cannot begin: the process is exiting", e);
            }
        }

        /** A thread of the JVM's for each signal: it only asks. */
        private void received(Jvm.Signal signal) {
            if (!first.compareAndSet(null, signal)) {
                halt();
                return;
            }
            CancelReason why = new CancelReason(CancelReason.Kind.SHUTDOWN, signal + " was received", null);
            if (!main.ask(why)) {
                late.set(signal);
            }
            jvm.time().set(patience, jvm.time().after(grace));
        }

        void halt() {
            jvm.halt(code());
        }

        private int code() {
            Jvm.Signal signal = first.get();
            return signal == null ? 0 : signal.exitCode();
        }

        /** The scope has ended: comes back if that was not because of a signal or an exit. The owner. */
        void end(@Nullable Throwable thrown, @Nullable Object value) {
            CancelReason why = main.whyStopped();
            if (why == null) {
                late.compareAndSet(null, first.get()); // one that came before the scope, which then could not be opened
                main.end();
                letGo();
                return;
            }
            if (thrown != null) {
                reportUnlessItSaysOnly(why, thrown);
            } else {
                String scope = Host.displayName(spec.name());
                Here.context().with(spec.handover()).discard(scope, scope, value);
            }
            boolean unused = patience.stop();
            main.end();
            if (why == exit) {
                jvm.stay();
            } else {
                jvm.removeHook(hook);
                jvm.exit(code());
            }
        }

        /** Nobody sees what the scope throws: so what went wrong while it was stopped is logged. */
        private void reportUnlessItSaysOnly(CancelReason why, Throwable thrown) {
            boolean nothingElse =
                    thrown instanceof ScopeCancelledException e && e.reason() == why && e.getSuppressed().length == 0;
            if (!nothingElse) {
                log(name + " was to stop, since " + why.message() + ", and something went wrong meanwhile", thrown);
            }
        }

        private void letGo() {
            restore.forEach(Runnable::run);
            jvm.removeHook(hook);
            boolean unused = patience.stop();
        }

        /** The grace has passed; on a thread of its own. */
        void giveUp() {
            if (main.isOver()) {
                return; // the owner ends the process
            }
            try {
                jvm.time().set(new LastMoment(this), jvm.time().after(TIME_TO_LOG));
                log(remainsAfter(String.valueOf(first.get()) + " was received") + "; halting", null);
            } finally {
                halt();
            }
        }

        private String remainsAfter(String what) {
            return main.remains() + " (" + Deadline.inWords(grace) + " after " + what + ")";
        }

        /** The shutdown hook: what was closed last should be closed before the process has ended. */
        private void exiting() {
            boolean unused = patience.stop(); // the process ends with the code of the exit
            boolean ignored = main.ask(exit);
            Deadline until = jvm.time().after(grace);
            Duration look = FIRST_LOOK;
            while (!awaitEnd(until.earlier(jvm.time().after(look))) && !main.isStuck()) {
                if (until.passed()) {
                    log(remainsAfter("the process began to exit") + "; not waiting any longer", null);
                    return;
                }
                look = look.compareTo(LAST_LOOK) < 0 ? look.multipliedBy(2) : look;
            }
        }

        private boolean awaitEnd(Deadline until) {
            try {
                return main.awaitEnd(until);
            } catch (InterruptedException e) {
                return false; // nobody has a reason to: look again
            }
        }
    }

    /** Rings when a scope has had its time to end. */
    private static final class Patience extends Alarm {

        private final Run run;

        Patience(Run run) {
            this.run = run;
        }

        @Override
        protected void ring() {
            try {
                Thread unused =
                        Thread.ofPlatform().daemon().name("selvedge-grace").start(run::giveUp);
            } catch (Throwable noThread) {
                run.halt();
            }
        }

        @Override
        public String toString() {
            return "the grace of " + run.name;
        }
    }

    /** Rings when the log has had its time too. */
    private static final class LastMoment extends Alarm {

        private final Run run;

        LastMoment(Run run) {
            this.run = run;
        }

        @Override
        protected void ring() {
            run.halt();
        }
    }
}
