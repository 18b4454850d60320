package dev.selvedge;

import dev.selvedge.time.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A call over many items: few threads for many, each of which takes the next item when it is done with one.
 *
 * <p>Three parts make it up. The {@link Feed} says how items come to threads, and is what the owner does meanwhile; a {@link
 * Worker} does the work; the {@link Harvest} keeps what comes of it, or hands it on. What is here is what they share: the
 * counts, the budget, the progress, and the end.
 */
final class Bulk extends OpenScope {

    private static final int FIRST_ROSTER = 8;

    /** Of a job that goes on after failures, so many are kept as objects; all are counted. */
    private static final int FAILURES_KEPT = 1000;

    final Feed feed;
    final Harvest harvest;
    final Counts counts = new Counts();

    private final Policies policies;
    private final Task.Of<@Nullable Object, ?, ?> fn;
    private final Task.@Nullable Recorded<@Nullable Object, @Nullable Object, ?> recorded;
    private final Conduct conduct;
    private final @Nullable Reporter reporter;

    /** null → the first thing that ended the job, and is no failure of an item; by anyone. */
    private final AtomicReference<@Nullable Ruined> ruined = new AtomicReference<>();

    /** What came after it, of the same kind, and the failures that could not be recorded; by workers. A job has few. */
    private final Queue<Throwable> ruinedToo = new ConcurrentLinkedQueue<>();

    // The owner's.
    private Carrier.@Nullable Load load;
    private int workers;
    private @Nullable Throwable callbackThrew;

    /** Whether the owner itself was cut off: while it pulled an item, or in a callback. */
    private boolean ownerCutOff;

    /** Failures that may be kept; counted by workers. */
    private final AtomicInteger failuresSeen = new AtomicInteger();

    /**
     * What ended the job, besides failures of items.
     *
     * @param what what it was, to be followed by "threw"
     * @param error what it threw
     */
    private record Ruined(String what, Throwable error) {}

    /** Says that an item was not worked on, since its job is over; the reason is kept elsewhere. */
    static final class Ruin extends RuntimeException {
        private static final long serialVersionUID = 1;

        Ruin() {
            super(null, null, false, false);
        }
    }

    @SuppressWarnings("unchecked") // it is called with the items it was given with, and only its own results
    Bulk(Ledger ledger, ScopeSpec spec, Task.Of<?, ?, ?> fn, Function<Bulk, Feed> feed, Harvest harvest) {
        super(ledger, spec, new Object[FIRST_ROSTER]);
        ledger.tellPosted();
        this.policies = spec.policies();
        this.conduct = spec.conduct();
        this.fn = (Task.Of<@Nullable Object, ?, ?>) fn;
        this.recorded = fn instanceof Task.Recorded<?, ?, ?> r
                ? (Task.Recorded<@Nullable Object, @Nullable Object, ?>) r
                : null;
        this.harvest = harvest;
        this.feed = feed.apply(this);
        this.reporter = conduct.report() == null ? null : new Reporter(conduct.report(), this);
    }

    // The owner.

    @Override
    void weave() throws Throwable {
        load = load();
        Throwable cutOff = null;
        try {
            feed.weave();
        } catch (Throwable t) {
            cutOff = t;
        }
        Ledger.Verdict verdict = leaveFrame(cutOff);
        if (cutOff == null) {
            return;
        }
        if (!Cancellation.isInFlight(cutOff)) {
            throw cutOff; // a thread could not be had
        }
        ownerCutOff = true;
        unhandled(Cancellation.attachedTo(cutOff));
        if (verdict != Ledger.Verdict.OWN) {
            cancelledFromOutside(Cancellation.asInterrupt(cutOff));
        }
    }

    /** The owner was interrupted while it waited. Once the frame has been left, that can only have come from outside. */
    void interruptedInWait(InterruptedException e) throws InterruptedException {
        if (!hasLeftFrame()) {
            throw e;
        }
        cancelledFromOutside(e);
    }

    /**
     * Whether what code of the user's has thrown, on the owner's thread, ends the job as a cancellation. An interrupt that
     * leaves that code as itself always does: nobody can tell one that it made from one that somebody sent. One that it has
     * made into something else does if there is somebody who asked; else the code has answered it, or had none.
     */
    boolean isCutOffBy(Throwable thrown) {
        return Cancellation.isInFlight(thrown)
                && (thrown instanceof InterruptedException
                        || thrown instanceof ScopeCancelledException
                        || ledger.reasonAround(isWoven() ? below : this) != null);
    }

    /** The same, when all threads have ended: what is around is asked to stop, or somebody has interrupted the owner. */
    void cutOffAtItsEnd(Throwable by) {
        unhandled(Cancellation.attachedTo(by));
        ownerCutOff = true;
        cancelledFromOutside(Cancellation.asInterrupt(by));
    }

    int mostAtWork(int otherwise) {
        return conduct.atMost() == 0 ? otherwise : conduct.atMost();
    }

    /** One more thread that works on what it can get. */
    void startWorker() {
        Worker worker = new Worker(this);
        workers++;
        ForkTask<?> fork = newFork(worker, null, workers);
        worker.runsIn(fork);
        start(fork);
    }

    /** A thread for one item, not started. */
    Worker workerFor(long index, @Nullable Object item) {
        Worker worker = new Worker(this);
        worker.index = index;
        worker.item = item;
        worker.runsIn(newFork(worker::one, null, (int) index + 1));
        return worker;
    }

    @Override
    <T extends @Nullable Object> ForkTask<T> newRealFork(
            Callable<? extends T> task, @Nullable String name, int number) {
        return feed.isThreadPerItem() ? new LiveFork<>(this, task, name, number) : new ForkTask<>(this, task);
    }

    /** Threads that work on many items bear no item's name. */
    @Override
    @Nullable
    String givenNameAt(int index) {
        return feed.isThreadPerItem() || givenName() == null ? null : "worker-" + workers;
    }

    /** The callback threw: that is the end, and leaves as it is. */
    void callbackThrew(Throwable t) {
        callbackThrew = t;
        String message = "what " + Words.scope(givenName()) + " calls for each outcome threw " + t;
        cancel(new CancelReason(CancelReason.Kind.SIBLING_FAILED, message, t));
    }

    /** Tells of the progress, if it is time; and when it is time next. */
    Deadline reportIfDue() {
        return reporter == null ? context.clock().never() : reporter.tellIfDue();
    }

    /** Whether the owner has somebody to tell while the job runs. */
    boolean isReported() {
        return reporter != null && reporter.hasSink();
    }

    // On the threads of workers.

    Callable<?> around(Callable<?> work, Worker worker) {
        return carrying(load, policies.around(work, worker));
    }

    @Nullable
    Object workOn(@Nullable Object item) throws Exception {
        return recorded == null ? fn.call(item) : recorded.work(item);
    }

    Outcome.@Nullable Success<?> known(Worker worker) {
        if (recorded == null) {
            return null;
        }
        try {
            return recorded.known(worker.item);
        } catch (Throwable t) {
            if (worker.fork().whyCutOffBy(t) != null) {
                throw Sneaky.sneak(t);
            }
            ruin("what is known of an item", t);
            throw new Ruin();
        }
    }

    /** Has an outcome recorded, if outcomes are; false if that failed, which is the end of the job. */
    boolean isRecorded(@Nullable Object item, @Nullable Throwable error, @Nullable Object value) {
        if (recorded == null) {
            return true;
        }
        Here.Aside aside = Here.putAside();
        try {
            recorded.record(
                    item, error == null ? new Outcome.Success<@Nullable Object>(value) : new Outcome.Failure<>(error));
            return true;
        } catch (Throwable t) {
            discard(value);
            if (error != null) {
                ruinedToo.add(error);
            }
            ruin("the record of an outcome", t);
            return false;
        } finally {
            aside.putBack();
        }
    }

    /** Something ended the job that is no failure of an item. */
    void ruin(String what, Throwable by) {
        if (!ruined.compareAndSet(null, new Ruined(what + " of " + Words.scope(givenName()), by))) {
            ruinedToo.add(by);
            return;
        }
        String message = what + " of " + Words.scope(givenName()) + " threw " + by;
        cancelSilently(new CancelReason(CancelReason.Kind.SIBLING_FAILED, message, by));
    }

    long now() {
        return context.clock().nanoTime();
    }

    static String nameOf(long index) {
        return "fork-" + (index + 1);
    }

    /** A worker begins with an item; what is known of that at its end, if somebody listens. */
    @Nullable
    ForkTale itemStarted(Worker worker) {
        Audience all = audience();
        if (all == null) {
            return null;
        }
        ForkTale tale = new ForkTale(this, worker);
        if (!feed.isThreadPerItem()) {
            all.created(tale);
        }
        return all.started(tale);
    }

    /** An item has ended, and is counted. */
    void itemEnded(Worker worker, int how, @Nullable Throwable error, @Nullable Object value, @Nullable ForkTale tale) {
        if (error != null) {
            itemFailed(worker, error);
        } else if (how == Counts.SUCCEEDED && budget != null) {
            budget.succeeded(this);
        }
        if (tale != null) {
            tellEnded(tale, how, error, value);
        }
        feed.itemEnded();
    }

    private void tellEnded(ForkTale tale, int how, @Nullable Throwable error, @Nullable Object value) {
        Outcome<?> outcome = error != null
                ? new Outcome.Failure<>(error)
                : how == Counts.SUCCEEDED
                        ? new Outcome.Success<@Nullable Object>(value)
                        : new Outcome.Cancelled<>(reasonOfUnrun());
        Objects.requireNonNull(audience()).ended(this, tale, how == Counts.CANCELLED, () -> outcome);
    }

    private void itemFailed(Worker worker, Throwable error) {
        boolean ends = Failure.endsTheJob(error) || (harvest.isAllOrNone() && budget == null);
        boolean isOutcome = harvest.isOutcomes();
        if (ends || (isOutcome && recorded == null) || (harvest.isAllOrNone() && isAmongFirst())) {
            record(worker.fork(), worker.taskName(), worker.taskNumber(), error);
        }
        if (ends) {
            String message = "\"" + worker.taskName() + "\" failed: " + error;
            cancelSilently(new CancelReason(CancelReason.Kind.SIBLING_FAILED, message, error));
        } else if (budget != null) {
            budget.failed(this, error);
        }
    }

    /** A job that goes on may have more failures than there is room for. */
    private boolean isAmongFirst() {
        return failuresSeen.getAndIncrement() < FAILURES_KEPT;
    }

    @Override
    long numberOf(ForkTask<?> fork) {
        return fork.task() instanceof Worker worker ? worker.taskNumber() : super.numberOf(fork);
    }

    // What forks tell, which are no items here.

    @Override
    void tellCreated(ForkTask<?> fork) {
        if (feed.isThreadPerItem()) {
            super.tellCreated(fork);
        }
    }

    @Override
    ForkTale forkStarted(ForkTask<?> fork, Audience listening) {
        return new ForkTale(this, fork); // the items tell
    }

    @Override
    void forkEnded(ForkTask<?> fork, @Nullable ForkTale tale) {
        if (feed.isThreadPerItem() && fork.wasCutOff()) { // before it began
            super.forkEnded(fork, tale);
        }
        if (fork.hasFailed()) {
            failed(fork, fork.failure());
        }
        feed.forkEnded(fork);
    }

    @Override
    void abandon() {
        super.abandon();
        tellRuined(false);
        if (reporter != null) {
            reporter.tellLast();
        }
    }

    @Override
    void failed(ForkTask<?> fork, Throwable error) {
        cancelBecauseOf(fork, error); // it was not the item: something is wrong with this class, or with the machine
    }

    @Override
    void cancelForks() {
        super.cancelForks();
        feed.wakeOwner();
    }

    // The end: the owner.

    @Override
    @Nullable
    Object conclude() throws Throwable {
        CancelReason why = reason();
        harvest.finish(this, why != null && !isFromOutside(why));
        if (reporter != null) {
            reporter.tellLast();
        }
        Failure newest = failures();
        Error fatal = Failure.fatal(newest);
        Ruined by = ruined.get();
        boolean isRuined = by != null && why != null && why.cause() == by.error;
        tellRuined(isRuined && fatal == null);
        if (fatal != null) {
            throw bare(fatal, Failure.errors(newest));
        }
        if (callbackThrew != null) {
            throw leaving(callbackThrew, why);
        }
        if (by != null && isRuined) {
            throw ruinedBy(by, newest);
        }
        if (newest != null && isOwnFailure(why)) {
            throw failed(newest);
        }
        if (why != null && (ownerCutOff || !isComplete() || isOverBudget(why))) {
            return cutShort(why, newest);
        }
        keepOutsideCancelPending();
        if (newest != null && harvest.isAllOrNone()) {
            discardAllValues();
            ScopeFailedException e = failedException(newest, Failure.errors(newest));
            e.addUnkept(Math.max(0, failuresSeen.get() - FAILURES_KEPT));
            throw e;
        }
        return harvest.result();
    }

    /**
     * What ruined the job is told once. It came to several threads at the same time, as a disk that is full does, and a
     * listener gets all; the log, only what is not of the same cause.
     *
     * @param isThrown whether the first is part of what is thrown; else something else had ended the job before
     */
    private void tellRuined(boolean isThrown) {
        Ruined first = ruined.get();
        if (first == null) {
            return;
        }
        List<Throwable> rest = new ArrayList<>(ruinedToo);
        if (!context.seesErrors()) {
            rest.removeIf(e -> FailureGroup.areOfOneCause(e, first.error));
        }
        if (!isThrown) {
            rest.add(0, first.error);
        }
        unhandledRest(rest);
    }

    /** Whether all items there are have ended by themselves. */
    private boolean isComplete() {
        long[] sums = counts.sums();
        return feed.isExhausted() && sums[Counts.SUCCEEDED] + sums[Counts.FAILED] == feed.handedOut();
    }

    /** Also if the failure that was one too many was the last one. */
    private boolean isOverBudget(CancelReason why) {
        return budget != null && budget.isSpent() && !isFromOutside(why);
    }

    private boolean isFromOutside(CancelReason why) {
        return outsideCancel() != null || isInherited(why);
    }

    /** The job was asked to stop before its end. */
    private @Nullable Object cutShort(CancelReason why, @Nullable Failure newest) {
        if (harvest.isOutcomes() && !isFromOutside(why)) {
            keepOutsideCancelPending();
            return harvest.result();
        }
        if (isOverBudget(why)) {
            throw Objects.requireNonNull(budget).exceeded(Failure.errors(newest), outcomes());
        }
        RuntimeException e = stopped(why);
        if (e instanceof ScopeCancelledException) {
            discardAllValues();
        }
        throw e;
    }

    /** What ended the job leaves as the cause of the scope's own exception, with what was done until then. */
    private Throwable ruinedBy(Ruined by, @Nullable Failure newest) {
        List<Throwable> errors = new ArrayList<>(List.of(by.error));
        for (Throwable e : Failure.errors(newest)) {
            if (e != by.error) {
                errors.add(e);
            }
        }
        if (by.error instanceof Error error) {
            return bare(error, errors);
        }
        keepOutsideCancelPending();
        ScopeFailedException e = new ScopeFailedException(by.what, errors, false, outcomes());
        unhandledRest(Failure.attach(e, errors));
        return e;
    }

    private Throwable leaving(Throwable threw, @Nullable CancelReason why) {
        keepOutsideCancelPending();
        discardAllValues();
        List<Throwable> others = Failure.errors(failures());
        others.removeIf(e -> e == threw);
        unhandled(others);
        if (why != null && why.cause() != threw && !isFromOutside(why)) {
            unhandled(stopped(why, unfinished(), outcomes(), null));
        }
        return threw;
    }

    @Override
    List<String> unfinished() {
        return harvest.cutOffNames();
    }

    @Override
    List<Outcome<?>> outcomes() {
        return harvest.outcomes(reasonOfUnrun());
    }

    @Override
    void discardAllValues() {
        if (context.wantsDiscarded()) {
            harvest.discardAll(this);
        }
    }

    @Override
    void forget() {
        // nobody holds the job, or its threads; a meter that shows it has its last count
    }
}
