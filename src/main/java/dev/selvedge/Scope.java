package dev.selvedge;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A scope that is open, in the hands of the body that runs in it.
 *
 * <p>The body runs in the thread that opened the scope, its <em>owner</em>. It forks tasks, joins them, and gives a
 * value or nothing; the scope ends when the body and all forks have ended. If a fork fails, the other forks and the
 * body are interrupted, and the scope throws {@link ScopeFailedException}, unless it is
 * {@linkplain ScopeSpec#isolated() isolated}.
 *
 * {@snippet class="dev.selvedge.examples.DocExamples" region="live"}
 *
 * <p>The steps of policies ({@code retry}, {@code breaker}, {@code timeout} and so on) give the same scope again, whose
 * {@code fork} runs tasks under these policies; without a step, those of the {@link ScopeSpec} are taken. The body, daemons
 * and actions run without policies.
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="per-fork"}
 *
 * <p>Only the owner can fork, use resources and gather. {@code cancel}, {@code isCancelled} and {@code name} are for
 * any thread, also after the end.
 *
 * @since 0.1
 */
public final class Scope extends PolicySteps<Scope> {

    final LiveScope live;
    private final Policies policies;

    Scope(LiveScope live, Policies policies) {
        this.live = live;
        this.policies = policies;
    }

    @Override
    Policies policies() {
        return policies;
    }

    @Override
    Scope with(Policies other) {
        return new Scope(live, other);
    }

    /**
     * The name it was given. From any thread.
     *
     * @return the name; {@code "scope"} if it was given none
     */
    public String name() {
        return live.displayName();
    }

    /**
     * Runs a task in a new virtual thread of this scope. If the scope is cancelled already, the fork is too, and the
     * task never runs.
     *
     * @param <T> the value of the task
     * @param task what the new thread does; what it throws makes the scope fail, unless the scope is isolated
     * @return the handle of the task, whether it has begun or not; it may be kept after the scope has ended
     * @throws WrongThreadException on another thread than the owner's; to fork from a fork, open a scope in it
     * @throws IllegalStateException after the body has ended
     */
    public <T extends @Nullable Object> Fork<T> fork(Callable<? extends T> task) {
        return live.fork(policies, null, Objects.requireNonNull(task, "task"));
    }

    /**
     * The same, with a name for the fork: messages, events and thread dumps show it.
     *
     * @param <T> the value of the task
     * @param name what people are to read; it need not be unique
     * @param task what the new thread does; what it throws makes the scope fail, unless the scope is isolated
     * @return the handle of the task, whether it has begun or not; it may be kept after the scope has ended
     * @throws WrongThreadException on another thread than the owner's; to fork from a fork, open a scope in it
     * @throws IllegalStateException after the body has ended
     */
    public <T extends @Nullable Object> Fork<T> fork(String name, Callable<? extends T> task) {
        return live.fork(policies, Objects.requireNonNull(name, "name"), Objects.requireNonNull(task, "task"));
    }

    /**
     * The same, for a task that gives nothing.
     *
     * @param task what the new thread does; what it throws makes the scope fail, unless the scope is isolated
     * @return the handle of the task; its value is null
     * @throws WrongThreadException on another thread than the owner's; to fork from a fork, open a scope in it
     * @throws IllegalStateException after the body has ended
     */
    public Fork<@Nullable Void> fork(Task.Void<?> task) {
        return live.fork(policies, null, ScopeSpec.callable(Objects.requireNonNull(task, "task")));
    }

    /**
     * The same, for a task that gives nothing, with a name.
     *
     * @param name what people are to read; it need not be unique
     * @param task what the new thread does; what it throws makes the scope fail, unless the scope is isolated
     * @return the handle of the task; its value is null
     * @throws WrongThreadException on another thread than the owner's; to fork from a fork, open a scope in it
     * @throws IllegalStateException after the body has ended
     */
    public Fork<@Nullable Void> fork(String name, Task.Void<?> task) {
        return live.fork(
                policies,
                Objects.requireNonNull(name, "name"),
                ScopeSpec.callable(Objects.requireNonNull(task, "task")));
    }

    /**
     * Waits for forks of this scope and gives their values in the order asked. The same fork may be asked for twice. In
     * an isolated scope it ends with the first of them that fails.
     *
     * @param <T> the value of a fork
     * @param running the forks to wait for, done or not, all of this scope
     * @return an unmodifiable list, never partial; empty for no forks
     * @throws ScopeFailedException if one of them failed
     * @throws ScopeCancelledException if one of them was cancelled, or the scope was
     * @throws IllegalArgumentException if one is a fork of another scope
     * @throws WrongThreadException on another thread than the owner's
     * @throws IllegalStateException after the body has ended
     */
    public <T extends @Nullable Object> List<T> gather(Collection<? extends Fork<? extends T>> running) {
        return live.gather(Objects.requireNonNull(running, "running"));
    }

    /**
     * Has a resource closed at the end of the scope: after all forks have ended, the last one first. All are closed,
     * whatever one of them throws. An error of closing is suppressed in what the scope throws; if the scope would have
     * given a value, it throws {@link ScopeFailedException} with that error as its cause.
     *
     * @param <R> the type of the resource
     * @param resource what is to be closed, by the owner; one given twice is closed twice
     * @return the resource itself
     * @throws WrongThreadException on another thread than the owner's
     * @throws IllegalStateException after the body has ended
     */
    public <R extends AutoCloseable> R use(R resource) {
        return live.use(Objects.requireNonNull(resource, "resource"));
    }

    /**
     * Runs a task in the background of this scope: it is cancelled when the body and all ordinary forks have ended, and
     * then awaited. Being cancelled so is no failure; what it throws before makes the scope fail like any other fork.
     *
     * @param task what the new thread does, for good or until it is done
     * @throws WrongThreadException on another thread than the owner's
     * @throws IllegalStateException after the body has ended
     */
    public void daemon(Task.Void<?> task) {
        live.daemon(ScopeSpec.callable(Objects.requireNonNull(task, "task")));
    }

    /**
     * Runs an action again and again in the background, like a {@linkplain #daemon daemon}: one period from now for the
     * first time, then at each multiple of the period, on the scope's clock. The moments do not drift, however late the
     * action starts. One run follows the other: moments that pass while the action runs are left out.
     *
     * @param period from one moment to the next; one too long to count in nanoseconds (292 years) means never
     * @param action what is to be done; if it throws, the scope fails
     * @throws IllegalArgumentException if {@code period} is zero or negative
     * @throws WrongThreadException on another thread than the owner's
     * @throws IllegalStateException after the body has ended
     */
    public void every(Duration period, Task.Void<?> action) {
        if (Objects.requireNonNull(period, "period").isZero() || period.isNegative()) {
            throw new IllegalArgumentException("period must be positive: " + period);
        }
        live.every(period, ScopeSpec.callable(Objects.requireNonNull(action, "action")));
    }

    /**
     * Has something done when this scope, or a block around it, is asked to stop: for calls that no interrupt ends, such
     * as a query of a database or an {@code accept} on a platform thread. If that has happened already, it is done at
     * once.
     *
     * <p>Actions run on a platform thread of their own, the last one first, each at most once, outside the scope but on
     * its clock. The scope waits for them before it closes its resources. What they throw is reported as unhandled. If
     * the scope ends without having been asked to stop, they are forgotten.
     *
     * @param action what ends the call; it should be short, and safe while the body and the forks run
     * @throws WrongThreadException on another thread than the owner's
     * @throws IllegalStateException after the body has ended
     */
    public void onCancel(Task.Void<?> action) {
        live.onCancel(ScopeSpec.callable(Objects.requireNonNull(action, "action")));
    }

    /**
     * Starts a process that ends with this scope, with five seconds to end in; see {@link #process(ProcessBuilder,
     * Duration)}.
     *
     * {@snippet class="dev.selvedge.examples.ProcessExamples" region="output"}
     *
     * @param command what is to be started; its streams may be redirected
     * @return the process, alive until it exits by itself or the scope ends
     * @throws IOException if it could not be started, as {@link ProcessBuilder#start()} throws it; if a word of the
     *     command, or the directory, has a zero character
     * @throws ScopeCancelledException if the scope was asked to stop before; nothing is started then
     * @throws NullPointerException if the command has a word that is null
     * @throws IllegalArgumentException if the command is empty
     * @throws WrongThreadException on another thread than the owner's
     * @throws IllegalStateException after the body has ended
     */
    public ChildProcess process(ProcessBuilder command) throws IOException {
        return process(command, ChildProcess.GRACE);
    }

    /**
     * Starts a process that ends with this scope. If the scope, or a block around it, is asked to stop, the process is
     * ended at once, by a thread of the library's. If the scope simply ends, it is ended after the body and all forks, in
     * turn with the resources of {@link #use}, the last one first.
     *
     * <p>To end a process is to ask it and all its descendants ({@link ProcessHandle#destroy()}), to wait until they have
     * ended, at most so long as the grace is, and to kill those that are left. That a process had to be killed is reported
     * as unhandled, and so is what goes wrong in ending it. The scope goes on when the process has exited, its descendants
     * have ended, and its streams are closed. One that cannot be killed, since it belongs to another user, is reported
     * after ten seconds, and left.
     *
     * <p>Descendants are those that can be seen from the process while it lives. What a process leaves behind when it exits
     * by itself, or a daemon that has parted from it, is not found.
     *
     * <p>Time is real for a process, whatever the scope's clock is: a {@link dev.selvedge.time.VirtualClock} ticks along
     * with real time while the process is alive.
     *
     * @param command what is to be started; its streams may be redirected
     * @param grace from being asked to end to being killed; zero means that it is killed at once, and a duration too long
     *     to count in nanoseconds (292 years) that it never is
     * @return the process, alive until it exits by itself or the scope ends
     * @throws IOException if it could not be started, as {@link ProcessBuilder#start()} throws it; if a word of the
     *     command, or the directory, has a zero character
     * @throws ScopeCancelledException if the scope was asked to stop before; nothing is started then
     * @throws NullPointerException if the command has a word that is null
     * @throws IllegalArgumentException if {@code grace} is negative, or the command is empty
     * @throws WrongThreadException on another thread than the owner's
     * @throws IllegalStateException after the body has ended
     */
    public ChildProcess process(ProcessBuilder command, Duration grace) throws IOException {
        Objects.requireNonNull(command, "command");
        if (Objects.requireNonNull(grace, "grace").isNegative()) {
            throw new IllegalArgumentException("grace must not be negative: " + grace);
        }
        ChildProcess.check(command);
        return live.process(command, grace);
    }

    /**
     * Asks the scope to stop: its forks and its body are interrupted. The first reason is kept. If that cuts something
     * off, the scope throws {@link ScopeCancelledException}; a body that returns all the same, with all forks done,
     * keeps its value. From any thread.
     *
     * @param why a sentence for people: the message of the reason and of the exception
     * @return true if this call did it; false if it was cancelled before or has ended
     */
    public boolean cancel(String why) {
        return live.cancel(new CancelReason(CancelReason.Kind.CALLER, Objects.requireNonNull(why, "why"), null));
    }

    /**
     * The same, because of an exception: it becomes the cause of the reason.
     *
     * @param cause what made it necessary; found as {@code reason().cause()} in what the scope throws
     * @return true if this call did it; false if it was cancelled before or has ended
     */
    public boolean cancel(Throwable cause) {
        return live.cancel(new CancelReason(
                CancelReason.Kind.CALLER, "cancelled because of " + Objects.requireNonNull(cause, "cause"), cause));
    }

    /**
     * Whether this scope, or a block around it, was asked to stop. From any thread.
     *
     * @return true from the request until the scope has ended
     */
    public boolean isCancelled() {
        return live.reason() != null || live.ledger.reasonAround(live) != null;
    }

    @Override
    public String toString() {
        return Words.scope(live.givenName());
    }
}
