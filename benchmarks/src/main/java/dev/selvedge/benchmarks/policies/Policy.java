package dev.selvedge.benchmarks.policies;

/** Policies that have nothing to do while all goes well. */
public enum Policy {
    /** A closed breaker that counts failures in a row. */
    BREAKER_IN_A_ROW,
    /** A closed breaker over the last 100 calls. */
    BREAKER_OF_100_CALLS,
    /** A closed breaker over the last 10 seconds. */
    BREAKER_OF_10_S,
    /** A retry that is not needed. */
    RETRY,
    /** A rate limiter that lets all through. */
    LIMITER,
    /** A bulkhead with a free slot. */
    BULKHEAD,
    /** A retry, a breaker and a rate limiter. */
    STACK,
    /** A time-out of 30 s that is not needed. */
    TIMEOUT
}
