package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.selvedge.time.Alarm;
import dev.selvedge.time.ClockInside;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.Participant;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * Every public method and constructor × null, zero, negative, huge, the wrong thread, too late. Which misuses there are
 * follows from the signature and the type; what each must do stands in the table. A method that is not in it, a misuse that
 * has no answer, and a line of the table that nothing asks for any more, all fail.
 */
@Timeout(120)
class MisuseMatrixTest {

    private static final Duration HUGE = ofSeconds(Long.MAX_VALUE);
    private static final Duration LEAST = ofSeconds(Long.MIN_VALUE);

    /** Types whose misuse is tested beside them: the beginnings of their names. */
    private static final List<String> HAVE_THEIR_OWN = List.of("dev.selvedge.policy.", "dev.selvedge.batch.Journal");

    /** The bad values of a type of parameter, by the word for them. */
    private static final Map<Class<?>, Map<String, Object>> BAD = Map.of(
            Duration.class, ordered("zero", ZERO, "negative", ofNanos(-1), "huge", HUGE, "least", LEAST),
            Instant.class, ordered("past", Instant.EPOCH, "huge", Instant.MAX, "least", Instant.MIN),
            int.class, ordered("zero", 0, "negative", -1, "huge", Integer.MAX_VALUE, "least", Integer.MIN_VALUE),
            Collection.class, ordered("none", List.of()),
            Callable[].class, ordered("none", new Callable<?>[0]));

    /** Where a method of a type with rules of thread or life is called besides. */
    private static final Map<Class<?>, Map<String, Situation>> SITUATIONS = Map.of(
            Scope.class,
            ordered(
                    "in a fork", (Situation) MisuseMatrixTest::scopeInAFork,
                    "in a foreign thread", (Situation) MisuseMatrixTest::scopeInAForeignThread,
                    "after the body", (Situation) MisuseMatrixTest::scopeAfterTheBody,
                    "after the scope", (Situation) MisuseMatrixTest::scopeAfterTheEnd,
                    "after the scope, foreign", (Situation) MisuseMatrixTest::scopeAfterTheEndElsewhere,
                    "after cancel", (Situation) MisuseMatrixTest::scopeAfterCancel),
            Fork.class,
            ordered(
                    "in the fork itself", (Situation) MisuseMatrixTest::forkInItself,
                    "in another fork", (Situation) MisuseMatrixTest::forkInAnother,
                    "in a foreign thread", (Situation) MisuseMatrixTest::forkInAForeignThread,
                    "after the scope", (Situation) MisuseMatrixTest::forkAfterTheEnd,
                    "after cancel", (Situation) MisuseMatrixTest::forkAfterCancel),
            Selvedge.class,
            ordered(
                    "in a foreign thread", (Situation) MisuseMatrixTest::staticInAForeignThread,
                    "after cancel", (Situation) MisuseMatrixTest::staticAfterCancel));

    private final Map<String, Row> table = new LinkedHashMap<>();

    // The table.

    private void specs() {
        row("ScopeSpec.named(String)", "name");
        row("ScopeSpec.deadline(Duration)", "d")
                .at("d=zero", fine(MisuseMatrixTest::nothingStarts))
                .at("d=negative", fine(MisuseMatrixTest::nothingStarts))
                .at("d=least", fine(MisuseMatrixTest::nothingStarts))
                .at(
                        "d=huge",
                        fine((w, r) ->
                                assertThat(((ScopeSpec) r).gather(w.task)).isEqualTo(List.of("ran 1"))));
        row("ScopeSpec.deadline(Deadline)", "d");
        row("ScopeSpec.clock(TimeSource)", "time");
        row("ScopeSpec.listener(Consumer)", "sink");
        row("ScopeSpec.propagate(Supplier, Function)", "capture", "install");
        row("ScopeSpec.onDiscard(Consumer)", "sink");
        row("ScopeSpec.threads(ThreadFactory)", "factory");
        row("ScopeSpec.call(Task)", "task");
        row("ScopeSpec.call(Callable, Task.Of)", "task", "fallback");
        row("ScopeSpec.call(Task.Of)", "body");
        row("ScopeSpec.attempt(Callable)", "task");
        row("ScopeSpec.run(Task.Void)", "task");
        row("ScopeSpec.run(Task.VoidOf)", "body");
        row("ScopeSpec.fork(Callable)", "task");
        row("ScopeSpec.fork(String, Callable)", "name", "task");
        for (String tasks : List.of("Callable[]", "Collection")) {
            row("ScopeSpec.gather(" + tasks + ")", "tasks").at("tasks=none", gives(List.of()));
            row("ScopeSpec.race(" + tasks + ")", "tasks")
                    .at(
                            "tasks=none",
                            refused(
                                    NoSuchElementException.class,
                                    "a race needs at least one task, and tasks is empty"));
            String tooFew = "n must be from 1 to the number of tasks, which is ";
            Answer refused = refused(IllegalArgumentException.class, tooFew + "2: {}");
            row("ScopeSpec.quorum(int, " + tasks + ")", "n", "tasks")
                    .at("n=zero", refused)
                    .at("n=negative", refused)
                    .at("n=huge", refused)
                    .at("n=least", refused)
                    .at("tasks=none", refused(IllegalArgumentException.class, tooFew + "0: 1"));
        }
        row("ScopeSpec.map(Iterable, Task.Of)", "items", "fn");
        row("ScopeSpec.outcomes(Iterable, Task.Of)", "items", "fn");
        row("ScopeSpec.forEach(Iterable, Task.VoidOf)", "items", "action");
        row("ScopeSpec.eachCompleted(Iterable, Task.Of, Task.VoidOf2)", "items", "fn", "sink");
        row("ScopeSpec.progress(Consumer)", "sink");
        row("ScopeSpec.progress(ProgressMeter)", "meter");
        Answer backwards = refused(IllegalArgumentException.class, "every must be positive: {}");
        Answer reports = fine(
                (w, r) -> assertThat(((ScopeSpec) r).map(List.of("a"), i -> i)).containsExactly("a"));
        row("ScopeSpec.progress(Duration, Consumer)", "every", "sink")
                .at("every=zero", backwards)
                .at("every=huge", reports)
                .at("every=negative", backwards)
                .at("every=least", backwards);
        Answer noGrace = refused(IllegalArgumentException.class, "grace must be positive: {}");
        row("ScopeSpec.stragglersAfter(Duration)", "grace")
                .at("grace=zero", noGrace)
                .at("grace=negative", noGrace)
                .at("grace=least", noGrace)
                .at("grace=huge", reports);
        Answer tooFew = refused(IllegalArgumentException.class, "atMost must be at least 1: {}");
        row("ScopeSpec.concurrency(int)", "atMost")
                .at("atMost=zero", tooFew)
                .at("atMost=negative", tooFew)
                .at("atMost=least", tooFew)
                .at("atMost=huge", reports);
        Answer noSample = refused(IllegalArgumentException.class, "minSamples must be at least 1: {}");
        row("ScopeSpec.errorBudget(double, int)", "ratio", "minSamples")
                .at("minSamples=zero", noSample)
                .at("minSamples=negative", noSample)
                .at("minSamples=least", noSample)
                .at("minSamples=huge", reports);
        row("ScopeSpec.maxFailures(long)", "n");
        row("ScopeSpec.outcomes(Collection)", "tasks").at("tasks=none", gives(List.of()));
        for (int i = 1; i <= 5; i++) {
            String of = "FanOut.Of" + i;
            if (i < 5) {
                row(of + ".fork(Callable)", "task");
                row(of + ".fork(String, Callable)", "name", "task");
            }
            String combine = i == 1 ? "(Task.Of)" : "(Task.Of" + i + ")";
            row(of + ".gather" + combine, "combine");
            row(of + ".outcomes" + combine, "combine");
        }
    }

    private static void nothingStarts(MisuseWorld w, @Nullable Object spec) {
        Throwable late = catchThrowable(() -> ((ScopeSpec) spec).gather(w.task));
        assertThat(late).isExactlyInstanceOf(DeadlineExceededException.class);
        assertThat(late)
                .hasMessage("the scope \"page\" exceeded its deadline of "
                        + Deadline.inWords(((DeadlineExceededException) late).limit()) + " (after 0 ns)");
        w.assertUntouched();
    }

    private void scopes() {
        Answer unrun = fine((w, r) -> {
            assertThat(((Fork<?>) r).outcome())
                    .isEqualTo(new Outcome.Cancelled<>(new CancelReason(CancelReason.Kind.CALLER, "stop", null)));
            assertThat(w.ran).hasValue(0);
        });
        ownersOnly("Scope.fork(Callable)", "fork into", unrun, "task");
        ownersOnly("Scope.fork(String, Callable)", "fork into", unrun, "name", "task");
        ownersOnly("Scope.fork(Task.Void)", "fork into", unrun, "task");
        ownersOnly("Scope.fork(String, Task.Void)", "fork into", unrun, "name", "task");
        ownersOnly("Scope.gather(Collection)", "gather in", gives(List.of()), "running")
                .at("running=none", gives(List.of()));
        ownersOnly(
                "Scope.use(AutoCloseable)",
                "use a resource in",
                fine((w, r) -> assertThat(w.lab.trail()).containsExactly("0s closed")),
                "resource");
        Answer never = fine((w, r) -> assertThat(w.ran).hasValue(0));
        ownersOnly("Scope.daemon(Task.Void)", "start a daemon in", never, "task");
        Answer notPositive = refused(IllegalArgumentException.class, "period must be positive: {}");
        ownersOnly("Scope.every(Duration, Task.Void)", "start a daemon in", never, "period", "action")
                .at("period=zero", notPositive)
                .at("period=negative", notPositive)
                .at("period=least", notPositive)
                .at("period=huge", never);
        ownersOnly(
                "Scope.onCancel(Task.Void)",
                "have something done on cancel in",
                fine((w, r) -> assertThat(w.ran).hasValue(1)),
                "action");
        processes();
        for (String why : List.of("String", "Throwable")) {
            row("Scope.cancel(" + why + ")", why.equals("String") ? "why" : "cause")
                    .at("in a fork", gives(true))
                    .at("in a foreign thread", gives(true))
                    .at("after the body", gives(false))
                    .at("after the scope", gives(false))
                    .at("after the scope, foreign", gives(false))
                    .at("after cancel", gives(false));
        }
        everywhere("Scope.name()", Scope.class, gives("page"));
        everywhere("Scope.isCancelled()", Scope.class, gives(false)).at("after cancel", gives(true));
        everywhere("Scope.toString()", Scope.class, gives("the scope \"page\""));
    }

    private void processes() {
        Answer stopped = ends(ScopeCancelledException.class, "stop");
        ownersOnly("Scope.process(ProcessBuilder)", "start a process in", stopped, "command");
        Answer started = fine((w, r) -> assertThat(((ChildProcess) r).isAlive()).isFalse());
        Answer negative = refused(IllegalArgumentException.class, "grace must not be negative: {}");
        ownersOnly("Scope.process(ProcessBuilder, Duration)", "start a process in", stopped, "command", "grace")
                .at("grace=zero", started)
                .at("grace=huge", started)
                .at("grace=negative", negative)
                .at("grace=least", negative);
        Answer read = fine(
                (w, r) -> assertThat(((ChildProcess.Result) r).orThrow().out()).isEmpty());
        Answer bound = refused(IllegalArgumentException.class, "maxBytes must not be negative: {}");
        row("ChildProcess.output(int)", "maxBytes")
                .at("maxBytes=zero", read)
                .at("maxBytes=huge", read)
                .at("maxBytes=negative", bound)
                .at("maxBytes=least", bound);
        row("ChildProcess.lines(Task.VoidOf)", "each");
        row("ChildProcess.waitFor(long, TimeUnit)", "timeout", "unit");
        Answer any = fine((w, r) -> assertThat(r).isNotNull());
        row(
                        "new ChildProcess.Result(List, int, String, String, boolean, boolean)",
                        "command",
                        "status",
                        "out",
                        "err",
                        "outIsCut",
                        "errIsCut")
                .at("status=zero", any)
                .at("status=negative", any)
                .at("status=huge", any)
                .at("status=least", any);
    }

    private Row ownersOnly(String signature, String what, Answer afterCancel, String... parameters) {
        Answer wrong = refused(
                WrongThreadException.class,
                "only the thread that opened the scope \"page\" can " + what
                        + " it: open a scope of its own here, scope().run(s -> ...)");
        Answer late =
                refused(IllegalStateException.class, "cannot " + what + " the scope \"page\": its body has ended");
        return row(signature, parameters)
                .at("in a fork", wrong)
                .at("in a foreign thread", wrong)
                .at("after the body", late)
                .at("after the scope", late)
                .at("after the scope, foreign", late)
                .at("after cancel", afterCancel);
    }

    private void forks() {
        Answer itself = ends(IllegalStateException.class, "the fork \"a\" cannot wait for itself");
        Answer stopped = ends(ScopeCancelledException.class, "stop");
        row("Fork.join()")
                .at("in the fork itself", itself)
                .at("in another fork", gives("value"))
                .at("in a foreign thread", gives("value"))
                .at("after the scope", gives("value"))
                .at("after cancel", stopped);
        row("Fork.join(Duration)", "atMost")
                .at("atMost=zero", lateJoin("0 ns"))
                .at("atMost=negative", lateJoin("-1 ns"))
                .at("atMost=least", lateJoin(Deadline.inWords(LEAST)))
                .at("atMost=huge", gives("value"))
                .at("in the fork itself", itself)
                .at("in another fork", gives("value"))
                .at("in a foreign thread", gives("value"))
                .at("after the scope", gives("value"))
                .at("after cancel", stopped);
        Answer early = ends(IllegalStateException.class, "the fork \"a\" has not ended: join it first");
        row("Fork.outcome()")
                .at("in the fork itself", early)
                .at("in another fork", early)
                .at("in a foreign thread", early)
                .at("after the scope", gives(new Outcome.Success<>("value")))
                .at(
                        "after cancel",
                        gives(new Outcome.Cancelled<>(new CancelReason(CancelReason.Kind.CALLER, "stop", null))));
        row("Fork.cancel()")
                .at("in the fork itself", gives(true))
                .at("in another fork", gives(true))
                .at("in a foreign thread", gives(true))
                .at("after the scope", gives(false))
                .at("after cancel", gives(false));
        Answer value =
                fine((w, r) -> assertThat((CompletableFuture<?>) r).isCompletedWithValueMatching("value"::equals));
        row("Fork.toCompletableFuture()")
                .at("in the fork itself", value)
                .at("in another fork", value)
                .at("in a foreign thread", value)
                .at("after the scope", value)
                .at(
                        "after cancel",
                        fine((w, r) -> assertThat((CompletableFuture<?>) r).isCancelled()));
        everywhere("Fork.isDone()", Fork.class, gives(false))
                .at("after the scope", gives(true))
                .at("after cancel", gives(true));
        everywhere("Fork.name()", Fork.class, gives("a"));
    }

    private static Answer lateJoin(String time) {
        return ends(
                DeadlineExceededException.class,
                "the join of the fork \"a\" exceeded its deadline of " + time + " (after 0 ns); not finished: a");
    }

    private void statics() {
        Answer stop = ends(ScopeCancelledException.class, "stop");
        Answer slept = fine((w, r) -> assertThat(w.lab.now()).isZero());
        row("Selvedge.scope(String)", "name")
                .at("in a foreign thread", fine((w, r) -> assertThat(r).isInstanceOf(ScopeSpec.class)))
                .at("after cancel", fine((w, r) -> assertThat(r).isInstanceOf(ScopeSpec.class)));
        everywhere(
                "Selvedge.scope()", Selvedge.class, fine((w, r) -> assertThat(r).isSameAs(Selvedge.scope())));
        everywhere(
                "Selvedge.deadline()",
                Selvedge.class,
                fine((w, r) -> assertThat(((Deadline) r).isNever()).isTrue()));
        everywhere(
                "Selvedge.attempt()",
                Selvedge.class,
                fine((w, r) -> assertThat(((Attempt) r).number()).isEqualTo(1)));
        everywhere("Selvedge.checkpoint()", Selvedge.class, gives(null)).at("after cancel", stop);
        Answer notPositive = refused(IllegalArgumentException.class, "atMost must be positive: {}");
        row("Selvedge.timeLeft(Duration)", "atMost")
                .at("atMost=zero", notPositive)
                .at("atMost=negative", notPositive)
                .at("atMost=least", notPositive)
                .at("atMost=huge", gives(ofSeconds(2)))
                .at("in a foreign thread", gives(ofSeconds(1)))
                .at("after cancel", stop);
        row("Selvedge.sleep(Duration)", "d")
                .at("d=zero", slept)
                .at("d=negative", slept)
                .at("d=least", slept)
                .at("d=huge", ends(ScopeCancelledException.class, "the deadline of 2 s of the scope \"around\" passed"))
                .at("in a foreign thread", gives(null))
                .at("after cancel", stop);
        everywhere("Selvedge.await(CompletionStage)", Selvedge.class, gives("stage"), "stage");
        String nothingElse =
                "defaults have a clock, listeners, propagators, onDiscard and stragglersAfter, and nothing else;"
                        + " this has the name \"not as defaults\"";
        everywhere(
                "Selvedge.defaults(ScopeSpec)",
                Selvedge.class,
                ends(IllegalArgumentException.class, nothingElse),
                "spec");
        everywhere("Selvedge.shielded(Task)", Selvedge.class, gives("ran 1"), "cleanup");
        everywhere(
                "Selvedge.shielded(Task.Void)",
                Selvedge.class,
                fine((w, r) -> assertThat(w.ran).hasValue(1)),
                "cleanup");
    }

    private void mains() {
        row("MainScope.of(ScopeSpec)", "spec");
        row("MainScope.stoppedBy(Shutdown)", "by");
        row("MainScope.call(Task.Of)", "body");
        row("MainScope.run(Task.VoidOf)", "body");
        row("Shutdown.stop(String)", "why");
        Answer sound = fine((w, r) -> {
            String value = ((MainScope) r).stoppedBy(new Shutdown()).call((Scope s) -> "value");
            assertThat(value).isEqualTo("value");
        });
        Answer negative = refused(IllegalArgumentException.class, "grace must not be negative: {}");
        row("MainScope.grace(Duration)", "d")
                .at("d=zero", sound)
                .at("d=huge", sound)
                .at("d=negative", negative)
                .at("d=least", negative);
    }

    private void values() {
        row("new CancelReason(CancelReason.Kind, String, Throwable)", "kind", "message", "cause")
                .nullable("cause");
        row("new Outcome.Success(Object)", "value").nullable("value");
        row("new Outcome.Failure(Throwable)", "error");
        row("new Outcome.Cancelled(CancelReason)", "reason");
        row("Outcome.orElse(Object)", "other").nullable("other");
        Answer fine = fine((w, r) -> assertThat(r).isNotNull());
        row("new ScopeEvent.ScopeOpened(String)", "scope");
        row("new ScopeEvent.DeadlineSet(String, Duration)", "scope", "limit").times("limit", fine);
        row("new ScopeEvent.ForkCreated(String, String)", "scope", "fork");
        row("new ScopeEvent.ForkStarted(String, String)", "scope", "fork");
        row("new ScopeEvent.ForkEnded(String, String, Outcome)", "scope", "fork", "outcome");
        row("new ScopeEvent.AttemptStarted(String, String, int)", "scope", "fork", "attempt")
                .counts("attempt", fine);
        row("new ScopeEvent.AttemptSucceeded(String, String, int)", "scope", "fork", "attempt")
                .counts("attempt", fine);
        row("new ScopeEvent.HedgeStarted(String, String, int, Duration)", "scope", "fork", "number", "after")
                .counts("number", fine)
                .times("after", fine);
        row(
                "new ScopeEvent.BreakerChanged(String, String, String, CircuitBreaker.State, CircuitBreaker.State)",
                "scope",
                "fork",
                "breaker",
                "from",
                "to");
        row("new ScopeEvent.RateLimitAwaited(String, String, Duration)", "scope", "fork", "waited")
                .times("waited", fine);
        row("new ScopeEvent.BulkheadAwaited(String, String, Duration)", "scope", "fork", "waited")
                .times("waited", fine);
        row("new ScopeEvent.StragglerFound(String, String, Duration, List)", "scope", "fork", "since", "stack")
                .times("since", fine);
        row("new ScopeId(long, String, ScopeId, long)", "number", "name", "parent", "parentFork")
                .nullable("parent");
        row("new ScopeListener.Where(long, ScopeId, long)", "nanoTime", "scope", "fork");
        row("new ScopeEvent.ScopeCancelled(String, CancelReason)", "scope", "reason");
        row("new ScopeEvent.DeadlinePassed(String, Duration)", "scope", "limit").times("limit", fine);
        row("new ScopeEvent.ValueDiscarded(String, String, Object)", "scope", "fork", "value")
                .nullable("value");
        row("new ScopeEvent.Unhandled(String, Throwable)", "scope", "error");
        row("new ScopeEvent.ScopeClosed(String, Duration, Throwable)", "scope", "elapsed", "error")
                .times("elapsed", fine)
                .nullable("error");
        row(
                        "new ScopeEvent.AttemptFailed(String, String, int, Exception, Duration, Retry.DelaySource)",
                        "scope",
                        "fork",
                        "attempt",
                        "error",
                        "nextDelay",
                        "source")
                .counts("attempt", fine)
                .times("nextDelay", fine);
        row(
                        "new ScopeEvent.RetryGaveUp(String, String, int, Retry.Reason, Exception, List)",
                        "scope",
                        "fork",
                        "attempts",
                        "reason",
                        "error",
                        "earlier")
                .counts("attempts", fine);
        row(
                        "new Attempt(int, Duration, Exception, Deadline, boolean, boolean)",
                        "number",
                        "elapsed",
                        "lastFailure",
                        "deadline",
                        "isTrial",
                        "isHedge")
                .nullable("lastFailure")
                .counts("number", fine)
                .times("elapsed", fine);
        Answer negative = refused(IllegalArgumentException.class, "elapsed must not be negative: {}");
        row(
                        "new Progress(long, long, long, long, long, long, long, Duration, boolean)",
                        "total",
                        "started",
                        "succeeded",
                        "failed",
                        "cancelled",
                        "retried",
                        "known",
                        "elapsed",
                        "over")
                .times("elapsed", fine)
                .at("elapsed=negative", negative)
                .at("elapsed=least", negative);
        row("ProgressBar.lines(Consumer)", "to");
        row("ProgressBar.named(String)", "name");
        negative = refused(IllegalArgumentException.class, "atLeast must not be negative: {}");
        row("ProgressBar.every(Duration)", "atLeast")
                .times("atLeast", fine)
                .at("atLeast=negative", negative)
                .at("atLeast=least", negative);
        row("ProgressBar.accept(Progress)", "progress");
        row("ScopeFailedException.all(Class)", "type");
        row("ScopeFailedException.rethrow(Class)", "type");
        Answer outside = refused(IndexOutOfBoundsException.class, "Index {} out of bounds for length 3");
        row("Outcomes.get(int)", "index")
                .at("index=zero", gives(new Outcome.Success<>("a")))
                .at("index=negative", outside)
                .at("index=huge", outside)
                .at("index=least", outside);
        for (String kept : List.of("Outcomes.attempts(int)", "Outcomes.duration(int)")) {
            row(kept, "index")
                    .at("index=zero", fine)
                    .at("index=negative", outside)
                    .at("index=huge", outside)
                    .at("index=least", outside);
        }
        row("new FailureGroup(long, Throwable)", "count", "first");
        row("Outcomes.item(int)", "index")
                .at("index=zero", gives("a"))
                .at("index=negative", outside)
                .at("index=huge", outside)
                .at("index=least", outside);
    }

    private static Answer says(String text) {
        return fine((w, r) -> assertThat(r).isEqualTo(text));
    }

    private void times() {
        Answer passed = fine((w, r) -> assertThat(((Deadline) r).passed()).isTrue());
        Answer never = fine((w, r) -> assertThat(((Deadline) r).isNever()).isTrue());
        for (String after : List.of("TimeSource.after(Duration)", "Deadline.after(Duration)")) {
            row(after, "d")
                    .at("d=zero", passed)
                    .at("d=negative", passed)
                    .at("d=least", passed)
                    .at("d=huge", never);
        }
        row("Deadline.at(Instant)", "when")
                .at("when=past", passed)
                .at("when=least", passed)
                .at("when=huge", never);
        row("Deadline.earlier(Deadline)", "other");
        row("Deadline.inWords(Duration)", "d")
                .at("d=zero", says("0 ns"))
                .at("d=negative", says("-1 ns"))
                .at("d=least", says("-2562047788015215 h 30 min"))
                .at("d=huge", says("2562047788015215 h 30 min"));
        row("TimeSource.waiter(Object)", "what");
        row("TimeSource.set(Alarm, Deadline)", "alarm", "due");
        row("TimeSource.interrupt(Thread)", "thread");
        row("TimeSource.isInterrupted(Thread)", "thread");
        row("TimeSource.external(TimeSource.Work)", "work");
        row("TimeSource.external(TimeSource.VoidWork)", "work");
        row("Waiter.await(Deadline)", "until");
        row("Waiter.awaitEnd(Thread)", "thread");
        row("Waiter.awaitEndUninterruptibly(Thread)", "thread");
        row("VirtualClock.enroll(String)", "name");
        row("VirtualClock.enter(String)", "name");
        row("VirtualClock.holdDuring(BooleanSupplier)", "briefly");
        row("VirtualClock.standingStill(BooleanSupplier)", "steps");
        row("new VirtualClock.Pending(String, Duration)", "name", "due")
                .times("due", fine((w, r) -> assertThat(r).isNotNull()));
        Answer sound = fine((w, r) -> {
            ScopeSpec on = w.spec.clock((VirtualClock) r);
            assertThat(on.call(() -> w.lab.clock() != Selvedge.deadline().clock()))
                    .isTrue();
            on.run(() -> Selvedge.sleep(ofSeconds(1)));
            assertThat(((VirtualClock) r).elapsed()).isEqualTo(ofSeconds(1));
        });
        Answer negative = refused(IllegalArgumentException.class, "grace must not be negative: {}");
        row("VirtualClock.withGrace(Duration)", "grace")
                .at("grace=zero", sound)
                .at("grace=huge", sound)
                .at("grace=negative", negative)
                .at("grace=least", negative);
        Answer notPositive = refused(IllegalArgumentException.class, "patience must be positive: {}");
        row("VirtualClock.withWatchdog(Duration)", "patience")
                .at("patience=zero", notPositive)
                .at("patience=negative", notPositive)
                .at("patience=least", notPositive)
                .at("patience=huge", sound);
        Answer back = refused(IllegalArgumentException.class, "time does not go back: by must not be negative: {}");
        row("VirtualClock.advance(Duration)", "by")
                .at("by=zero", fine((w, r) -> assertThat(w.lab.now()).isZero()))
                .at("by=negative", back)
                .at("by=least", back)
                .at("by=huge", fine((w, r) -> assertThat(w.lab.now()).isEqualTo(ofNanos(Long.MAX_VALUE - 1))));
    }

    /** What needs no row, by the reason. A name alone stands for all of that name. */
    private static final Map<String, Set<String>> EXEMPT = Map.of(
            "made by the compiler: of an enum",
            Set.of("CancelReason.Kind.values()", "CancelReason.Kind.valueOf(String)"),
            "interfaces and hooks that users implement: the library calls them",
            Set.of(
                    "Task.call()",
                    "Task.Of.call(Object)",
                    "Task.Of2.call(Object, Object)",
                    "Task.Of3.call(Object, Object, Object)",
                    "Task.Of4.call(Object, Object, Object, Object)",
                    "Task.Of5.call(Object, Object, Object, Object, Object)",
                    "Task.Void.run()",
                    "Task.VoidOf.run(Object)",
                    "Task.VoidOf2.run(Object, Object)",
                    "Task.Recorded.call(Object)",
                    "Task.Recorded.known(Object)",
                    "Task.Recorded.work(Object)",
                    "Task.Recorded.record(Object, Outcome)",
                    "TimeSource.Work.call()",
                    "TimeSource.VoidWork.run()",
                    "ScopeDefaults.defaults()",
                    "ScopeListener.on(ScopeEvent, ScopeListener.Where)",
                    "ScopeListener.accept(ScopeEvent)",
                    "ScopeListener.andThen(Consumer)",
                    "Timeline.on(ScopeEvent, ScopeListener.Where)",
                    "Timeline.replacesLog()",
                    "ScopeListener.isListening()",
                    "ScopeListener.replacesLog()",
                    "ScopeListener.timesForks()",
                    "ScopeListener.stopwatch(ScopeId)",
                    "ScopeListener.Stopwatch.stop()",
                    "ScopeListener.Stopwatch.ended(ScopeEvent.ForkEnded, ScopeListener.Where)",
                    "new Alarm()",
                    "Alarm.ring()"),
            "called by JUnit, with what JUnit has",
            Set.of(
                    "new VirtualTime()",
                    "VirtualTime.supportsParameter(ParameterContext, ExtensionContext)",
                    "VirtualTime.resolveParameter(ParameterContext, ExtensionContext)",
                    "VirtualTime.afterEach(ExtensionContext)"),
            "those of the JDK's Process, without parameters: by any thread, at any time",
            Set.of(
                    "ChildProcess.children()",
                    "ChildProcess.descendants()",
                    "ChildProcess.destroy()",
                    "ChildProcess.destroyForcibly()",
                    "ChildProcess.exitValue()",
                    "ChildProcess.getErrorStream()",
                    "ChildProcess.getInputStream()",
                    "ChildProcess.getOutputStream()",
                    "ChildProcess.info()",
                    "ChildProcess.isAlive()",
                    "ChildProcess.onExit()",
                    "ChildProcess.output()",
                    "ChildProcess.pid()",
                    "ChildProcess.supportsNormalTermination()",
                    "ChildProcess.toHandle()",
                    "ChildProcess.waitFor()"),
            "steps and sources without parameters: they give a value, at any time",
            Set.of(
                    "ScopeSpec.isolated()",
                    "ScopeSpec.threadPerItem()",
                    "ProgressMeter.create()",
                    "JfrEvents.events()",
                    "Timeline.create()",
                    "Timeline.svg()",
                    "Timeline.html()",
                    "Timeline.text()",
                    "Timeline.chromeTrace()",
                    "new Shutdown()",
                    "Deadline.never()",
                    "TimeSource.system()",
                    "TimeSource.never()",
                    "TimeSource.nanoTime()",
                    "TimeSource.waiter()",
                    "VirtualClock.jumping()",
                    "VirtualClock.manual()"),
            "reads of values that do not change, or of a clock: by any thread, at any time",
            Set.of(
                    "DeadlineExceededException.limit()",
                    "AttemptTimeoutException.limit()",
                    "DeadlineExceededException.name()",
                    "DeadlineExceededException.elapsed()",
                    "DeadlineExceededException.unfinished()",
                    "DeadlineExceededException.outcomes()",
                    "ScopeCancelledException.reason()",
                    "ScopeFailedException.getMessage()",
                    "ScopeFailedException.failures()",
                    "StuckClockError.fillInStackTrace()",
                    "Outcome.orThrow()",
                    "ChildProcess.Result.orThrow()",
                    "ProcessFailedException.command()",
                    "ProcessFailedException.errorOutput()",
                    "ProcessFailedException.status()",
                    "Progress.ended()",
                    "Progress.inFlight()",
                    "Progress.perSecond()",
                    "Progress.rateInWords()",
                    "Progress.timeLeft()",
                    "ProgressBar.auto()",
                    "ErrorBudgetExceededException.completed()",
                    "ErrorBudgetExceededException.failed()",
                    "ErrorBudgetExceededException.failureGroups()",
                    "ErrorBudgetExceededException.outcomes()",
                    "ErrorBudgetExceededException.succeeded()",
                    "ProgressMeter.now()",
                    "ScopeFailedException.outcomes()",
                    "Outcomes.failureGroups()",
                    "Outcomes.size()",
                    "Outcomes.values()",
                    "Outcomes.failures()",
                    "Outcomes.cancelled()",
                    "Outcomes.orThrow()",
                    "ScopeEvent.scope()",
                    "Deadline.remaining()",
                    "Deadline.passed()",
                    "Deadline.isNever()",
                    "Deadline.clock()",
                    "Participant.name()",
                    "VirtualClock.elapsed()",
                    "TimeSource.now()",
                    "VirtualClock.pending()"),
            "no parameters, but rules of thread or life: tests of their own below",
            Set.of(
                    "Waiter.wake()",
                    "Waiter.leave()",
                    "Waiter.fromOutside()",
                    "Alarm.stop()",
                    "Participant.begin()",
                    "Participant.end()",
                    "Participant.endOrFail()",
                    "Participant.withdraw()",
                    "VirtualClock.runCurrent()",
                    "VirtualClock.advanceUntilIdle()"));

    // The tests of the table.

    @TestFactory
    Stream<DynamicTest> every_misuse_is_answered_as_the_table_says() throws Exception {
        fill();
        List<DynamicTest> tests = new ArrayList<>();
        Map<String, Executable> methods = publicMethods();
        for (Row row : table.values()) {
            Executable method = methods.get(row.signature);
            if (method != null) {
                row.tests(method).forEach(tests::add);
            }
        }
        return tests.stream();
    }

    @Test
    void every_public_method_is_in_the_table_or_has_a_reason_not_to() throws Exception {
        fill();
        Map<String, Executable> methods = publicMethods();
        Set<String> exempt = new TreeSet<>();
        EXEMPT.values().forEach(exempt::addAll);
        Set<String> missing = new TreeSet<>(methods.keySet());
        missing.removeAll(table.keySet());
        missing.removeAll(exempt);
        Set<String> gone = new TreeSet<>(table.keySet());
        gone.addAll(exempt);
        gone.removeAll(methods.keySet());
        Set<String> both = new TreeSet<>(table.keySet());
        both.retainAll(exempt);

        assertThat(missing).as("neither in the table nor exempt").isEmpty();
        assertThat(gone)
                .as("in the table or exempt, but there is no such method")
                .isEmpty();
        assertThat(both).as("in the table and exempt").isEmpty();
    }

    @Test
    void the_table_has_an_answer_to_each_misuse_and_to_nothing_else() throws Exception {
        fill();
        Map<String, Executable> methods = publicMethods();
        List<String> wrong = new ArrayList<>();

        for (Row row : table.values()) {
            Executable method = methods.get(row.signature);
            if (method != null) {
                Set<String> asked = row.misuses(method);
                Set<String> answered = row.answers.keySet();
                asked.stream().filter(m -> !answered.contains(m)).forEach(m -> wrong.add("none: " + row + " " + m));
                answered.stream().filter(m -> !asked.contains(m)).forEach(m -> wrong.add("idle: " + row + " " + m));
                wrong.addAll(row.misnamed(method));
            }
        }

        assertThat(wrong).isEmpty();
    }

    // What has no parameters, but a life: waiters, alarms, participants, a clock that is moved by hand.

    @Test
    void a_waiter_is_of_its_thread_and_serves_once() throws Exception {
        for (TimeSource time : List.of(VirtualClock.jumping(), TimeSource.system())) {
            Thread me = Thread.currentThread();
            Waiter mine = time.waiter();
            MisuseWorld.inForeignThread(() -> refused(
                    () -> mine.await(time.never()),
                    IllegalStateException.class,
                    "a waiter of " + me + " was used by " + Thread.currentThread()));
            MisuseWorld.inForeignThread(() -> assertThat(mine.fromOutside()).isSameAs(mine));
            MisuseWorld.inForeignThread(() -> assertThat(mine.wake()).isTrue());
            assertThat(mine.wake()).isFalse();
            assertThat(mine.leave()).isFalse();
            assertThat(mine.await(time.never())).isTrue();
            assertThat(mine.await(time.never())).as("a wake-up stays").isTrue();

            Waiter left = time.waiter();
            MisuseWorld.inForeignThread(() -> assertThat(left.leave()).isTrue());
            assertThat(left.leave()).isFalse();
            assertThat(left.wake()).isFalse();
            String served = "a waiter serves for one wait, and this one has served";
            refused(() -> left.await(time.never()), IllegalStateException.class, served);

            Waiter late = time.waiter();
            assertThat(late.await(time.after(LEAST))).isFalse();
            refused(() -> late.await(time.never()), IllegalStateException.class, served);
            assertThat(late.wake()).isFalse();
        }
    }

    @Test
    void a_moment_of_another_source_is_refused_and_the_waiter_still_serves() throws Exception {
        VirtualClock clock = VirtualClock.jumping();
        Waiter virtual = clock.waiter();
        Waiter real = TimeSource.system().waiter();

        refused(
                () -> virtual.await(Deadline.after(ofSeconds(1))),
                IllegalArgumentException.class,
                "a deadline of the system's time means nothing on a virtual clock at 0 s");
        refused(
                () -> real.await(clock.after(ofSeconds(1))),
                IllegalArgumentException.class,
                "a deadline of a virtual clock at 0 s means nothing on the system's time");

        assertThat(virtual.await(clock.after(ofSeconds(1)))).isFalse();
        assertThat(real.wake()).isTrue();
        assertThat(real.await(Deadline.never())).isTrue();
        assertThat(ClockInside.remains(clock)).isEmpty();
    }

    @Test
    void an_alarm_is_set_once_and_a_refusal_does_not_set_it() {
        MisuseWorld w = new MisuseWorld();
        VirtualClock clock = w.lab.clock();
        Alarm alarm = w.alarm();
        String once = "an alarm serves once, and this one has been set before";

        refused(
                () -> clock.set(alarm, Deadline.after(ofSeconds(1))),
                IllegalArgumentException.class,
                "a deadline of the system's time means nothing on a virtual clock at 0 s");
        assertThat(clock.pending()).isEmpty();
        clock.set(alarm, clock.after(ofSeconds(1)));
        refused(() -> clock.set(alarm, clock.after(ofSeconds(2))), IllegalStateException.class, once);
        refused(() -> TimeSource.system().set(alarm, Deadline.after(ZERO)), IllegalStateException.class, once);
        assertThat(clock.pending()).hasSize(1);
        clock.advance(ofSeconds(3));
        assertThat(w.lab.trail()).containsExactly("1s rang");
        assertThat(alarm.stop()).isFalse();
        refused(() -> clock.set(alarm, clock.after(ofSeconds(1))), IllegalStateException.class, once);

        Alarm stopped = w.alarm();
        assertThat(stopped.stop()).isTrue();
        assertThat(stopped.stop()).isFalse();
        clock.set(stopped, clock.after(LEAST));
        clock.advance(ofSeconds(1));
        assertThat(w.lab.trail()).containsExactly("1s rang");
        w.assertUntouched();
    }

    @Test
    void a_participant_begins_once_and_on_a_thread_that_takes_no_part_yet() {
        MisuseWorld w = new MisuseWorld();
        VirtualClock clock = w.lab.clock();
        Participant p = clock.enroll("p");
        p.begin();

        refused(p::begin, IllegalStateException.class, "the participant \"p\" cannot begin: it has begun before");
        MisuseWorld.inForeignThread(() -> refused(
                p::begin, IllegalStateException.class, "the participant \"p\" cannot begin: it has begun before"));
        Participant q = clock.enroll("q");
        refused(
                q::begin,
                IllegalStateException.class,
                "the participant \"q\" cannot begin: this thread takes part already, as \"p\"");
        q.withdraw();
        refused(q::begin, IllegalStateException.class, "the participant \"q\" cannot begin: it was withdrawn before");
        assertThat(clock.enter("me again")).isNull();
        Selvedge.scope().clock(clock).run(() -> Selvedge.sleep(ofSeconds(1)));
        p.end();
        refused(p::begin, IllegalStateException.class, "the participant \"p\" cannot begin: it has begun before");
        w.assertUntouched();
    }

    @Test
    void a_participant_is_ended_by_its_thread_and_withdrawn_before_it_begins() {
        MisuseWorld w = new MisuseWorld();
        VirtualClock clock = w.lab.clock();
        Participant p = clock.enroll("p");

        for (ThrowingCallable end : List.<ThrowingCallable>of(p::end, p::endOrFail)) {
            refused(
                    end,
                    IllegalStateException.class,
                    "the participant \"p\" cannot be ended here: it has not begun, so withdraw it");
        }
        p.begin();
        Thread me = Thread.currentThread();
        for (ThrowingCallable end : List.<ThrowingCallable>of(p::end, p::endOrFail)) {
            MisuseWorld.inForeignThread(() -> refused(
                    end, IllegalStateException.class, "the participant \"p\" cannot be ended here: it is of " + me));
        }
        refused(
                p::withdraw,
                IllegalStateException.class,
                "the participant \"p\" cannot be withdrawn: it has begun, and " + me + " ends it");
        Selvedge.scope().clock(clock).run(() -> Selvedge.sleep(ofSeconds(1))); // it still takes part
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(1));
        p.end();
        p.end();
        assertThat(p.endOrFail()).isNull();

        Participant r = clock.enroll("r");
        MisuseWorld.inForeignThread(r::withdraw);
        r.withdraw();
        r.end();
        w.assertUntouched();
    }

    @Test
    void to_end_twice_does_not_end_what_others_do() {
        VirtualClock clock = VirtualClock.jumping();
        Participant first = clock.enter("first");
        first.end();
        Participant second = clock.enter("second");

        first.end();

        assertThat(clock.enter("third")).as("this thread still takes part").isNull();
        Selvedge.scope().clock(clock).run(() -> Selvedge.sleep(ofSeconds(1)));
        second.end();
        assertThat(ClockInside.remains(clock)).isEmpty();
    }

    @Test
    void a_clock_is_moved_by_one_at_a_time() {
        MisuseWorld w = new MisuseWorld();
        VirtualClock clock = VirtualClock.manual();
        Map<String, ThrowingCallable> moves = ordered(
                "advance", (ThrowingCallable) () -> clock.advance(ofSeconds(1)),
                "runCurrent", (ThrowingCallable) clock::runCurrent,
                "advanceUntilIdle", (ThrowingCallable) clock::advanceUntilIdle);
        Thread me = Thread.currentThread();
        List<String> refused = new ArrayList<>();

        Thread sleeper = Thread.ofVirtual()
                .unstarted(() -> Selvedge.scope().clock(clock).run(() -> {
                    Selvedge.sleep(ofSeconds(1));
                    moves.forEach((how, move) -> {
                        refused(
                                move,
                                IllegalStateException.class,
                                "cannot " + how + ": the clock is already being moved by " + me);
                        refused.add(how);
                    });
                }));
        Participant watcher = clock.enter("watcher");
        sleeper.start();
        watcher.end();
        while (clock.pending().isEmpty()) {
            Thread.onSpinWait();
        }
        clock.advance(ofSeconds(1));
        boolean unused = Waiter.awaitEndUninterruptibly(sleeper);

        assertThat(refused).containsExactly("advance", "runCurrent", "advanceUntilIdle");
        MisuseWorld.inForeignThread(
                () -> moves.values().forEach(m -> assertThat(catchThrowable(m)).isNull()));
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(2));
        assertThat(ClockInside.remains(clock)).isEmpty();
        w.assertUntouched();
    }

    private static void refused(ThrowingCallable call, Class<? extends Throwable> type, String message) {
        assertThat(catchThrowable(call)).isExactlyInstanceOf(type).hasMessage(message);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    private void fill() {
        specs();
        scopes();
        forks();
        statics();
        mains();
        values();
        times();
    }

    /** All public and protected methods and constructors that the library declares, by signature; without what is Object's. */
    private static Map<String, Executable> publicMethods() throws Exception {
        Map<String, Executable> methods = new TreeMap<>();
        for (String name : Library.classNames()) {
            Class<?> type = Class.forName(name);
            if (isPublic(type) && HAVE_THEIR_OWN.stream().noneMatch(name::startsWith)) {
                Stream.of(type.getDeclaredConstructors(), type.getDeclaredMethods())
                        .flatMap(Stream::of)
                        .filter(e -> isOwn(type, e))
                        .forEach(e -> methods.put(signature(e), e));
            }
        }
        assertThat(methods).hasSizeGreaterThan(150);
        return methods;
    }

    private static boolean isPublic(Class<?> type) {
        for (Class<?> t = type; t != null; t = t.getEnclosingClass()) {
            if (!Modifier.isPublic(t.getModifiers()) || t.isAnonymousClass()) {
                return false;
            }
        }
        return true;
    }

    private static boolean isOwn(Class<?> type, Executable e) {
        boolean visible = (e.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0 && !e.isSynthetic();
        if (!visible || !(e instanceof Method m)) {
            return visible;
        }
        boolean objects = Set.of("equals", "hashCode", "toString").contains(m.getName()) && type != Scope.class;
        boolean accessor = type.isRecord()
                && Stream.of(type.getRecordComponents())
                        .anyMatch(c -> c.getAccessor().equals(m));
        return !objects && !accessor && !isOfTimeSource(type, m);
    }

    /** The rows of the interface are tried on both kinds of time. */
    private static boolean isOfTimeSource(Class<?> type, Method m) {
        try {
            return type == VirtualClock.class && TimeSource.class.getMethod(m.getName(), m.getParameterTypes()) != null;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    private static String signature(Executable e) {
        Class<?> type = e.getDeclaringClass();
        StringJoiner s = new StringJoiner(
                ", ", e instanceof Method ? nameOf(type) + "." + e.getName() + "(" : "new " + nameOf(type) + "(", ")");
        Stream.of(e.getParameterTypes()).map(MisuseMatrixTest::nameOf).forEach(s::add);
        return s.toString();
    }

    private static String nameOf(Class<?> type) {
        String name = type.getTypeName();
        return name.substring(name.lastIndexOf('.') + 1).replace('$', '.');
    }

    // Situations.

    private interface Situation {
        void with(MisuseWorld w, Executable method) throws Exception;
    }

    private static void scopeInAFork(MisuseWorld w, Executable m) {
        endingAnyhow(() -> w.spec.run(s -> {
            Fork<?> fork = s.fork("other", () -> w.attempt(m, s, w.samples(m)));
            fork.join();
            assertThat(s.fork("next", () -> "next").join()).isEqualTo("next");
        }));
    }

    private static void scopeInAForeignThread(MisuseWorld w, Executable m) {
        endingAnyhow(() -> w.spec.run(s -> {
            MisuseWorld.inForeignThread(() -> w.attempt(m, s, w.samples(m)));
            assertThat(s.fork("next", () -> "next").join()).isEqualTo("next");
        }));
    }

    /** The resources are closed by the owner, after the body and before the end. */
    private static void scopeAfterTheBody(MisuseWorld w, Executable m) {
        w.spec.run(s -> {
            AutoCloseable unused = s.use(() -> w.attempt(m, s, w.samples(m)));
        });
    }

    private static void scopeAfterTheEnd(MisuseWorld w, Executable m) {
        w.attempt(m, w.spec.<Scope, RuntimeException>call((Scope s) -> s), w.samples(m));
    }

    private static void scopeAfterTheEndElsewhere(MisuseWorld w, Executable m) {
        Scope s = w.spec.<Scope, RuntimeException>call((Scope live) -> live);
        MisuseWorld.inForeignThread(() -> w.attempt(m, s, w.samples(m)));
    }

    private static void scopeAfterCancel(MisuseWorld w, Executable m) {
        endingAnyhow(() -> w.spec.run(s -> {
            assertThat(s.cancel("stop")).isTrue();
            w.attempt(m, s, w.samples(m));
        }));
    }

    private static void forkInItself(MisuseWorld w, Executable m) {
        AtomicReference<Fork<?>> self = new AtomicReference<>();
        endingAnyhow(() -> w.spec.run(s -> {
            self.set(s.fork("a", () -> {
                w.attempt(m, self.get(), w.samples(m));
                return "value";
            }));
            self.get().join();
        }));
    }

    private static Fork<String> slow(Scope s) {
        return s.fork("a", () -> {
            Selvedge.sleep(ofMillis(5));
            return "value";
        });
    }

    private static void forkInAnother(MisuseWorld w, Executable m) {
        endingAnyhow(() -> w.spec.run(s -> {
            Fork<String> a = slow(s);
            Fork<?> other = s.fork("other", () -> w.attempt(m, a, w.samples(m)));
            other.join();
            a.join();
        }));
    }

    private static void forkInAForeignThread(MisuseWorld w, Executable m) {
        endingAnyhow(() -> w.spec.run(s -> {
            Fork<String> a = slow(s);
            MisuseWorld.inForeignThread(() -> w.attempt(m, a, w.samples(m)));
            a.join();
        }));
    }

    private static void forkAfterTheEnd(MisuseWorld w, Executable m) {
        w.attempt(m, w.spec.<Fork<String>, RuntimeException>call((Scope s) -> slow(s)), w.samples(m));
    }

    private static void forkAfterCancel(MisuseWorld w, Executable m) {
        AtomicReference<Fork<?>> a = new AtomicReference<>();
        endingAnyhow(() -> w.spec.run(s -> {
            a.set(slow(s));
            assertThat(s.cancel("stop")).isTrue();
        }));
        w.attempt(m, a.get(), w.samples(m));
    }

    private static void staticInAForeignThread(MisuseWorld w, Executable m) {
        MisuseWorld.inForeignThread(() -> w.attempt(m, null, w.samples(m)));
    }

    private static void staticAfterCancel(MisuseWorld w, Executable m) {
        endingAnyhow(() -> w.spec.run(s -> {
            assertThat(s.cancel("stop")).isTrue();
            w.attempt(m, null, w.samples(m));
        }));
    }

    /** What the scope makes of the call is for other tests, unless an assertion has failed in it. */
    private static void endingAnyhow(ThrowingCallable scope) {
        Throwable t = catchThrowable(scope);
        assertThat(t)
                .satisfiesAnyOf(
                        e -> assertThat(e).isNull(), e -> assertThat(e).isInstanceOf(ScopeCancelledException.class));
    }

    // Answers.

    private interface Answer {
        void check(MisuseWorld w, @Nullable Object bad);
    }

    private interface Check {
        void of(MisuseWorld w, @Nullable Object result);
    }

    /** Of this very type, with this very message; and nothing has begun. */
    private static Answer refused(Class<? extends Throwable> type, String message) {
        Answer ends = ends(type, message);
        return (w, bad) -> {
            ends.check(w, bad);
            w.assertUntouched();
        };
    }

    private static Answer ends(Class<? extends Throwable> type, String message) {
        return (w, bad) ->
                assertThat(w.thrown).isExactlyInstanceOf(type).hasMessage(message.replace("{}", String.valueOf(bad)));
    }

    private static Answer gives(@Nullable Object expected) {
        return fine((w, r) -> assertThat(r).isEqualTo(expected));
    }

    private static Answer fine(Check check) {
        return (w, bad) -> {
            assertThat(w.thrown).isNull();
            check.of(w, w.result);
        };
    }

    // Rows.

    private Row row(String signature, String... parameters) {
        Row row = new Row(signature, List.of(parameters));
        assertThat(table.put(signature, row)).as(signature).isNull();
        return row;
    }

    private Row everywhere(String signature, Class<?> type, Answer answer, String... parameters) {
        Row row = row(signature, parameters);
        SITUATIONS.get(type).keySet().forEach(s -> row.at(s, answer));
        return row;
    }

    /** A method, the names of its parameters, and what each misuse of it does; a null is refused by the name alone. */
    private static final class Row {

        private final String signature;
        private final List<String> parameters;
        private final Set<String> nullable = new TreeSet<>();
        private final Map<String, Answer> answers = new LinkedHashMap<>();

        Row(String signature, List<String> parameters) {
            this.signature = signature;
            this.parameters = parameters;
        }

        Row at(String misuse, Answer answer) {
            answers.put(misuse, answer);
            return this;
        }

        Row times(String parameter, Answer answer) {
            BAD.get(Duration.class).keySet().forEach(bad -> at(parameter + "=" + bad, answer));
            return this;
        }

        /** A number that must be at least one. */
        Row counts(String parameter, Answer fine) {
            Answer refused = refused(IllegalArgumentException.class, parameter + " must be at least 1: {}");
            for (String bad : BAD.get(int.class).keySet()) {
                at(parameter + "=" + bad, bad.equals("huge") ? fine : refused);
            }
            return this;
        }

        Row nullable(String parameter) {
            nullable.add(parameter);
            return this;
        }

        /** Those that the table has to answer one by one. */
        Set<String> misuses(Executable method) {
            Set<String> misuses = new TreeSet<>();
            for (int i = 0; i < parameters.size(); i++) {
                for (String bad : BAD.getOrDefault(method.getParameterTypes()[i], Map.of())
                        .keySet()) {
                    misuses.add(parameters.get(i) + "=" + bad);
                }
            }
            misuses.addAll(SITUATIONS
                    .getOrDefault(method.getDeclaringClass(), Map.of())
                    .keySet());
            return misuses;
        }

        List<String> misnamed(Executable method) {
            List<String> wrong = new ArrayList<>();
            Parameter[] actual = method.getParameters();
            if (actual.length != parameters.size()) {
                return List.of(signature + " has " + actual.length + " parameters");
            }
            for (int i = 0; i < actual.length; i++) {
                if (actual[i].isNamePresent() && !actual[i].getName().equals(parameters.get(i))) {
                    wrong.add(signature + " calls " + parameters.get(i) + " " + actual[i].getName());
                }
            }
            return wrong;
        }

        List<DynamicTest> tests(Executable method) {
            List<DynamicTest> tests = new ArrayList<>();
            for (int i = 0; i < parameters.size(); i++) {
                String name = parameters.get(i);
                Class<?> type = method.getParameterTypes()[i];
                if (!type.isPrimitive()) {
                    Answer refused =
                            nullable.contains(name) ? fine((w, r) -> {}) : refused(NullPointerException.class, name);
                    tests.add(withArgument(method, name + "=null", i, null, refused));
                }
                if (type == Collection.class || type == Callable[].class) {
                    Object holed = type == Collection.class
                            ? Arrays.asList(null, null)
                            : new Callable<?>[] {() -> "ran", null};
                    String which = name + (type == Collection.class ? "[0]" : "[1]");
                    tests.add(withArgument(
                            method, which + "=null", i, holed, refused(NullPointerException.class, which)));
                }
                for (Map.Entry<String, Object> bad :
                        BAD.getOrDefault(type, Map.of()).entrySet()) {
                    String misuse = name + "=" + bad.getKey();
                    Answer answer = answers.get(misuse);
                    if (answer != null) {
                        tests.add(withArgument(method, misuse, i, bad.getValue(), answer));
                    }
                }
            }
            SITUATIONS.getOrDefault(method.getDeclaringClass(), Map.of()).forEach((name, situation) -> {
                Answer answer = answers.get(name);
                if (answer != null) {
                    tests.add(dynamicTest(signature + " " + name, () -> {
                        MisuseWorld w = new MisuseWorld();
                        situation.with(w, method);
                        answer.check(w, null);
                        w.assertClean();
                    }));
                }
            });
            return tests;
        }

        private DynamicTest withArgument(
                Executable method, String misuse, int index, @Nullable Object bad, Answer answer) {
            return dynamicTest(signature + " " + misuse, () -> {
                MisuseWorld w = new MisuseWorld();
                w.onEach(method.getDeclaringClass(), receiver -> {
                    @Nullable Object[] args = w.samples(method);
                    args[index] = bad;
                    w.thrown = null;
                    w.attempt(method, receiver, args);
                    if (method.getDeclaringClass() == TimeSource.class) {
                        answer.check(w, bad); // there are two kinds of it
                    }
                });
                answer.check(w, bad);
                w.assertClean();
            });
        }

        @Override
        public String toString() {
            return signature;
        }
    }

    private static <V> Map<String, V> ordered(Object... keysAndValues) {
        Map<String, V> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            @SuppressWarnings("unchecked")
            V value = (V) keysAndValues[i + 1];
            map.put((String) keysAndValues[i], value);
        }
        return map;
    }
}
