package dev.selvedge;

import dev.selvedge.policy.BulkheadFullException;
import dev.selvedge.policy.CircuitOpenException;
import dev.selvedge.policy.RateLimitedException;

/** What policies have refused further in: by itself, or as what made a scope fail. */
final class Refusals {

    private Refusals() {}

    static boolean include(Throwable t) {
        Throwable reason = reason(t);
        return reason instanceof CircuitOpenException
                || reason instanceof RateLimitedException
                || reason instanceof BulkheadFullException;
    }

    /** What a scope failed with, if that is what a failure says; else the failure. */
    private static Throwable reason(Throwable t) {
        return t instanceof ScopeFailedException && t.getCause() != null ? reason(t.getCause()) : t;
    }
}
