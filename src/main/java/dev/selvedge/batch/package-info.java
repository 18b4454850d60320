/**
 * Long jobs over many items: a {@link dev.selvedge.batch.Journal} keeps on disk what is done, so that a job that was
 * killed goes on where it was; a {@link dev.selvedge.batch.ProgressBar} shows how far it is.
 *
 * <p>Parameters and results are never null unless marked so; a null argument is refused with a {@link
 * NullPointerException} that names it.
 */
@NullMarked
package dev.selvedge.batch;

import org.jspecify.annotations.NullMarked;
