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

    /** Tells each, and gives each one that throws, with what it threw, to {@code failed}. */
    static <E> void tell(Consumer<? super E> all, E what, Failed<E> failed) {
        if (all instanceof Listeners<?>) {
            @SuppressWarnings("unchecked") // it was made of consumers of E
            Listeners<E> both = (Listeners<E>) all;
            tell(both.first, what, failed);
            tell(both.second, what, failed);
            return;
        }
        try {
            all.accept(what);
        } catch (Throwable e) {
            failed.accept(all, e);
        }
    }

    @Override
    public void accept(E what) {
        first.accept(what);
        second.accept(what);
    }

    /** What becomes of a consumer's failure. */
    interface Failed<E> {
        void accept(Consumer<? super E> who, Throwable error);
    }
}
