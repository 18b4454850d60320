package dev.selvedge;

import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A process that ends with its scope; from {@link Scope#process(ProcessBuilder)}.
 *
 * <p>It is a {@link Process} like any other, with these differences. Whoever waits for it or reads from it can be
 * interrupted. If it was ended because its scope, or a block around that, was asked to stop, then a thread that was asked to
 * stop too gets that cancellation, and neither an exit status nor a part of the output; so a deadline that kills the process
 * is a {@link DeadlineExceededException}, and a process that somebody else has killed has a status, 137 for instance. Nor does
 * that thread get a status that means failure of a process that has ended by itself: Ctrl-C at a terminal goes to the process
 * too. What it
 * writes ends with the process itself: a reader does not wait for others who hold the pipe open, and does not see before that
 * the process has closed it. And {@code destroy} only asks, and leaves the streams open.
 *
 * <p>All methods are for any thread; but let only one read a stream. After the scope has ended, the process has too.
 *
 * @since 0.1
 */
public final class ChildProcess extends Process {

    /** How long a process has to end in, unless said otherwise. */
    static final Duration GRACE = Duration.ofSeconds(5);

    private static final int MOST = 1 << 20;

    private static final int ENDED_BY_SIGINT = 128 + 2;

    /** So long a SIGINT may take at the most from one process to the other. */
    private static final Duration SIGINT_ON_ITS_WAY = Duration.ofSeconds(1);

    private final Process process;
    private final List<String> command;
    private final String scope;

    /** Of the scope: its owner has left it already when the process is ended. */
    private final TimeSource time;

    private final ChildOutput out;
    private final ChildOutput err;
    private final ChildInput in;
    private final Ending ending;
    private final End end = new End(this);

    /** Only where the scope's clock is virtual. */
    private final @Nullable InStep inStep;

    private ChildProcess(Process process, ProcessBuilder as, Duration grace, LiveScope scope) {
        this.process = process;
        this.command = List.copyOf(as.command());
        this.scope = scope.displayName();
        this.out = new ChildOutput(this, process.getInputStream(), as.redirectOutput() == Redirect.PIPE);
        boolean errIsPiped = as.redirectError() == Redirect.PIPE && !as.redirectErrorStream();
        this.err = new ChildOutput(this, process.getErrorStream(), errIsPiped);
        this.in = new ChildInput(process.getOutputStream(), this::ensureNotCutOff);
        Context context = scope.context;
        this.time = context.clock();
        this.ending = new Ending(process, Words.process(command), grace, scope::unhandled);
        this.inStep = context.clock() instanceof VirtualClock virtual
                ? InStep.with(process, virtual, this.scope + "/process")
                : null;
    }

    /** Refuses what no process can be started from, and what the JDK would cut short or answer with an index. */
    static void check(ProcessBuilder command) throws IOException {
        List<String> words = command.command();
        if (words.isEmpty()) {
            throw new IllegalArgumentException("command must not be empty: it has no program");
        }
        for (int i = 0; i < words.size(); i++) {
            checkNoZero(Objects.requireNonNull(words.get(i), "command[" + i + "]"), "command[" + i + "]");
        }
        if (command.directory() != null) {
            checkNoZero(command.directory().getPath(), "directory");
        }
    }

    /** No mistake of the caller's as a rule: words come from data. */
    private static void checkNoZero(String text, String what) throws IOException {
        if (text.indexOf(0) >= 0) {
            throw new IOException(what + " must have no zero character: \"" + text.replace("\0", "\\0") + "\"");
        }
    }

    static ChildProcess start(ProcessBuilder command, Duration grace, LiveScope scope) throws IOException {
        return of(command.start(), command, grace, scope);
    }

    /** Around a process that was started as the builder says. */
    static ChildProcess of(Process started, ProcessBuilder as, Duration grace, LiveScope scope) {
        try {
            return new ChildProcess(started, as, grace, scope);
        } catch (Throwable e) {
            started.destroyForcibly(); // no thread to be had, for instance: then there is no process either
            throw e;
        }
    }

    // What it gives.

    /**
     * Reads stdout and stderr at the same time, to their ends, and waits for the exit; keeps up to 1 MiB of each.
     *
     * @return the exit status, whatever it is, and what was written
     * @throws IOException if a stream cannot be read, since it was closed here
     * @throws ScopeCancelledException if the calling thread is asked to stop
     * @see #output(int)
     */
    public Result output() throws IOException {
        return output(MOST);
    }

    /**
     * Reads stdout and stderr at the same time, to their ends, and waits for the exit. What exceeds the bound is read, so
     * that the process is not held up, and dropped: of stdout the first bytes are kept, of stderr the last ones, where
     * programs say what went wrong. A stream that was redirected is empty here.
     *
     * <p>Stdin stays open. If the process reads it to its end, close {@link #getOutputStream()} first.
     *
     * @param maxBytes how much is kept of each stream; zero means nothing
     * @return the exit status, whatever it is, and what was written, decoded with the default charset
     * @throws IOException if a stream cannot be read, since it was closed here
     * @throws ScopeCancelledException if the calling thread is asked to stop
     * @throws IllegalArgumentException if {@code maxBytes} is negative
     */
    public Result output(int maxBytes) throws IOException {
        if (maxBytes < 0) {
            throw new IllegalArgumentException("maxBytes must not be negative: " + maxBytes);
        }
        Kept first = Kept.first(maxBytes);
        Kept last = Kept.last(maxBytes);
        int status = this.<Integer>outside(() -> {
            ChildOutput.awaitEnds(out, first, err, last);
            return process.waitFor();
        });
        ensureNotCutOff(status);
        return new Result(command, status, first.text(), last.text(), first.isCut(), last.isCut());
    }

    /**
     * Hands stdout over line by line, as the lines come, in the calling thread; then waits for the exit. Stderr is read
     * meanwhile, by a thread that ends with this call, and its last 1 MiB is kept.
     *
     * <p>Lines end with a line feed, or a carriage return and a line feed, which they do not include; the last one may end
     * with the stream. They are decoded with the default charset. One longer than about 1 MiB comes in pieces. If
     * {@code each} throws, that leaves this call, and the process goes on to the end of its scope.
     *
     * @param <X> what {@code each} may throw
     * @param each gets one line after the other
     * @return the exit status, whatever it is, and the end of stderr; {@code out} is empty
     * @throws X what {@code each} throws
     * @throws IOException if a stream cannot be read, since it was closed here
     * @throws ScopeCancelledException if the calling thread is asked to stop
     */
    public <X extends Exception> Result lines(Task.VoidOf<? super String, X> each) throws X, IOException {
        Lines<X> lines = new Lines<>(Objects.requireNonNull(each, "each"));
        Kept last = Kept.last(MOST);
        Thread drain = err.isPiped() ? drain(last) : null;
        int status;
        try {
            readLines(lines);
            status = this.<Integer>outside(() -> {
                if (drain != null) {
                    Waiter.awaitEnd(drain); // ends when the process does
                }
                return process.waitFor();
            });
        } finally {
            stop(drain);
        }
        ensureNotCutOff(status);
        return new Result(command, status, "", last.text(), false, last.isCut());
    }

    private <X extends Exception> void readLines(Lines<X> lines) throws X, IOException {
        byte[] buffer = new byte[Kept.CHUNK];
        try {
            for (int n = out.read(buffer); n != ChildOutput.END; n = out.read(buffer)) {
                lines.add(buffer, n);
            }
            lines.end();
        } catch (InterruptedException e) {
            throw Here.cancelledBy(e);
        }
    }

    /** A platform thread: virtual ones might starve, and then the process is held up. */
    private Thread drain(Kept last) {
        return Thread.ofPlatform().daemon().name(scope + "/stderr").start(() -> {
            byte[] buffer = new byte[Kept.CHUNK];
            try {
                for (int n = 0; n != ChildOutput.END; n = err.await(buffer, 0, buffer.length)) {
                    last.add(buffer, n);
                }
            } catch (IOException | InterruptedException e) {
                // closed here, or not wanted any more
            }
        });
    }

    private static void stop(@Nullable Thread drain) {
        if (drain != null) {
            drain.interrupt();
            if (Waiter.awaitEndUninterruptibly(drain)) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * What came of a process.
     *
     * @param command the program and its arguments
     * @param status the exit status; by convention 128 and the number of the signal if one has killed it
     * @param out the beginning of what it wrote to stdout
     * @param err the end of what it wrote to stderr
     * @param outIsCut whether it wrote more to stdout
     * @param errIsCut whether it wrote more to stderr
     */
    public record Result(List<String> command, int status, String out, String err, boolean outIsCut, boolean errIsCut) {

        /** Checks that what must be there is, and copies the command. */
        public Result {
            command = List.copyOf(Objects.requireNonNull(command, "command"));
            Objects.requireNonNull(out, "out");
            Objects.requireNonNull(err, "err");
        }

        /**
         * Refuses a status that means failure.
         *
         * @return this very result, if its status is zero
         * @throws ProcessFailedException if it is not
         */
        public Result orThrow() {
            if (status != 0) {
                throw new ProcessFailedException(command, status, err);
            }
            return this;
        }
    }

    // For its streams: any thread.

    /** Whether it has ended and its status is known; whatever it wrote can be read by then. */
    boolean hasExited() {
        return !process.isAlive();
    }

    /** Waits for the exit a moment, in real time. */
    void awaitExit(long nanos) throws InterruptedException {
        boolean unused = process.waitFor(nanos, TimeUnit.NANOSECONDS);
    }

    /** The calling thread waits for what goes on in real time; interrupted, it is cancelled. */
    <T> T outside(Reading<T> work) throws IOException {
        try {
            TimeSource.Work<T, IOException> reading = work::call;
            return clock().external(reading);
        } catch (InterruptedException e) {
            throw Here.cancelledBy(e);
        }
    }

    private static TimeSource clock() {
        return Here.context().clock();
    }

    /** The process has ended: throws if that was done on behalf of its scope, and the calling thread is to stop too. */
    void ensureNotCutOff() {
        if (ending.hasBegun()) {
            Here.checkpoint();
        }
    }

    /**
     * The same, when its status is known. Ctrl-C at a terminal reaches all that were started there, this process beside its
     * parent: then it has ended, in whatever way, before anybody asked it to. So a failure counts as cut off if the calling
     * thread is to stop; and after an end by SIGINT that signal may still be on its way to the main scope of this program.
     */
    private void ensureNotCutOff(int status) {
        if (status == 0) {
            ensureNotCutOff();
            return;
        }
        Here.checkpoint();
        if (status == ENDED_BY_SIGINT && MainProcess.REAL.isRunning()) {
            TimeSource real = TimeSource.system();
            TimeSource.VoidWork<RuntimeException> wait = () -> {
                boolean unused =
                        real.waiter("a SIGINT that has ended a process").await(real.after(SIGINT_ON_ITS_WAY));
            };
            try {
                clock().external(wait);
            } catch (InterruptedException e) {
                throw Here.cancelledBy(e);
            }
            Here.checkpoint();
        }
    }

    /** Something that blocks in real time. */
    interface Reading<T> {
        T call() throws IOException, InterruptedException;
    }

    // Its end: the scope.

    /** Asks it to end, without waiting. */
    void ask() {
        ending.ask();
    }

    /** Ends it, and returns when it has ended. */
    void finish() {
        try {
            TimeSource.VoidWork<RuntimeException> work = ending::finish;
            time.external(work);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // does not happen: it does not answer to interrupts
        }
    }

    End end() {
        return end;
    }

    /** What the scope does with it after all forks have ended. */
    record End(ChildProcess child) implements AutoCloseable {

        boolean isOver() {
            return child.hasExited() && (child.inStep == null || child.inStep.isOver());
        }

        @Override
        public void close() {
            child.finish();
            closeQuietly(child.out);
            closeQuietly(child.err);
            closeQuietly(child.in);
            InStep step = child.inStep;
            if (step != null && step.end(child.hasExited())) {
                Thread.currentThread().interrupt();
            }
        }

        /** What could not be written any more has nobody who would read it. */
        private static void closeQuietly(AutoCloseable stream) {
            try {
                stream.close();
            } catch (Exception e) {
                // see above
            }
        }
    }

    // A process like any other.

    @Override
    public OutputStream getOutputStream() {
        return in;
    }

    @Override
    public InputStream getInputStream() {
        return out;
    }

    @Override
    public InputStream getErrorStream() {
        return err;
    }

    /**
     * Waits for the exit.
     *
     * @return the exit status
     * @throws InterruptedException if the calling thread is interrupted; the process lives on as long as its scope
     * @throws ScopeCancelledException if the process was ended by a scope that the calling thread has to leave too
     */
    @Override
    public int waitFor() throws InterruptedException {
        TimeSource.Work<Integer, RuntimeException> wait = process::waitFor;
        int status = clock().external(wait);
        ensureNotCutOff(status);
        return status;
    }

    /**
     * Waits for the exit, at most so long, in real time.
     *
     * @param timeout how long; zero or less means not to wait
     * @param unit what the timeout is counted in
     * @return true if the process has exited
     * @throws InterruptedException if the calling thread is interrupted; the process lives on as long as its scope
     * @throws ScopeCancelledException if the process was ended by a scope that the calling thread has to leave too
     */
    @Override
    public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
        Objects.requireNonNull(unit, "unit");
        TimeSource.Work<Boolean, RuntimeException> wait = () -> process.waitFor(timeout, unit);
        boolean exited = clock().external(wait);
        if (exited) {
            ensureNotCutOff(process.exitValue());
        }
        return exited;
    }

    @Override
    public int exitValue() {
        return process.exitValue();
    }

    /** Asks the process to end, and nothing else: its streams stay open, and its descendants are not told. */
    @Override
    public void destroy() {
        boolean unused = process.toHandle().destroy();
    }

    /**
     * Kills the process, and does nothing else: its streams stay open, and its descendants are not told.
     *
     * @return this process
     */
    @Override
    public Process destroyForcibly() {
        boolean unused = process.toHandle().destroyForcibly();
        return this;
    }

    @Override
    public boolean supportsNormalTermination() {
        return process.supportsNormalTermination();
    }

    @Override
    public boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public long pid() {
        return process.pid();
    }

    @Override
    public CompletableFuture<Process> onExit() {
        return process.onExit().thenApply(exited -> this);
    }

    @Override
    public ProcessHandle toHandle() {
        return process.toHandle();
    }

    @Override
    public ProcessHandle.Info info() {
        return process.info();
    }

    @Override
    public Stream<ProcessHandle> children() {
        return process.children();
    }

    @Override
    public Stream<ProcessHandle> descendants() {
        return process.descendants();
    }

    @Override
    public String toString() {
        return Words.process(command) + ", pid " + process.pid();
    }
}
