package dev.selvedge.policy;

/**
 * Is told of the transitions of all circuit breakers of a process.
 *
 * @see CircuitBreaker#onAnyTransition
 * @since 0.1
 */
@FunctionalInterface
public interface BreakerObserver {

    /**
     * A breaker has gone from one state to another; told on the thread of the call that has caused it.
     *
     * @param breaker the breaker
     * @param from the state until now
     * @param to the state from now on
     */
    void changed(CircuitBreaker breaker, CircuitBreaker.State from, CircuitBreaker.State to);
}
