package dev.selvedge;

import java.util.AbstractList;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/** The values of a gather, unmodifiable: the array itself, which nobody else holds. */
final class Values<T extends @Nullable Object> extends AbstractList<T> implements RandomAccess {

    private final @Nullable Object[] values;

    Values(@Nullable Object[] values) {
        this.values = values;
    }

    @Override
    public T get(int index) {
        return at(values, index);
    }

    /** One of them: what the caller knows to be a T. */
    @SuppressWarnings({"unchecked", "NullAway"
    }) // each value is that of the task at its place, null if the task gave null
    static <T extends @Nullable Object> T at(@Nullable Object[] values, int index) {
        return (T) values[index];
    }

    @Override
    public int size() {
        return values.length;
    }
}
