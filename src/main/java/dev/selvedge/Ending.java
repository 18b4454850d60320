package dev.selvedge;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The end of a process and of all that it has started: asked to end, given a grace, then killed, and awaited.
 *
 * <p>The tree is looked at before anything is told to anybody: once a parent is gone, nobody knows whose its children were.
 * They are told from the top down, so that nobody who still has to be told sees a child end and starts another in its place.
 * Only signals are sent, through handles: {@code Process.destroy} would close the streams too, which waits for whoever is
 * blocked in writing to one.
 *
 * <p>All of it is measured in real time: the process knows no other. What goes wrong is reported, and the rest is done.
 */
final class Ending {

    private static final Duration LAST_WAIT = Duration.ofSeconds(10);

    private static final long FIRST_PAUSE = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);

    private static final int ROUNDS = 10;

    private final Process process;
    private final String name;
    private final Duration grace;
    private final Consumer<? super Throwable> report;

    /** Set once by whoever asks first: the helper on cancel, or the owner. */
    private volatile boolean begun;

    // Of the helper, then of the owner, who waits for the helper's end.
    private final Set<ProcessHandle> tree = new LinkedHashSet<>();
    private @Nullable Deadline patience;

    /** Whether looking has failed before: that is reported once. */
    private boolean blind;

    Ending(Process process, String name, Duration grace, Consumer<? super Throwable> report) {
        this.process = process;
        this.name = name;
        this.grace = grace;
        this.report = report;
    }

    /** Whether the process was asked to end on behalf of its scope. */
    boolean hasBegun() {
        return begun;
    }

    /** Asks it to end, if it is alive and was not asked before. Does not wait. */
    void ask() {
        if (begun || !process.isAlive()) {
            return;
        }
        begun = true;
        look();
        if (!grace.isZero()) {
            tell(ProcessHandle::destroy);
        }
        patience = TimeSource.system().after(grace);
    }

    /** Asks it to end, and returns when all is over. An interrupt that comes meanwhile is for whoever waits next. */
    void finish() {
        ask();
        if (patience == null) {
            return; // it had ended by itself
        }
        boolean interrupted = awaitEnds(patience);
        if (isAnyLeft()) {
            kill();
            interrupted |= awaitEnds(TimeSource.system().after(LAST_WAIT));
            if (isAnyLeft()) {
                report.accept(new IllegalStateException(whoIsLeft() + " could not be killed"));
            }
        }
        tree.clear();
        patience = null;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void kill() {
        if (!grace.isZero()) {
            report.accept(new IllegalStateException(whoIsLeft() + " did not end within " + Deadline.inWords(grace)
                    + " of being asked to, and was killed"));
        }
        boolean more = true;
        for (int round = 0;
                more && round < ROUNDS;
                round++) { // what is killed may have started another one just before
            more = look() || round == 0;
            if (more) {
                tell(ProcessHandle::destroyForcibly);
            }
        }
    }

    /** Looks for the process and its descendants, and those of the ones found before; whether there are new ones. */
    private boolean look() {
        int before = tree.size();
        if (process.isAlive()) {
            find(() -> Stream.of(process.toHandle()));
            find(process::descendants);
        }
        for (ProcessHandle known : List.copyOf(tree)) {
            if (before > 0 && isLeft(known)) {
                find(known::descendants);
            }
        }
        return tree.size() > before;
    }

    private void find(Supplier<Stream<ProcessHandle>> some) {
        try (Stream<ProcessHandle> found = some.get()) {
            found.forEach(tree::add);
        } catch (RuntimeException | Error e) {
            if (!blind) {
                blind = true;
                report.accept(e);
            }
        }
    }

    private void tell(Consumer<ProcessHandle> signal) {
        for (ProcessHandle each : tree) {
            try {
                if (isLeft(each)) {
                    signal.accept(each);
                }
            } catch (RuntimeException | Error e) {
                report.accept(e);
            }
        }
    }

    /** Waits until all have ended, or the moment has passed; whether an interrupt is to be posted again. */
    private boolean awaitEnds(Deadline until) {
        boolean interrupted = false;
        long pause = FIRST_PAUSE;
        while (isAnyLeft() && !until.passed()) {
            long nanos = Math.min(pause, TimeUnit.NANOSECONDS.convert(until.remaining()));
            try {
                pause(nanos);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
        return interrupted;
    }

    private void pause(long nanos) throws InterruptedException {
        if (process.isAlive()) {
            boolean unused = process.waitFor(nanos, TimeUnit.NANOSECONDS);
        } else {
            TimeSource time = TimeSource.system();
            boolean unused = time.waiter("the end of a process").await(time.after(Duration.ofNanos(nanos)));
        }
    }

    private boolean isAnyLeft() {
        return process.isAlive() || tree.stream().anyMatch(this::isLeft);
    }

    /** The process itself has ended when its status is known: it is no zombie then. */
    private boolean isLeft(ProcessHandle handle) {
        return handle.pid() == process.pid() ? process.isAlive() : handle.isAlive() && !isZombie(handle.pid());
    }

    /** In a container whose first process does not care for orphans, a dead one stays in the list of processes for good. */
    private static boolean isZombie(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            int afterName = stat.lastIndexOf(')') + 2; // a name may hold anything
            return afterName < stat.length() && "ZX".indexOf(stat.charAt(afterName)) >= 0;
        } catch (IOException | RuntimeException e) {
            return false; // no such system, or no such process any more: isAlive knows
        }
    }

    private String whoIsLeft() {
        long others =
                tree.stream().filter(h -> h.pid() != process.pid() && isLeft(h)).count();
        String descendants = others == 1 ? "a descendant" : others + " descendants";
        if (!process.isAlive()) {
            return descendants + " of " + name;
        }
        return others == 0 ? name : name + ", with " + descendants + ",";
    }

    @Override
    public String toString() {
        return "the end of " + Objects.requireNonNull(name);
    }
}
