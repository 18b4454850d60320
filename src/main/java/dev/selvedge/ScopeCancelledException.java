package dev.selvedge;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The block was asked to stop by something other than its own deadline or its own forks: a cancel, an interrupt, a
 * scope around it.
 *
 * <p>Its cause is the {@link InterruptedException} that cut the work off, where there was one. If the request was meant
 * for something outside the outermost block of a thread (a raw {@link Thread#interrupt()}, the scope whose fork the
 * thread is), the interrupt flag is set again when this exception leaves that block, so that code outside cannot lose
 * it.
 *
 * @since 0.1
 */
public final class ScopeCancelledException extends CancellationException {

    private static final long serialVersionUID = 1;

    /** The first reason that was given. */
    private final CancelReason reason;

    /** Whether the request still has to reach the block it was meant for. */
    private final boolean inFlight;

    /** The newest request of the thread's ledger when this was made; MAX_VALUE if that is not known. */
    private final long madeAt;

    private ScopeCancelledException(CancelReason reason, boolean inFlight, long madeAt, @Nullable Throwable cause) {
        super(reason.message());
        this.reason = reason;
        this.inFlight = inFlight;
        this.madeAt = madeAt;
        if (cause != null) {
            initCause(cause);
        }
    }

    /** A cancellation on its way to the block it was meant for. */
    static ScopeCancelledException inFlight(CancelReason reason, @Nullable Throwable cause) {
        return new ScopeCancelledException(reason, true, Long.MAX_VALUE, cause);
    }

    /** The same for a raw interrupt, which came before any request newer than {@code madeAt}. */
    static ScopeCancelledException raw(CancelReason reason, long madeAt, InterruptedException cause) {
        return new ScopeCancelledException(reason, true, madeAt, cause);
    }

    /** A cancellation that has arrived: the block that was asked to stop has stopped. */
    static ScopeCancelledException settled(CancelReason reason, @Nullable Throwable cause) {
        return new ScopeCancelledException(reason, false, Long.MAX_VALUE, cause);
    }

    static ScopeCancelledException settled(CancelReason reason) {
        return settled(reason, reason.cause());
    }

    /**
     * Why the block was asked to stop.
     *
     * @return the first reason given; its message is that of this exception
     */
    public CancelReason reason() {
        return reason;
    }

    long madeAt() {
        return madeAt;
    }

    boolean isInFlight() {
        return inFlight;
    }
}
