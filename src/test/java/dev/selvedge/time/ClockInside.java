package dev.selvedge.time;

import java.util.concurrent.locks.ReentrantLock;

/** What tests of other packages look at inside a clock. */
public final class ClockInside {

    private ClockInside() {}

    /** Who still takes part and what is still scheduled, for people, or nothing; whoever takes part is let go. */
    public static String remains(VirtualClock clock) {
        return clock.remains();
    }

    /** While it is held nobody's turn begins or ends, and the time does not move. */
    public static ReentrantLock lock(VirtualClock clock) {
        return clock.turns().lock;
    }
}
