package dev.selvedge;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a block hands on to the blocks inside it, on its own thread and in its forks. Immutable; a block that changes nothing
 * shares the one around it.
 *
 * @param clock the source of time
 * @param deadline the earliest deadline around, on that clock
 * @param listener who is told of events
 * @param carrier what is carried into forks
 * @param aftermath what is done about what nobody waits for any more; null for the usual
 */
record Context(
        TimeSource clock,
        Deadline deadline,
        @Nullable Consumer<? super ScopeEvent> listener,
        @Nullable Carrier carrier,
        @Nullable Aftermath aftermath) {

    /** Outside any block, where no defaults are given. */
    static final Context PLAIN = new Context(TimeSource.system(), Deadline.never(), null, null, null);

    private static final Seen SEEN = new Seen();

    private static final System.Logger LOG = System.getLogger("dev.selvedge");

    Context {
        if (clock != TimeSource.system() || listener != null) {
            SEEN.another();
        }
    }

    /** This context with what a block changes; this one itself if it changes nothing. */
    Context with(Handover own, Deadline ownDeadline) {
        TimeSource c = own.clock() == null ? clock : own.clock();
        Deadline d =
                ownDeadline.isNever() && c == clock ? deadline : stillToCome(c).earlier(ownDeadline);
        if (own == Handover.NOTHING) {
            return d == deadline ? this : new Context(clock, d, listener, carrier, aftermath);
        }
        return new Context(
                c,
                d,
                own.listener() == null ? listener : Listeners.both(listener, own.listener()),
                own.carrier() == null ? carrier : Carrier.both(carrier, own.carrier()),
                own.aftermath() == null ? aftermath : Aftermath.both(aftermath, own.aftermath()));
    }

    /**
     * Whether each context there is has the system's clock and no listener: then nobody needs to find his own to know that,
     * which would be most of what a policy costs.
     */
    static boolean areAllPlain() {
        return SEEN.onlyPlain();
    }

    /** The defaults are known. */
    static void noteDefaults() {
        SEEN.defaults();
    }

    /** Whether nothing around cuts a block off by then already, that still can; see {@link #stillToCome}. */
    boolean outlasts(Deadline own) {
        return deadline.earlier(own) == own || deadline.passed();
    }

    /** The same, until a moment that is earlier than any around that is still to come. */
    Context until(Deadline earliest) {
        return new Context(clock, earliest, listener, carrier, aftermath);
    }

    /** The same, without a deadline of its own. */
    Context with(Handover own) {
        return with(own, (own.clock() == null ? clock : own.clock()).never());
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
        return deadline.isNever() ? this : new Context(clock, clock.never(), listener, carrier, aftermath);
    }

    /**
     * Whether there is a listener, be it one that does not listen now. Paths that are run for each scope ask this and not for the
     * listener: the JIT inlines no method with a class in its signature that nobody has loaded yet.
     */
    boolean mayBeHeard() {
        return listener != null;
    }

    /** Whether somebody is told of events now. */
    boolean hasListener() {
        return listener != null && Listeners.any(listener, Listeners::isListening);
    }

    /** Whether what cannot be seen otherwise is seen by those who listen, or has to be logged. */
    boolean seesErrors() {
        return listener != null
                && Listeners.any(listener, who -> Listeners.isListening(who) && Listeners.replacesLog(who));
    }

    /**
     * Tells an event. Callers look at {@link #hasListener} first, so that nothing is built when nobody listens. The interrupt
     * flag is put aside meanwhile; a request that is posted while the listener runs is posted again after it.
     */
    void tell(ScopeEvent event, @Nullable ScopeId scope, long fork) {
        if (listener == null) {
            return;
        }
        Here.Aside aside = Here.putAside();
        try {
            ScopeListener.Where where = scope == null
                    ? ScopeListener.Where.unknown(event.scope())
                    : new ScopeListener.Where(clock().nanoTime(), scope, fork);
            Listeners.each(listener, who -> tell(who, event, where));
        } finally {
            aside.putBack();
        }
    }

    /** Tells one of them; what it throws changes nothing. */
    private static void tell(Consumer<? super ScopeEvent> who, ScopeEvent event, ScopeListener.Where where) {
        try {
            Listeners.tell(who, event, where);
        } catch (Throwable e) {
            tellOfFailure(who, event, where, e);
        }
    }

    /** Tells of the life of a fork: those who do not time it themselves. */
    void tellOfFork(ScopeEvent event, ScopeListener.Where where) {
        if (listener instanceof ScopeListener one) {
            tell(one, event, where); // it hears of forks, since somebody does
        } else if (listener != null) {
            Listeners.each(listener, who -> {
                if (!Listeners.timesForks(who)) {
                    tell(who, event, where);
                }
            });
        }
    }

    /** A listener that throws hears of it as of any unhandled error; one that throws at that, too, is logged. */
    private static void tellOfFailure(
            Consumer<? super ScopeEvent> to, ScopeEvent event, ScopeListener.Where where, Throwable e) {
        if (event instanceof ScopeEvent.Unhandled(String scope, Throwable error)) {
            log(unseen(scope), error);
            logFailed(scope, e);
        } else {
            tellOfFailure(to, event.scope(), where, e);
        }
    }

    static void tellOfFailure(Consumer<? super ScopeEvent> to, String scope, ScopeListener.Where where, Throwable e) {
        try {
            Listeners.tell(to, new ScopeEvent.Unhandled(scope, e), where);
        } catch (Throwable again) { // it fails at everything: one line for the first time is enough
            logFailed(scope, e);
        }
    }

    private static void logFailed(String scope, Throwable e) {
        log("the listener of scope \"" + scope + "\" failed", e);
    }

    private static String unseen(String scope) {
        return "an error that nobody can see otherwise, in scope \"" + scope + "\"";
    }

    private static void log(String what, @Nullable Throwable error) {
        try {
            LOG.log(System.Logger.Level.WARNING, what, error);
        } catch (Throwable hopeless) {
            // the log itself is broken: what becomes of the scope must not depend on it
        }
    }

    /** A value that nobody can read any more: told to the listener, and handed to whoever wants to close it. */
    void discard(String scope, String fork, @Nullable Object value) {
        discard(scope, Here.scopeId(), fork, 0, value);
    }

    /** The same, of a fork that has a number in a scope that may have one. */
    void discard(String scope, @Nullable ScopeId id, String fork, long number, @Nullable Object value) {
        if (value == null) {
            return;
        }
        if (hasListener()) {
            tell(new ScopeEvent.ValueDiscarded(scope, fork, value), id, number);
        }
        Consumer<? super Object> sink = sink();
        if (sink != null) {
            Here.Aside aside = Here.putAside();
            try {
                Listeners.each(sink, who -> {
                    try {
                        who.accept(value);
                    } catch (Throwable e) {
                        unhandled(scope, id, e);
                    }
                });
            } finally {
                aside.putBack();
            }
        }
    }

    private @Nullable Consumer<? super Object> sink() {
        return aftermath == null ? null : aftermath.sink();
    }

    /** How long after the request a task may go on without being told of. */
    Duration stragglersAfter() {
        Duration grace = aftermath == null ? null : aftermath.grace();
        return grace == null ? Aftermath.USUAL_GRACE : grace;
    }

    /** Tells of a task that goes on after it was asked to stop; where nobody who listens replaces the log, it gets the words. */
    void straggler(ScopeEvent.StragglerFound event, @Nullable ScopeId id, long fork, String words) {
        if (hasListener()) {
            tell(event, id, fork);
        }
        if (!seesErrors()) {
            log(words, null);
        }
    }

    /** Whether anybody wants to know of values that nobody can read any more. */
    boolean wantsDiscarded() {
        return hasListener() || sink() != null;
    }

    /** Tells of an error that nothing can carry. Without a listener it becomes a line of the log. */
    void unhandled(String scope, Throwable error) {
        unhandled(scope, Here.scopeId(), error);
    }

    /** The same, in a scope that may have a number. */
    void unhandled(String scope, @Nullable ScopeId id, Throwable error) {
        if (hasListener()) {
            tell(new ScopeEvent.Unhandled(scope, error), id, 0);
        }
        if (seesErrors()) {
            return;
        }
        Here.Aside aside = Here.putAside();
        try {
            log(unseen(scope), error);
        } finally {
            aside.putBack();
        }
    }

    /** Tells of errors for which an exception had no room. Where they are logged, they are counted in one entry. */
    void unhandledRest(String scope, @Nullable ScopeId id, List<Throwable> errors) {
        if (seesErrors() || errors.size() == 1) {
            errors.forEach(e -> unhandled(scope, id, e));
        } else if (!errors.isEmpty()) {
            unhandled(scope, id, new CountedFailures(errors.size() + " further failures", errors, null));
        }
    }

    /**
     * What contexts there are. What is plain must be known at one step: whoever has made another one has been noted, and must
     * never after that find that all are plain.
     *
     * @param kinds UNKNOWN → PLAIN once the defaults of the process are known; any → OTHERS by the first context that has a
     *     listener, or another clock than the system's
     */
    record Seen(AtomicInteger kinds) {

        private static final int UNKNOWN = 0;
        private static final int PLAIN = 1;
        private static final int OTHERS = 2;

        Seen() {
            this(new AtomicInteger(UNKNOWN));
        }

        void defaults() {
            boolean unused = kinds.compareAndSet(UNKNOWN, PLAIN);
        }

        void another() {
            if (kinds.get() != OTHERS) { // with a listener around, each block makes one
                kinds.set(OTHERS);
            }
        }

        boolean onlyPlain() {
            return kinds.get() == PLAIN;
        }
    }
}
