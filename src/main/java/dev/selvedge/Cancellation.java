package dev.selvedge;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether an exception in flight is the delivery of an interrupt.
 *
 * <p>It is, if its chain of causes holds what the JDK throws for an interrupt: an {@link InterruptedException}, a {@link
 * ClosedByInterruptException}, or the "Closed by interrupt" of a socket on a virtual thread. A {@code
 * SocketTimeoutException} is none, though its type descends from {@code InterruptedIOException}. The walk stops at an
 * exception of this library: what an inner block has thrown for reasons of its own is no longer in flight.
 */
final class Cancellation {

    private static final String CLOSED_BY_INTERRUPT = "Closed by interrupt";

    private Cancellation() {}

    static boolean isInFlight(@Nullable Throwable thrown) {
        return interruptIn(thrown) != null;
    }

    /** The link of the chain that tells of the interrupt, or null if none does. */
    static @Nullable Throwable interruptIn(@Nullable Throwable thrown) {
        Set<Throwable> seen = null;
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            if (t instanceof ScopeCancelledException cancelled) {
                return cancelled.isInFlight() ? bestCause(cancelled) : null;
            }
            if (t instanceof InterruptedException || isClosedByInterrupt(t)) {
                return t;
            }
            if (t instanceof ScopeFailedException || t instanceof DeadlineExceededException) {
                return null;
            }
            if (t.getCause() != null) {
                seen = seen == null ? Collections.newSetFromMap(new IdentityHashMap<>()) : seen;
                if (!seen.add(t)) {
                    return null; // a cycle
                }
            }
        }
        return null;
    }

    private static Throwable bestCause(ScopeCancelledException cancelled) {
        Throwable cause = cancelled.getCause();
        return cause == null ? cancelled : cause;
    }

    private static boolean isClosedByInterrupt(Throwable t) {
        return t instanceof ClosedByInterruptException
                || (t instanceof IOException && CLOSED_BY_INTERRUPT.equals(t.getMessage()));
    }
}
