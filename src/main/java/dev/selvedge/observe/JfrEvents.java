package dev.selvedge.observe;

import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeListener;

/**
 * What scopes do, in recordings of the JDK's Flight Recorder: to be looked at in JDK Mission Control, or with {@code jfr print --events
 * dev.selvedge.*}.
 *
 * {@snippet class="dev.selvedge.examples.FlightExamples" region="defaults"}
 *
 * <table class="striped">
 * <caption>The events</caption>
 * <tr><th scope="col">event</th><th scope="col">is recorded</th></tr>
 * <tr><td>{@code dev.selvedge.Scope}</td><td>of a scope, from its opening to its end, if that took 10 ms</td></tr>
 * <tr><td>{@code dev.selvedge.Fork}</td><td>of a fork, or of an item of a call over many, if its task took 10 ms</td></tr>
 * <tr><td>{@code dev.selvedge.Attempt}</td><td>of an attempt under a retry, if it took 10 ms</td></tr>
 * <tr><td>{@code dev.selvedge.Breaker}</td><td>when a circuit breaker has gone to another state</td></tr>
 * <tr><td>{@code dev.selvedge.Cancel}</td><td>when a scope was asked to stop: why, and by which fork</td></tr>
 * <tr><td>{@code dev.selvedge.Straggler}</td><td>when a scope that was asked to stop still waits for a task</td></tr>
 * <tr><td>{@code dev.selvedge.Unhandled}</td><td>when there was an error that nobody can see otherwise</td></tr>
 * </table>
 *
 * <p>All are on by default in a recording; a file of settings, or {@code jdk.jfr.Recording}, switches each off, or gives it another
 * threshold. None has a stack trace. Start and duration are those of the machine; {@code elapsed} is by the clock of the scope, which
 * may be virtual. A scope that was opened before a recording began is not in it, nor are its forks; those inside it that are opened
 * later are.
 *
 * <p>Where no recording runs, a scope with this listener is as one without any. It is no replacement for the log: an error that
 * nobody can see otherwise is logged as well, unless another listener is told of it. Where the module {@code jdk.jfr} is missing, it does
 * nothing.
 *
 * @since 0.1
 */
public final class JfrEvents {

    private JfrEvents() {}

    /**
     * The listener that records.
     *
     * @return always the same one, for any number of scopes and threads
     */
    public static ScopeListener events() {
        return Holder.LISTENER;
    }

    private static final class Holder {

        static final ScopeListener LISTENER =
                ModuleLayer.boot().findModule("jdk.jfr").isPresent() ? new FlightRecorder() : new Deaf();
    }

    /** For a JDK without a flight recorder. */
    private record Deaf() implements ScopeListener {

        @Override
        public boolean isListening() {
            return false;
        }

        @Override
        public boolean replacesLog() {
            return false;
        }

        @Override
        public void on(ScopeEvent event, Where where) {
            // nobody can record it
        }
    }
}
