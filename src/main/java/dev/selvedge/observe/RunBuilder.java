package dev.selvedge.observe;

import dev.selvedge.Outcome;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeId;
import dev.selvedge.ScopeListener.Where;
import dev.selvedge.observe.Span.Cut;
import dev.selvedge.observe.Span.How;
import dev.selvedge.observe.Span.Kind;
import dev.selvedge.observe.Span.Mark;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts a run together from what was heard of it, event by event. Serves once. */
final class RunBuilder {

    /** By its number; one of which only the name is known, by that. */
    private final Map<Object, Part> scopes = new LinkedHashMap<>();

    private final List<Part> roots = new ArrayList<>();
    private final Set<Object> foreign = new HashSet<>();
    private @Nullable TimeSource clock;
    private long begin = Long.MAX_VALUE;
    private long end = Long.MIN_VALUE;

    /** A span that is not complete yet. */
    private static final class Part {

        final Kind kind;
        final String name;
        final long scope;
        final long fork;
        final int attempt;
        long start;
        long end;
        How how = How.OPEN;

        @Nullable
        String words;

        long limit = -1;

        @Nullable
        Cut cut;

        final List<Part> inner = new ArrayList<>();
        final List<Mark> marks = new ArrayList<>();

        @Nullable
        WeakReference<Thread> thread;

        /** Of a scope: its forks by their numbers. */
        final Map<Object, Part> forks = new HashMap<>();

        /** Of a task: its attempts that are not over, the innermost first. */
        final Deque<Part> attempts = new ArrayDeque<>();

        /** Of a task: the wait for the next attempt. */
        @Nullable
        Part backOff;

        Part(Kind kind, String name, long scope, long fork, int attempt, long start) {
            this.kind = kind;
            this.name = name;
            this.scope = scope;
            this.fork = fork;
            this.attempt = attempt;
            this.start = start;
        }

        boolean isOpen() {
            return how == How.OPEN;
        }

        void over(long at, How ending, @Nullable String why) {
            end = at;
            how = ending;
            words = why;
        }

        /** What it is doing at the moment: itself, or its innermost attempt. */
        Part now() {
            return attempts.isEmpty() ? this : attempts.peek();
        }

        void pause(long at) {
            if (backOff != null) {
                backOff.over(at, How.OVER, backOff.words);
                backOff = null;
            }
        }

        /** Its task is over, and with it whatever has not told of its own end. */
        void closeTask(long at) {
            pause(at);
            for (Part a : attempts) {
                a.over(at, How.CANCELLED, "cut off");
            }
            attempts.clear();
        }

        Span span(long latest) {
            List<Span> in = new ArrayList<>();
            for (Part p : inner) {
                in.add(p.span(latest));
            }
            in.sort(Comparator.comparingLong(Span::start));
            return new Span(
                    kind,
                    name,
                    scope,
                    fork,
                    attempt,
                    start,
                    isOpen() ? Math.max(start, latest) : Math.max(start, end),
                    how,
                    words,
                    limit,
                    cut,
                    List.copyOf(in),
                    List.copyOf(marks),
                    thread);
        }
    }

    /**
     * The run.
     *
     * @param now the present moment by the clock, if it is known
     */
    Run build(Iterable<Noted> heard, @Nullable Long now, long lost) {
        for (Noted noted : heard) {
            add(noted);
        }
        if (begin > end) {
            return new Run(0, 0, List.of(), lost, foreign.size());
        }
        boolean open = scopes.values().stream().anyMatch(Part::isOpen);
        long latest = open && now != null ? Math.max(end, now) : end;
        List<Span> spans = new ArrayList<>();
        for (Part root : roots) {
            spans.add(root.span(latest));
        }
        return new Run(begin, latest, List.copyOf(spans), lost, foreign.size());
    }

    private void add(Noted noted) {
        ScopeId id = noted.where().scope();
        if (noted.event() instanceof ScopeEvent.ScopeOpened && isForeign(noted.clock())) {
            foreign.add(key(id));
        }
        if (foreign.contains(key(id))) {
            return;
        }
        long at = noted.where().nanoTime();
        begin = Math.min(begin, at);
        end = Math.max(end, at);
        Part scope = scopes.computeIfAbsent(key(id), k -> open(id, at));
        add(noted, scope, at);
    }

    private boolean isForeign(@Nullable TimeSource its) {
        if (clock == null) {
            clock = its;
        }
        return its != clock;
    }

    private static Object key(ScopeId id) {
        return id.number() == 0 ? id.name() : id.number();
    }

    private Part open(ScopeId id, long at) {
        Part scope = new Part(Kind.SCOPE, id.name(), id.number(), 0, 0, at);
        ScopeId parent = id.parent();
        Part around = parent == null ? null : scopes.get(key(parent));
        if (around == null) {
            roots.add(scope);
        } else {
            around.forks.getOrDefault(id.parentFork(), around).inner.add(scope);
        }
        return scope;
    }

    private void add(Noted noted, Part scope, long at) {
        Where where = noted.where();
        switch (noted.event()) {
            case ScopeEvent.ScopeOpened e -> {
                scope.start = at;
                scope.thread = noted.thread();
            }
            case ScopeEvent.DeadlineSet e -> scope.limit = e.limit().toNanos();
            case ScopeEvent.DeadlinePassed e ->
                scope.marks.add(new Mark(at, "the deadline of " + Deadline.inWords(e.limit()) + " has passed"));
            case ScopeEvent.ScopeCancelled e -> {
                if (scope.cut == null) {
                    scope.cut = new Cut(at, e.reason().kind().name(), e.reason().message(), where.fork());
                }
            }
            case ScopeEvent.ScopeClosed e -> {
                scope.closeTask(at);
                Throwable error = e.error();
                scope.over(at, ending(error), error == null ? null : Shown.error(error));
            }
            case ScopeEvent.ForkCreated e -> fork(scope, where, e.fork(), at);
            case ScopeEvent.ForkStarted e -> {
                Part fork = fork(scope, where, e.fork(), at);
                fork.start = at;
                fork.thread = noted.thread();
            }
            case ScopeEvent.ForkEnded e -> {
                Part fork = fork(scope, where, e.fork(), at);
                fork.closeTask(at);
                ended(fork, e.outcome(), at);
            }
            case ScopeEvent.HedgeStarted e ->
                fork(scope, where, e.fork(), at)
                        .marks
                        .add(new Mark(at, "hedge " + e.number() + ", after " + Deadline.inWords(e.after())));
            case ScopeEvent.AttemptStarted e -> attempt(task(scope, where, e.fork(), at), e.fork(), e.attempt(), at);
            case ScopeEvent.AttemptSucceeded e ->
                endOfAttempt(task(scope, where, e.fork(), at), How.SUCCEEDED, null, at);
            case ScopeEvent.AttemptFailed e -> {
                Part task = task(scope, where, e.fork(), at);
                endOfAttempt(task, How.FAILED, Shown.error(e.error()), at);
                task.backOff = inside(task, Kind.BACK_OFF, "back-off", at);
                task.backOff.words = Deadline.inWords(e.nextDelay()) + ", by " + word(e.source());
            }
            case ScopeEvent.RetryGaveUp e ->
                endOfAttempt(
                        task(scope, where, e.fork(), at),
                        How.FAILED,
                        Shown.error(e.error()) + "; no further attempt: " + word(e.reason()),
                        at);
            case ScopeEvent.RateLimitAwaited e ->
                waited(
                        task(scope, where, e.fork(), at),
                        "rate limiter",
                        at,
                        e.waited().toNanos());
            case ScopeEvent.BulkheadAwaited e ->
                waited(
                        task(scope, where, e.fork(), at),
                        "bulkhead",
                        at,
                        e.waited().toNanos());
            case ScopeEvent.BreakerChanged e ->
                task(scope, where, e.fork(), at)
                        .marks
                        .add(new Mark(at, "breaker \"" + e.breaker() + "\": " + word(e.from()) + " → " + word(e.to())));
            case ScopeEvent.ValueDiscarded e ->
                task(scope, where, e.fork(), at).marks.add(new Mark(at, "a value was discarded"));
            case ScopeEvent.StragglerFound e ->
                task(scope, where, e.fork(), at)
                        .marks
                        .add(new Mark(at, "goes on " + Deadline.inWords(e.since()) + " after it was asked to stop"));
            case ScopeEvent.Unhandled e -> scope.marks.add(new Mark(at, "unhandled: " + Shown.error(e.error())));
        }
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static How ending(@Nullable Throwable error) {
        if (error == null) {
            return How.SUCCEEDED;
        }
        return error instanceof ScopeCancelledException ? How.CANCELLED : How.FAILED;
    }

    private static void ended(Part fork, Outcome<?> outcome, long at) {
        switch (outcome) {
            case Outcome.Success<?> s -> fork.over(at, How.SUCCEEDED, null);
            case Outcome.Failure<?> f -> fork.over(at, How.FAILED, Shown.error(f.error()));
            case Outcome.Cancelled<?> c ->
                fork.over(at, How.CANCELLED, c.reason().message());
        }
    }

    private static Part fork(Part scope, Where where, String name, long at) {
        Object key = where.fork() == 0 ? name : where.fork();
        return scope.forks.computeIfAbsent(key, k -> {
            Part fork = new Part(Kind.FORK, name, scope.scope, where.fork(), 0, at);
            scope.inner.add(fork);
            return fork;
        });
    }

    /** The fork whose task it is about, or the scope for one in the owner's thread. */
    private static Part task(Part scope, Where where, String name, long at) {
        return where.fork() == 0 ? scope : fork(scope, where, name, at);
    }

    private static void attempt(Part task, String name, int number, long at) {
        task.pause(at);
        Part attempt = new Part(Kind.ATTEMPT, name, task.scope, task.fork, number, at);
        task.now().inner.add(attempt);
        task.attempts.push(attempt);
    }

    private static void endOfAttempt(Part task, How how, @Nullable String words, long at) {
        Part attempt = task.attempts.poll();
        if (attempt != null) {
            attempt.over(at, how, words);
        }
    }

    private static void waited(Part task, String forWhat, long at, long nanos) {
        inside(task, Kind.WAIT, forWhat, at - nanos).over(at, How.OVER, null);
    }

    private static Part inside(Part task, Kind kind, String name, long start) {
        Part part = new Part(kind, name, task.scope, task.fork, 0, start);
        task.now().inner.add(part);
        return part;
    }
}
