package dev.selvedge;

import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The entrance: {@link #scope()}; and what code inside a scope can ask without being handed anything.
 *
 * {@snippet class="dev.selvedge.examples.ReadmeExamples" region="page"}
 *
 * <p>The static methods answer for the innermost block around the calling thread, its own or, in a fork, that of its
 * scope. Outside any block there is no deadline, and the system's time.
 *
 * @since 0.1
 */
public final class Selvedge {

    private static final long NANOS_PER_MILLI = 1_000_000;

    private Selvedge() {}

    /**
     * A scope without a name, a deadline or anything else: the start of every chain.
     *
     * @return always the same value; nothing is opened before a terminal method
     */
    public static ScopeSpec scope() {
        return ScopeSpec.PLAIN;
    }

    /**
     * A scope with a name: messages, events and thread dumps show it, and the names of its forks.
     *
     * @param name what people are to read; it need not be unique
     * @return a value with that name and nothing else
     */
    public static ScopeSpec scope(String name) {
        return ScopeSpec.PLAIN.named(name);
    }

    /**
     * The earliest deadline around; one that never comes if there is none.
     *
     * @return a moment of the clock of the innermost block; inside {@link #shielded(Task) shielded}, deadlines from
     *     around it do not count
     */
    public static Deadline deadline() {
        return Here.context().deadline();
    }

    /**
     * Which attempt of its task the calling code is: of the innermost task under a retry, a hedge or a trial that runs in
     * this very thread.
     *
     * @return the first attempt, if there is none of these
     */
    public static Attempt attempt() {
        return Attempt.current();
    }

    /**
     * The time left until the earliest deadline around, for a client's own time-out: at most {@code atMost}, in whole
     * milliseconds, rounded up, and at least one. So it is never zero, which many clients take for "no limit" or
     * refuse. It is a {@link #checkpoint()} too. Both time-outs then end at about the same moment, and the client may
     * be the first to throw.
     *
     * @param atMost what the client may take if no deadline is nearer; counted in whole milliseconds, rounded down
     * @return whole milliseconds, at least one, also if {@code atMost} is shorter
     * @throws IllegalArgumentException if {@code atMost} is zero or negative
     * @throws ScopeCancelledException if the calling thread was asked to stop
     */
    public static Duration timeLeft(Duration atMost) {
        if (Objects.requireNonNull(atMost, "atMost").isZero() || atMost.isNegative()) {
            throw new IllegalArgumentException("atMost must be positive: " + atMost);
        }
        checkpoint();
        long most = wholeMillis(atMost, 0);
        long left = wholeMillis(deadline().remaining(), NANOS_PER_MILLI - 1);
        return Duration.ofMillis(Math.max(1, Math.min(left, most)));
    }

    private static long wholeMillis(Duration d, long roundUpBy) {
        long nanos = TimeUnit.NANOSECONDS.convert(d); // saturates
        return (nanos > Long.MAX_VALUE - roundUpBy ? nanos : nanos + roundUpBy) / NANOS_PER_MILLI;
    }

    /**
     * Throws if the calling thread was asked to stop: its interrupt flag is set, or a block around it is cancelled. A
     * loop that computes calls it from time to time. It answers as long as the block is cancelled, also after an
     * interrupt was caught.
     *
     * @throws ScopeCancelledException if so; the flag is then clear
     */
    public static void checkpoint() {
        Here.checkpoint();
    }

    /**
     * Sleeps on the clock of the scope around. Zero or less takes no time, but is a {@link #checkpoint()}, and lets
     * others run. A duration too long to count means until interrupted.
     *
     * @param d how long; 292 years are too long to count
     * @throws ScopeCancelledException if the thread is interrupted before or while it sleeps
     */
    public static void sleep(Duration d) {
        Objects.requireNonNull(d, "d");
        Context context = Here.context();
        if (d.isZero() || d.isNegative()) {
            checkpoint();
        }
        try {
            boolean unused =
                    context.clock().waiter(new Sleep(d)).await(context.clock().after(d));
        } catch (InterruptedException e) {
            throw Here.cancelledBy(e);
        }
    }

    /**
     * Waits for the result of an asynchronous client. If the thread is asked to stop meanwhile, the stage is cancelled,
     * and a value that still arrives is {@linkplain ScopeSpec#onDiscard discarded}. A stage that is complete gives its
     * result whatever else.
     *
     * @param <T> the value of the stage
     * @param stage what another thread completes
     * @return what the stage was completed with; null only if that was
     * @throws Exception what the stage was completed with exceptionally, as it is, without a {@code CompletionException}
     *     around it; an {@link Error} likewise; a {@link java.util.concurrent.CancellationException} if somebody else
     *     cancelled the stage
     * @throws ScopeCancelledException if the thread is interrupted before or while it waits
     */
    public static <T extends @Nullable Object> T await(CompletionStage<? extends T> stage) throws Exception {
        return Arrival.await(Objects.requireNonNull(stage, "stage"));
    }

    /**
     * Sets, once for the process, what scopes have that have no block around them: listeners, propagators, a clock, sinks
     * of discarded values. To be called at the start of a program; scopes that are open already go on as they are. A
     * library that wants to hook itself in can provide {@link ScopeDefaults} instead.
     *
     * @param spec what to begin with
     * @throws IllegalArgumentException if it says anything else: a name, a deadline, isolation, threads
     * @throws IllegalStateException if the defaults were set before, or were found when a scope was opened
     */
    public static void defaults(ScopeSpec spec) {
        Defaults.set(Objects.requireNonNull(spec, "spec"));
    }

    /**
     * What a sleeping thread waits for.
     *
     * @param length how long
     */
    private record Sleep(Duration length) {
        @Override
        public String toString() {
            return "a sleep of " + Deadline.inWords(length);
        }
    }

    /**
     * Runs cleanup that must not be cut off: a cancellation or a deadline from around it waits until it has ended, and
     * then comes at the next blocking call. Deadlines of blocks inside it work as usual. A raw
     * {@link Thread#interrupt()} from code that knows nothing of this library cannot be kept away.
     *
     * @param <T> the value of the cleanup
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param cleanup runs in the calling thread, without a limit in time unless it sets one itself
     * @return what the cleanup returns
     * @throws X what the cleanup throws
     */
    public static <T extends @Nullable Object, X extends Exception> T shielded(Task<T, X> cleanup) throws X {
        return shield(Objects.requireNonNull(cleanup, "cleanup"));
    }

    /**
     * The same, for cleanup that gives nothing.
     *
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param cleanup runs in the calling thread, without a limit in time unless it sets one itself
     * @throws X what the cleanup throws
     */
    public static <X extends Exception> void shielded(Task.Void<X> cleanup) throws X {
        Object unused = shield(ScopeSpec.callable(Objects.requireNonNull(cleanup, "cleanup")));
    }

    private static <T extends @Nullable Object> T shield(Callable<? extends T> cleanup) {
        return ScopeSpec.execute(null, ledger -> new Shield(ledger, cleanup));
    }
}
