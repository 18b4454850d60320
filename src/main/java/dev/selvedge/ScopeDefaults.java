package dev.selvedge;

/**
 * Gives the defaults of a process: what scopes have that have no block around them. Found by
 * {@link java.util.ServiceLoader} when the first scope is opened, unless {@link Selvedge#defaults} was called before; so
 * a library can hook itself in by being on the path.
 *
 * <p>If there are several, their listeners, propagators and sinks add up, and a clock that is found later replaces one
 * found before.
 *
 * @since 0.1
 */
public interface ScopeDefaults {

    /**
     * The defaults; asked for once. If this throws, or gives null or what no default can be, the scope that asked is not
     * opened and its caller gets the error; the next scope asks again.
     *
     * @return a specification with a clock, listeners, propagators, sinks of discarded values, or some of these, and
     *     nothing else
     */
    ScopeSpec defaults();
}
