package dev.selvedge;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Forks of the scope failed.
 *
 * <p>The cause is the first failure in time, the task's own exception. {@link #failures()} has all of them; the later
 * ones are suppressed exceptions too, up to ten. To go on with a checked type:
 *
 * {@snippet class="dev.selvedge.examples.DocExamples" region="rethrow"}
 *
 * @since 0.1
 */
public final class ScopeFailedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** Which fork of which scope, or what else, threw: the message begins with it. */
    private final String what;

    /** The first in time first. Replaced once, by the scope's owner, if forks failed after one was joined. */
    @SuppressWarnings("serial")
    private volatile List<Throwable> all;

    /** Whether a retry has given up on the first failure already. */
    private final boolean givenUp;

    private final transient List<Outcome<?>> outcomes;

    /** How many failures there are besides these. Set by whoever makes this. */
    private int unkept;

    /** Of all failures, the first in time first. */
    ScopeFailedException(String what, List<Throwable> all, boolean givenUp) {
        this(what, all, givenUp, List.of());
    }

    /** With what was done until then. */
    ScopeFailedException(String what, List<Throwable> all, boolean givenUp, List<Outcome<?>> outcomes) {
        super(null, all.get(0));
        this.outcomes = outcomes;
        this.what = what;
        this.all = List.copyOf(all);
        this.givenUp = givenUp;
    }

    boolean isGivenUp() {
        return givenUp;
    }

    /** More items have failed than are kept as objects. */
    void addUnkept(int more) {
        unkept = more;
    }

    /** More forks have failed since this was made. */
    void extend(List<Throwable> now) {
        all = List.copyOf(now);
    }

    /** Which fork of which scope failed with what, and how many more did. */
    @Override
    public String getMessage() {
        int more = all.size() - 1 + unkept;
        return what + " threw " + all.get(0)
                + (more == 0 ? "" : " (and " + more + (more == 1 ? " more failure)" : " more failures)"));
    }

    /**
     * All failures that are exceptions, in the order in which they happened, each object once.
     *
     * @return an unmodifiable list; an {@code Error} leaves a scope bare, or is in {@link #all(Class)}
     */
    public List<Exception> failures() {
        List<Exception> exceptions = new ArrayList<>(all.size());
        for (Throwable t : all) {
            if (t instanceof Exception e) {
                exceptions.add(e);
            }
        }
        return Collections.unmodifiableList(exceptions);
    }

    /**
     * What was done before a call over items ended for a reason that is none of its items: its source threw, or what records
     * outcomes did.
     *
     * @return an unmodifiable list of the outcomes of {@code map} and {@code outcomes} over items, in the order of the items;
     *     empty in all other cases, and after serialization
     */
    public List<Outcome<?>> outcomes() {
        return outcomes == null ? List.of() : outcomes;
    }

    /**
     * All failures of a type, also those of scopes inside the scope: where a fork failed with a
     * {@code ScopeFailedException}, the failures in it count instead.
     *
     * @param <X> the type of the failures asked for
     * @param type its class; failures of subclasses count
     * @return an unmodifiable list, the first in time first; empty if there are none
     */
    public <X extends Throwable> List<X> all(Class<X> type) {
        Objects.requireNonNull(type, "type");
        List<X> found = new ArrayList<>();
        collect(type, found, Collections.newSetFromMap(new IdentityHashMap<>()));
        return Collections.unmodifiableList(found);
    }

    private <X extends Throwable> void collect(Class<X> type, List<X> found, Set<Throwable> seen) {
        for (Throwable t : all) {
            if (!seen.add(t)) {
                continue;
            }
            if (t instanceof ScopeFailedException nested) {
                nested.collect(type, found, seen);
            } else if (type.isInstance(t)) {
                found.add(type.cast(t));
            }
        }
    }

    /**
     * Throws the first failure of a type, if there is one; the same object that the task threw.
     *
     * @param <X> the type of the failure to throw
     * @param type its class; failures of subclasses count
     * @return this exception, if there is none, so that calls can be chained and the last one thrown
     * @throws X the first of {@link #all(Class)}
     */
    public <X extends Exception> ScopeFailedException rethrow(Class<X> type) throws X {
        List<X> found = all(type);
        if (!found.isEmpty()) {
            if (givenUp && found.get(0) == getCause()) {
                GivenUp.add(found.get(0));
            }
            throw found.get(0);
        }
        return this;
    }
}
