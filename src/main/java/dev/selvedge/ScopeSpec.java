package dev.selvedge;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.Participant;
import dev.selvedge.time.StuckClockError;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How a scope is to be: an immutable value. Each step returns a new one; a terminal method opens a scope by it, and
 * comes back only when every thread that was started has ended.
 *
 * <p>One constant can serve for all: thread-safe, refined per call, used for any terminal.
 *
 * {@snippet class="dev.selvedge.examples.DocExamples" region="spec"}
 *
 * <p>Two kinds of lambdas: one without a parameter is a <em>task</em>; one with the scope, {@code s -> …}, is the
 * <em>body</em> of a live {@link Scope}, and runs in the calling thread.
 *
 * <p>A task runs under the policies that the steps {@code retry}, {@code breaker}, {@code rateLimit}, {@code bulkhead},
 * {@code timeout} and {@code hedge} name, by whichever terminal method it is run, and in a fork as in the calling thread. Blocks
 * inside do not inherit them. In whatever order the steps are written, they act in this one:
 *
 * <pre>{@code
 * fallback( deadline( breaker( retry( hedge( bulkhead( rateLimit( timeout( task ))))))))
 * }</pre>
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="steps"}
 *
 * <p>A task in the calling thread, of a specification without a deadline, a clock, a listener, propagators and
 * {@code onDiscard}, is no scope of its own, unless a listener is around it: nothing could cut it off but what is around.
 *
 * <p>A scope inherits the deadline (the smaller counts), the clock and the listener of the block around it, be it on
 * the same thread or that of the scope whose fork the thread is.
 *
 * <p>All terminal methods throw alike. If forks fail, {@link ScopeFailedException}. If the scope's own deadline passes,
 * {@link DeadlineExceededException}; zero or a negative duration means that it has passed already: nothing is started
 * ({@code attempt} and {@code outcomes} give {@code Cancelled} instead). If something outside asks it to stop,
 * {@link ScopeCancelledException}. A deadline of the block around is none of this scope's: the cancellation passes
 * through it, and the outer block throws. An {@link Error} of a task leaves bare.
 *
 * @since 0.1
 */
public final class ScopeSpec extends PolicySteps<ScopeSpec> {

    static final ScopeSpec PLAIN = new ScopeSpec(null, null, null, Conduct.PLAIN, Policies.NONE, Handover.NOTHING);

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final @Nullable String name;

    /** Relative to the moment at which the scope is opened; at most one of the two deadlines is set. */
    private final @Nullable Duration limit;

    private final @Nullable Deadline deadline;
    private final Conduct conduct;
    private final Policies policies;
    private final Handover handover;

    /** Stands for a call that is no block. */
    private final Host passing;

    private ScopeSpec(
            @Nullable String name,
            @Nullable Duration limit,
            @Nullable Deadline deadline,
            Conduct conduct,
            Policies policies,
            Handover handover) {
        this.name = name;
        this.limit = limit;
        this.deadline = deadline;
        this.conduct = conduct;
        this.policies = policies;
        this.handover = handover;
        this.passing = new Host.Passing(name, conduct.threads());
    }

    private ScopeSpec with(Handover next) {
        return new ScopeSpec(name, limit, deadline, conduct, policies, next);
    }

    private ScopeSpec with(Conduct next) {
        return new ScopeSpec(name, limit, deadline, next, policies, handover);
    }

    @Override
    Policies policies() {
        return policies;
    }

    @Override
    ScopeSpec with(Policies other) {
        return new ScopeSpec(name, limit, deadline, conduct, other, handover);
    }

    // Steps.

    /**
     * With a name: messages, events and thread dumps show it.
     *
     * @param name what people are to read; it need not be unique
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec named(String name) {
        return new ScopeSpec(Objects.requireNonNull(name, "name"), limit, deadline, conduct, policies, handover);
    }

    /**
     * With so much time for the whole scope, from the moment it is opened. It replaces a deadline given before. A
     * duration too long to count (292 years) means none.
     *
     * @param d the time for the whole; if zero or negative, the deadline has passed as soon as the scope is opened
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec deadline(Duration d) {
        return new ScopeSpec(name, Objects.requireNonNull(d, "d"), null, conduct, policies, handover);
    }

    /**
     * With a fixed moment by which the scope must be done. It replaces a deadline given before. It must be of the clock
     * on which the scope will run, else the terminal method throws {@link IllegalArgumentException}.
     *
     * @param d the moment; one that never comes means none, and may be of any clock
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec deadline(Deadline d) {
        return new ScopeSpec(name, null, Objects.requireNonNull(d, "d"), conduct, policies, handover);
    }

    /**
     * In a live scope, a fork that fails does not cancel the others; a failure that nobody has looked at, by
     * {@code join} or {@code outcome}, is thrown when the scope ends. No effect elsewhere.
     *
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec isolated() {
        return with(conduct.isolated());
    }

    /**
     * With so many tasks at work at the same time at the most. A task counts from its start to its end, its waits and back-offs
     * included. In a live scope, {@code fork} waits until there is room, and can be cancelled meanwhile; daemons do not count.
     * In a call over items, so many threads work on all of them.
     *
     * @param atMost how many, at least 1; without this step there is no limit, but for items of an iterator: 1,024
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code atMost} is less than 1
     */
    @CheckReturnValue
    public ScopeSpec concurrency(int atMost) {
        if (atMost < 1) {
            throw new IllegalArgumentException("atMost must be at least 1: " + atMost);
        }
        return with(conduct.atMost(atMost));
    }

    /**
     * In a call over items, with a thread of its own for each item, as if each was forked: for work that leaves
     * something in thread-locals. Without this step a thread works on one item after the other. On a {@link VirtualClock} each
     * item has its own thread anyway. No effect elsewhere.
     *
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec threadPerItem() {
        return with(conduct.withThreadPerItem());
    }

    /**
     * With failures tolerated up to a part of the tasks that have ended: a failure does not cancel the others, until more than
     * {@code ratio} of the tasks have failed, after all their attempts. Then the rest is cancelled, and
     * {@link ErrorBudgetExceededException} is thrown; {@code outcomes} gives what there is instead. If the budget lasts until
     * the end, and something failed, {@link ScopeFailedException} is thrown as ever, by {@code map} too: a list of values is
     * never partial. Cancellations and refusals of policies count neither as failed nor as ended.
     *
     * <p>Adds to {@link #maxFailures}: whichever is spent first ends the job. No effect on {@code race} and {@code quorum}.
     *
     * @param ratio which part may fail, from 0, less than 1
     * @param minSamples how many tasks must have ended before the ratio counts, at least 1
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if one of them is not in its range
     */
    @CheckReturnValue
    public ScopeSpec errorBudget(double ratio, int minSamples) {
        return with(conduct.tolerating(Tolerance.ofRatio(conduct.tolerance(), ratio, minSamples)));
    }

    /**
     * As {@link #errorBudget}, with a number: {@code maxFailures(10)} gives up at the eleventh.
     *
     * @param n how many tasks may fail; not negative
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code n} is negative
     */
    @CheckReturnValue
    public ScopeSpec maxFailures(long n) {
        return with(conduct.tolerating(Tolerance.ofFailures(conduct.tolerance(), n)));
    }

    /**
     * With somebody told, in a call over items, how far it is: every second, and once at the end; see
     * {@link #progress(Duration, Consumer)}.
     *
     * @param sink who is told
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec progress(Consumer<? super Progress> sink) {
        return with(conduct.reporting(SECOND, Objects.requireNonNull(sink, "sink")));
    }

    /**
     * With somebody told, in a call over items, how far it is: at intervals while it runs, and once when all threads have
     * ended, however the job ended. It replaces one given before. No effect elsewhere.
     *
     * @param every the time between two calls, at the least, and not longer unless the owner is busy with an iterator or a
     *     callback; positive
     * @param sink who is told, on the thread that owns the scope; what it throws is reported as unhandled
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code every} is zero or negative
     */
    @CheckReturnValue
    public ScopeSpec progress(Duration every, Consumer<? super Progress> sink) {
        if (!Objects.requireNonNull(every, "every").isPositive()) {
            throw new IllegalArgumentException("every must be positive: " + every);
        }
        return with(conduct.reporting(every, Objects.requireNonNull(sink, "sink")));
    }

    /**
     * With a meter that shows, to whoever asks it, how far a call over items is. No effect elsewhere.
     *
     * @param meter shows the call that began last; it replaces one given before
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec progress(ProgressMeter meter) {
        return with(conduct.reporting(Objects.requireNonNull(meter, "meter")));
    }

    /**
     * On another source of time: a {@link VirtualClock} in tests. Blocks inside inherit it. By default it is that of
     * the block around; outside any block, the system's.
     *
     * @param time what deadlines, sleeps and joins in the scope go by
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec clock(TimeSource time) {
        return with(handover.on(Objects.requireNonNull(time, "time")));
    }

    /**
     * With a listener of what happens in the scope and in the blocks inside. Listeners add up: one given before, or by
     * a block around, is told too; the same object only once. A scope that a listener opens would tell it again, without
     * end: a listener opens none.
     *
     * @param sink who is told, by several threads at the same time; the work waits for it, so it should be short
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec listener(Consumer<? super ScopeEvent> sink) {
        return with(handover.toldTo(Objects.requireNonNull(sink, "sink")));
    }

    /**
     * Carries something of the calling thread into the threads of forks: a tracing context, an MDC, a tenant. Propagators
     * add up, in the order given, those of blocks around first; they are inherited by blocks inside.
     *
     * {@snippet class="dev.selvedge.examples.ContextExamples" region="tenant"}
     *
     * <p>The value is captured once per terminal call, by the calling thread; in a live scope once per {@code fork}. It
     * is put into place on the fork's thread before each task, and closed after it. If {@code capture} throws, so does
     * the terminal method or {@code fork}, and nothing is started. If {@code install} throws, the task fails with that.
     * If the close throws, that is reported as unhandled.
     *
     * @param <V> what is carried
     * @param capture gives the value; null is carried like any other
     * @param install puts the value into place for the thread it runs in; what it gives undoes that
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public <V extends @Nullable Object> ScopeSpec propagate(
            Supplier<? extends V> capture, Function<? super V, ? extends AutoCloseable> install) {
        return with(handover.carrying(
                Carrier.of(Objects.requireNonNull(capture, "capture"), Objects.requireNonNull(install, "install"))));
    }

    /**
     * With values that nobody can read any more handed to {@code sink}: of a race's losers, of the siblings of a failed
     * fork, of a body whose scope fails, of a stage that is no longer awaited. Most will look whether the value is to be
     * closed. Sinks add up, and are inherited by blocks inside; null values are not handed over.
     *
     * @param sink gets each value once, on the thread that finds it lost, mostly the scope's owner, before the terminal
     *     method comes back; what it throws is reported as unhandled
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec onDiscard(Consumer<? super Object> sink) {
        return with(handover.discardingTo(Objects.requireNonNull(sink, "sink")));
    }

    /**
     * With another time after which tasks that go on, though the scope was asked to stop, are told of: as {@link
     * ScopeEvent.StragglerFound}, or, without a listener that replaces it, in the log. The scope waits for them before and after. It is
     * inherited by blocks inside.
     *
     * @param grace from the request on, positive, by the scope's clock; 5 s unless it is given. Too long to count in nanoseconds (292
     *     years) means never
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code grace} is zero or negative
     */
    @CheckReturnValue
    public ScopeSpec stragglersAfter(Duration grace) {
        return with(handover.stragglersAfter(Objects.requireNonNull(grace, "grace")));
    }

    /**
     * With forks in threads of this factory, platform threads for example, rather than in virtual threads of the
     * library's own. Blocks inside do not inherit it.
     *
     * @param factory makes a new thread for each fork, not started; called by the scope's owner. If it gives null, a
     *     thread that was started before, or throws, the fork is refused with a
     *     {@link java.util.concurrent.RejectedExecutionException}: {@code fork} of a live scope throws it, and any other
     *     terminal method after all that was started has been cancelled and has ended.
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public ScopeSpec threads(ThreadFactory factory) {
        return with(conduct.in(Objects.requireNonNull(factory, "factory")));
    }

    // A task in the calling thread.

    /**
     * Runs a task in the calling thread, under the policies; with a deadline, this is the plain time-out block.
     *
     * @param <T> the value of the task
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param task the work
     * @return what the task returns, even if the deadline has passed meanwhile: a value that exists is not thrown away
     * @throws X what the task throws, as it is
     */
    public <T extends @Nullable Object, X extends Exception> T call(Task<T, X> task) throws X {
        Objects.requireNonNull(task, "task");
        return inThisThread(task);
    }

    /**
     * Runs a task in the calling thread, and answers its failure, or that of the scope's own deadline, with a fallback,
     * which runs outside the deadline, the clock and the policies. The refusal of a policy and the timeout of an attempt are failures too.
     * A cancellation from outside and an {@code Error} are not answered.
     *
     * @param <T> the value
     * @param <X> the checked exception of the fallback; {@code RuntimeException} is inferred where there is none
     * @param task the work; it may throw any exception
     * @param fallback gets what the task threw, or the {@link DeadlineExceededException}, and gives a value or throws;
     *     it runs in the calling thread
     * @return the value of the task, or else that of the fallback
     * @throws X what the fallback throws; the failure it was to answer is reported as unhandled then, unless it is
     *     thrown again, as it is or as the cause
     */
    public <T extends @Nullable Object, X extends Exception> T call(
            Callable<? extends T> task, Task.Of<? super Exception, ? extends T, X> fallback) throws X {
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(fallback, "fallback");
        try {
            return inThisThread(task);
        } catch (Exception e) {
            if (e instanceof ScopeCancelledException || Cancellation.isInFlight(e)) {
                throw Sneaky.sneak(e);
            }
            return answer(e, fallback);
        }
    }

    private <T extends @Nullable Object, X extends Exception> T answer(
            Exception failure, Task.Of<? super Exception, ? extends T, X> fallback) throws X {
        try {
            return fallback.call(failure);
        } catch (InterruptedException e) {
            report(failure);
            throw Here.cancelledBy(e);
        } catch (Throwable t) {
            if (t != failure && t.getCause() != failure) {
                report(failure);
            }
            throw t;
        }
    }

    private void report(Exception failure) {
        Context outer = Here.context();
        outer.with(handover).unhandled(Host.displayName(name), failure);
    }

    /**
     * Runs a task in the calling thread and gives its outcome: a failure is a {@code Failure}, the scope's own deadline
     * a {@code Cancelled}. A cancellation from outside and an {@code Error} leave as they do from {@link #call(Task)}.
     *
     * @param <T> the value of the task
     * @param task the work
     * @return how the task ended
     */
    public <T extends @Nullable Object> Outcome<T> attempt(Callable<? extends T> task) {
        Objects.requireNonNull(task, "task");
        try {
            return execute(this, ledger -> new TaskFrame.Kept(ledger, this, task));
        } catch (DeadlineExceededException own) { // that of the task has become an outcome inside
            return new Outcome.Cancelled<>(reasonOf(own));
        }
    }

    /**
     * Runs a task that gives nothing in the calling thread.
     *
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param task the work
     * @throws X what the task throws, as it is
     */
    public <X extends Exception> void run(Task.Void<X> task) throws X {
        Object unused = inThisThread(callable(Objects.requireNonNull(task, "task")));
    }

    private <T extends @Nullable Object> T inThisThread(Callable<? extends T> task) {
        return limit == null && deadline == null && handover == Handover.NOTHING && Here.isQuiet()
                ? passing(task)
                : execute(this, ledger -> new TaskFrame(ledger, this, task));
    }

    /** Nothing can cut the call off but what is around it, and nobody wants to hear of it: it needs no block. */
    private <T extends @Nullable Object> T passing(Callable<? extends T> task) {
        try {
            return policies.callIn(task, passing);
        } catch (InterruptedException e) {
            throw Here.cancelledBy(e);
        } catch (Exception e) {
            throw Sneaky.sneak(e);
        }
    }

    // A live scope.

    /**
     * Opens a live scope and gives the value of its body.
     *
     * @param <T> the value of the body
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param body runs in the calling thread, which owns the scope; the scope it gets is for this call only
     * @return what the body returns, once all forks have ended
     * @throws X what the body throws, as it is, unless a fork failed first
     */
    public <T extends @Nullable Object, X extends Exception> T call(Task.Of<Scope, T, X> body) throws X {
        Objects.requireNonNull(body, "body");
        return execute(this, ledger -> new LiveScope(ledger, this, body));
    }

    /**
     * Opens a live scope for a body that gives nothing.
     *
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param body runs in the calling thread, which owns the scope; the scope it gets is for this call only
     * @throws X what the body throws, as it is, unless a fork failed first
     */
    public <X extends Exception> void run(Task.VoidOf<Scope, X> body) throws X {
        Objects.requireNonNull(body, "body");
        Task.Of<Scope, @Nullable Void, X> valued = s -> {
            body.run(s);
            return null;
        };
        Object unused = execute(this, ledger -> new LiveScope(ledger, this, valued));
    }

    // Fan-out.

    /**
     * A fan-out of tasks of different types; nothing starts before {@code gather} or {@code outcomes}.
     *
     * @param <A> the value of the first task
     * @param task the first task; it runs in a fork
     * @return a chain of one task, which takes up to four more
     */
    @CheckReturnValue
    public <A extends @Nullable Object> FanOut.Of1<A> fork(Callable<? extends A> task) {
        return new FanOut.Of1<>(new FanOut.Link(this, null, null, Objects.requireNonNull(task, "task")));
    }

    /**
     * The same, with a name for the fork.
     *
     * @param <A> the value of the first task
     * @param name what messages, events and thread dumps call the fork
     * @param task the first task; it runs in a fork
     * @return a chain of one task, which takes up to four more
     */
    @CheckReturnValue
    public <A extends @Nullable Object> FanOut.Of1<A> fork(String name, Callable<? extends A> task) {
        return new FanOut.Of1<>(new FanOut.Link(
                this, null, Objects.requireNonNull(name, "name"), Objects.requireNonNull(task, "task")));
    }

    /**
     * All tasks at the same time, all values in the order asked, or the first failure; see {@link #gather(Collection)}.
     *
     * @param <T> the value of a task
     * @param tasks the work, none of it null; the array is copied
     * @return an unmodifiable list, never partial; empty for no tasks, at once
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public final <T extends @Nullable Object> List<T> gather(Callable<? extends T>... tasks) {
        return gatherAll(copyOf(tasks));
    }

    /**
     * Runs all tasks at the same time, each in a fork, and gives their values in the order asked. The first failure
     * cancels the others. The same task given twice runs twice.
     *
     * @param <T> the value of a task
     * @param tasks the work, none of it null; the collection is copied
     * @return an unmodifiable list, never partial; empty for no tasks, at once
     */
    public <T extends @Nullable Object> List<T> gather(Collection<? extends Callable<? extends T>> tasks) {
        return gatherAll(checked(Objects.requireNonNull(tasks, "tasks").toArray()));
    }

    private <T extends @Nullable Object> List<T> gatherAll(Object[] tasks) {
        return tasks.length == 0 ? List.of() : new Values<>(gatherAll(tasks, null));
    }

    @Nullable
    Object[] gatherAll(Object[] tasks, @Nullable String @Nullable [] names) {
        return ScopeSpec.<@Nullable Object[]>execute(this, ledger -> new AllOf(ledger, this, tasks, names));
    }

    /**
     * The first success; see {@link #race(Collection)}.
     *
     * @param <T> the value of a task
     * @param tasks the work, none of it null; the array is copied
     * @return the value of the winner; null is a success
     * @throws NoSuchElementException if there are no tasks: nobody can win
     * @throws ScopeFailedException if all fail; the cause is the first failure in time
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public final <T extends @Nullable Object> T race(Callable<? extends T>... tasks) {
        return raceAll(copyOf(tasks));
    }

    /**
     * Runs all tasks at the same time and gives the value of the first that succeeds; the others are cancelled and
     * awaited. A failure only counts if all fail; else it is reported as unhandled.
     *
     * @param <T> the value of a task
     * @param tasks the work, none of it null; the collection is copied
     * @return the value of the winner; null is a success
     * @throws NoSuchElementException if there are no tasks: nobody can win
     * @throws ScopeFailedException if all fail; the cause is the first failure in time
     */
    public <T extends @Nullable Object> T race(Collection<? extends Callable<? extends T>> tasks) {
        return raceAll(checked(Objects.requireNonNull(tasks, "tasks").toArray()));
    }

    private <T extends @Nullable Object> T raceAll(Object[] tasks) {
        if (tasks.length == 0) {
            throw new NoSuchElementException("a race needs at least one task, and tasks is empty");
        }
        return Values.<T>at(firstOf(1, tasks), 0);
    }

    /**
     * The first {@code n} successes; see {@link #quorum(int, Collection)}.
     *
     * @param <T> the value of a task
     * @param n how many must succeed, from one to the number of tasks
     * @param tasks the work, none of it null; the array is copied
     * @return an unmodifiable list of {@code n} values, in the order in which they came
     * @throws IllegalArgumentException if {@code n} is less than one or more than the number of tasks
     * @throws ScopeFailedException if so many fail that {@code n} cannot succeed any more; the cause is the first failure
     *     in time
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public final <T extends @Nullable Object> List<T> quorum(int n, Callable<? extends T>... tasks) {
        return quorumOf(n, copyOf(tasks));
    }

    /**
     * Runs all tasks at the same time and gives the values of the first {@code n} that succeed, in the order in which
     * they came; the others are cancelled and awaited. Failures count only if so many fail that {@code n} cannot succeed
     * any more: then the rest is cancelled at once. Else they are reported as unhandled.
     *
     * @param <T> the value of a task
     * @param n how many must succeed, from one to the number of tasks
     * @param tasks the work, none of it null; the collection is copied
     * @return an unmodifiable list of {@code n} values, in the order in which they came; null is a success
     * @throws IllegalArgumentException if {@code n} is less than one or more than the number of tasks
     * @throws ScopeFailedException if so many fail that {@code n} cannot succeed any more; the cause is the first failure
     *     in time
     */
    public <T extends @Nullable Object> List<T> quorum(int n, Collection<? extends Callable<? extends T>> tasks) {
        return quorumOf(n, checked(Objects.requireNonNull(tasks, "tasks").toArray()));
    }

    private <T extends @Nullable Object> List<T> quorumOf(int n, Object[] tasks) {
        if (n < 1 || n > tasks.length) {
            throw new IllegalArgumentException(
                    "n must be from 1 to the number of tasks, which is " + tasks.length + ": " + n);
        }
        return new Values<>(firstOf(n, tasks));
    }

    private @Nullable Object[] firstOf(int n, Object[] tasks) {
        return ScopeSpec.<@Nullable Object[]>execute(this, ledger -> new FirstOf(ledger, this, tasks, n));
    }

    /**
     * Applies a function to all items, and gives the results in the order of the items. The first failure cancels the rest,
     * unless there is an {@link #errorBudget}.
     *
     * <p>Few threads do the work: each takes the next item when it is done with one, and no item waits for a thread as long as
     * {@link #concurrency} allows another one. Interrupts, blocks and propagated context are cleaned up between items;
     * thread-locals are not, see {@link #threadPerItem}. Events and messages call the third item {@code fork-3}.
     *
     * <p>What is no {@code Collection} is pulled by the calling thread, as workers come to it, and may be endless; some 32 items
     * are read ahead. {@code lines::iterator} makes a source of a stream. If the source throws, the job ends:
     * {@link ScopeFailedException}, with what was done in {@code outcomes()}.
     *
     * @param <I> an item
     * @param <R> the result for an item
     * @param items what to work on, null items included; a collection is copied before anything starts
     * @param fn what to do with an item; several threads run it at the same time
     * @return an unmodifiable list, never partial; empty for no items
     */
    public <I extends @Nullable Object, R extends @Nullable Object> List<R> map(
            Iterable<? extends I> items, Task.Of<? super I, ? extends R, ?> fn) {
        return Items.<R>map(this, items, fn);
    }

    /**
     * Does something with all items; like {@link #map}, but nothing is kept: a million items, or an endless source, need no more
     * memory than those at work.
     *
     * @param <I> an item
     * @param items what to work on, null items included; a collection is copied before anything starts
     * @param action what to do with an item; several threads run it at the same time
     */
    public <I extends @Nullable Object> void forEach(Iterable<? extends I> items, Task.VoidOf<? super I, ?> action) {
        Items.forEach(this, items, action);
    }

    /**
     * Applies a function to all items, and gives an outcome for each, in the order of the items; works like {@link #map}. A
     * failure is an outcome, and the others go on; a deadline leaves {@code Cancelled} in the places of those that it cut off,
     * an {@link #errorBudget} that is spent likewise. Only a cancellation from outside, an error of the virtual machine, or a
     * source that throws, is thrown.
     *
     * @param <I> an item
     * @param <R> the result for an item
     * @param items what to work on, null items included; a collection is copied before anything starts. Of another source, what
     *     was not pulled has no outcome.
     * @param fn what to do with an item; several threads run it at the same time
     * @return one outcome for each item; empty for no items
     */
    public <I extends @Nullable Object, R extends @Nullable Object> Outcomes<I, R> outcomes(
            Iterable<? extends I> items, Task.Of<? super I, ? extends R, ?> fn) {
        return Items.<I, R>outcomes(this, items, fn);
    }

    /**
     * Applies a function to all items, and hands each outcome to a callback as it comes; works like {@link #map}. A failure is
     * an outcome, and the others go on. The callback runs in the calling thread, one call at a time, between the starts of
     * items, which go first; so with {@link #concurrency} no more outcomes wait for it than that and some 32.
     *
     * <p>If the callback throws, the rest is cancelled and awaited, and what it threw leaves as it is. If the deadline passes or
     * the error budget is spent, what was cut off, and of a collection also what was never begun, comes as {@code Cancelled}
     * before the exception is thrown. If something outside asks it to stop, what has ended until then still comes.
     *
     * @param <I> an item
     * @param <R> the result for an item
     * @param <X> the checked exception of the callback; {@code RuntimeException} is inferred where there is none
     * @param items what to work on, null items included; a collection is copied before anything starts
     * @param fn what to do with an item; several threads run it at the same time
     * @param sink gets each item with its outcome, once; an {@code InterruptedException} that leaves it is taken for an
     *     interrupt of the calling thread, whoever made it: the call throws {@link ScopeCancelledException}
     * @throws X what the callback throws
     */
    public <I extends @Nullable Object, R extends @Nullable Object, X extends Exception> void eachCompleted(
            Iterable<? extends I> items,
            Task.Of<? super I, ? extends R, ?> fn,
            Task.VoidOf2<? super I, ? super Outcome<R>, X> sink)
            throws X {
        Items.eachCompleted(this, items, fn, sink);
    }

    /**
     * Runs all tasks at the same time, each in a fork, and gives an outcome for each, in the order asked; see
     * {@link #outcomes(Iterable, Task.Of)}.
     *
     * @param <T> the value of a task
     * @param tasks the work, none of it null; the collection is copied
     * @return an unmodifiable list, one outcome for each task; empty for no tasks, at once
     */
    public <T extends @Nullable Object> List<Outcome<T>> outcomes(Collection<? extends Callable<? extends T>> tasks) {
        return eachOf(checked(Objects.requireNonNull(tasks, "tasks").toArray()), null);
    }

    @SuppressWarnings("unchecked") // each outcome is that of the task at its place
    <R extends @Nullable Object> List<Outcome<R>> eachOf(Object[] tasks, @Nullable String @Nullable [] names) {
        if (tasks.length == 0) {
            return List.of();
        }
        Outcome<?>[] outcomes;
        try {
            outcomes = execute(this, ledger -> new EachOf(ledger, this, tasks, names));
        } catch (DeadlineExceededException passedBefore) { // one that passes later leaves its mark in the outcomes
            outcomes = new Outcome<?>[tasks.length];
            Arrays.fill(outcomes, new Outcome.Cancelled<>(reasonOf(passedBefore)));
        }
        return List.of((Outcome<R>[]) outcomes);
    }

    static CancelReason reasonOf(DeadlineExceededException e) {
        return new CancelReason(CancelReason.Kind.DEADLINE, String.valueOf(e.getMessage()), e);
    }

    /** As an array that takes forks, whatever kind of tasks it was made for. */
    private static Object[] copyOf(Callable<?>[] tasks) {
        return checked(Arrays.copyOf(Objects.requireNonNull(tasks, "tasks"), tasks.length, Object[].class));
    }

    private static Object[] checked(Object[] tasks) {
        for (int i = 0; i < tasks.length; i++) {
            if (tasks[i] == null) {
                throw new NullPointerException("tasks[" + i + "]");
            }
        }
        return tasks;
    }

    // For the engine.

    @Nullable
    String name() {
        return name;
    }

    Conduct conduct() {
        return conduct;
    }

    Handover handover() {
        return handover;
    }

    /** What this says, if it says nothing but what blocks inside inherit. */
    Handover asDefaults() {
        String more = name != null
                ? "the name \"" + name + "\""
                : limit != null || deadline != null
                        ? "a deadline"
                        : policies != Policies.NONE ? "a policy" : conduct.inWords();
        if (more != null) {
            throw new IllegalArgumentException(
                    "defaults have a clock, listeners, propagators, onDiscard and stragglersAfter, and nothing else; this has "
                            + more);
        }
        return handover;
    }

    /** Whether anybody will ask how long a scope has been open. */
    boolean isTimed(Context outer) {
        return limit != null || deadline != null || handover.listener() != null || outer.mayBeHeard();
    }

    TimeSource timeWithin(Context outer) {
        return handover.clock() == null ? outer.clock() : handover.clock();
    }

    /** The deadline of a scope that is opened now, as it stands in the specification. */
    Deadline deadlineWithin(Context outer) {
        TimeSource time = timeWithin(outer);
        if (limit != null) {
            return time.after(limit);
        }
        if (deadline == null || deadline.isNever()) {
            return time.never();
        }
        if (deadline.clock() != time) {
            throw new IllegalArgumentException("the deadline of " + Words.scope(name) + " is of " + deadline.clock()
                    + ", but the scope runs on " + time);
        }
        return deadline;
    }

    /** Whether the deadline of a scope that is opened now has passed already: with a length of its own, only if it has none. */
    boolean isOver(Deadline own) {
        return limit == null ? own.passed() : !limit.isPositive();
    }

    /** The time that a scope has which is opened now. */
    Duration limitOf(Deadline own) {
        return limit == null ? own.remaining() : limit;
    }

    static <X extends Exception> Callable<@Nullable Void> callable(Task.Void<X> task) {
        return () -> {
            task.run();
            return null;
        };
    }

    /** Opens a block on the calling thread and runs it to its end. All terminal methods come through here. */
    @SuppressWarnings({"unchecked", "NullAway"}) // the frame gives what its task or body gave
    static <T extends @Nullable Object> T execute(@Nullable ScopeSpec spec, Function<Ledger, Frame> block) {
        Ledger ledger = Here.openLedger();
        Participant guest = null;
        try {
            guest = spec == null ? null : spec.enterClock(ledger);
            T value = (T) block.apply(ledger).execute();
            if (guest != null) {
                guest.end();
            }
            return value;
        } catch (Throwable t) {
            StuckClockError stuck = guest == null ? null : guest.endOrFail();
            if (stuck != null && Cancellation.isInFlight(t)) {
                throw stuck;
            }
            if (ledger.isIdle() && mustNotBeLost(t)) {
                Thread.currentThread().interrupt();
            }
            throw Sneaky.sneak(t);
        } finally {
            Here.release(ledger);
        }
    }

    /** A request to stop that was addressed to something outside the outermost block of the thread. */
    private static boolean mustNotBeLost(Throwable t) {
        return t instanceof ScopeCancelledException e ? e.isInFlight() : t instanceof ClosedByInterruptException;
    }

    /** The owner of a scope on a virtual clock takes part in it, from its outermost block on that clock. */
    private @Nullable Participant enterClock(Ledger ledger) {
        TimeSource time = timeWithin(ledger.context());
        return time instanceof VirtualClock virtual ? virtual.enter(name == null ? "owner" : name) : null;
    }
}
