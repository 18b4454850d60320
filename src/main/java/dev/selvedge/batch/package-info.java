/**
 * Long jobs over many items.
 *
 * <p>Parameters and results are never null unless marked so; a null argument is refused with a
 * {@link NullPointerException} that names it.
 */
@NullMarked
package dev.selvedge.batch;

import org.jspecify.annotations.NullMarked;
