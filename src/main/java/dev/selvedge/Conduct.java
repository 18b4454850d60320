package dev.selvedge;

import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How a scope goes about its tasks: an immutable value. Blocks inside do not inherit it.
 *
 * @param atMost how many tasks are at work at the same time; 0 for any number
 * @param isThreadPerItem whether each item has a thread of its own
 * @param isIsolated whether a fork that fails leaves the others alone
 * @param threads makes the threads, if the user wants to
 * @param tolerance how many tasks may fail, if more than none may
 * @param report who is told of the progress, if anybody is
 */
record Conduct(
        int atMost,
        boolean isThreadPerItem,
        boolean isIsolated,
        @Nullable ThreadFactory threads,
        @Nullable Tolerance tolerance,
        @Nullable Report report) {

    static final Conduct PLAIN = new Conduct(0, false, false, null, null, null);

    /**
     * Who is told of the progress.
     *
     * @param every how much time there is between two calls at the least
     * @param sink is called by the owner; null for nobody
     * @param meter asks by itself; null for nobody
     */
    record Report(
            Duration every,
            @Nullable Consumer<? super Progress> sink,
            @Nullable ProgressMeter meter) {}

    Conduct atMost(int tasks) {
        return new Conduct(tasks, isThreadPerItem, isIsolated, threads, tolerance, report);
    }

    Conduct withThreadPerItem() {
        return new Conduct(atMost, true, isIsolated, threads, tolerance, report);
    }

    Conduct isolated() {
        return new Conduct(atMost, isThreadPerItem, true, threads, tolerance, report);
    }

    Conduct in(ThreadFactory factory) {
        return new Conduct(atMost, isThreadPerItem, isIsolated, factory, tolerance, report);
    }

    Conduct tolerating(Tolerance some) {
        return new Conduct(atMost, isThreadPerItem, isIsolated, threads, some, report);
    }

    Conduct reporting(Duration every, Consumer<? super Progress> sink) {
        return reporting(new Report(every, sink, report == null ? null : report.meter));
    }

    Conduct reporting(ProgressMeter meter) {
        return reporting(
                report == null ? new Report(Duration.ZERO, null, meter) : new Report(report.every, report.sink, meter));
    }

    private Conduct reporting(Report to) {
        return new Conduct(atMost, isThreadPerItem, isIsolated, threads, tolerance, to);
    }

    /** Whether a failure leaves the other tasks alone. */
    boolean goesOn() {
        return isIsolated || tolerance != null;
    }

    /** What there is of it, in words; null if it says nothing. */
    @Nullable
    String inWords() {
        if (isIsolated) {
            return "isolated()";
        }
        if (threads != null) {
            return "threads(...)";
        }
        if (atMost > 0) {
            return "concurrency(" + atMost + ")";
        }
        if (isThreadPerItem) {
            return "threadPerItem()";
        }
        if (tolerance != null) {
            return "an error budget";
        }
        return report == null ? null : "progress(...)";
    }
}
