package dev.selvedge.observe;

import dev.selvedge.observe.Span.How;
import dev.selvedge.observe.Span.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What is shown of the forks and scopes within another one, and what is only counted: where there are very many, the cause of the
 * cancellation and the first that failed come first, then those that did more than one thing, the first, the last and the longest.
 *
 * @param shown in the order of time
 * @param rest the others, in the order of time
 */
record Folding(List<Span> shown, List<Span> rest) {

    /** So many have room one by one. */
    private static final int ROOM = 30;

    private static final int FAILED = 10;
    private static final int BUSY = 6;
    private static final int FIRST = 8;
    private static final int LONGEST = 3;
    private static final int LAST = 2;

    /**
     * Of the forks and scopes in a list.
     *
     * @param cause the number of the fork that is never left out; 0 for none
     * @param room how many may be shown at the most
     */
    static Folding of(List<Span> inner, long cause, int room) {
        List<Span> all = inner.stream()
                .filter(s -> s.kind() == Kind.FORK || s.kind() == Kind.SCOPE)
                .toList();
        int most = Math.min(ROOM, Math.max(1, room));
        if (all.size() <= most) {
            return new Folding(all, List.of());
        }
        Set<Span> kept = chosen(all, cause, most);
        List<Span> shown = new ArrayList<>();
        List<Span> rest = new ArrayList<>();
        for (Span s : all) {
            (kept.contains(s) ? shown : rest).add(s);
        }
        return new Folding(shown, rest);
    }

    private static Set<Span> chosen(List<Span> all, long cause, int most) {
        Set<Span> chosen = Collections.newSetFromMap(new IdentityHashMap<>());
        Stream.of(
                        all.stream().filter(s -> s.kind() == Kind.FORK && cause != 0 && s.fork() == cause),
                        all.stream().filter(s -> s.how() == How.FAILED).limit(FAILED),
                        all.stream().limit(FIRST),
                        all.subList(all.size() - LAST, all.size()).stream(),
                        all.stream().filter(Folding::isBusy).limit(BUSY),
                        all.stream()
                                .sorted(Comparator.comparingLong(Span::length).reversed())
                                .limit(LONGEST))
                .flatMap(s -> s)
                .takeWhile(s -> chosen.size() < most)
                .forEach(chosen::add);
        return chosen;
    }

    private static boolean isBusy(Span s) {
        return s.inner(Kind.SCOPE).findAny().isPresent()
                || s.inner(Kind.ATTEMPT).count() > 1;
    }

    /** How the rest ended, in words: "9,980 more: 9,970 succeeded, 10 cancelled". */
    String words() {
        StringBuilder words = new StringBuilder(Shown.count(rest.size())).append(" more: ");
        String comma = "";
        for (How how : How.values()) {
            long n = rest.stream().filter(s -> s.how() == how).count();
            if (n > 0) {
                words.append(comma).append(Shown.count(n)).append(' ').append(how.word);
                comma = ", ";
            }
        }
        return words.toString();
    }
}
