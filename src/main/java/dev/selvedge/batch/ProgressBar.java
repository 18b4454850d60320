package dev.selvedge.batch;

import dev.selvedge.Progress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Shows people how far a call over many items is, by the {@link Progress} that it is told: as a bar on a terminal, and as a
 * line now and then anywhere else.
 *
 * {@snippet class="dev.selvedge.examples.ProgressExamples" region="bar"}
 *
 * <p>It writes to standard error, so what a program prints to standard output stays as it is. It has nothing to close: it
 * goes to a fresh line by itself when it is told of the last snapshot ({@link Progress#over()}), or of one in which all
 * items have ended.
 *
 * <p>One object serves one call after the other, as in a constant {@code ScopeSpec}: it begins anew when it is told of
 * another call. Calls at the same time need one each, else they take turns in it, line by line. Any thread may tell it;
 * whoever does also draws. When to write the next line is decided by the time that the snapshots tell, which is virtual on a
 * virtual clock; only the time taken that a bar shows is the system's.
 *
 * @since 0.1
 */
public final class ProgressBar implements Consumer<Progress> {

    private static final Duration TEN_SECONDS = Duration.ofSeconds(10);

    private final String name;
    private final Duration every;
    private final Look look;
    private final ReentrantLock lock = new ReentrantLock();

    /** null → the call that it was told of last has ended, or there was none. Guarded by the lock. */
    private @Nullable Display display;

    /** Guarded by the lock. */
    private @Nullable Progress latest;

    private ProgressBar(String name, Duration every, Look look) {
        this.name = name;
        this.every = every;
        this.look = look;
    }

    /** With another look than users can choose. */
    static ProgressBar looking(Look look) {
        return new ProgressBar("", TEN_SECONDS, look);
    }

    // Made.

    /**
     * A bar if standard error is a terminal and the library {@code me.tongfei:progressbar} is on the path; lines on
     * {@code System.err} otherwise.
     *
     * <p>What standard error is, is found out when the first snapshot of a call comes: descriptor 2 of the process, whatever
     * becomes of input and output. Lines it is, too, if {@code CI} is set in the environment to other than {@code false}, if
     * {@code TERM} is {@code dumb} or not set, and where there is no {@code sh} to ask. {@code NO_COLOR} makes the bar a
     * plain one.
     *
     * @return a bar without a name
     */
    public static ProgressBar auto() {
        return looking(ProgressBar::best);
    }

    /**
     * Lines of text in any case, such as {@code ProgressBar.lines(log::info)}: the first and the last snapshot of a call, and
     * between them one at most {@linkplain #every(Duration) every 10 seconds}.
     *
     * @param to is given each line, without its end; what it throws leaves {@link #accept}
     * @return a bar without a name
     */
    public static ProgressBar lines(Consumer<? super String> to) {
        Objects.requireNonNull(to, "to");
        return looking((name, every, first) -> new Lines(name, every, to));
    }

    private static Display best(String name, Duration every, Progress first) {
        Terminal terminal = Terminal.atStandardError(System.getenv());
        Display bar = terminal == null ? null : onTerminal(name, first, terminal);
        return bar == null ? new Lines(name, every, System.err::println) : bar;
    }

    /** Null without the library. */
    private static @Nullable Display onTerminal(String name, Progress first, Terminal terminal) {
        try {
            return new TerminalLine(terminal.open(), new LibraryBar(name, first, terminal));
        } catch (LinkageError e) {
            return null; // it is not there, or only half of it, or another version
        }
    }

    /**
     * With a name in front.
     *
     * @param name what people are to read; empty for none
     * @return a new one, that has not been told of anything
     * @throws IllegalArgumentException if the name has a line break or another control character: it is to be part of a
     *     line
     */
    public ProgressBar named(String name) {
        if (Words.breaksLines(Objects.requireNonNull(name, "name"))) {
            throw new IllegalArgumentException(
                    "name must be one line, without control characters: " + Words.quoted(name));
        }
        return new ProgressBar(name, every, look);
    }

    /**
     * With a line at most so often, by the time that the snapshots tell. A bar is drawn for each snapshot, however often
     * they come.
     *
     * @param atLeast the time between two lines, but for the last one; zero for a line for each snapshot
     * @return a new one, that has not been told of anything
     * @throws IllegalArgumentException if the time is negative
     */
    public ProgressBar every(Duration atLeast) {
        if (Objects.requireNonNull(atLeast, "atLeast").isNegative()) {
            throw new IllegalArgumentException("atLeast must not be negative: " + atLeast);
        }
        return new ProgressBar(name, atLeast, look);
    }

    // Told.

    /**
     * Shows a snapshot, or leaves it out if a line was written just before.
     *
     * @param progress how far the call is
     */
    @Override
    public void accept(Progress progress) {
        Objects.requireNonNull(progress, "progress");
        lock.lock();
        try {
            boolean goesOn = latest != null && isOfSameCall(latest, progress);
            boolean saidBefore = goesOn && display == null && latest != null && !latest.over();
            if (!saidBefore) {
                show(progress, goesOn);
            }
            latest = progress;
        } finally {
            lock.unlock();
        }
    }

    private void show(Progress progress, boolean goesOn) {
        Display current = display;
        if (current != null && !goesOn) {
            display = null;
            current.abandon();
            current = null;
        }
        if (current == null) {
            current = look.open(name, every, progress);
        }
        boolean last = progress.over() || allEnded(progress);
        display = last ? null : current;
        current.show(progress, last);
    }

    private static boolean allEnded(Progress p) {
        return p.total() != Progress.UNKNOWN && p.ended() >= p.total();
    }

    /** As far as one can see: numbers of one call never get smaller. */
    private static boolean isOfSameCall(Progress before, Progress p) {
        return p.total() == before.total()
                && p.started() >= before.started()
                && p.ended() >= before.ended()
                && p.elapsed().compareTo(before.elapsed()) >= 0;
    }

    /** What a call is shown on. */
    interface Look {
        Display open(String name, Duration every, Progress first);
    }
}
