package dev.selvedge;

import dev.selvedge.time.StuckClockError;
import dev.selvedge.time.Waiter;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A scope whose owner runs a body that forks as it goes.
 *
 * <p>What it gives or throws is decided by what came first in time. A fork failed first: {@link ScopeFailedException}, with
 * the body's own exception among the failures. The body threw first: its exception, as it is. The scope was cancelled or its
 * deadline passed, and that cut something off: the exception that says so. Else the body's value.
 */
final class LiveScope extends OpenScope {

    private static final VarHandle FAILED_EXCEPTION;
    private static final int FIRST_ROSTER = 8;

    static {
        try {
            FAILED_EXCEPTION =
                    MethodHandles.lookup().findVarHandle(LiveScope.class, "failed", ScopeFailedException.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Cleared when it begins: a scope that is held does not hold it. */
    private Task.@Nullable Of<? super Scope, ?, ?> body;

    private final Policies policies;
    private final boolean isolated;
    private final @Nullable Slots slots;
    private final Resources resources = new Resources(this);
    private final Daemons daemons = new Daemons(this);

    /** null → what is to be done on cancel, by the owner; read by cancellers. */
    private volatile @Nullable CancelActions cancelActions;

    /** What the scope throws for its forks: null → the one object, by whoever joins a failed fork first, or the owner. */
    private volatile @Nullable ScopeFailedException failed;

    /** Who waits for the first failure among some forks. The owner's; woken by forks. */
    private volatile @Nullable Waiter failureWatch;

    // The owner's.
    private boolean inBody;
    private boolean bodyFailedFirst;
    private int forked;
    private @Nullable Object value;
    private @Nullable Throwable thrown;
    private Ledger.@Nullable Verdict verdict;

    LiveScope(Ledger ledger, ScopeSpec spec, Task.Of<? super Scope, ?, ?> body) {
        super(ledger, spec, new Object[FIRST_ROSTER]);
        this.body = body;
        this.policies = spec.policies();
        this.isolated = spec.conduct().goesOn();
        this.slots = Slots.of(spec.conduct());
    }

    // The body: the owner.

    @Override
    void weave() {
        Task.Of<? super Scope, ?, ?> once = Objects.requireNonNull(body);
        body = null;
        inBody = true;
        try {
            value = once.call(new Scope(this, policies));
        } catch (Throwable t) {
            thrown = t;
        }
        inBody = false;
        Throwable t = thrown;
        verdict = leaveFrame(t);
        if (t == null) {
            return;
        }
        if (!Cancellation.isInFlight(t)) {
            bodyFailedFirst = isolated ? reason() == null : failures() == null;
            String message = "the body of " + Words.scope(givenName()) + " threw " + t;
            cancel(new CancelReason(CancelReason.Kind.SIBLING_FAILED, message, t));
        } else if (verdict != Ledger.Verdict.OWN) {
            cancel(ledger.reasonOutside(this));
        }
    }

    <T extends @Nullable Object> Fork<T> fork(Policies policies, @Nullable String name, Callable<? extends T> task) {
        ensureOwner("fork into");
        ensureInBody("fork into");
        CancelReason why = slots == null ? reason() : slots.takeUnlessCancelled(this);
        if (why != null) {
            LiveFork<T> unrun = new LiveFork<>(this, task, name, ++forked);
            unrun.neverRuns(why);
            return unrun;
        }
        boolean started = false;
        try {
            LiveFork<T> fork = newFork(name, policies.around(task, this));
            start(fork);
            started = true;
            return fork;
        } finally {
            if (slots != null && !started) {
                slots.giveBack();
            }
        }
    }

    @Override
    void forkEnded(ForkTask<?> fork, @Nullable ForkTale tale) {
        super.forkEnded(fork, tale);
        if (slots != null && !fork.isDaemon()) {
            slots.giveBack();
        }
    }

    private <T extends @Nullable Object> LiveFork<T> newFork(@Nullable String name, Callable<? extends T> task) {
        ForkTask<T> fork = newFork(carrying(load(), task), name, ++forked);
        return (LiveFork<T>) fork;
    }

    void startDaemon(String name, Callable<?> task) {
        if (reason() == null) {
            start(newFork(name, task).asDaemon());
        }
    }

    void daemon(Callable<?> task) {
        ensureOwner("start a daemon in");
        ensureInBody("start a daemon in");
        daemons.add(task);
    }

    void every(Duration period, Callable<?> action) {
        ensureOwner("start a daemon in");
        ensureInBody("start a daemon in");
        daemons.every(period, action);
    }

    void onCancel(Callable<?> action) {
        ensureOwner("have something done on cancel in");
        ensureInBody("have something done on cancel in");
        CancelActions all = cancelActions();
        Callable<?> carried = carrying(load(), action);
        all.add(carried);
        if (reasonHereOrAround() != null) {
            all.begin(); // whoever cancelled may have been too early to find it
        }
    }

    CancelActions cancelActions() {
        CancelActions all = cancelActions;
        if (all == null) {
            all = new CancelActions(this);
            cancelActions = all;
        }
        return all;
    }

    /** Why the scope was asked to stop, or a block around it; null if none was. */
    @Nullable
    CancelReason reasonHereOrAround() {
        CancelReason why = reason();
        return why == null ? ledger.reasonAround(below) : why;
    }

    ChildProcess process(ProcessBuilder command, Duration grace) throws IOException {
        ensureOwner("start a process in");
        ensureInBody("start a process in");
        ledger.checkpoint();
        CancelReason why = reasonHereOrAround();
        if (why != null) { // a shield keeps it from the thread, but a process would not live here
            throw ScopeCancelledException.inFlight(why, null);
        }
        return resources.process(command, grace);
    }

    /** The threads of what is done on cancel that have not ended. Any thread. */
    List<Thread> cancelThreads() {
        CancelActions all = cancelActions;
        return all == null ? List.of() : all.threads();
    }

    boolean hasCancelActions() {
        return cancelActions != null;
    }

    /** The scope, or a block around it, was asked to stop. Any thread. */
    void beginCancelActions() {
        CancelActions all = cancelActions;
        if (all != null) {
            all.begin();
        }
    }

    @Override
    void cancelForks() {
        super.cancelForks();
        beginCancelActions();
    }

    @Override
    boolean awaitOrdinaryForks() {
        return daemons.awaitOthers();
    }

    @Override
    <T extends @Nullable Object> ForkTask<T> newRealFork(
            Callable<? extends T> task, @Nullable String name, int number) {
        return new LiveFork<>(this, task, name, number);
    }

    <R extends AutoCloseable> R use(R resource) {
        ensureOwner("use a resource in");
        ensureInBody("use a resource in");
        resources.add(resource);
        return resource;
    }

    <T extends @Nullable Object> List<T> gather(Collection<? extends Fork<? extends T>> running) {
        ensureOwner("gather in");
        ensureInBody("gather in");
        RunningForks<T> forks = RunningForks.of(this, running);
        if (isolated) {
            forks.awaitAllOrFirstFailure();
        }
        return forks.values();
    }

    /** Has a waiter woken by the next failure of a fork; null for nobody. */
    void watchFailures(@Nullable Waiter watch) {
        failureWatch = watch;
    }

    private void ensureOwner(String what) {
        if (isOver()) {
            ensureInBody(what); // whoever asks: it has no owner any more
        }
        if (Thread.currentThread() != ledger.owner) {
            throw new WrongThreadException("only the thread that opened " + Words.scope(givenName()) + " can " + what
                    + " it: open a scope of its own here, scope().run(s -> ...)");
        }
    }

    private void ensureInBody(String what) {
        if (!inBody) {
            throw new IllegalStateException("cannot " + what + " " + Words.scope(givenName()) + ": its body has ended");
        }
    }

    @Override
    boolean isOwnerAtWork() {
        return inBody;
    }

    // What forks tell: any thread.

    @Override
    void failed(ForkTask<?> fork, Throwable error) {
        if (!isolated) {
            cancelBecauseOf(fork, error);
        } else {
            Budget.goOn(this, fork, error);
        }
        Waiter watch = failureWatch;
        if (watch != null) {
            watch.wake();
        }
    }

    @Override
    ScopeFailedException failureOf(LiveFork<?> fork) {
        Failure newest = failures();
        if (isolated || newest == null || Failure.first(newest).fork() != fork) {
            return super.failureOf(fork);
        }
        ScopeFailedException e = failed;
        if (e == null) {
            ScopeFailedException made = failedException(newest, Failure.errors(newest));
            e = FAILED_EXCEPTION.compareAndSet(this, null, made) ? made : Objects.requireNonNull(failed);
        }
        return e;
    }

    // The end: the owner.

    @Override
    @Nullable
    Object conclude() throws Throwable {
        endCancelActions();
        List<Throwable> unclosed = resources.close();
        Object result;
        try {
            result = concludeBody();
        } catch (Throwable t) {
            unhandled(t != thrown && isOurs(t) ? Failure.attach(t, unclosed) : unclosed);
            throw t;
        }
        if (!unclosed.isEmpty()) {
            discard(result);
            ScopeFailedException e =
                    new ScopeFailedException("closing a resource of " + Words.scope(givenName()), unclosed, false);
            Failure.attach(e, unclosed);
            throw e;
        }
        return result;
    }

    private void endCancelActions() {
        CancelActions all = cancelActions;
        if (all != null) {
            all.end();
        }
    }

    private @Nullable Object concludeBody() throws Throwable {
        CancelReason why = reason();
        Failure newest = failures();
        Error fatal = isolated ? Failure.fatal(newest) : null;
        if (fatal != null) {
            throw bare(fatal, withBody(Failure.errors(newest)));
        }
        if (budget != null
                && budget.isSpent()
                && outsideCancel() == null
                && (thrown == null || Cancellation.isInFlight(thrown))) {
            discard(value);
            throw budget.exceeded(Failure.errors(newest), outcomes());
        }
        if (!isolated && !bodyFailedFirst && newest != null && isFailure(why) && !(thrown instanceof Error)) {
            throw failedByForks(newest);
        }
        if (thrown != null) {
            throw leaving(thrown, why, newest);
        }
        if (why != null && (wasCutOff() || (newest != null && !isolated))) {
            discard(value);
            throw stopped(why);
        }
        if (isolated && newest != null) {
            throwUnseen(newest);
        }
        keepOutsideCancelPending();
        return value;
    }

    private boolean isFailure(@Nullable CancelReason why) {
        return isOwnFailure(why) || (why != null && thrown != null && why.cause() == thrown);
    }

    private static boolean isOurs(Throwable t) {
        return t instanceof ScopeFailedException
                || t instanceof DeadlineExceededException
                || t instanceof ScopeCancelledException;
    }

    /** A fork failed before the body ended. */
    private Throwable failedByForks(Failure newest) {
        if (verdict == Ledger.Verdict.OUTSIDE) {
            ledger.keepPending(this);
        }
        List<Throwable> errors = withBody(Failure.errors(newest));
        if (errors.get(0) instanceof Error error) {
            return bare(error, errors);
        }
        keepOutsideCancelPending();
        discardAllValues();
        ScopeFailedException joined = failed;
        if (joined == null) {
            return failedException(newest, errors);
        }
        joined.extend(errors);
        Failure.attach(joined, errors);
        return joined;
    }

    /** The failures of the forks, and the body's: what it threw of its own, or what went wrong while it was cut off. */
    private List<Throwable> withBody(List<Throwable> errors) {
        Throwable t = thrown;
        if (Cancellation.isInFlight(t)) {
            errors.addAll(Cancellation.attachedTo(Objects.requireNonNull(t)));
        } else if (t != null && !isJoinOf(errors, t) && !Failure.holds(errors, t)) {
            errors.add(t);
        }
        return errors;
    }

    private static boolean isJoinOf(List<Throwable> errors, Throwable t) {
        return t instanceof ScopeFailedException && errors.stream().anyMatch(e -> e == t.getCause());
    }

    @Override
    void discardAllValues() {
        discard(value);
    }

    @Override
    void forget() {
        roster().detachAll();
        cancelActions = null;
        value = null;
        thrown = null;
        failed = null;
    }

    private Throwable leaving(Throwable t, @Nullable CancelReason why, @Nullable Failure newest) {
        List<Throwable> secondary = Failure.errors(newest);
        if (verdict == Ledger.Verdict.OWN && why != null) {
            return outsideCancel() != null ? stopped(why) : stoppedWith(why, t, secondary);
        }
        Throwable cancelled = asCancellation(t, verdict);
        if (cancelled != t) {
            unhandled(Failure.attach(cancelled, secondary));
            return cancelled;
        }
        if (!Cancellation.isInFlight(t)) {
            keepOutsideCancelPending();
            if (verdict == Ledger.Verdict.PASSED && why != null && !isFailure(why)) {
                unhandled(stopped(why, unfinished(), outcomes(), null));
            }
        }
        secondary.removeIf(e -> e == t || (isOurs(t) && e == t.getCause())); // a join of an isolated scope carries it
        unhandled(secondary);
        return t;
    }

    private RuntimeException stoppedWith(CancelReason why, Throwable t, List<Throwable> secondary) {
        RuntimeException e = stopped(why, unfinished(), outcomes(), Cancellation.causeIn(t));
        unhandled(Failure.attach(e, secondary));
        return e;
    }

    private void throwUnseen(Failure newest) {
        Failure unseen = null;
        List<Failure> inOrder = new ArrayList<>();
        for (Failure f = newest; f != null; f = f.earlier()) {
            inOrder.add(0, f);
        }
        for (Failure f : inOrder) {
            if (f.fork() instanceof LiveFork<?> fork && !fork.wasLookedAt()) {
                unseen = new Failure(fork, f.name(), f.number(), f.error(), f.givenUp(), unseen);
            }
        }
        if (unseen != null) {
            discard(value);
            keepOutsideCancelPending();
            throw failedException(unseen, Failure.errors(unseen));
        }
    }

    @Override
    void abandon() {
        super.abandon();
        endCancelActions();
        Throwable t = thrown;
        List<Throwable> lost = resources.close();
        if (t != null && !Cancellation.isInFlight(t) && !(t instanceof StuckClockError)) {
            lost.add(t);
        }
        unhandled(lost);
    }
}
