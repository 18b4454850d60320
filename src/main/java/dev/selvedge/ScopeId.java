package dev.selvedge;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Which scope an event is about, where names are not enough: many scopes may have the same one, also at the same time.
 *
 * @param number its number, from 1; no two scopes of a process have the same one; 0 for one of which only the name is known
 * @param name the name it was given; {@code "scope"} if it has none
 * @param parent the scope around it that has a listener too, on the same thread or above its fork; null if there is none
 * @param parentFork the number of the fork of {@code parent} that has opened it; 0 if the owner of {@code parent} has
 * @see ScopeListener
 * @since 0.1
 */
public record ScopeId(long number, String name, @Nullable ScopeId parent, long parentFork) {

    private static final AtomicLong LAST = new AtomicLong();

    /** Checks that the name is there. */
    public ScopeId {
        Objects.requireNonNull(name, "name");
    }

    static ScopeId next(String name, @Nullable ScopeId parent, long parentFork) {
        return new ScopeId(LAST.incrementAndGet(), name, parent, parentFork);
    }

    @Override
    public String toString() {
        return name + "#" + number;
    }
}
