package dev.selvedge.time;

/**
 * Nothing will happen on a {@link VirtualClock} any more: all who take part wait, for one another or for what never
 * comes, or there was no event for as long as its {@linkplain VirtualClock#withWatchdog watchdog} allows.
 *
 * <p>Every wait on that clock throws it, so the scopes on it end, and the test with them. The message is the report: who
 * takes part, what each waits for, and where, and what is scheduled. It has no stack trace of its own, since all who wait
 * are given the same object.
 *
 * @since 0.1
 */
public final class StuckClockError extends AssertionError {

    private static final long serialVersionUID = 1;

    StuckClockError(String report) {
        super(report);
    }

    /** The report has the stacks that matter. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
