package dev.selvedge;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Two consumers in one. Whoever tells them something takes them apart, so that one that throws does not keep it from the
 * other.
 *
 * @param first is told first
 * @param second is told second
 */
record Listeners<E>(Consumer<? super E> first, Consumer<? super E> second) implements Consumer<E> {

    /** Tells {@code own} first, then {@code outer}; one that is given twice is told once. */
    static <E> Consumer<? super E> both(@Nullable Consumer<? super E> outer, Consumer<? super E> own) {
        if (outer == null) {
            return own;
        }
        return includes(outer, own) ? outer : new Listeners<E>(own, outer);
    }

    private static boolean includes(Consumer<?> all, Consumer<?> one) {
        return all == one
                || (all instanceof Listeners<?> both && (includes(both.first, one) || includes(both.second, one)));
    }

    /** Takes them apart: each single one, in its turn. */
    static <E> void each(Consumer<? super E> all, Consumer<Consumer<? super E>> action) {
        if (all instanceof Listeners<?>) {
            @SuppressWarnings("unchecked") // it was made of consumers of E
            Listeners<E> both = (Listeners<E>) all;
            each(both.first, action);
            each(both.second, action);
            return;
        }
        action.accept(all);
    }

    @Override
    public void accept(E what) {
        first.accept(what);
        second.accept(what);
    }
}
