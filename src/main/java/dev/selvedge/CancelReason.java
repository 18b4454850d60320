package dev.selvedge;

import java.io.Serializable;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Why a scope, a fork or a block was asked to stop. The first reason is kept: later requests do not change it.
 *
 * @param kind what kind of event it was
 * @param message a sentence for people
 * @param cause the exception behind it, where there is one: a sibling's failure, or the cause given to {@link
 *     Scope#cancel(Throwable)}
 * @since 0.1
 */
public record CancelReason(
        Kind kind, String message, @Nullable Throwable cause) implements Serializable {

    /** What may stop a scope. */
    public enum Kind {
        /** Another fork of the scope, or the body of the scope, failed. */
        SIBLING_FAILED,
        /** A deadline passed. */
        DEADLINE,
        /** Another task of a race was first. */
        RACE_LOST,
        /** More tasks failed than the error budget allows. */
        ERROR_BUDGET,
        /** Code asked for it: {@code cancel}. */
        CALLER,
        /** The thread that owns the scope was interrupted. */
        INTERRUPT,
        /** The process is shutting down. */
        SHUTDOWN
    }

    /** Checks that the kind and the message are there. */
    public CancelReason {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(message, "message");
    }

    /** Somebody who knows nothing of this library interrupted a thread. */
    static CancelReason ofInterrupt(Thread thread) {
        String name = thread.getName().isEmpty() ? "the thread" : "the thread \"" + thread.getName() + "\"";
        return new CancelReason(Kind.INTERRUPT, name + " was interrupted", null);
    }
}
