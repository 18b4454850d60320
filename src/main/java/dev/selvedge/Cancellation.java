package dev.selvedge;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
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
            if (t instanceof ScopeFailedException
                    || t instanceof DeadlineExceededException
                    || t instanceof AttemptTimeoutException) {
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

    /**
     * What the exception of a block that answers the interrupt has as its cause: the link that tells of the interrupt, but the
     * whole, if something is attached on the way to it that would be lost.
     */
    static @Nullable Throwable causeIn(Throwable thrown) {
        Throwable interrupt = interruptIn(thrown);
        for (Throwable t = thrown; t != null && t != interrupt; t = t.getCause()) {
            if (t.getSuppressed().length > 0) {
                return thrown;
            }
        }
        return interrupt;
    }

    /** What is attached to a cancellation in flight, on the way to what tells of the interrupt. */
    static List<Throwable> attachedTo(Throwable thrown) {
        Throwable interrupt = interruptIn(thrown);
        List<Throwable> attached = new ArrayList<>();
        for (Throwable t = thrown; t != null; t = t == interrupt ? null : t.getCause()) {
            Collections.addAll(attached, t.getSuppressed());
        }
        return attached;
    }

    private static Throwable bestCause(ScopeCancelledException cancelled) {
        Throwable cause = cancelled.getCause();
        return cause == null ? cancelled : cause;
    }

    private static boolean isClosedByInterrupt(Throwable t) {
        return t instanceof ClosedByInterruptException
                || (t instanceof IOException && CLOSED_BY_INTERRUPT.equals(t.getMessage()));
    }

    /** The interrupt that an exception in flight tells of, in the one type that stands for all. */
    static InterruptedException asInterrupt(Throwable thrown) {
        if (interruptIn(thrown) instanceof InterruptedException e) {
            return e;
        }
        InterruptedException e = new InterruptedException();
        e.initCause(thrown);
        return e;
    }
}
