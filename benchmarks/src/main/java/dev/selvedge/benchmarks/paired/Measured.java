package dev.selvedge.benchmarks.paired;

/**
 * What one JVM measured of one contender: raw data.
 *
 * @param contender its name
 * @param callsPerRound how often the work was done in each round
 * @param nanosPerCall the mean time of a call, by round
 * @param cpuNanosPerCall the processor time of a call on all threads of Java, by round
 * @param bytesPerCall what a call allocated on all threads, by round
 */
public record Measured(
        String contender, long callsPerRound, double[] nanosPerCall, double[] cpuNanosPerCall, double[] bytesPerCall) {}
