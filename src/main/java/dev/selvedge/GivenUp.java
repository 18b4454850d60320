package dev.selvedge;

import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * The failure on which a retry of the calling thread has given up last. Another retry around it would only multiply the
 * attempts, so it does not try again, unless it was told to.
 *
 * <p>Exceptions of others are never marked, so this stands beside the thread: as a weak reference, which holds nothing. From
 * a fork to what its scope throws it is handed on by {@link Failure} and {@link ScopeFailedException}.
 */
final class GivenUp {

    private static final ThreadLocal<@Nullable WeakReference<Throwable>> LATEST = new ThreadLocal<>();

    private GivenUp() {}

    static void add(Throwable failure) {
        LATEST.set(new WeakReference<>(failure));
    }

    static boolean includes(Throwable failure) {
        if (failure instanceof ScopeFailedException of && of.isGivenUp()) {
            return true;
        }
        WeakReference<Throwable> latest = LATEST.get();
        return latest != null && latest.refersTo(failure);
    }
}
