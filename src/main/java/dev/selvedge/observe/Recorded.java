package dev.selvedge.observe;

import dev.selvedge.Outcome;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeId;
import dev.selvedge.ScopeListener.Stopwatch;
import dev.selvedge.ScopeListener.Where;
import java.time.Duration;
import java.util.stream.Collectors;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** What is in a recording: where it happened, which each event tells. */
@Category("Selvedge")
@StackTrace(false)
abstract class Recorded extends Event {

    /** What {@code jfr print} shows as "N/A". */
    private static final long NONE = Long.MIN_VALUE;

    @Label("Scope")
    @Description("The name of the scope; \"scope\" if it was given none")
    @Nullable
    String scope;

    @Label("Scope Number")
    @Description("The number of the scope, which no other one of the process has")
    long scopeId;

    final void in(ScopeId id) {
        scope = id.name();
        scopeId = id.number();
    }

    private static @Nullable String words(@Nullable Throwable error) {
        return error == null ? null : error.toString();
    }

    @Name("dev.selvedge.Scope")
    @Label("Scope")
    @Description("A scope, from its opening to its end")
    @Threshold("10 ms")
    static final class OfScope extends Recorded {

        @Label("Parent Scope")
        @Description("The number of the scope around it; 0 if there is none that was recorded")
        long parent;

        @Label("Parent Fork")
        @Description("The number of the fork of the parent scope that has opened it; 0 if the parent's owner has")
        long parentFork;

        @Label("Deadline")
        @Description("The time that it was given, if it has a deadline of its own, earlier than any around it")
        @Timespan(Timespan.NANOSECONDS)
        long deadline = NONE;

        @Label("Elapsed")
        @Description("How long it was open by its own clock, which may be virtual")
        @Timespan(Timespan.NANOSECONDS)
        long elapsed;

        @Label("Outcome")
        @Description("succeeded: it gave a value; failed: it threw; cancelled: it was asked to stop from outside")
        @Nullable
        String outcome;

        @Label("Error")
        @Description("What it threw")
        @Nullable
        String error;

        void opened(ScopeId id) {
            in(id);
            ScopeId around = id.parent();
            parent = around == null ? 0 : around.number();
            parentFork = id.parentFork();
        }

        void closed(Duration open, @Nullable Throwable thrown) {
            elapsed = open.toNanos();
            outcome = thrown == null ? "succeeded" : thrown instanceof ScopeCancelledException ? "cancelled" : "failed";
            error = words(thrown);
        }
    }

    /** One that happened in a fork. */
    abstract static class InFork extends Recorded {

        @Label("Fork")
        @Description("The name of the fork; the scope's, if it was in the thread of the scope's owner")
        @Nullable
        String fork;

        @Label("Fork Number")
        @Description("The number of the fork in its scope, from 1; 0 for the thread of the scope's owner")
        long forkId;

        final void in(Where where, String name) {
            in(where.scope());
            fork = name;
            forkId = where.fork();
        }
    }

    @Name("dev.selvedge.Fork")
    @Label("Fork")
    @Description("A fork, or an item of a call over many, from the beginning of its task to the end")
    @Threshold("10 ms")
    static final class OfFork extends InFork implements Stopwatch {

        private final transient @Nullable FlightRecorder recorder;

        @Label("Outcome")
        @Description("succeeded, failed, or cancelled")
        @Nullable
        String outcome;

        @Label("Error")
        @Description("What it threw, or why it was cancelled")
        @Nullable
        String error;

        OfFork(@Nullable FlightRecorder recorder) {
            this.recorder = recorder;
        }

        @Override
        public boolean stop() {
            end();
            return shouldCommit() || (recorder != null && recorder.hasAttempts());
        }

        @Override
        public void ended(ScopeEvent.ForkEnded event, Where where) {
            if (recorder != null) {
                recorder.cutOff(where);
            }
            if (shouldCommit()) {
                in(where, event.fork());
                ended(event.outcome());
                commit();
            }
        }

        private void ended(Outcome<?> how) {
            switch (how) {
                case Outcome.Success<?> s -> outcome = "succeeded";
                case Outcome.Failure<?> f -> {
                    outcome = "failed";
                    error = words(f.error());
                }
                case Outcome.Cancelled<?> c -> {
                    outcome = "cancelled";
                    error = c.reason().message();
                }
            }
        }
    }

    @Name("dev.selvedge.Attempt")
    @Label("Attempt")
    @Description("An attempt of a task that is under a retry")
    @Threshold("10 ms")
    static final class OfAttempt extends InFork {

        /** That in which this one's task was called, if that has attempts, too. */
        transient @Nullable OfAttempt around;

        @Label("Attempt")
        @Description("Which one it is, from 1")
        int attempt;

        @Label("Outcome")
        @Description(
                "succeeded; failed: there will be another one; gave up: there will be none; cut off: something else has ended it")
        @Nullable
        String outcome;

        @Label("Error")
        @Description("What it threw")
        @Nullable
        String error;

        @Label("Next Delay")
        @Description("The wait before the next attempt")
        @Timespan(Timespan.NANOSECONDS)
        long nextDelay = NONE;

        @Label("Reason")
        @Description("Where the length of that wait comes from, or why there is no further attempt")
        @Nullable
        String reason;

        void failed(Throwable thrown, Duration delay, Enum<?> source) {
            outcome = "failed";
            error = words(thrown);
            nextDelay = delay.toNanos();
            reason = source.name();
        }

        void gaveUp(Throwable thrown, Enum<?> why) {
            outcome = "gave up";
            error = words(thrown);
            reason = why.name();
        }
    }

    @Name("dev.selvedge.Breaker")
    @Label("Circuit Breaker")
    @Description("A circuit breaker has gone to another state, by a call in this scope")
    static final class OfBreaker extends InFork {

        @Label("Breaker")
        @Description("The name of the breaker")
        @Nullable
        String breaker;

        @Label("From")
        @Description("Its state until then")
        @Nullable
        String from;

        @Label("To")
        @Description("Its state from then on")
        @Nullable
        String to;
    }

    @Name("dev.selvedge.Cancel")
    @Label("Cancellation")
    @Description("A scope was asked to stop")
    static final class OfCancel extends Recorded {

        @Label("Kind")
        @Description("The kind of the reason")
        @Nullable
        String kind;

        @Label("Reason")
        @Description("The reason in words")
        @Nullable
        String reason;

        @Label("Cause Fork")
        @Description("The number of the fork whose end was the reason; 0 if it was something else")
        long causeFork;
    }

    @Name("dev.selvedge.Straggler")
    @Label("Straggler")
    @Description("A scope that was asked to stop still waits for this task")
    static final class OfStraggler extends InFork {

        private static final int CALLS = 16;

        @Label("Since")
        @Description("How long ago, by its clock, the scope was asked to stop")
        @Timespan(Timespan.NANOSECONDS)
        long since;

        @Label("Calls")
        @Description("Where its thread is, the innermost call first, a line each")
        @Nullable
        String calls;

        void found(ScopeEvent.StragglerFound event) {
            since = event.since().toNanos();
            calls = event.stack().stream()
                    .limit(CALLS)
                    .map(StackTraceElement::toString)
                    .collect(Collectors.joining("\n"));
        }
    }

    @Name("dev.selvedge.Unhandled")
    @Label("Unhandled Error")
    @Description("An error that nobody can see otherwise")
    static final class OfUnhandled extends Recorded {

        @Label("Error")
        @Description("What was thrown")
        @Nullable
        String error;

        void error(Throwable thrown) {
            error = words(thrown);
        }
    }
}
