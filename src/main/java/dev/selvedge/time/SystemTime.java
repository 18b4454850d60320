package dev.selvedge.time;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The machine's own time. */
final class SystemTime implements TimeSource {

    static final SystemTime INSTANCE = new SystemTime();

    private final long origin = System.nanoTime();
    private final Deadline never = new Deadline(this, Long.MAX_VALUE);

    private SystemTime() {}

    @Override
    public long nanoTime() {
        return System.nanoTime() - origin;
    }

    @Override
    public Instant now() {
        return Instant.now();
    }

    @Override
    public Deadline after(Duration d) {
        return Deadline.of(this, nanoTime(), d);
    }

    @Override
    public Deadline never() {
        return never;
    }

    @Override
    public Waiter waiter() {
        return new SystemWaiter();
    }

    @Override
    public Waiter waiter(Object what) {
        Objects.requireNonNull(what, "what");
        return new SystemWaiter();
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T external(Work<T, X> work)
            throws X, InterruptedException {
        return Objects.requireNonNull(work, "work").call();
    }

    @Override
    public void set(Alarm alarm, Deadline due) {
        Objects.requireNonNull(alarm, "alarm");
        if (alarm.arm(Objects.requireNonNull(due, "due").nanosOn(this))) {
            Lazy.TIMER.add(alarm);
        }
    }

    @Override
    public void interrupt(Thread thread) {
        Objects.requireNonNull(thread, "thread").interrupt();
    }

    @Override
    public boolean isInterrupted(Thread thread) {
        return Objects.requireNonNull(thread, "thread").isInterrupted();
    }

    @Override
    public String toString() {
        return "the system's time";
    }

    /** The timer thread starts with the first alarm. */
    private static final class Lazy {
        static final Timer TIMER = Timer.start(INSTANCE);
    }
}
