package dev.selvedge;

import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What stops a {@link MainScope} by hand, where a container, a test or a framework decides when.
 *
 * {@snippet class="dev.selvedge.examples.Worker" region="worker"}
 *
 * <p>It serves one run: give it to {@link MainScope#stoppedBy}, and keep it where {@link #stop} is to be called. Safe from any
 * thread.
 *
 * @since 0.1
 */
public final class Shutdown {

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private @Nullable CancelReason asked;
    private @Nullable MainRun run;
    private @Nullable Duration grace;
    private @Nullable Deadline until;

    /** One that has neither been asked nor served. */
    public Shutdown() {}

    /**
     * Cancels the scope with {@link CancelReason.Kind#SHUTDOWN}, and waits for its end until the grace has passed since
     * the first call. Later calls do not cancel again and do not prolong the grace: they only wait, as the first one does.
     *
     * <p>Before the run it says that there will be none: its body never runs, and it ends with
     * {@link ScopeCancelledException}. After the end it does nothing. Called by a thread of the scope itself, which would
     * wait for itself, it only cancels; by what is done {@linkplain Scope#onCancel on cancel}, it waits in vain.
     *
     * @param why a sentence for people: the message of the reason and of the exception
     * @return whether nothing of the scope runs any more: true if it has ended, or has not begun; false if the grace has
     *     passed first, or a thread of the scope asks
     * @throws ScopeCancelledException if the calling thread is interrupted while it waits; the scope stays cancelled
     */
    public boolean stop(String why) {
        Objects.requireNonNull(why, "why");
        CancelReason reason;
        MainRun running;
        lock.lock();
        try {
            reason = asked == null ? new CancelReason(CancelReason.Kind.SHUTDOWN, why, null) : asked;
            asked = reason;
            running = run;
        } finally {
            lock.unlock();
        }
        if (running == null) {
            return true;
        }
        boolean unused = running.ask(reason);
        if (running.isInside()) {
            return false;
        }
        try {
            return running.awaitEnd(endOfGrace(running));
        } catch (InterruptedException e) {
            throw Here.cancelledBy(e);
        }
    }

    private Deadline endOfGrace(MainRun running) {
        lock.lock();
        try {
            Deadline known = until;
            if (known == null) {
                known = running.time().after(Objects.requireNonNull(grace));
                until = known;
            }
            return known;
        } finally {
            lock.unlock();
        }
    }

    <T extends @Nullable Object, X extends Exception> T call(ScopeSpec spec, Duration time, Task.Of<Scope, T, X> body)
            throws X {
        MainRun begun = begin(spec, time);
        return begun.inItsTime(() -> {
            try {
                return begun.open(spec, body);
            } finally {
                begun.end();
            }
        });
    }

    private MainRun begin(ScopeSpec spec, Duration time) {
        MainRun begun = new MainRun(spec);
        lock.lock();
        try {
            if (run != null) {
                throw new IllegalStateException("a Shutdown serves one run, and this one has served: "
                        + Words.scope(spec.name()) + " needs a new one");
            }
            run = begun;
            grace = time;
            CancelReason why = asked;
            if (why != null) {
                boolean unused = begun.ask(why);
            }
            return begun;
        } finally {
            lock.unlock();
        }
    }
}
