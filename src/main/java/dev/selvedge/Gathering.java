package dev.selvedge;

import java.util.Arrays;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A scope over tasks that are known from the start: forks them all, unless it is asked to stop meanwhile. */
abstract class Gathering extends OpenScope {

    private final @Nullable String @Nullable [] names;
    private final Policies policies;
    private final @Nullable Slots slots;

    /** Whether an interrupt that came while a slot was awaited is to be posted again. The owner's. */
    private boolean interrupted;

    /** The array is taken over: each task gives its place to its fork. */
    Gathering(Ledger ledger, ScopeSpec spec, Object[] tasks, @Nullable String @Nullable [] names) {
        super(ledger, spec, tasks);
        ledger.tellPosted();
        this.names = names;
        this.policies = spec.policies();
        this.slots = Slots.of(spec.conduct());
    }

    @Override
    final void weave() {
        leaveFrame(null); // the owner only forks and waits: there is nothing of its own to interrupt
        Roster all = roster();
        int n = all.capacity();
        Carrier.Load load = load();
        for (int i = 0; i < n && takesSlot(); i++) {
            start(newFork(carrying(load, policies.around(all.slot(i), this)), names == null ? null : names[i], i + 1));
        }
        if (all.size() < n) {
            cutOff();
        }
        if (interrupted) {
            ledger.owner.interrupt(); // it came while a slot was awaited: whoever waits next sees it
        }
    }

    /** Waits for a slot, if their number is limited; false if the scope was asked to stop. */
    private boolean takesSlot() {
        if (slots != null) {
            interrupted |= await(
                    () -> slots.isFree() || reason() != null,
                    () -> slots.await(context.clock(), () -> reason() == null));
            slots.take();
        }
        return reason() == null;
    }

    @Override
    void forkEnded(ForkTask<?> fork, @Nullable ForkTale tale) {
        super.forkEnded(fork, tale);
        if (slots != null) {
            slots.giveBack();
        }
    }

    @Override
    final void cancelForks() {
        super.cancelForks();
        if (slots != null) {
            slots.wakeOwner();
        }
    }

    @Override
    final <T extends @Nullable Object> ForkTask<T> newRealFork(
            Callable<? extends T> task, @Nullable String name, int number) {
        return new ForkTask<>(this, task);
    }

    @Override
    final @Nullable String givenNameAt(int index) {
        return names == null ? null : names[index];
    }

    final int taskCount() {
        return roster().capacity();
    }

    /** How the task at a place ended; one that was not even forked was cut off. */
    final Outcome<?> outcomeAt(int i) {
        return i < roster().size() ? roster().at(i).outcomeWhenDone() : new Outcome.Cancelled<>(reasonOfUnrun());
    }

    /** As {@link #stopped(CancelReason)}; values that this exception does not carry are discarded. */
    final RuntimeException stoppedWithValues(CancelReason why) {
        RuntimeException e = stopped(why);
        if (e instanceof ScopeCancelledException) {
            discardAllValues();
        }
        return e;
    }

    @Override
    final void forget() {
        // nobody holds a gathering, or its forks
    }

    @Override
    final void discardAllValues() {
        discardValues();
    }

    /** Values that nobody can read any more. */
    final void discardValues(@Nullable ForkTask<?>... but) {
        if (!context.wantsDiscarded()) {
            return;
        }
        for (int i = 0; i < roster().size(); i++) {
            ForkTask<?> fork = roster().at(i);
            if (fork.hasSucceeded() && Arrays.stream(but).noneMatch(f -> f == fork)) {
                discard(nameAt(fork, i), fork.number(i), fork.result());
            }
        }
    }
}
