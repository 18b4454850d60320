package dev.selvedge;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a block hands on to the blocks inside it, on its own thread and in its forks. Immutable; a block that changes nothing
 * shares the one around it.
 *
 * @param clock the source of time
 * @param deadline the earliest deadline around, on that clock
 * @param listener who is told of events
 */
record Context(
        TimeSource clock, Deadline deadline, @Nullable Consumer<? super ScopeEvent> listener) {

    /** Outside any block. */
    static final Context NONE = new Context(TimeSource.system(), Deadline.never(), null);

    private static final System.Logger LOG = System.getLogger("dev.selvedge");

    /** This context with what a block changes; this one itself if it changes nothing. */
    Context with(@Nullable TimeSource ownClock, Deadline own, @Nullable Consumer<? super ScopeEvent> ownListener) {
        TimeSource c = ownClock == null ? clock : ownClock;
        Deadline d = own.isNever() && c == clock ? deadline : stillToCome(c).earlier(own);
        Consumer<? super ScopeEvent> l = ownListener == null ? listener : both(listener, ownListener);
        return c == clock && d == deadline && l == listener ? this : new Context(c, d, l);
    }

    /**
     * The inherited deadline, as far as it can still cut a block off. One that has passed is the affair of the block it belongs
     * to: a block that is opened while cleaning up has its own. Moments of two clocks cannot be compared.
     */
    private Deadline stillToCome(TimeSource c) {
        return c == clock && !deadline.passed() ? deadline : c.never();
    }

    /** What a shield lets through: the deadline around it waits until it has ended. */
    Context shielded() {
        return deadline.isNever() ? this : new Context(clock, clock.never(), listener);
    }

    /** Tells {@code own} first, then {@code outer}; a listener that is given twice is told once. */
    static Consumer<? super ScopeEvent> both(
            @Nullable Consumer<? super ScopeEvent> outer, Consumer<? super ScopeEvent> own) {
        if (outer == null) {
            return own;
        }
        return includes(outer, own) ? outer : new Both(own, outer);
    }

    private static boolean includes(Consumer<? super ScopeEvent> all, Consumer<? super ScopeEvent> one) {
        return all == one || (all instanceof Both both && (includes(both.first, one) || includes(both.second, one)));
    }

    /**
     * Tells an event. Callers look at {@link #listener} first, so that nothing is built when nobody listens. The interrupt
     * flag is put aside meanwhile; a request that is posted while the listener runs is posted again after it.
     */
    void tell(ScopeEvent event) {
        if (listener == null) {
            return;
        }
        Here.Aside aside = Here.putAside();
        try {
            tell(listener, event);
        } finally {
            aside.putBack();
        }
    }

    /** A listener that throws hears of it as of any unhandled error; one that throws at that, too, is logged. */
    private static void tell(Consumer<? super ScopeEvent> to, ScopeEvent event) {
        if (to instanceof Both both) {
            tell(both.first, event);
            tell(both.second, event);
            return;
        }
        try {
            to.accept(event);
        } catch (Throwable e) {
            tellOfFailure(to, event, e);
        }
    }

    private static void tellOfFailure(Consumer<? super ScopeEvent> to, ScopeEvent event, Throwable e) {
        if (event instanceof ScopeEvent.Unhandled(String scope, Throwable error)) {
            log(unseen(scope), error);
        } else {
            try {
                to.accept(new ScopeEvent.Unhandled(event.scope(), e));
                return;
            } catch (Throwable again) {
                // it fails at everything: one line for the first time is enough
            }
        }
        log("the listener of scope \"" + event.scope() + "\" failed", e);
    }

    private static String unseen(String scope) {
        return "an error that nobody can see otherwise, in scope \"" + scope + "\"";
    }

    private static void log(String what, Throwable error) {
        try {
            LOG.log(System.Logger.Level.WARNING, what, error);
        } catch (Throwable hopeless) {
            // the log itself is broken: what becomes of the scope must not depend on it
        }
    }

    private record Both(Consumer<? super ScopeEvent> first, Consumer<? super ScopeEvent> second)
            implements Consumer<ScopeEvent> {
        @Override
        public void accept(ScopeEvent event) {
            first.accept(event);
            second.accept(event);
        }
    }

    /** Tells of an error that nothing can carry. Without a listener it becomes a line of the log. */
    void unhandled(String scope, Throwable error) {
        if (listener != null) {
            tell(new ScopeEvent.Unhandled(scope, error));
            return;
        }
        Here.Aside aside = Here.putAside();
        try {
            log(unseen(scope), error);
        } finally {
            aside.putBack();
        }
    }
}
