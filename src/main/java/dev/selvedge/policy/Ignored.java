package dev.selvedge.policy;

import java.util.concurrent.CancellationException;

/** What tells nothing about the service that was called: it is neither success nor failure. */
final class Ignored {

    private Ignored() {}

    static boolean includes(Exception e) {
        return isCancellation(e) || e instanceof CircuitOpenException || isRefusalForNow(e);
    }

    static boolean isCancellation(Exception e) {
        return e instanceof InterruptedException || e instanceof CancellationException;
    }

    /** Refused for want of a permit or a slot: another attempt may well get one. */
    static boolean isRefusalForNow(Exception e) {
        return e instanceof RateLimitedException || e instanceof BulkheadFullException;
    }
}
