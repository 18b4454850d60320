package dev.selvedge.benchmarks.paired;

import dev.selvedge.benchmarks.policies.Policy;
import dev.selvedge.benchmarks.policies.PolicyWays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * {@code n} calls, one after the other, of a task that gives a number and never fails, under policies that have nothing to do:
 * what they cost on every good day. All objects are made once, as constants are.
 *
 * @param name the suite's
 * @param about the policies
 * @param ways the ways to call, the bare task first; made in the JVM that measures them
 */
record PolicyCalls(String name, String about, Supplier<List<Way>> ways) implements Suite {

    static final List<Suite> SUITES = List.of(
            new PolicyCalls("breaker", "a closed circuit breaker", PolicyCalls::breakers),
            new PolicyCalls("retry", "a retry that is not needed", () -> each(Policy.RETRY)),
            new PolicyCalls("bulkhead", "a bulkhead with a free slot", () -> each(Policy.BULKHEAD)),
            new PolicyCalls(
                    "stack", "a retry, a closed breaker and a rate limiter that lets all through", PolicyCalls::stacks),
            new PolicyCalls("timeout", "a time-out of 30 s that is not needed", () -> each(Policy.TIMEOUT)));

    private static final String OURS = "selvedge";
    private static final String FAILSAFE = "Failsafe";
    private static final String RESILIENCE4J = "Resilience4j";

    /**
     * One way to call the task.
     *
     * @param name as the table shows it
     * @param call calls it once
     */
    record Way(String name, Callable<Integer> call) {}

    @Override
    public List<Integer> sizes() {
        return List.of(1_000);
    }

    @Override
    public List<Contender> contenders(int n) {
        return ways.get().stream()
                .map(way -> new Contender(way.name, () -> sum(n, way.call)))
                .toList();
    }

    private static long sum(int n, Callable<Integer> call) throws Exception {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += call.call();
        }
        return sum;
    }

    private static Way bare() {
        return new Way("bare", PolicyWays.bare());
    }

    private static Way clock() {
        return new Way("bare and a clock read", PolicyWays.bareAndClock());
    }

    private static List<Way> each(Policy policy) {
        return List.of(
                bare(),
                new Way(OURS, PolicyWays.selvedge(policy)),
                new Way(FAILSAFE, PolicyWays.failsafe(policy)),
                new Way(RESILIENCE4J, PolicyWays.resilience4j(policy)));
    }

    private static List<Way> breakers() {
        return List.of(
                bare(),
                clock(),
                new Way("in a row", PolicyWays.selvedge(Policy.BREAKER_IN_A_ROW)),
                new Way("of 100 calls", PolicyWays.selvedge(Policy.BREAKER_OF_100_CALLS)),
                new Way("of 10 s", PolicyWays.selvedge(Policy.BREAKER_OF_10_S)),
                new Way(FAILSAFE, PolicyWays.failsafe(Policy.BREAKER_OF_100_CALLS)),
                new Way(RESILIENCE4J, PolicyWays.resilience4j(Policy.BREAKER_OF_100_CALLS)),
                new Way("Resilience4j of 10 s", PolicyWays.resilience4j(Policy.BREAKER_OF_10_S)));
    }

    private static List<Way> stacks() {
        return List.of(
                bare(),
                clock(),
                new Way(OURS, PolicyWays.selvedge(Policy.STACK)),
                new Way(FAILSAFE, PolicyWays.failsafe(Policy.STACK)),
                new Way(RESILIENCE4J, PolicyWays.resilience4j(Policy.STACK)));
    }
}
