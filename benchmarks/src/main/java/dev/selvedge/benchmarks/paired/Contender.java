package dev.selvedge.benchmarks.paired;

import java.util.Objects;

/**
 * One way to do the work of a suite.
 *
 * @param name as the table shows it
 * @param work does the work once
 */
record Contender(String name, Work work) {

    Contender {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(work, "work");
    }

    /** The work, once. */
    @FunctionalInterface
    interface Work {

        /** Gives a number made from all results: so none is dead code, and contenders can be seen to do the same. */
        long run() throws Exception;
    }
}
