package dev.selvedge.observe;

import java.util.List;
import java.util.stream.Stream;

/**
 * What was heard, put together.
 *
 * @param begin the first moment, in nanoseconds
 * @param end the last one
 * @param roots the outermost scopes, in the order in which they were opened
 * @param lost how many events there was no room for
 * @param foreign how many scopes were left out since they go by another clock
 */
record Run(long begin, long end, List<Span> roots, long lost, int foreign) {

    Stream<Span> all() {
        return roots.stream().flatMap(Span::all);
    }

    long length() {
        return end - begin;
    }

    /** What is missing, in words; empty if nothing is. */
    String missing() {
        return (lost == 0 ? "" : lost + " events more were not kept. ")
                + (foreign == 0 ? "" : foreign + " scopes go by another clock and are left out.");
    }
}
