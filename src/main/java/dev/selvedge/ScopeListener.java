package dev.selvedge;

import dev.selvedge.time.TimeSource;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

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

    /** Two listeners in one, of which the second may be such a one, too; what the first throws does not keep it from the second. */
    @Override
    default ScopeListener andThen(Consumer<? super ScopeEvent> after) {
        return new Listeners.Chain(this, Objects.requireNonNull(after, "after"));
    }

    /**
     * Whether it wants to be told of anything now. Asked when a scope opens; if no listener of a scope wants to, nothing is built for
     * any: the scope is as one that has none. Must be quick, and must not throw.
     *
     * @return true, unless it is overridden: for a recorder that is switched on and off
     */
    default boolean isListening() {
        return true;
    }

    /**
     * Whether an error that nobody can see otherwise is seen by somebody who is told of it here. If that is said by no listener, the
     * error is told and logged as well. The same holds for a {@link ScopeEvent.Unhandled} of any kind.
     *
     * @return true, unless it is overridden: for a recorder at which nobody may ever look
     */
    default boolean replacesLog() {
        return true;
    }

    /**
     * Whether it has a stopwatch for each fork. Then it is not told of {@link ScopeEvent.ForkCreated}, {@link ScopeEvent.ForkStarted} and
     * {@link ScopeEvent.ForkEnded}, but asked for a {@link #stopwatch}: for a recorder that keeps few of very many forks, and for which
     * an event for each would be most of the cost. Asked when a scope opens.
     *
     * @return false, unless it is overridden
     */
    default boolean timesForks() {
        return false;
    }

    /**
     * Starts a stopwatch, if it {@linkplain #timesForks has any}: on the fork's thread, just before the task.
     *
     * @param scope the scope of the fork
     * @return the stopwatch, for this fork alone; null if the fork's end is of no interest, which is what it gives unless it is
     *     overridden
     */
    default @Nullable Stopwatch stopwatch(ScopeId scope) {
        return null;
    }

    /** What times a fork, from the start of its task to the end. Used by the fork's thread alone. */
    interface Stopwatch {

        /**
         * Stops it, just after the task.
         *
         * @return whether {@link #ended} is to be called
         */
        boolean stop();

        /**
         * Is told how the fork ended, after {@link #stop}.
         *
         * @param event the fork's name and outcome
         * @param where when that is told, and which fork it was
         */
        void ended(ScopeEvent.ForkEnded event, Where where);
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
