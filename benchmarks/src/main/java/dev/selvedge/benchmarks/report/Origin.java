package dev.selvedge.benchmarks.report;

import dev.selvedge.benchmarks.paired.Machine;

/**
 * Where results come from.
 *
 * @param file the name of their file
 * @param date when they began, in UTC; empty if it is not known
 * @param machine where; null if it is not known
 * @param jdk what ran them
 * @param commandLine what was asked
 * @param method rounds, forks and the like
 */
record Origin(String file, String date, Machine machine, String jdk, String commandLine, String method) {}
