package dev.selvedge;

import dev.selvedge.time.StuckClockError;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A scope that is open: a frame on its owner's ledger, a container of threads, and the forks that run in them.
 *
 * <p>The life of every kind: {@link #weave} forks, or runs the owner's body; then all threads are awaited, whatever happened;
 * then the scope is sealed, so that nothing is decided twice; then {@link #conclude} says what the scope gives or throws.
 *
 * <p>Cancelling and forking meet as follows. The canceller sets the reason, then goes through the roster. The owner puts the
 * fork into the roster, starts its thread, then looks at the reason. One of the two sees the other.
 */
abstract class OpenScope extends Watched implements Runnable, ThreadFactory {

    private static final VarHandle FAILURES;

    static {
        try {
            FAILURES = MethodHandles.lookup().findVarHandle(OpenScope.class, "failures", Failure.class);
            Objects.requireNonNull(
                    ForkTale.class); // the JIT inlines no method with a class in its signature that is not loaded
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Makes the threads of forks, if the user wants to. */
    private final @Nullable ThreadFactory factory;

    /** How many failures the scope goes on after, if it goes on after any. */
    final @Nullable Budget budget;

    /** Replaced and filled by the owner; read by anyone. */
    private volatile Roster roster;

    /** The newest failure; pushed by the forks. */
    private volatile @Nullable Failure failures;

    /** Set by anyone once a fork was cut off by a cancellation of the scope. */
    private volatile boolean cutOff;

    /** Set by the owner when nothing is forked any more, and what has been forked is awaited. */
    private volatile boolean woven;

    /** Set by the owner when all is over. */
    private volatile boolean over;

    // The owner's.
    private @Nullable Object container;
    private @Nullable InterruptedException outsideCancel;

    /** What keeps the scope from being concluded: it could not fork, or its clock stands still for good. */
    private @Nullable Throwable crash;

    private Ledger.@Nullable Verdict left;

    OpenScope(Ledger ledger, ScopeSpec spec, @Nullable Object[] slots) {
        super(ledger, spec);
        factory = spec.conduct().threads();
        budget = Budget.of(spec.conduct().tolerance());
        roster = new Roster(slots);
    }

    @Override
    final @Nullable ThreadFactory threads() {
        return factory;
    }

    /** Forks, or runs the body. The owner. */
    abstract void weave() throws Throwable;

    /** What the scope gives, or throws, after all threads have ended. The owner. */
    abstract @Nullable Object conclude() throws Throwable;

    /** The scope cannot be concluded: lets go of what would be lost, and tells of it. The owner. */
    void abandon() {
        discardAllValues();
        Throwable thrown = crash;
        unhandled(Failure.errors(failures).stream().filter(e -> e != thrown).toList());
    }

    /** What becomes of the scope when a task has thrown; on the fork's thread. */
    abstract void failed(ForkTask<?> fork, Throwable error);

    /** What becomes of the scope when a task has given a value; on the fork's thread. */
    void succeeded(ForkTask<?> fork) {
        if (budget != null && !fork.isDaemon()) {
            budget.succeeded(this);
        }
    }

    /** Opens the scope, does all that is to be done, and gives or throws what comes of it. */
    @Override
    final @Nullable Object execute() throws Throwable {
        ledger.enter(this);
        Throwable thrown = null;
        try {
            runBound();
            if (crash != null) {
                abandon();
                throw crash;
            }
            return conclude();
        } catch (Throwable t) {
            thrown = t;
            throw t;
        } finally {
            end(thrown);
        }
    }

    private void runBound() {
        try {
            if (Inherited.ledger() == ledger) {
                run();
            } else {
                Inherited.where(ledger, this);
            }
        } finally {
            disarm();
            seal();
            endWatch();
            haveCancelAnnounced();
            leaveFrame(null); // has been left long since, unless the container could not be opened
            ledger.pop(this);
        }
    }

    /** Whoever holds the scope, or a fork, from now on holds the results of forks and nothing else. */
    private void end(@Nullable Throwable thrown) {
        over = true;
        forget();
        failures = null;
        outsideCancel = null;
        crash = null;
        tellClosed(thrown);
        roster = Roster.EMPTY;
        detach();
    }

    /** Lets go of what only a scope needs that is open. */
    abstract void forget();

    /** Inside the binding of the ledger: from opening the container to closing it. */
    @Override
    public final void run() {
        tellOpened();
        arm();
        Object opened = Container.WAY.open(givenName(), this);
        container = opened;
        try {
            weave();
        } catch (Throwable t) {
            crashed(t, " could not fork");
        }
        woven = true;
        try {
            awaitForks(opened);
        } finally {
            container = null;
            if (context.clock() instanceof VirtualClock virtual) {
                virtual.holdDuring(() -> {
                    Container.WAY.close(opened);
                    return false;
                });
            } else {
                Container.WAY.close(opened);
            }
        }
    }

    private void crashed(Throwable by, String what) {
        crash = by;
        cancel(new CancelReason(CancelReason.Kind.SIBLING_FAILED, Words.scope(givenName()) + what, by));
    }

    /** Ends the part in which the owner is interrupted on behalf of this scope; later calls do nothing. */
    final Ledger.Verdict leaveFrame(@Nullable Throwable thrown) {
        if (left == null) {
            left = ledger.leave(this, thrown);
        }
        return left;
    }

    final boolean hasLeftFrame() {
        return left != null;
    }

    // Forking: the owner.

    /** A fork of this scope, not started; on a virtual clock, its start is announced. */
    final <T extends @Nullable Object> ForkTask<T> newFork(
            Callable<? extends T> task, @Nullable String name, int number) {
        TimeSource clock = context.clock();
        return clock instanceof VirtualClock virtual
                ? new VirtualFork<>(this, task, name, number, virtual)
                : newRealFork(task, name, number);
    }

    abstract <T extends @Nullable Object> ForkTask<T> newRealFork(
            Callable<? extends T> task, @Nullable String name, int number);

    /** What is to be carried into forks, as it is now; null for nothing. */
    final Carrier.@Nullable Load load() {
        Carrier carrier = context.carrier();
        return carrier == null ? null : carrier.load();
    }

    final <T extends @Nullable Object> Callable<? extends T> carrying(
            Carrier.@Nullable Load load, Callable<? extends T> task) {
        return load == null ? task : load.around(task, context, displayName());
    }

    final void start(ForkTask<?> fork) {
        Roster r = roster;
        if (r.isFull()) {
            r = r.swept();
            roster = r;
        }
        r.add(fork);
        tellCreated(fork);
        roster.starting = fork;
        try {
            Container.WAY.fork(Objects.requireNonNull(container), fork);
        } catch (Throwable t) {
            if (audience() != null) {
                audience().ended(new ForkTale(this, fork), new Outcome.Failure<>(t));
            }
            r.removeLast();
            fork.neverStarted();
            throw t;
        }
        if (reason() != null) {
            fork.interrupt(ForkTask.BY_SCOPE);
        }
    }

    /** The container asks for the thread of the fork that is being started. */
    @Override
    public final Thread newThread(Runnable r) {
        ForkTask<?> fork = Objects.requireNonNull(roster.starting);
        Thread thread = factory == null
                ? ForkThreads.own(fork, roster.size() - 1, r, givenName())
                : ForkThreads.madeBy(factory, r, givenName());
        if (factory != null) {
            roster.noticeId(thread.threadId());
        }
        fork.runsOn(thread);
        return thread;
    }

    static String nameAt(ForkTask<?> fork, int index) {
        String given = fork.givenName(index);
        return given != null ? given : "fork-" + fork.number(index);
    }

    // Waiting: the owner.

    private void awaitForks(Object opened) {
        Roster all = roster;
        if (all.size() == 0) {
            return;
        }
        boolean interrupted = awaitOrdinaryForks();
        if (context.clock() instanceof VirtualClock virtual) {
            interrupted |= awaitInVirtualTime(all);
            interrupted |= virtual.holdDuring(() -> joinThreads(opened, all));
        } else {
            interrupted |= joinThreads(opened, all);
        }
        if (interrupted) {
            ledger.owner.interrupt(); // it came while the forks were awaited: whoever waits next sees it
        }
    }

    /** Whether an interrupt is to be posted again. */
    private boolean joinThreads(Object opened, Roster all) {
        boolean interrupted = false;
        try {
            Container.WAY.join(opened);
            if (factory != null) {
                interrupted = all.awaitEnds(); // the container knows that they are done, not that they have ended
            }
        } catch (InterruptedException e) {
            interrupted = outsideCancel != null;
            cancelledFromOutside(e);
            interrupted |= all.awaitEnds();
        }
        return interrupted;
    }

    /** Waits for those forks that the others do not outlive, if there are others; whether an interrupt is to be posted again. */
    boolean awaitOrdinaryForks() {
        return false;
    }

    /** The container's join waits in real time and would hold the clock: first wait for each fork on the clock. */
    private boolean awaitInVirtualTime(Roster all) {
        boolean interrupted = false;
        for (int i = 0, n = all.size(); i < n; i++) {
            VirtualFork<?> fork = (VirtualFork<?>) all.at(i);
            interrupted |= await(fork::isGone, fork::awaitGone);
        }
        return interrupted;
    }

    /** Waits through the seam of time, until a condition holds; whether an interrupt is to be posted again. The owner. */
    final boolean await(BooleanSupplier done, TimeSource.VoidWork<InterruptedException> wait) {
        boolean interrupted = false;
        while (!done.getAsBoolean() && !isStuck()) {
            try {
                wait.run();
            } catch (InterruptedException e) {
                interrupted |= outsideCancel != null;
                cancelledFromOutside(e);
            } catch (StuckClockError e) {
                crashed(e, " is on a clock that stands still"); // its forks are told the same, and end
            }
        }
        return interrupted;
    }

    private boolean isStuck() {
        return crash instanceof StuckClockError;
    }

    /** The owner was interrupted while it waited: by what is around the scope, since its own requests no longer do that. */
    final void cancelledFromOutside(InterruptedException e) {
        if (outsideCancel == null) {
            outsideCancel = e;
        }
        cancel(ledger.reasonOutside(this));
    }

    // What forks tell: their threads.

    /** A fork's task begins: what those who listen know it by. */
    ForkTale forkStarted(ForkTask<?> fork, Audience listening) {
        return listening.started(new ForkTale(this, fork));
    }

    /**
     * A task has thrown; nobody can see yet that it has ended. If a deadline around has passed by then, that was first, even if
     * the timer has not come to it yet: a client whose own time-out is the time left is as fast as the timer.
     */
    final void record(ForkTask<?> fork, String name, long number, Throwable error) {
        if (context.deadline().passed()) {
            ledger.cancelPassed(this);
        }
        Failure before;
        do {
            before = failures;
        } while (!FAILURES.compareAndSet(
                this, before, new Failure(fork, name, number, error, GivenUp.includes(error), before)));
    }

    /** A fork has ended, and can be seen to have; with what is known of its start, if somebody listens. */
    void forkEnded(ForkTask<?> fork, @Nullable ForkTale tale) {
        if (fork.hasSucceeded()) {
            succeeded(fork);
        } else if (fork.hasFailed()) {
            failed(fork, fork.failure());
        }
        if (audience() != null) {
            audience().ended(this, fork, tale);
        }
    }

    /** A fork's failure stops the scope; the listener is told once it knows of the failure. */
    final void cancelBecauseOf(ForkTask<?> fork, Throwable error) {
        String message = "\"" + nameOf(fork) + "\" failed: " + error;
        cancelSilently(new CancelReason(CancelReason.Kind.SIBLING_FAILED, message, error));
    }

    /** Whether a reason is that one of these forks has failed, and not one of a scope around. */
    final boolean isOwnFailure(@Nullable CancelReason why) {
        return why != null
                && why.kind() == CancelReason.Kind.SIBLING_FAILED
                && Failure.holds(Failure.errors(failures), why.cause());
    }

    final void cutOff() {
        cutOff = true;
    }

    @Override
    final List<ForkTask<?>> running() {
        return roster.running();
    }

    @Override
    void cancelForks() {
        roster.interruptAll();
    }

    final @Nullable ForkTask<?> forkOn(Thread thread) {
        return roster.on(thread);
    }

    /** The name that was given to the fork at a place, if forks have their names from there. */
    @Nullable
    String givenNameAt(int index) {
        return null;
    }

    final String nameOf(ForkTask<?> fork) {
        return nameAt(fork, roster.indexOf(fork));
    }

    /** The number of a fork among those of the scope; of one that works on items, that of the item. */
    long numberOf(ForkTask<?> fork) {
        return fork.number(roster.indexOf(fork));
    }

    @Override
    long forkBehind(CancelReason why) {
        return Failure.numberOf(failures, why.cause());
    }

    /** Why a fork never ran, where no reason can be seen any more. */
    final CancelReason reasonOfUnrun() {
        CancelReason why = reason();
        return why == null
                ? new CancelReason(CancelReason.Kind.CALLER, Words.scope(givenName()) + " has ended", null)
                : why;
    }

    final boolean isOver() {
        return over;
    }

    /** Whether the owner is past all forking, the body of a live scope included. From any thread. */
    final boolean isWoven() {
        return woven;
    }

    /** What the join of a failed fork throws. */
    ScopeFailedException failureOf(LiveFork<?> fork) {
        return new ScopeFailedException(
                "the fork \"" + fork.name() + "\"", List.of(fork.failure()), Failure.wasGivenUp(failures, fork));
    }

    // For conclusions: the owner, after all threads have ended.

    final Roster roster() {
        return roster;
    }

    final boolean wasCutOff() {
        return cutOff;
    }

    final @Nullable Failure failures() {
        return failures;
    }

    final @Nullable InterruptedException outsideCancel() {
        return outsideCancel;
    }

    /** If a request from outside was consumed and the scope gives or throws something else, it stays pending. */
    final void keepOutsideCancelPending() {
        if (outsideCancel != null) {
            ledger.keepPending(this);
        }
    }

    /** What the scope throws because its forks failed: an error bare, all else as one exception. */
    final Throwable failed(Failure newest) {
        List<Throwable> errors = Failure.errors(newest);
        if (errors.get(0) instanceof Error error) {
            return bare(error, errors);
        }
        keepOutsideCancelPending();
        discardAllValues();
        return failedException(newest, errors);
    }

    /** An error leaves bare: what else there was is reported. */
    final Error bare(Error error, List<Throwable> errors) {
        keepOutsideCancelPending();
        discardAllValues();
        unhandled(errors.stream().filter(e -> e != error).toList());
        return error;
    }

    /** The scope throws, and what it throws carries no values. */
    abstract void discardAllValues();

    final ScopeFailedException failedException(Failure newest, List<Throwable> errors) {
        ScopeFailedException e = new ScopeFailedException(
                Words.scope(givenName()) + " failed: \"" + Failure.first(newest).name() + "\"",
                errors,
                Failure.first(newest).givenUp());
        Failure.attach(e, errors); // what finds no room is in failures()
        return e;
    }

    /** What the scope throws because it was asked to stop, with the failures it overtook. */
    final RuntimeException stopped(CancelReason why) {
        InterruptedException outside = outsideCancel;
        RuntimeException e = outside != null
                ? ScopeCancelledException.inFlight(ledger.reasonOutside(this), outside)
                : stopped(why, unfinished(), outcomes(), null);
        unhandledRest(Failure.attach(e, Failure.errors(failures)));
        return e;
    }

    List<String> unfinished() {
        return roster.unfinished();
    }

    List<Outcome<?>> outcomes() {
        return roster.outcomes();
    }

    void tellCreated(ForkTask<?> fork) {
        if (audience() != null) {
            audience().created(new ForkTale(this, fork));
        }
    }
}
