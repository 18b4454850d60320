package dev.selvedge;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Failures of one type with one message, for a report: {@code 17 × java.io.IOException: connection reset}.
 *
 * @param count how many there are
 * @param first the first of them
 * @since 0.1
 */
public record FailureGroup(long count, Throwable first) {

    /** Checks that there is one. */
    public FailureGroup {
        Objects.requireNonNull(first, "first");
        if (count < 1) {
            throw new IllegalArgumentException("count must be at least 1: " + count);
        }
    }

    /** {@code 17 × java.io.IOException: connection reset}. */
    @Override
    public String toString() {
        return count + " × " + first;
    }

    /** Whether two failures would be in the same group. */
    static boolean areAlike(Throwable a, @Nullable Throwable b) {
        return b != null && Kind.of(a).equals(Kind.of(b));
    }

    /** Whether two failures are alike, or have an exception in common among their causes: then they tell of the same thing. */
    static boolean areOfOneCause(Throwable a, Throwable b) {
        Set<Throwable> causes = causesOf(a);
        causes.retainAll(causesOf(b));
        return !causes.isEmpty() || areAlike(a, b);
    }

    /** A failure, and its causes; by identity. */
    private static Set<Throwable> causesOf(Throwable failure) {
        Set<Throwable> causes = Collections.newSetFromMap(new IdentityHashMap<>());
        Throwable t = failure;
        while (t != null && causes.add(t)) {
            t = t.getCause();
        }
        return causes;
    }

    /** The groups of some failures, the largest first; of equal ones, that which came first. */
    static List<FailureGroup> of(List<? extends Throwable> failures) {
        Tally tally = new Tally(Integer.MAX_VALUE);
        failures.forEach(tally::add);
        return tally.now().groups();
    }

    private record Kind(Class<?> type, @Nullable String message) {
        static Kind of(Throwable failure) {
            return new Kind(failure.getClass(), failure.getMessage());
        }
    }

    /**
     * Counts failures by type and message, as they come, on any thread. Messages may all be different: then only the first
     * groups are kept.
     */
    static final class Tally {

        private final ReentrantLock lock = new ReentrantLock();
        private final Map<Kind, FailureGroup> groups = new LinkedHashMap<>();
        private final int most;

        /** How many have been added; up under the lock. */
        private final AtomicLong count = new AtomicLong();

        /**
         * What has been added until a moment.
         *
         * @param count how many
         * @param groups the largest first
         */
        record Now(long count, List<FailureGroup> groups) {}

        Tally(int most) {
            this.most = most;
        }

        void add(Throwable failure) {
            Kind kind = Kind.of(failure);
            lock.lock();
            try {
                count.getAndIncrement();
                FailureGroup group = groups.get(kind);
                if (group != null) {
                    groups.put(kind, new FailureGroup(group.count() + 1, group.first()));
                } else if (groups.size() < most) {
                    groups.put(kind, new FailureGroup(1, failure));
                }
            } finally {
                lock.unlock();
            }
        }

        long count() {
            return count.get();
        }

        Now now() {
            lock.lock();
            try {
                List<FailureGroup> sorted = new ArrayList<>(groups.values());
                sorted.sort(Comparator.comparingLong(FailureGroup::count).reversed()); // stable
                return new Now(count.get(), List.copyOf(sorted));
            } finally {
                lock.unlock();
            }
        }
    }
}
