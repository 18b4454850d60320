package dev.selvedge.policy;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * When a failed task is tried again, and after how long: an immutable value. Each step returns a new one.
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="retry"}
 *
 * <p>{@link #DEFAULT} makes three attempts in all. Between them it waits for a time that is drawn evenly from
 * {@code [0, min(cap, base · 2ⁿ⁻¹)]} after the n-th failure, with a base of 100 ms and a cap of 20 s (<em>full jitter</em>). It
 * retries any exception, but for those of the next paragraph.
 *
 * <p>Never retried are an interrupt, any {@link CancellationException}, and a {@link CircuitOpenException}. Other rejections,
 * {@link RateLimitedException} and {@link BulkheadFullException}, are retried only if {@link #on} or {@link #when} asks for them.
 *
 * <p>{@link #decide} says what is to be done after a failed attempt. A task that is retried must be fit for it: a second attempt
 * finds what the first has left.
 *
 * @since 0.1
 */
public final class Retry {

    private static final int ATTEMPTS = 3;
    private static final String RETRY_AFTER = "Retry-After";

    /** Three attempts in all, with exponential back-off from 100 ms to 20 s and full jitter. */
    public static final Retry DEFAULT = new Retry(0, null, Backoff.DEFAULT, Wanted.ANY, Retry::headerOfStatus, null);

    /** How many in all; 0 if not set. */
    private final int attempts;

    private final @Nullable Duration maxDuration;
    private final Backoff backoff;
    private final Wanted wanted;
    private final Function<? super Exception, Optional<String>> retryAfter;
    private final @Nullable RetryBudget budget;

    private Retry(
            int attempts,
            @Nullable Duration maxDuration,
            Backoff backoff,
            Wanted wanted,
            Function<? super Exception, Optional<String>> retryAfter,
            @Nullable RetryBudget budget) {
        this.attempts = attempts;
        this.maxDuration = maxDuration;
        this.backoff = backoff;
        this.wanted = wanted;
        this.retryAfter = retryAfter;
        this.budget = budget;
    }

    private Retry with(Backoff other) {
        return new Retry(attempts, maxDuration, other, wanted, retryAfter, budget);
    }

    private Retry with(Wanted other) {
        return new Retry(attempts, maxDuration, backoff, other, retryAfter, budget);
    }

    // How often.

    /**
     * With so many attempts in all; the first call counts.
     *
     * @param attempts 1 for no retry; 3 by default, or without a limit if {@link #maxDuration} is set
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code attempts} is less than 1
     */
    public Retry attempts(int attempts) {
        return new Retry(Checks.atLeast(1, "attempts", attempts), maxDuration, backoff, wanted, retryAfter, budget);
    }

    /**
     * For so long at the most, from the beginning of the first attempt: a wait that would end later is not begun. Without
     * {@link #attempts} there is no limit of their number then. A long first attempt can use all of it up.
     *
     * @param maxDuration the time for all attempts and the waits between them; none by default
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code maxDuration} is zero or negative
     */
    public Retry maxDuration(Duration maxDuration) {
        Checks.positive("maxDuration", maxDuration);
        return new Retry(attempts, maxDuration, backoff, wanted, retryAfter, budget);
    }

    /**
     * Within a budget that many calls share, so that retries do not multiply the load on a service that is down.
     *
     * @param shared pays for each retry; when it is spent, there is none
     * @return a new value; this one stays as it is
     */
    public Retry budget(RetryBudget shared) {
        return new Retry(attempts, maxDuration, backoff, wanted, retryAfter, Objects.requireNonNull(shared, "shared"));
    }

    // How long between.

    /**
     * With waits that grow from {@code base} to {@code cap}, by the {@linkplain #factor factor} each time. The jitter stays as it
     * was.
     *
     * @param base the longest wait after the first failure; zero for no waits
     * @param cap the longest wait of all; more than a hundred years count as that
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code base} is negative, or {@code cap} less than {@code base}
     */
    public Retry backoff(Duration base, Duration cap) {
        Checks.notNegative("base", base);
        if (Objects.requireNonNull(cap, "cap").compareTo(base) < 0) {
            throw new IllegalArgumentException("cap must not be less than base: " + cap + " < " + base);
        }
        Backoff exponential = backoff.factor() == 1 ? backoff.growing(2) : backoff;
        return with(exponential.between(Backoff.nanos(base), Backoff.nanos(cap)));
    }

    /**
     * With waits that grow by so much each time.
     *
     * @param factor from one wait to the next; 2 by default
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code factor} is less than 1, or no finite number
     */
    public Retry factor(double factor) {
        if (!(factor >= 1) || Double.isInfinite(factor)) {
            throw new IllegalArgumentException("factor must be a finite number of at least 1: " + factor);
        }
        return with(backoff.growing(factor));
    }

    /**
     * With the same wait after each failure, and without jitter.
     *
     * @param wait between two attempts
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if {@code wait} is negative
     */
    public Retry fixed(Duration wait) {
        Checks.notNegative("wait", wait);
        return with(backoff.fixed(Backoff.nanos(wait)));
    }

    /**
     * Without waits between the attempts.
     *
     * @return a new value; this one stays as it is
     */
    public Retry immediately() {
        return with(backoff.fixed(0));
    }

    /**
     * With the whole of each wait left to chance: evenly between nothing and the wait that the back-off gives. This is the
     * default, since it keeps many callers best apart.
     *
     * @return a new value; this one stays as it is
     */
    public Retry withFullJitter() {
        return with(backoff.with(Backoff.Jitter.FULL));
    }

    /**
     * With half of each wait left to chance: evenly between half of the wait that the back-off gives, and all of it.
     *
     * @return a new value; this one stays as it is
     */
    public Retry withEqualJitter() {
        return with(backoff.with(Backoff.Jitter.EQUAL));
    }

    /**
     * With exactly the waits that the back-off gives.
     *
     * @return a new value; this one stays as it is
     */
    public Retry withoutJitter() {
        return with(backoff.with(Backoff.Jitter.NONE));
    }

    /**
     * With dice of the caller's own, for waits that are the same in every run of a test.
     *
     * @param dice used by several threads, so it must be safe for that; by default, each thread has its own
     * @return a new value; this one stays as it is
     */
    public Retry random(RandomGenerator dice) {
        return with(backoff.with(Objects.requireNonNull(dice, "dice")));
    }

    /**
     * Waits at least as long as the failure says by an HTTP header {@code Retry-After}: seconds, or a date in one of the three
     * forms of RFC 9110. A date that lies back asks for no wait; a value that is none of these is ignored. If that wait would
     * end after the deadline or {@link #maxDuration}, there is no further attempt.
     *
     * @param header gives the value of the header, if the failure has one; by default, that of an {@link HttpResponseException}
     * @return a new value; this one stays as it is
     */
    public Retry retryAfter(Function<? super Exception, Optional<String>> header) {
        return new Retry(attempts, maxDuration, backoff, wanted, Objects.requireNonNull(header, "header"), budget);
    }

    private static Optional<String> headerOfStatus(Exception failure) {
        return failure instanceof HttpResponseException status ? status.header(RETRY_AFTER) : Optional.empty();
    }

    // Which failures.

    /**
     * Retries failures of these types and their subtypes. Calls add up, with {@link #when} and {@link #onTransient} too: what one of
     * them asks for is retried. Without any, all are.
     *
     * @param types at least one
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if there are none
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // it is only read
    public final Retry on(Class<? extends Exception>... types) {
        List<Class<? extends Exception>> more = listOf(types);
        return with(wanted.or(failure -> isAny(more, failure)));
    }

    /**
     * Retries failures that the predicate accepts, in addition to those of {@link #on}.
     *
     * @param retryable says whether to try again; runs in the thread that asks. If it throws, the decision is to give up, with
     *     what it threw
     * @return a new value; this one stays as it is
     */
    public Retry when(Predicate<? super Exception> retryable) {
        Objects.requireNonNull(retryable, "retryable");
        return with(wanted.or(retryable));
    }

    /**
     * Retries failures that {@linkplain #isTransient may well not come again}, in addition to those of {@link #on}.
     *
     * @return a new value; this one stays as it is
     */
    public Retry onTransient() {
        return when(Retry::isTransient);
    }

    /**
     * Does not retry failures of these types and their subtypes, whatever else was said. Calls add up.
     *
     * @param types at least one
     * @return a new value; this one stays as it is
     * @throws IllegalArgumentException if there are none
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // it is only read
    public final Retry never(Class<? extends Exception>... types) {
        return with(wanted.butNot(listOf(types)));
    }

    /**
     * Whether a failure is of a kind that a later attempt may well not meet.
     *
     * <p>That is: the family of {@code IOException}, without what is as wrong the next time (a file that is missing or forbidden,
     * text that cannot be decoded, objects that cannot be read, a certificate that is refused); {@code SQLTransientException},
     * {@code SQLRecoverableException}, and SQL states of the classes 08 (connection) and 40 (rolled back); an
     * {@link HttpResponseException} of status 408, 425, 429, 500, 502, 503 or 504; a {@code TimeoutException}; and whatever is marked
     * as {@link Transient}. An {@code UncheckedIOException}, {@code ExecutionException} or {@code CompletionException} counts as its
     * cause.
     *
     * @param failure what a task has thrown
     * @return true for those
     */
    public static boolean isTransient(Exception failure) {
        return TransientFailures.include(Objects.requireNonNull(failure, "failure"));
    }

    private static List<Class<? extends Exception>> listOf(Class<? extends Exception>[] types) {
        if (Objects.requireNonNull(types, "types").length == 0) {
            throw new IllegalArgumentException("types must not be empty");
        }
        for (Class<? extends Exception> type : types) {
            Objects.requireNonNull(type, "types");
        }
        return List.of(types);
    }

    private static boolean isAny(List<Class<? extends Exception>> types, Exception failure) {
        return types.stream().anyMatch(type -> type.isInstance(failure));
    }

    // What it decides.

    /**
     * Whether it says which failures it is for, by {@link #on}, {@link #when} or {@link #onTransient}, and not just any.
     *
     * @return true if so
     */
    public boolean isSelective() {
        return wanted.some != null;
    }

    /**
     * A task is called for the first time: the budget, if there is one, is told.
     *
     * @param time what the retry goes by
     * @return the moment by which all attempts must have ended, by {@link #maxDuration}; one that never comes if that is not set
     */
    public Deadline called(TimeSource time) {
        Objects.requireNonNull(time, "time");
        if (budget != null) {
            budget.called(time);
        }
        return maxDuration == null ? time.never() : time.after(maxDuration);
    }

    /**
     * What is to be done after a failed attempt. Whoever asks is expected to do as told: if a retry is paid for by a budget, it has
     * paid.
     *
     * @param attempts how many attempts have been made, this one included
     * @param failure what the last one threw
     * @param elapsed the time since the first one began
     * @param deadline by when all must be done; its clock is the time that counts
     * @return another attempt after a wait, or none and why
     * @throws IllegalArgumentException if {@code attempts} is less than 1
     */
    public Decision decide(int attempts, Exception failure, Duration elapsed, Deadline deadline) {
        Checks.atLeast(1, "attempts", attempts);
        Objects.requireNonNull(failure, "failure");
        Objects.requireNonNull(elapsed, "elapsed");
        Objects.requireNonNull(deadline, "deadline");
        Duration asked;
        try {
            if (!wanted.accepts(failure)) {
                return new GiveUp(Reason.NOT_RETRYABLE, null);
            }
            if (attempts >= mostAttempts()) {
                return new GiveUp(Reason.ATTEMPTS, null);
            }
            asked = askedFor(failure, deadline.clock());
        } catch (RuntimeException | Error fault) {
            return new GiveUp(Reason.FAULT, fault);
        }
        return after(asked, Duration.ofNanos(backoff.nanos(attempts)), elapsed, deadline);
    }

    private Decision after(Duration asked, Duration wait, Duration elapsed, Deadline deadline) {
        boolean longer = asked.compareTo(wait) > 0;
        Duration delay = longer ? asked : wait;
        if (maxDuration != null && isTooLong(delay, maxDuration.minus(elapsed))) {
            return new GiveUp(longer ? Reason.RETRY_AFTER : Reason.DURATION, null);
        }
        if (isTooLong(delay, deadline.remaining())) {
            return new GiveUp(longer ? Reason.RETRY_AFTER : Reason.DEADLINE, null);
        }
        if (budget != null && !budget.tryRetry(deadline.clock())) {
            return new GiveUp(Reason.BUDGET, null);
        }
        return new Again(delay, longer ? DelaySource.RETRY_AFTER : DelaySource.BACKOFF);
    }

    private int mostAttempts() {
        return attempts > 0 ? attempts : maxDuration == null ? ATTEMPTS : Integer.MAX_VALUE;
    }

    /** How long the failure says to wait at the least; zero if it does not say. */
    private Duration askedFor(Exception failure, TimeSource time) {
        Duration asked = retryAfter
                .apply(failure)
                .map(header -> RetryAfter.parse(header, time.now()))
                .orElse(null);
        return asked == null ? Duration.ZERO : asked;
    }

    /** Whether nothing is left of the time after the wait; one that cannot be counted never ends. */
    private static boolean isTooLong(Duration delay, Duration left) {
        return delay.compareTo(left) >= 0 || TimeUnit.NANOSECONDS.convert(delay) == Long.MAX_VALUE;
    }

    /** What is to be done after a failed attempt. */
    public sealed interface Decision {}

    /**
     * Another attempt.
     *
     * @param delay the wait before it
     * @param source where the length of the wait comes from
     */
    public record Again(Duration delay, DelaySource source) implements Decision {
        /** Checks that both are there. */
        public Again {
            Objects.requireNonNull(delay, "delay");
            Objects.requireNonNull(source, "source");
        }
    }

    /**
     * No further attempt.
     *
     * @param reason why
     * @param fault what a predicate, or the function that finds the header, threw; null but for {@link Reason#FAULT}
     */
    public record GiveUp(Reason reason, @Nullable Throwable fault) implements Decision {
        /** Checks that there is a reason. */
        public GiveUp {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /** Where the length of a wait comes from. */
    public enum DelaySource {
        /** From the back-off. */
        BACKOFF,
        /** From the failure, which has asked for it. */
        RETRY_AFTER
    }

    /** Why there is no further attempt. */
    public enum Reason {
        /** All attempts were made. */
        ATTEMPTS,
        /** The wait would end after {@link Retry#maxDuration}. */
        DURATION,
        /** The wait would end after the deadline. */
        DEADLINE,
        /** The failure is not of a kind that is retried. */
        NOT_RETRYABLE,
        /** The budget is spent. */
        BUDGET,
        /** The failure asks for a wait that would end after the deadline or {@link Retry#maxDuration}. */
        RETRY_AFTER,
        /** A predicate, or the function that finds the header, threw. */
        FAULT,
        /** The thread was asked to stop. A scope says so; {@link Retry#decide} does not know of it. */
        CANCELLED,
        /**
         * The circuit breaker has opened since the first attempt, or that was its trial. A scope says so; {@link Retry#decide}
         * does not know of it.
         */
        BREAKER_OPENED
    }

    /**
     * Which failures are retried.
     *
     * @param some those asked for; null for all but rejections
     * @param none those never retried
     */
    private record Wanted(@Nullable Predicate<Exception> some, List<Class<? extends Exception>> none) {

        static final Wanted ANY = new Wanted(null, List.of());

        Wanted or(Predicate<? super Exception> more) {
            Predicate<Exception> before = some;
            return new Wanted(before == null ? more::test : e -> before.test(e) || more.test(e), none);
        }

        Wanted butNot(List<Class<? extends Exception>> more) {
            return new Wanted(some, Stream.concat(none.stream(), more.stream()).toList());
        }

        boolean accepts(Exception failure) {
            if (Ignored.isCancellation(failure) || failure instanceof CircuitOpenException || isAny(none, failure)) {
                return false;
            }
            return some == null ? !Ignored.isRefusalForNow(failure) : some.test(failure);
        }
    }
}
