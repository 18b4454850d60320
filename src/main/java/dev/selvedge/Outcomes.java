package dev.selvedge;

import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of a call over items, in the order of the items. Unmodifiable.
 *
 * @param <I> the items
 * @param <R> the results
 * @since 0.1
 */
public final class Outcomes<I extends @Nullable Object, R extends @Nullable Object> extends AbstractList<Outcome<R>>
        implements RandomAccess {

    private final List<? extends I> items;
    private final Entry[] entries;

    /** Why the source was not read to its end; null if it was. */
    private final @Nullable CancelReason cutOff;

    /**
     * How one item ended.
     *
     * @param outcome how
     * @param attempts how many attempts were made
     * @param nanos how long it took
     */
    record Entry(Outcome<?> outcome, int attempts, long nanos) {}

    Outcomes(List<? extends I> items, Entry[] entries, @Nullable CancelReason cutOff) {
        this.items = items;
        this.entries = entries;
        this.cutOff = cutOff;
    }

    private Entry entry(int index) {
        return entries[Objects.checkIndex(index, size())];
    }

    @Override
    @SuppressWarnings("unchecked") // each is that of an item, and so has an R
    public Outcome<R> get(int index) {
        return (Outcome<R>) entry(index).outcome;
    }

    @Override
    public int size() {
        return entries.length;
    }

    /**
     * How many attempts the item at a place has taken.
     *
     * @param index the place, from 0 to {@code size() - 1}
     * @return the number: 1 without a retry, or if the first attempt succeeded, or if an earlier run has
     *     {@linkplain Task.Recorded#known done} it; 0 if the item was never begun. Hedges are not counted.
     * @throws IndexOutOfBoundsException if there is no such place
     */
    public int attempts(int index) {
        return entry(index).attempts;
    }

    /**
     * How long the item at a place has taken, with all attempts and the waits between them.
     *
     * @param index the place, from 0 to {@code size() - 1}
     * @return the time from its beginning to its end; zero if it was cut off, or never begun
     * @throws IndexOutOfBoundsException if there is no such place
     */
    public Duration duration(int index) {
        return Duration.ofNanos(entry(index).nanos);
    }

    /**
     * The item whose outcome stands at a place.
     *
     * @param index the place, from 0 to {@code size() - 1}
     * @return the item that {@code get(index)} is the outcome of
     * @throws IndexOutOfBoundsException if there is no such place
     */
    public I item(int index) {
        return items.get(Objects.checkIndex(index, size()));
    }

    /**
     * The values of those that succeeded, in the order of the items.
     *
     * @return a new unmodifiable list; empty if none succeeded
     */
    public List<R> values() {
        List<R> values = new ArrayList<>();
        for (Outcome<R> o : this) {
            if (o instanceof Outcome.Success<R>(var value)) {
                values.add(value);
            }
        }
        return Collections.unmodifiableList(values);
    }

    /**
     * What those that failed threw, in the order of the items.
     *
     * @return a new unmodifiable list; empty if none failed
     */
    public List<Throwable> failures() {
        List<Throwable> failures = new ArrayList<>();
        for (Outcome<R> o : this) {
            if (o instanceof Outcome.Failure<R>(var error)) {
                failures.add(error);
            }
        }
        return Collections.unmodifiableList(failures);
    }

    /**
     * The failures by type and message, for a report.
     *
     * @return a new unmodifiable list, the most frequent first; of equally frequent ones that which comes first in the order of
     *     the items; empty if none failed
     */
    public List<FailureGroup> failureGroups() {
        return FailureGroup.of(failures());
    }

    /**
     * How many were cut off, or never ran.
     *
     * @return the number of those that neither succeeded nor failed
     */
    public int cancelled() {
        return size() - values().size() - failures().size();
    }

    /**
     * The values of all, if all succeeded.
     *
     * @return an unmodifiable list, one value for each item, in their order
     * @throws ScopeFailedException if some failed; the cause is the first in the order of the items
     * @throws ScopeCancelledException if none failed, but some were cut off, or the source was not read to its end: what was
     *     never pulled from it has no outcome
     */
    public List<R> orThrow() {
        List<Throwable> failures = failures();
        if (!failures.isEmpty()) {
            ScopeFailedException e = new ScopeFailedException("one of " + size() + " items", failures, false);
            Failure.attach(e, failures);
            throw e;
        }
        for (Outcome<R> o : this) {
            if (o instanceof Outcome.Cancelled<R>(var reason)) {
                throw ScopeCancelledException.settled(reason);
            }
        }
        if (cutOff != null) {
            throw ScopeCancelledException.settled(cutOff);
        }
        return values();
    }
}
