package dev.selvedge;

import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * The failure on which a retry has given up last that has begun and ended in the calling thread since another one has begun. One
 * around it would only multiply the attempts, so it does not try again, unless it was told to.
 *
 * <p>Exceptions of others are never marked, and may be thrown again by another call; so this stands beside the thread: as a
 * weak reference, which holds nothing, until the next retry begins. From a fork to what its scope throws it is handed on by
 * {@link Failure} and {@link ScopeFailedException}; an outcome does not tell of it.
 */
final class GivenUp {

    private static final ThreadLocal<@Nullable WeakReference<Throwable>> LATEST = new ThreadLocal<>();

    /** Whether any thread has ever given up: as long as none has, there is nothing to forget. Each thread sees its own write. */
    private static boolean ever;

    private GivenUp() {}

    static void add(Throwable failure) {
        ever = true;
        LATEST.set(new WeakReference<>(failure));
    }

    /** A retry begins: what was given up before was none of its attempts. */
    static void forget() {
        if (ever) {
            LATEST.remove();
        }
    }

    static boolean includes(Throwable failure) {
        if (failure instanceof ScopeFailedException of && of.isGivenUp()) {
            return true;
        }
        WeakReference<Throwable> latest = ever ? LATEST.get() : null;
        return latest != null && latest.refersTo(failure);
    }
}
