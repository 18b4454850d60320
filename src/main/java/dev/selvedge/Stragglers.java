package dev.selvedge;

import dev.selvedge.time.Alarm;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.Participant;
import dev.selvedge.time.StuckClockError;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks, some time after a block was asked to stop, which of its tasks go on all the same, and has them told. Set by whoever cancels;
 * the block's owner ends it when they have ended, which nearly always is before it rings.
 *
 * <p>It looks on a platform thread of its own, since the timer must not wait for listeners, the owner waits in the JDK, and the tasks may
 * keep all carriers busy. The owner waits for that thread.
 */
final class Stragglers extends Alarm {

    private static final int MOST = 100;
    private static final int CALLS = 64;
    private static final int CALLS_IN_LOG = 6;
    private static final int DEPTH = 20;

    /** Cleared by the owner at the end: an alarm that was stopped lies about for a while, and must not hold a block. */
    private volatile @Nullable Watched block;

    private final TimeSource time;
    private final long begun;

    /** The thread that looks, if there is one. Set before {@link #told}. */
    private volatile @Nullable Thread helper;

    /** Whether it has rung, and all there was to tell has been told. */
    private volatile boolean told;

    private volatile @Nullable Waiter owner;

    Stragglers(Watched block) {
        this.block = block;
        this.time = block.context.clock();
        this.begun = time.nanoTime();
    }

    void begin(Watched mine) {
        Deadline due = time.after(mine.context.stragglersAfter());
        if (!due.isNever() && !standsStill(mine.reason())) {
            time.set(this, due);
        }
    }

    /** Whether the block was cancelled since its clock stands still for good: that must not set it going again. */
    private static boolean standsStill(@Nullable CancelReason why) {
        Throwable cause = why == null ? null : why.cause();
        for (int depth = 0; cause != null && depth < DEPTH; depth++) { // causes may be a circle
            if (cause instanceof StuckClockError) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    @Override
    protected void ring() {
        Watched mine = block;
        if (mine == null) {
            over();
            return;
        }
        Participant participant =
                time instanceof VirtualClock virtual ? virtual.enroll("the watch for stragglers") : null;
        try {
            Thread thread = Thread.ofPlatform()
                    .daemon()
                    .name(mine.displayName() + "/stragglers")
                    .unstarted(() -> look(mine, participant));
            helper = thread;
            thread.start();
        } catch (Throwable noThread) { // there are worse things to tell then
            helper = null;
            if (participant != null) {
                participant.withdraw();
            }
            over();
        }
    }

    private void look(Watched mine, @Nullable Participant participant) {
        if (participant != null) {
            participant.begin();
        }
        try {
            mine.haveCancelAnnounced();
            found(mine).forEach(s -> tell(mine, s));
        } catch (Throwable e) {
            mine.unhandled(e);
        } finally {
            over();
            if (participant != null) {
                participant.end();
            }
        }
    }

    private static List<Straggler> found(Watched block) {
        List<Straggler> found = new ArrayList<>();
        Ledger owners = block.ledger;
        if (block.isOwnerAtWork() && (owners.top() == block || !waitsInside(owners))) {
            found.add(new Straggler(block.displayName(), 0, owners.owner));
        }
        for (ForkTask<?> fork : block.running()) {
            Thread thread = fork.thread();
            if (thread != null && found.size() < MOST && !waitsInside(fork.ledger())) {
                String name = fork.task() instanceof Worker worker ? worker.taskName() : fork.scope.nameOf(fork);
                found.add(new Straggler(name, fork.scope.numberOf(fork), thread));
            }
        }
        return found;
    }

    /** Whether the thread is in a block inside, which tells of itself. */
    private static boolean waitsInside(@Nullable Ledger its) {
        return its != null && its.top() instanceof Watched;
    }

    private void over() {
        told = true;
        Waiter waits = owner;
        if (waits != null) {
            waits.wake();
        }
    }

    /**
     * A task that goes on.
     *
     * @param name the name of its fork
     * @param number the number of its fork
     * @param thread the thread it runs on
     */
    private record Straggler(String name, long number, Thread thread) {}

    private void tell(Watched mine, Straggler s) {
        StackTraceElement[] stack = s.thread.getStackTrace();
        List<StackTraceElement> calls = Arrays.asList(stack).subList(0, Math.min(CALLS, stack.length));
        Duration since = Duration.ofNanos(time.nanoTime() - begun);
        CancelReason why = mine.reason();
        StringBuilder words = new StringBuilder("\"")
                .append(s.name)
                .append("\" goes on ")
                .append(Deadline.inWords(since))
                .append(" after ")
                .append(Words.scope(mine.givenName()))
                .append(" was asked to stop");
        words.append(why == null ? "" : " (" + why.message() + ")").append(", which waits for it");
        calls.stream()
                .limit(CALLS_IN_LOG)
                .forEach(call ->
                        words.append(System.lineSeparator()).append("    at ").append(call));
        mine.context.straggler(
                new ScopeEvent.StragglerFound(mine.displayName(), s.name, since, calls),
                mine.scopeId(),
                s.number,
                words.toString());
    }

    /** The block's tasks have ended: nothing is looked for any more, and what is being told is awaited. The owner. */
    void end() {
        block = null;
        if (stop()) {
            return;
        }
        boolean interrupted = awaitTold();
        Thread thread = helper;
        if (thread != null) {
            interrupted |= time instanceof VirtualClock virtual
                    ? virtual.holdDuring(() -> Waiter.awaitEndUninterruptibly(thread))
                    : Waiter.awaitEndUninterruptibly(thread);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitTold() {
        boolean interrupted = false;
        while (!told) {
            Waiter me = time.waiter("the end of the watch for stragglers");
            owner = me;
            try {
                if (!told) {
                    boolean unused = me.await(time.never());
                }
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (StuckClockError e) {
                break; // told to all who wait on that clock
            }
        }
        owner = null;
        return interrupted;
    }

    @Override
    public String toString() {
        Watched mine = block;
        return "the watch for stragglers of "
                + (mine == null ? "a block that has ended" : Words.scope(mine.givenName()));
    }
}
