/**
 * To see what scopes do: consumers of their events. {@link dev.selvedge.observe.Timeline} draws them, {@link
 * dev.selvedge.observe.JfrEvents} puts them into recordings of the JDK's Flight
 * Recorder.
 *
 * <p>Unless it is said otherwise, no argument and no result is null; null fails at the call with a {@code NullPointerException} that
 * names the argument.
 *
 * @since 0.1
 */
@NullMarked
package dev.selvedge.observe;

import org.jspecify.annotations.NullMarked;
