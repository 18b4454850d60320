package dev.selvedge;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/** A thread that works on items of a call, one after the other; whose policies ask it whose task they run. */
final class Worker extends Host implements Callable<@Nullable Object> {

    private final Bulk job;

    /** The work on the item at hand, with all that goes around it. */
    private final Callable<?> task;

    /** The fork whose thread this is. Set by the owner before it starts. */
    private @Nullable ForkTask<?> fork;

    // The worker's own.
    private @Nullable AtomicLongArray counts;
    private int retries;

    /** What those who listen know of the item at hand. */
    private @Nullable ForkTale tale;

    /** The place of the item at hand, from 0, and the item. Set by the feed. */
    long index;

    @Nullable
    Object item;

    Worker(Bulk job) {
        this.job = job;
        this.task = job.around(this::work, this);
    }

    void runsIn(ForkTask<?> its) {
        fork = its;
    }

    /** Works on whatever it can get. */
    @Override
    public @Nullable Object call() {
        AtomicLongArray place = job.counts.place();
        counts = place;
        boolean more = true;
        try {
            // First the flag is cleared, then the reason is read: a canceller sets the reason before it interrupts.
            for (boolean first = true; more && job.reason() == null; first = false) {
                more = job.feed.claim(this);
                if (first) {
                    job.feed.begun();
                }
                if (more) {
                    settle();
                    cleanUp();
                }
            }
        } finally {
            job.counts.leave(place);
            if (more) {
                job.feed.left();
            }
        }
        return null;
    }

    /** Works on the one item that it was made for. */
    @Nullable
    Object one() {
        AtomicLongArray place = job.counts.place();
        counts = place;
        try {
            settle();
        } finally {
            job.counts.leave(place);
        }
        return null;
    }

    /** It was cancelled before its thread came to it. */
    void neverBegan(CancelReason why) {
        retries = -1;
        job.harvest.cutOff(this, why);
        AtomicLongArray place = job.counts.place();
        Counts.count(place, Counts.CANCELLED);
        job.counts.leave(place);
    }

    /** Nothing of an item is left to the next one: no interrupt, no block, no attempt. */
    private void cleanUp() {
        item = null;
        Ledger ledger = fork().ledger();
        if (ledger != null) {
            ledger.reset();
        }
        Thread.interrupted();
    }

    private @Nullable Object work() throws Exception {
        return job.workOn(item);
    }

    /** Works on the item at hand until its outcome is final, and tells everybody of it. */
    private void settle() {
        tale = job.itemStarted(this);
        retries = 0;
        long begun = job.harvest.isTimed() ? job.now() : 0;
        @Nullable Object value;
        try {
            Outcome.Success<?> known = job.known(this);
            value = known != null ? known.value() : task.call();
            if (known != null) {
                Counts.count(counts(), Counts.KNOWN);
            } else if (!job.isRecorded(item, null, value)) {
                job.harvest.cutOff(this, job.reasonOfUnrun());
                ended(Counts.CANCELLED, null, null);
                return;
            }
        } catch (Throwable t) {
            threw(t, begun);
            return;
        }
        job.harvest.succeeded(this, value, begun);
        ended(Counts.SUCCEEDED, null, value);
    }

    private void threw(Throwable t, long begun) {
        CancelReason why = fork().whyCutOffBy(t);
        if (why == null && !(t instanceof Bulk.Ruin) && job.isRecorded(item, t, null)) {
            job.harvest.failed(this, t, begun);
            ended(Counts.FAILED, t, null);
            return;
        }
        if (why != null) {
            job.unhandled(Cancellation.attachedTo(t)); // the reason is kept, and cannot carry them
        }
        job.harvest.cutOff(this, why == null ? job.reasonOfUnrun() : why);
        ended(Counts.CANCELLED, null, null);
    }

    private void ended(int how, @Nullable Throwable error, @Nullable Object value) {
        Counts.count(counts(), how);
        job.itemEnded(this, how, error, value, tale);
    }

    private AtomicLongArray counts() {
        return Objects.requireNonNull(counts);
    }

    ForkTask<?> fork() {
        return Objects.requireNonNull(fork);
    }

    /** How many attempts the item at hand has taken. */
    int attempts() {
        return retries + 1;
    }

    long took(long begun) {
        return job.now() - begun;
    }

    // As whose task it is.

    @Override
    @Nullable
    String givenName() {
        return job.givenName();
    }

    @Override
    String taskName() {
        return Bulk.nameOf(index);
    }

    @Override
    long taskNumber() {
        return index + 1;
    }

    @Override
    @Nullable
    ScopeId scopeId() {
        return job.scopeId();
    }

    @Override
    void retries() {
        retries++;
        Counts.count(counts(), Counts.RETRIED);
    }

    @Override
    Context context() {
        return job.context;
    }

    @Override
    @Nullable
    ThreadFactory threads() {
        return job.threads();
    }

    @Override
    boolean wasCutOffByItsDeadline() {
        return job.wasCutOffByItsDeadline();
    }
}
