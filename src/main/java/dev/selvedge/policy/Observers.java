package dev.selvedge.policy;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Who is told of the transitions of all breakers. */
final class Observers {

    private static final List<BreakerObserver> ALL = new CopyOnWriteArrayList<>();

    private Observers() {}

    static void add(BreakerObserver observer) {
        ALL.add(observer);
    }

    static void tell(CircuitBreaker breaker, CircuitBreaker.State from, CircuitBreaker.State to) {
        for (BreakerObserver each : ALL) {
            try {
                each.changed(breaker, from, to);
            } catch (Throwable e) {
                Faults.report("an observer of " + breaker + " failed", e);
            }
        }
    }
}
