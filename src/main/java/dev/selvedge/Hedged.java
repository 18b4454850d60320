package dev.selvedge;

import dev.selvedge.policy.CircuitBreaker.Permit;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Attempts of one task that run at the same time: the next one joins when the last has taken too long, or one has failed.
 * The first value wins.
 */
final class Hedged extends OpenScope {

    private static final int FIRST_ROSTER = 4;

    private final Policies policies;
    private final Policies.Hedge hedge;
    private final Callable<?> task;
    private final Host host;
    private final @Nullable Permit permit;
    private final @Nullable Deadline until;

    /** Which attempt of its task this is; each of those here is the same one. */
    private final Attempt attempt;

    /** When the first of them was due. */
    private final long begun;

    /** In the order of their starts. The owner's. */
    private final List<ForkTask<?>> forks = new ArrayList<>();

    /** null → the first attempt that gives a value, by its thread. */
    private final AtomicReference<@Nullable Win> win = new AtomicReference<>();

    /** false → true by an attempt that a policy has refused: there will be no further one. */
    private volatile boolean refused;

    /** false → true by an attempt that runs when it is cut off. */
    private volatile boolean ran;

    /** How many attempts have failed, and have told what follows from it: that of an error ends the race. */
    private final AtomicInteger failed = new AtomicInteger();

    /** Who waits for news of the attempts: the owner; woken by them. */
    private volatile @Nullable Waiter watch;

    /**
     * An attempt that has given a value.
     *
     * @param fork the attempt
     * @param before the failures until then
     */
    private record Win(ForkTask<?> fork, @Nullable Failure before) {}

    private Hedged(
            Ledger ledger,
            ScopeSpec spec,
            Policies policies,
            Policies.Hedge hedge,
            Callable<?> task,
            Host host,
            @Nullable Permit permit,
            @Nullable Deadline until) {
        super(ledger, spec, new Object[FIRST_ROSTER]);
        this.policies = policies;
        this.hedge = hedge;
        this.task = task;
        this.host = host;
        this.permit = permit;
        this.until = until;
        this.attempt = Attempt.stored();
        this.begun = context.clock().nanoTime();
    }

    static <T extends @Nullable Object> T run(
            Policies policies,
            Policies.Hedge hedge,
            Callable<? extends T> task,
            Host host,
            @Nullable Permit permit,
            @Nullable Deadline until) {
        ScopeSpec spec = specWithin(host);
        return ScopeSpec.execute(spec, ledger -> new Hedged(ledger, spec, policies, hedge, task, host, permit, until));
    }

    private static ScopeSpec specWithin(Host host) {
        String name = host.givenName();
        ThreadFactory threads = host.threads();
        ScopeSpec named = name == null ? ScopeSpec.PLAIN : ScopeSpec.PLAIN.named(name + "/hedge");
        return threads == null ? named : named.threads(threads);
    }

    // Starting: the owner.

    @Override
    void weave() {
        leaveFrame(null); // the owner only forks and waits: there is nothing of its own to interrupt
        boolean interrupted = false;
        Carrier.Load load = load();
        do {
            int seen = failed.get(); // before it starts: it may fail at once
            ForkTask<?> fork = next(forks.size(), load);
            forks.add(fork);
            start(fork);
            interrupted |= forks.size() <= hedge.extra() && awaitNeed(seen);
        } while (forks.size() <= hedge.extra() && !isEnough());
        if (interrupted) {
            ledger.owner.interrupt();
        }
    }

    @Override
    void tellCreated(ForkTask<?> fork) {
        super.tellCreated(fork);
        int number = forks.size() - 1;
        if (number > 0) {
            Duration after = Duration.ofNanos(context.clock().nanoTime() - begun);
            tell(new ScopeEvent.HedgeStarted(displayName(), nameOf(fork), number, after), numberOf(fork));
        }
    }

    private ForkTask<?> next(int index, Carrier.@Nullable Load load) {
        return newFork(carrying(load, attemptOf(index)), givenNameAt(index), index + 1);
    }

    private Callable<?> attemptOf(int index) {
        Attempt mine = index == 0
                ? attempt
                : attempt.asHedge(Duration.ofNanos(context.clock().nanoTime() - begun));
        Callable<?> run = () -> {
            Try it = new Try(index == 0);
            try {
                return policies.hedge(it, host, until);
            } catch (Throwable t) {
                boolean cutOff = Cancellation.isInFlight(t);
                if (cutOff && it.begun) {
                    ran = true;
                } else if (!cutOff && !it.begun) {
                    refused = true;
                }
                throw t;
            }
        };
        return mine == Attempt.FIRST ? run : () -> Attempt.within(mine, run);
    }

    /** The task, and whether it has begun. */
    private final class Try implements Callable<@Nullable Object> {

        private final boolean first;
        private boolean begun;

        Try(boolean first) {
            this.first = first;
        }

        @Override
        public @Nullable Object call() throws Exception {
            if (reason() != null) {
                Here.checkpoint(); // the race was lost while this one waited for a slot or its moment
            }
            begun = true;
            if (first && permit != null) {
                permit.begin();
            }
            return task.call();
        }
    }

    /** Waits until another attempt is due, by time or by a failure, or none will be; whether an interrupt is to be posted again. */
    private boolean awaitNeed(int seen) {
        Deadline due = context.clock().after(hedge.after());
        return await(() -> isEnough() || failed.get() != seen || due.passed(), () -> {
            Waiter me = context.clock().waiter("the time of the next hedge");
            watch = me;
            if (!isEnough() && failed.get() == seen) {
                boolean unused = me.await(due);
            }
            watch = null;
        });
    }

    /** Whether no further attempt is wanted. */
    private boolean isEnough() {
        return win.get() != null || refused || reason() != null;
    }

    @Override
    <T extends @Nullable Object> ForkTask<T> newRealFork(
            Callable<? extends T> task, @Nullable String name, int number) {
        return new ForkTask<>(this, task);
    }

    @Override
    @Nullable
    String givenNameAt(int index) {
        return givenName() == null ? null : index == 0 ? "attempt" : "hedge-" + index;
    }

    // What attempts tell: their threads.

    @Override
    void succeeded(ForkTask<?> fork) {
        if (win.compareAndSet(null, new Win(fork, failures()))) {
            cancelSilently(new CancelReason(CancelReason.Kind.RACE_LOST, "\"" + nameOf(fork) + "\" was first", null));
        }
        wakeOwner();
    }

    @Override
    void failed(ForkTask<?> fork, Throwable error) {
        if (error instanceof Error) {
            cancelBecauseOf(fork, error);
        }
        failed.getAndIncrement();
        wakeOwner();
    }

    private void wakeOwner() {
        Waiter w = watch;
        if (w != null) {
            boolean unused = w.wake();
        }
    }

    @Override
    long forkBehind(CancelReason why) {
        Win won = win.get();
        return won != null && why.kind() == CancelReason.Kind.RACE_LOST ? numberOf(won.fork()) : super.forkBehind(why);
    }

    // The end: the owner.

    @Override
    @Nullable
    Object conclude() throws Throwable {
        Win won = win.get();
        Failure newest = failures();
        CancelReason why = reason();
        if (why != null && isOwnFailure(why) && why.cause() instanceof Error error) {
            throw bare(error, Failure.errors(newest));
        }
        if (won != null) {
            keepOutsideCancelPending();
            discardAllBut(won.fork());
            unhandled(Failure.errorsSince(won.before(), newest)); // those before have been made good
            return won.fork().result();
        }
        if (why != null && wasCutOff()) {
            if (ran && permit != null && host.wasCutOffByItsDeadline()) {
                permit.failed();
            }
            throw stopped(why);
        }
        return failedAll(Objects.requireNonNull(newest));
    }

    /** The failure of the first attempt leaves, as it is. */
    private @Nullable Object failedAll(Failure newest) throws Throwable {
        keepOutsideCancelPending();
        Throwable primary = forks.get(0).failure();
        if (Failure.wasGivenUp(newest, forks.get(0))) {
            GivenUp.add(primary);
        }
        unhandled(Failure.errors(newest).stream().filter(e -> e != primary).toList());
        throw primary;
    }

    private void discardAllBut(@Nullable ForkTask<?> winner) {
        for (ForkTask<?> fork : forks) {
            if (fork != winner && fork.hasSucceeded()) {
                discard(nameOf(fork), numberOf(fork), fork.result());
            }
        }
    }

    @Override
    void discardAllValues() {
        discardAllBut(null);
    }

    @Override
    void forget() {
        forks.clear();
    }
}
