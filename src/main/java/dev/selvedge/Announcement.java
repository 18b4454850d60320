package dev.selvedge;

import dev.selvedge.time.StuckClockError;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.Waiter;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * That listeners are told of a cancellation: once, by whoever comes first. Several threads may come to it at the same moment, and
 * what follows from the cancellation is told after it: whoever is to tell that waits meanwhile.
 */
final class Announcement {

    private static final Object MADE = new Object();

    /** null → the thread that tells → MADE, by that thread. */
    private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

    private final Queue<Waiter> waiting = new ConcurrentLinkedQueue<>();

    /** Tells, if nobody has begun to. */
    void make(Runnable telling) {
        if (!state.compareAndSet(null, Thread.currentThread())) {
            return;
        }
        try {
            telling.run();
        } finally {
            state.set(MADE);
            waiting.forEach(Waiter::wake);
        }
    }

    /** Waits while another thread tells, whatever interrupts come. */
    void awaitMade(TimeSource time) {
        boolean interrupted = false;
        while (isUnderWay()) {
            Waiter me =
                    time.waiter("those who listen to know of a cancellation").fromOutside();
            waiting.add(me);
            try {
                if (isUnderWay()) {
                    boolean unused = me.await(time.never());
                }
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (StuckClockError e) {
                break; // it is told to all who wait on that clock: what ends need not be told in order
            } finally {
                waiting.remove(me);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isUnderWay() {
        Object now = state.get();
        return now != null && now != MADE && now != Thread.currentThread();
    }
}
