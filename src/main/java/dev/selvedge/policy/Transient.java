package dev.selvedge.policy;

/**
 * An exception that a later attempt may well not meet: {@link Retry#isTransient} says yes to it. For exceptions of your
 * own.
 *
 * @since 0.1
 */
public interface Transient {}
