/**
 * The seam of time: the one place in the library that reads a clock, sleeps or waits.
 *
 * <p>{@link dev.selvedge.time.TimeSource} is where the time comes from: the system, or a {@link
 * dev.selvedge.time.VirtualClock} in tests. A {@link dev.selvedge.time.Deadline} is a moment of one such source. Every
 * wait goes through a {@link dev.selvedge.time.Waiter}, every timer is an {@link dev.selvedge.time.Alarm}, so that a
 * virtual clock knows who waits for what.
 *
 * <p>Parameters and results are never null unless marked so; a null argument is refused with a {@link
 * NullPointerException} that names it.
 */
@NullMarked
package dev.selvedge.time;

import org.jspecify.annotations.NullMarked;
