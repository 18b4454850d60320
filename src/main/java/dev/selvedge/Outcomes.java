package dev.selvedge;

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

    private final List<I> items;
    private final List<Outcome<R>> outcomes;

    Outcomes(List<I> items, List<Outcome<R>> outcomes) {
        this.items = items;
        this.outcomes = outcomes;
    }

    @Override
    public Outcome<R> get(int index) {
        return outcomes.get(Objects.checkIndex(index, size()));
    }

    @Override
    public int size() {
        return outcomes.size();
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
        for (Outcome<R> o : outcomes) {
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
        for (Outcome<R> o : outcomes) {
            if (o instanceof Outcome.Failure<R>(var error)) {
                failures.add(error);
            }
        }
        return Collections.unmodifiableList(failures);
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
     * @throws ScopeCancelledException if none failed, but some were cut off
     */
    public List<R> orThrow() {
        List<Throwable> failures = failures();
        if (!failures.isEmpty()) {
            ScopeFailedException e = new ScopeFailedException("one of " + size() + " items", failures, false);
            Failure.attach(e, failures);
            throw e;
        }
        for (Outcome<R> o : outcomes) {
            if (o instanceof Outcome.Cancelled<R>(var reason)) {
                throw ScopeCancelledException.settled(reason);
            }
        }
        return values();
    }
}
