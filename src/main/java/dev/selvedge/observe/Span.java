package dev.selvedge.observe;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A part of a run that has a beginning and an end.
 *
 * @param kind what it is
 * @param name its name
 * @param scope the number of the scope that it is, or is in
 * @param fork the number of the fork that it is, or is in; 0 for the thread of the scope's owner
 * @param attempt which attempt it is, from 1; 0 if it is none
 * @param start when it began, in nanoseconds by its clock
 * @param end when it ended; for what is open, the latest moment that is known of
 * @param how how it ended
 * @param words more about its end, such as what was thrown; null for nothing
 * @param limit the time that a scope was given, in nanoseconds; -1 for none
 * @param cut the first request to stop, of a scope; null for none
 * @param inner what is within it, in the order of time
 * @param marks what happened in it at one moment
 * @param thread the thread in which it runs; null if that is not known
 */
record Span(
        Kind kind,
        String name,
        long scope,
        long fork,
        int attempt,
        long start,
        long end,
        How how,
        @Nullable String words,
        long limit,
        @Nullable Cut cut,
        List<Span> inner,
        List<Mark> marks,
        @Nullable WeakReference<Thread> thread) {

    enum Kind {
        SCOPE,
        FORK,
        ATTEMPT,
        BACK_OFF,
        WAIT;

        /** As attributes and categories have it. */
        String word() {
            return switch (this) {
                case SCOPE -> "scope";
                case FORK -> "fork";
                case ATTEMPT -> "attempt";
                case BACK_OFF -> "back-off";
                case WAIT -> "wait";
            };
        }
    }

    enum How {
        SUCCEEDED("succeeded", "✓"),
        FAILED("failed", "✗"),
        CANCELLED("cancelled", "⊘"),
        OPEN("running", "▸"),
        /** Of what neither succeeds nor fails: a wait. */
        OVER("over", "");

        final String word;
        final String sign;

        How(String word, String sign) {
            this.word = word;
            this.sign = sign;
        }
    }

    /**
     * A request to stop.
     *
     * @param at when
     * @param kind the kind of its reason
     * @param message the reason in words
     * @param cause the number of the fork whose end was the reason; 0 if it was something else
     */
    record Cut(long at, String kind, String message, long cause) {}

    /**
     * A moment.
     *
     * @param at when
     * @param words what happened
     */
    record Mark(long at, String words) {}

    long length() {
        return end - start;
    }

    Stream<Span> inner(Kind wanted) {
        return inner.stream().filter(s -> s.kind == wanted);
    }

    /** This one, and all within. */
    Stream<Span> all() {
        return Stream.concat(Stream.of(this), inner.stream().flatMap(Span::all));
    }
}
