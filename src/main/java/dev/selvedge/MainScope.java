package dev.selvedge;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How the outermost scope of a program is run, so that a request to the process to end is a cancellation of that scope.
 *
 * {@snippet class="dev.selvedge.examples.Import" region="main"}
 *
 * <p>The first SIGINT or SIGTERM cancels the scope with {@link CancelReason.Kind#SHUTDOWN}: forks that have not begun never
 * do, what runs is interrupted, and what the body has opened is closed as it unwinds. When the scope has ended, the process
 * exits with 130 for SIGINT and 143 for SIGTERM, whatever the body made of it; {@code run} and {@code call} do not come back.
 * So what must be closed belongs into the body. If something went wrong meanwhile, it is logged.
 *
 * <p>If the scope has not ended when the {@linkplain #grace grace} has passed since the signal, one line of the log says what
 * still runs, and the process is halted with the same code. A second signal of either kind halts it at once, and so does
 * one that comes while shutdown hooks run after the scope.
 *
 * <p>If the process begins to exit in another way ({@code System.exit}, another signal, the end of the last thread that is no
 * daemon), the scope is cancelled too, and a shutdown hook waits for its end, at most for the grace, but not for threads that
 * are in {@code System.exit} themselves. The exit code stays what it is.
 *
 * <p>A signal that finds the scope cancelled already, or ended, changes nothing: {@code run} and {@code call} return or throw
 * what they would have, unless the grace passes first. But a main scope that would begin after it in this process does not.
 *
 * <p>Where the JVM gives no signals away, the shutdown hook does the same, up to the second signal, which the JVM ignores.
 * That is so without the module {@code jdk.unsupported}. With {@code -Xrs} the JVM is ended by these signals at once, and
 * nothing can be done.
 *
 * <p>While a main scope has the signals, no other one in the process can begin. Handlers that were there before are put back
 * at the end. In a program whose signals belong to a container, let a {@link Shutdown} stop the scope instead.
 *
 * <p>Immutable and thread-safe.
 *
 * @since 0.1
 */
public final class MainScope {

    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);

    private final ScopeSpec spec;
    private final Duration grace;
    private final MainProcess process;
    private final @Nullable Shutdown shutdown;

    private MainScope(ScopeSpec spec, Duration grace, MainProcess process, @Nullable Shutdown shutdown) {
        this.spec = spec;
        this.grace = grace;
        this.process = process;
        this.shutdown = shutdown;
    }

    /**
     * A main scope by a specification, with a grace of ten seconds.
     *
     * @param spec how the scope is to be
     * @return a value; nothing is opened before {@code run} or {@code call}
     */
    @CheckReturnValue
    public static MainScope of(ScopeSpec spec) {
        return new MainScope(Objects.requireNonNull(spec, "spec"), DEFAULT_GRACE, MainProcess.REAL, null);
    }

    /**
     * With so much time for the scope to end, from the request on; ten seconds by default. After a signal, and in the
     * shutdown hook, it is counted in real time; by a {@link Shutdown}, on the clock of the scope.
     *
     * @param d the time; zero means that what runs is interrupted and not waited for, a duration too long to count (292
     *     years) that it is waited for however long it takes
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code d} is negative
     */
    @CheckReturnValue
    public MainScope grace(Duration d) {
        if (Objects.requireNonNull(d, "d").isNegative()) {
            throw new IllegalArgumentException("grace must not be negative: " + d);
        }
        return new MainScope(spec, d, process, shutdown);
    }

    /**
     * To be stopped by this object, and by nothing else: no signal is handled, no hook is added, and the process goes on.
     * {@code run} and {@code call} end as those of {@link ScopeSpec} do.
     *
     * @param by what code outside keeps, to stop the scope; it serves one run
     * @return a new value; this one stays as it is
     */
    @CheckReturnValue
    public MainScope stoppedBy(Shutdown by) {
        return new MainScope(spec, grace, process, Objects.requireNonNull(by, "by"));
    }

    /** In another process, for tests. */
    MainScope in(MainProcess other) {
        return new MainScope(spec, grace, other, shutdown);
    }

    /**
     * Opens the scope and gives the value of its body. On any thread, not only the one that runs {@code main}.
     *
     * @param <T> the value of the body
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param body runs in the calling thread, which owns the scope; the scope it gets is for this call only
     * @return what the body returns, once all forks have ended, unless a signal or an exit has stopped them
     * @throws X what the body throws, as it is, unless a fork failed first
     * @throws ScopeFailedException if forks fail
     * @throws ScopeCancelledException if something else than a signal or an exit asks the scope to stop; with the kind
     *     {@code SHUTDOWN}, its {@link Shutdown}
     * @throws IllegalStateException if another main scope has the signals of this process, the process is exiting, or its
     *     {@link Shutdown} has served
     */
    public <T extends @Nullable Object, X extends Exception> T call(Task.Of<Scope, T, X> body) throws X {
        Objects.requireNonNull(body, "body");
        Shutdown by = shutdown;
        return by == null ? process.call(spec, grace, body) : by.call(spec, grace, body);
    }

    /**
     * The same, for a body that gives nothing.
     *
     * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
     * @param body runs in the calling thread, which owns the scope; the scope it gets is for this call only
     * @throws X what the body throws, as it is, unless a fork failed first
     * @throws ScopeFailedException if forks fail
     * @throws ScopeCancelledException if something else than a signal or an exit asks the scope to stop; with the kind
     *     {@code SHUTDOWN}, its {@link Shutdown}
     * @throws IllegalStateException if another main scope has the signals of this process, the process is exiting, or its
     *     {@link Shutdown} has served
     */
    public <X extends Exception> void run(Task.VoidOf<Scope, X> body) throws X {
        Objects.requireNonNull(body, "body");
        Task.Of<Scope, @Nullable Void, X> valued = s -> {
            body.run(s);
            return null;
        };
        Object unused = call(valued);
    }

    @Override
    public String toString() {
        return "main: " + Words.scope(spec.name());
    }
}
