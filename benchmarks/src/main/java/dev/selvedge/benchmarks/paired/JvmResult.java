package dev.selvedge.benchmarks.paired;

import java.util.List;

/**
 * What one JVM measured.
 *
 * @param machine where it ran, with its own JDK, which need not be the runner's
 * @param contenders the baseline first
 */
record JvmResult(Machine machine, List<Measured> contenders) {}
