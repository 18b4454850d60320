package dev.selvedge;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a task ended: with a value, with an error, or cut off.
 *
 * <p>Sealed, so a {@code switch} over the three cases is complete:
 *
 * {@snippet class="dev.selvedge.examples.DocExamples" region="attempt"}
 *
 * @param <T> the value
 * @since 0.1
 */
public sealed interface Outcome<T extends @Nullable Object> {

    /**
     * The task returned.
     *
     * @param <T> the value
     * @param value what it returned; may be null
     */
    record Success<T extends @Nullable Object>(T value) implements Outcome<T> {}

    /**
     * The task threw.
     *
     * @param <T> the value it did not give
     * @param error what it threw, the very object
     */
    record Failure<T extends @Nullable Object>(Throwable error) implements Outcome<T> {
        /** Checks that the error is there. */
        public Failure {
            Objects.requireNonNull(error, "error");
        }
    }

    /**
     * The task never ran, or was asked to stop and did.
     *
     * @param <T> the value it did not give
     * @param reason why
     */
    record Cancelled<T extends @Nullable Object>(CancelReason reason) implements Outcome<T> {
        /** Checks that the reason is there. */
        public Cancelled {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /**
     * The value of a success, {@code other} otherwise.
     *
     * @param other what a failure and a cut-off count as
     * @return the value, even if it is null, or {@code other}
     */
    default T orElse(T other) {
        return this instanceof Success<T> s ? s.value() : other;
    }

    /**
     * The value of a success.
     *
     * @return what the task returned
     * @throws Exception the task's own, the same object at each call, if it failed; an {@link Error} likewise
     * @throws ScopeCancelledException if it was cut off
     */
    default T orThrow() throws Exception {
        return switch (this) {
            case Success<T> s -> s.value();
            case Failure<T> f -> throw Sneaky.asException(f.error());
            case Cancelled<T> c -> throw ScopeCancelledException.settled(c.reason());
        };
    }
}
