/**
 * Policies of calls that may fail: {@link dev.selvedge.policy.Retry}, {@link dev.selvedge.policy.CircuitBreaker}, {@link
 * dev.selvedge.policy.RateLimiter}, {@link dev.selvedge.policy.Bulkhead}, and what they refuse with.
 *
 * <p>A {@code Retry} is a value. The other three have state, are thread-safe, and are shared by all calls to one service,
 * in scopes or used alone. None of them owns a clock: they go by that of the scope they are used in, or by the one they are
 * handed. <b>One that is handed another clock than before starts fresh</b>: closed, full. So a policy in a static field is
 * clean in every test that has a {@link dev.selvedge.time.VirtualClock} of its own. It serves one clock at a time.
 *
 * <p>Parameters and results are never null unless marked so; a null argument is refused with a {@link
 * NullPointerException} that names it.
 */
@NullMarked
package dev.selvedge.policy;

import org.jspecify.annotations.NullMarked;
