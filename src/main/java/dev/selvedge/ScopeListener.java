package dev.selvedge;

import dev.selvedge.time.TimeSource;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A listener that is also told when an event happened, and in which scope and fork: what it takes to put events together again
 * to a tree. Given to {@link ScopeSpec#listener}, as any listener.
 *
 * {@snippet class="dev.selvedge.examples.EventExamples" region="where"}
 *
 * @since 0.1
 */
@FunctionalInterface
public interface ScopeListener extends Consumer<ScopeEvent> {

    /**
     * Is told of an event, on the thread that {@link ScopeEvent} says, maybe on several at the same time.
     *
     * @param event what happened
     * @param where when, and in which scope and fork
     */
    void on(ScopeEvent event, Where where);

    /** Takes an event of which nobody says where it happened: at the present moment, in a scope that has no number. */
    @Override
    default void accept(ScopeEvent event) {
        on(event, Where.unknown(event.scope()));
    }

    /** Two listeners in one, of which the second may be such a one, too. */
    @Override
    default ScopeListener andThen(Consumer<? super ScopeEvent> after) {
        Objects.requireNonNull(after, "after");
        return (event, where) -> {
            on(event, where);
            if (after instanceof ScopeListener second) {
                second.on(event, where);
            } else {
                after.accept(event);
            }
        };
    }

    /**
     * When and where an event happened.
     *
     * @param nanoTime when, in nanoseconds by the scope's {@linkplain TimeSource#nanoTime clock}
     * @param scope in which scope
     * @param fork the number of the fork that the event is about, from 1, unlike that of any other fork of the scope; of a
     *     {@link ScopeEvent.ScopeCancelled}, of the fork whose end was the reason; 0 if it is about none, or the task ran in the
     *     thread of the scope's owner
     */
    record Where(long nanoTime, ScopeId scope, long fork) {

        /** Checks that the scope is there. */
        public Where {
            Objects.requireNonNull(scope, "scope");
        }

        static Where unknown(String name) {
            TimeSource time = TimeSource.system();
            return new Where(time.nanoTime(), new ScopeId(0, name, null, 0), 0);
        }
    }
}
