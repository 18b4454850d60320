package dev.selvedge.time;

import java.util.concurrent.locks.LockSupport;

/** A wait in real time: the thread parks. */
final class SystemWaiter extends Waiter {

    @Override
    void woken() {
        LockSupport.unpark(thread);
    }

    @Override
    boolean block(Deadline until) throws InterruptedException {
        long due = until.nanosOn(SystemTime.INSTANCE);
        if (state() == GONE) {
            throw new IllegalStateException("a waiter serves for one wait, and this one has served");
        }
        while (state() != WOKEN) {
            if (Thread.interrupted()) {
                if (leave()) {
                    throw new InterruptedException();
                }
                Thread.currentThread().interrupt(); // woken first: the interrupt stays for the next wait
                return true;
            }
            if (until.isNever()) {
                LockSupport.park(this);
                continue;
            }
            long left = due - SystemTime.INSTANCE.nanoTime();
            if (left <= 0) {
                return !leave();
            }
            LockSupport.parkNanos(this, left);
        }
        return true;
    }
}
