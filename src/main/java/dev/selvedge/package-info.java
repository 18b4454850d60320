/**
 * Structured concurrency as a fluent DSL: scopes, forks and deadlines on virtual threads.
 *
 * <p>{@link dev.selvedge.Selvedge#scope()} is where everything starts. It gives a {@link dev.selvedge.ScopeSpec}, a
 * value that says how a scope is to be; its terminal methods ({@code call}, {@code run}, {@code gather}, {@code race},
 * {@code map}, {@code outcomes}) open the scope, do the work, and come back only when every thread that was started has
 * ended.
 *
 * <p>Parameters and results are never null unless marked so; a null argument is refused with a
 * {@link NullPointerException} that names it.
 */
@NullMarked
package dev.selvedge;

import org.jspecify.annotations.NullMarked;
