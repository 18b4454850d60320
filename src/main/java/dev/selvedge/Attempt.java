package dev.selvedge;

import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Which attempt of its task the calling code is; from {@link Selvedge#attempt()}.
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="attempt"}
 *
 * @param number 1 for the first one; hedges have the number of the attempt that they join
 * @param elapsed from when the first attempt was due to when this one was; waits for a slot or a rate come after that
 * @param lastFailure what the attempt before this one threw; null for the first
 * @param deadline by when this attempt must be done: its timeout, or the deadline around if that is earlier
 * @param isTrial whether the circuit breaker is half-open, and this is the attempt by which it decides how to go on
 * @param isHedge whether it has joined another attempt that was slow, or had failed
 * @since 0.1
 */
public record Attempt(
        int number,
        Duration elapsed,
        @Nullable Exception lastFailure,
        Deadline deadline,
        boolean isTrial,
        boolean isHedge) {

    /** What all tasks are that nothing else is known of. */
    static final Attempt FIRST = new Attempt(1, Duration.ZERO, null, Deadline.never(), false, false);

    /** Checks that what must be there is. */
    public Attempt {
        if (number < 1) {
            throw new IllegalArgumentException("number must be at least 1: " + number);
        }
        Objects.requireNonNull(elapsed, "elapsed");
        Objects.requireNonNull(deadline, "deadline");
    }

    static Attempt again(int number, Duration elapsed, Exception lastFailure) {
        return new Attempt(number, elapsed, lastFailure, Deadline.never(), false, false);
    }

    Attempt asTrial() {
        return new Attempt(number, elapsed, lastFailure, deadline, true, isHedge);
    }

    Attempt asHedge(Duration later) {
        return new Attempt(number, elapsed.plus(later), lastFailure, deadline, isTrial, true);
    }

    private Attempt until(Deadline earliest) {
        return new Attempt(number, elapsed, lastFailure, earliest, isTrial, isHedge);
    }

    /** The one that the calling thread is in; its deadline is known when it is asked for. */
    static Attempt current() {
        return stored().until(Here.context().deadline());
    }

    static Attempt stored() {
        Ledger ledger = Here.ledger();
        Attempt stored = ledger == null ? null : ledger.attempt;
        return stored == null ? FIRST : stored;
    }

    /** Runs a task as this attempt of it. */
    static <T extends @Nullable Object> T within(Attempt attempt, Callable<? extends T> task) throws Exception {
        Ledger ledger = Here.openLedger();
        Here.hold(ledger);
        Attempt outer = ledger.attempt;
        ledger.attempt = attempt;
        try {
            return task.call();
        } finally {
            ledger.attempt = outer;
            Here.release(ledger);
        }
    }
}
