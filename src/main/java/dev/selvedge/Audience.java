package dev.selvedge;

import dev.selvedge.ForkTale.Watch;
import dev.selvedge.ScopeListener.Stopwatch;
import dev.selvedge.ScopeListener.Where;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Those who listen to a block, as they are when it opens. A block has none where nobody listens, and then nothing of what they would
 * be told is built.
 */
final class Audience {

    /** Which scope the block is to them. */
    final ScopeId scope;

    /** That the block was cancelled. */
    final Announcement cancel = new Announcement();

    private final Context context;

    /** Whether anybody is told of the start and the end of each fork. */
    private final boolean hearsForks;

    /** Those who have a stopwatch for each fork. */
    private final ScopeListener[] timers;

    Audience(Context context, Consumer<? super ScopeEvent> listener, ScopeId scope) {
        this.context = context;
        this.scope = scope;
        List<ScopeListener> timing = new ArrayList<>();
        List<Consumer<? super ScopeEvent>> hearing = new ArrayList<>();
        Listeners.each(listener, who -> {
            if (who instanceof ScopeListener one && one.timesForks()) {
                timing.add(one);
            } else {
                hearing.add(who);
            }
        });
        this.hearsForks = !hearing.isEmpty();
        this.timers = timing.toArray(ScopeListener[]::new);
    }

    /** A fork is in its place. By the thread that has put it there. */
    void created(ForkTale tale) {
        if (hearsForks) {
            tell(new ScopeEvent.ForkCreated(tale.scope(), tale.name()), tale, Here.putAside());
        }
    }

    /** A task begins. This and what follows by its thread. */
    ForkTale started(ForkTale tale) {
        if (hearsForks) {
            tell(new ScopeEvent.ForkStarted(tale.scope(), tale.name()), tale, Here.putAside(tale.fork()));
        }
        for (ScopeListener timer : timers) {
            try {
                Stopwatch watch = timer.stopwatch(scope);
                tale.watches = watch == null ? tale.watches : new Watch(watch, timer, tale.watches);
            } catch (Throwable e) {
                Context.tellOfFailure(timer, tale.scope(), where(tale), e);
            }
        }
        return tale;
    }

    /** A fork has ended, and can be seen to have; with what is known of its start, if it started. */
    void ended(OpenScope in, ForkTask<?> fork, @Nullable ForkTale begun) {
        ended(in, begun == null ? new ForkTale(in, fork) : begun, fork.wasCutOff(), fork::outcomeWhenDone);
    }

    /** What follows from a cancellation is told after it; a cancellation that follows from this, after this. */
    void ended(OpenScope in, ForkTale tale, boolean wasCutOff, Supplier<Outcome<?>> how) {
        if (wasCutOff) {
            in.haveCancelAnnounced();
        }
        if (asksForEnd(tale)) {
            ended(tale, how.get());
        }
        in.announceCancel();
    }

    /** A task is over: stops the watches; whether anybody wants to know how it ended. */
    private boolean asksForEnd(ForkTale tale) {
        Watch asking = null;
        for (Watch w = tale.watches; w != null; w = w.next()) {
            try {
                asking = w.watch().stop() ? new Watch(w.watch(), w.of(), asking) : asking;
            } catch (Throwable e) {
                Context.tellOfFailure(w.of(), tale.scope(), where(tale), e);
            }
        }
        tale.watches = asking;
        return hearsForks || asking != null;
    }

    /** How a task ended. */
    void ended(ForkTale tale, Outcome<?> how) {
        ScopeEvent.ForkEnded event = new ScopeEvent.ForkEnded(tale.scope(), tale.name(), how);
        if (hearsForks) {
            tell(event, tale, Here.putAside(tale.fork()));
        }
        for (Watch w = tale.watches; w != null; w = w.next()) {
            Where where = where(tale);
            try {
                w.watch().ended(event, where);
            } catch (Throwable e) {
                Context.tellOfFailure(w.of(), tale.scope(), where, e);
            }
        }
    }

    private void tell(ScopeEvent event, ForkTale tale, Here.Aside aside) {
        try {
            context.tellOfFork(event, where(tale));
        } finally {
            aside.putBack();
        }
    }

    private Where where(ForkTale tale) {
        return new Where(context.clock().nanoTime(), scope, tale.number());
    }
}
