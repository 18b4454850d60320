package dev.selvedge.time;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that looks at virtual clocks in real time: a daemon, one for all clocks, which sleeps while nobody takes part
 * in any.
 */
final class Lookout implements Runnable {

    private static final long EVERY = 1_000_000;

    private static final Set<Watch> WATCHES = ConcurrentHashMap.newKeySet();

    /** Set before it looks whether there is anything to look at, as that is entered before this is read. */
    private static volatile boolean asleep = true;

    private Lookout() {}

    /** Somebody takes part in a clock. */
    static void watch(Watch clock) {
        WATCHES.add(clock);
        if (asleep) {
            LockSupport.unpark(Lazy.THREAD);
        }
    }

    /** Nobody does any more. */
    static void forget(Watch clock) {
        WATCHES.remove(clock);
    }

    @Override
    public void run() {
        while (true) {
            asleep = true;
            if (WATCHES.isEmpty()) {
                LockSupport.park(this);
            }
            asleep = false;
            LockSupport.parkNanos(this, EVERY);
            for (Watch watch : WATCHES) {
                try {
                    watch.look(System.nanoTime());
                } catch (Throwable e) {
                    Thread me = Thread.currentThread();
                    me.getUncaughtExceptionHandler().uncaughtException(me, e);
                }
            }
        }
    }

    /** The thread starts with the first virtual clock that is used. */
    private static final class Lazy {

        static final Thread THREAD = Thread.ofPlatform()
                .daemon()
                .name("selvedge-virtual-time")
                .inheritInheritableThreadLocals(false)
                .start(new Lookout());
    }
}
