package dev.selvedge;

import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tells of a job's progress: at intervals, and once more at the end. The owner's. */
final class Reporter {

    private final Bulk job;
    private final Duration every;
    private final @Nullable Consumer<? super Progress> sink;
    private final @Nullable ProgressMeter meter;
    private final long begun;
    private Deadline next;

    Reporter(Conduct.Report report, Bulk job) {
        this.job = job;
        this.every = report.every();
        this.sink = report.sink();
        this.meter = report.meter();
        this.begun = job.now();
        this.next = nextMoment();
        if (meter != null) {
            meter.shows(this::progress);
        }
    }

    private Deadline nextMoment() {
        return sink == null ? job.context.clock().never() : job.context.clock().after(every);
    }

    private Progress progress() {
        return progress(false);
    }

    private Progress progress(boolean over) {
        long[] sums = job.counts.sums();
        return new Progress(
                job.feed.total(),
                job.feed.started(),
                sums[Counts.SUCCEEDED],
                sums[Counts.FAILED],
                sums[Counts.CANCELLED],
                sums[Counts.RETRIED],
                sums[Counts.KNOWN],
                Duration.ofNanos(job.now() - begun),
                over);
    }

    /** Tells of a job that never began, since its time was over before. */
    static void tellOfNone(Conduct.Report report, ScopeSpec spec, long total) {
        long cancelled = Math.max(0, total);
        Progress last = new Progress(total, 0, 0, 0, cancelled, 0, 0, Duration.ZERO, true);
        if (report.meter() != null) {
            report.meter().shows(() -> last);
        }
        if (report.sink() != null) {
            tell(report.sink(), last, Here.context().with(spec.handover()), Host.displayName(spec.name()));
        }
    }

    boolean hasSink() {
        return sink != null;
    }

    /** Tells if it is time; when it is time next. */
    Deadline tellIfDue() {
        if (next.passed()) {
            tell(progress());
            next = nextMoment();
        }
        return next;
    }

    void tellLast() {
        Progress last = progress(true);
        if (meter != null) {
            meter.shows(() -> last);
        }
        tell(last);
    }

    private void tell(Progress progress) {
        if (sink != null) {
            tell(sink, progress, job.context, job.displayName());
        }
    }

    private static void tell(Consumer<? super Progress> sink, Progress progress, Context context, String scope) {
        Here.Aside aside = Here.putAside();
        try {
            sink.accept(progress);
        } catch (Throwable e) {
            context.unhandled(scope, e);
        } finally {
            aside.putBack();
        }
    }
}
