package dev.selvedge.benchmarks.report;
/** x */
final class Report { private Report() {} 
public static void main(String[] a) {} }
