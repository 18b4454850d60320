package dev.selvedge.benchmarks.jmh;

import dev.selvedge.benchmarks.policies.Policy;
import dev.selvedge.benchmarks.policies.PolicyWays;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** One call under policies that have nothing to do, by threads that share the policies' objects. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@OnThreads(
        full = {"1", "2", "4"},
        quick = {"1", "4"})
public class Policies {

    /** What is left out: a breaker that Resilience4j does not have. */
    static boolean isLeftOut(String contestant, Map<String, String> params) {
        return contestant.equals("resilience4j") && !PolicyWays.isInResilience4j(Policy.valueOf(params.get("policy")));
    }

    /** Which policy; only the way that is measured is made, so that no other disturbs its compilation. */
    @State(Scope.Benchmark)
    public abstract static class Way {

        /** The policy. */
        @Param({
            "BREAKER_IN_A_ROW",
            "BREAKER_OF_100_CALLS",
            "BREAKER_OF_10_S",
            "RETRY",
            "LIMITER",
            "BULKHEAD",
            "STACK",
            "TIMEOUT"
        })
        @Less(
                quick = {"BREAKER_OF_100_CALLS", "STACK", "TIMEOUT"},
                once = {"BREAKER_OF_100_CALLS", "STACK", "TIMEOUT"})
        public Policy policy;

        private final Function<Policy, Callable<Integer>> made;
        Callable<Integer> call;

        Way(Function<Policy, Callable<Integer>> made) {
            this.made = made;
        }

        /** Makes it. */
        @Setup
        public void make() {
            call = made.apply(policy);
        }
    }

    /** This library's. */
    public static class Selvedge extends Way {
        /** As yet without the policy. */
        public Selvedge() {
            super(PolicyWays::selvedge);
        }
    }

    /** Failsafe's. */
    public static class Failsafe extends Way {
        /** As yet without the policy. */
        public Failsafe() {
            super(PolicyWays::failsafe);
        }
    }

    /** Resilience4j's. */
    public static class Resilience4j extends Way {
        /** As yet without the policy. */
        public Resilience4j() {
            super(PolicyWays::resilience4j);
        }
    }

    /** No policy. */
    @State(Scope.Benchmark)
    public static class Bare {
        final Callable<Integer> call = PolicyWays.bare();
    }

    /** No policy, but one reading of the clock. */
    @State(Scope.Benchmark)
    public static class BareAndClock {
        final Callable<Integer> call = PolicyWays.bareAndClock();
    }

    @Benchmark
    public int bare(Bare way) throws Exception {
        return way.call.call();
    }

    @Benchmark
    public int bareAndClock(BareAndClock way) throws Exception {
        return way.call.call();
    }

    @Benchmark
    public int selvedge(Selvedge way) throws Exception {
        return way.call.call();
    }

    @Benchmark
    public int failsafe(Failsafe way) throws Exception {
        return way.call.call();
    }

    @Benchmark
    public int resilience4j(Resilience4j way) throws Exception {
        return way.call.call();
    }
}
