package dev.selvedge;

import java.util.function.Consumer;
import java.util.function.Predicate;
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
        } else {
            action.accept(all);
        }
    }

    /** Whether any single one is such. */
    static boolean any(Consumer<? super ScopeEvent> all, Predicate<Consumer<? super ScopeEvent>> is) {
        if (all instanceof Listeners<?> both) {
            @SuppressWarnings("unchecked") // it was made of consumers of events
            Listeners<ScopeEvent> ofEvents = (Listeners<ScopeEvent>) both;
            return any(ofEvents.first, is) || any(ofEvents.second, is);
        }
        return is.test(all);
    }

    @Override
    public void accept(E what) {
        first.accept(what);
        second.accept(what);
    }

    static boolean isListening(Consumer<? super ScopeEvent> who) {
        return !(who instanceof ScopeListener one) || one.isListening();
    }

    static boolean replacesLog(Consumer<? super ScopeEvent> who) {
        return !(who instanceof ScopeListener one) || one.replacesLog();
    }

    static boolean timesForks(Consumer<? super ScopeEvent> who) {
        return who instanceof ScopeListener one && one.timesForks();
    }

    /** Tells one of an event, and where it happened if it wants to know. */
    static void tell(Consumer<? super ScopeEvent> who, ScopeEvent event, ScopeListener.Where where) {
        if (who instanceof ScopeListener one) {
            one.on(event, where);
        } else {
            who.accept(event);
        }
    }

    /**
     * Two listeners that a user has made one of: to be told one after the other by whoever has a listener to tell.
     *
     * @param first is told first
     * @param second is told second
     */
    record Chain(ScopeListener first, Consumer<? super ScopeEvent> second) implements ScopeListener {

        /** The single ones in it, so that each is told by itself, of what it wants to be told. */
        static Consumer<? super ScopeEvent> apart(Consumer<? super ScopeEvent> listener) {
            return listener instanceof Chain(ScopeListener first, Consumer<? super ScopeEvent> second)
                    ? new Listeners<ScopeEvent>(apart(first), apart(second))
                    : listener;
        }

        @Override
        public void on(ScopeEvent event, Where where) {
            try {
                first.on(event, where);
            } finally {
                tell(second, event, where);
            }
        }

        @Override
        public boolean isListening() {
            return any(apart(this), Listeners::isListening);
        }

        @Override
        public boolean replacesLog() {
            return any(apart(this), Listeners::replacesLog);
        }
    }
}
