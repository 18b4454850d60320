package dev.selvedge;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done about that which nobody waits for any more: values, and tasks that go on.
 *
 * @param sink who gets values that nobody can read any more
 * @param grace how long after the request a task may go on without being told of; null for the usual time
 */
record Aftermath(
        @Nullable Consumer<? super Object> sink, @Nullable Duration grace) {

    static final Duration USUAL_GRACE = Duration.ofSeconds(5);

    /** What is around, with what is added. */
    static Aftermath both(@Nullable Aftermath outer, Aftermath own) {
        if (outer == null) {
            return own;
        }
        return new Aftermath(
                own.sink == null ? outer.sink : Listeners.both(outer.sink, own.sink),
                own.grace == null ? outer.grace : own.grace);
    }
}
