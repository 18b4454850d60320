package dev.selvedge.policy;

import dev.selvedge.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Refuses calls to a service that keeps failing, so that they fail at once and the service gets a rest. One object for each
 * service, shared by all calls to it; thread-safe.
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="breaker"}
 *
 * <p>It is <em>closed</em> at first: calls pass. After {@linkplain Settings#failures five failures in a row} it is
 * <em>open</em>: calls are refused with a {@link CircuitOpenException}. After the {@linkplain Settings#coolDown cool-down}, 10
 * seconds, the next call passes as a <em>trial</em>, and the breaker is <em>half-open</em>: others are still refused. If the
 * trial succeeds it closes; if it fails it opens for a full cool-down again. The change from open to half-open is made by the
 * call that becomes the trial: no timer runs.
 *
 * <p>A result is success, failure, or nothing at all. What is cancelled, interrupted or refused further in tells nothing about
 * the service: it is neither counted, nor does it close or open a breaker that tries; the trial is given back. An exception
 * that {@link Settings#failsOn} does not accept counts as success: the service has answered. A result that comes when the
 * breaker has gone on meanwhile counts for nothing. A trial that has not reported within another cool-down is presumed lost.
 *
 * <p>It only sees what has ended: calls that hang count once they are cut off, so give them a deadline or a timeout.
 *
 * @since 0.1
 */
public final class CircuitBreaker {

    private final String name;
    private final Settings settings;
    private final PerClock<LiveCircuit> live;

    /** Whether it was opened by hand; so on any clock. */
    private volatile boolean forced;

    private CircuitBreaker(String name, Settings settings) {
        this.name = name;
        this.settings = settings;
        this.live = new PerClock<>(time -> new LiveCircuit(this, time));
    }

    /**
     * A breaker with the default settings.
     *
     * @param name which service it is for; messages show it
     * @return a new breaker, closed, to be shared
     */
    public static CircuitBreaker of(String name) {
        return of(name, settings -> settings);
    }

    /**
     * A breaker with settings of its own.
     *
     * @param name which service it is for; messages show it
     * @param settings makes the settings from the default ones
     * @return a new breaker, closed, to be shared
     * @throws IllegalArgumentException if the settings do not fit together
     */
    public static CircuitBreaker of(String name, UnaryOperator<Settings> settings) {
        Objects.requireNonNull(name, "name");
        Settings made = Objects.requireNonNull(settings, "settings").apply(new Settings());
        return new CircuitBreaker(
                name, Objects.requireNonNull(made, "settings gave null").checked());
    }

    /**
     * A breaker for each key, a host for example, made when the key is first asked for.
     *
     * @param <K> the type of the keys
     * @param breaker makes the breaker of a key
     * @return the breakers by key; at most 10,000, of which those that are closed and without failures may be forgotten
     */
    public static <K> PerKey<K, CircuitBreaker> perKey(Function<? super K, CircuitBreaker> breaker) {
        return new PerKey<>(Objects.requireNonNull(breaker, "breaker"), CircuitBreaker::isFresh);
    }

    private boolean isFresh() {
        LiveCircuit l = live.latest();
        return !forced
                && l.get() instanceof Circuit.Closed closed
                && closed.window().counts(l.now()).isEmpty();
    }

    // The one question.

    /**
     * Asks to be let through, on the system's time.
     *
     * @return a permit, on which the result of the call is to be told
     * @throws CircuitOpenException if the breaker is open, or half-open with all trials running
     */
    public Permit admit() {
        return admit(TimeSource.system());
    }

    /**
     * Asks to be let through.
     *
     * {@snippet class="dev.selvedge.examples.PolicyExamples" region="permit"}
     *
     * @param time what the cool-down goes by
     * @return a permit, on which the result of the call is to be told
     * @throws CircuitOpenException if the breaker is open, or half-open with all trials running
     */
    public Permit admit(TimeSource time) {
        return live.on(Objects.requireNonNull(time, "time")).admit();
    }

    /**
     * Whether it is to be asked before each attempt of a task, rather than once for a task with all its retries.
     *
     * @return as {@link Settings#countAttempts} says
     */
    public boolean countsAttempts() {
        return settings.countAttempts;
    }

    // What it tells.

    /**
     * The name it was given.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * Where it stands. Asking changes nothing: an open breaker stays so until a call is let through, even if its cool-down is
     * over.
     *
     * @return closed, open or half-open
     */
    public State state() {
        return forced ? State.OPEN : live.latest().get().state();
    }

    /**
     * How long an open breaker will refuse for.
     *
     * @return zero if it is not open, or its cool-down is over; {@link ChronoUnit#FOREVER} if it was opened by hand
     */
    public Duration remainingCoolDown() {
        LiveCircuit l = live.latest();
        if (forced) {
            return ChronoUnit.FOREVER.getDuration();
        }
        return l.get() instanceof Circuit.Open open ? Duration.ofNanos(open.remaining(l.now())) : Duration.ZERO;
    }

    /**
     * The results that it looks back on: in a row, or of the last calls, or of the last while.
     *
     * @return nothing but zeros if it is not closed
     */
    public Counts counts() {
        LiveCircuit l = live.latest();
        return !forced && l.get() instanceof Circuit.Closed closed
                ? closed.window().counts(l.now())
                : Counts.NONE;
    }

    // By hand.

    /** Opens it until {@link #reset}, on whatever clock. Results of calls that run count for nothing. */
    public void forceOpen() {
        State before = state();
        forced = true;
        tell(before, State.OPEN);
    }

    /** Closes it, and forgets all results. Those of calls that run count for nothing. */
    public void reset() {
        State before = state();
        LiveCircuit l = live.latest();
        l.closeByHand();
        forced = false;
        tell(before, State.CLOSED);
    }

    /**
     * Has an observer told of each transition of each breaker in this process, from now on, on the thread of the call that has caused
     * it; for meters and logs of a whole application. To hear of one breaker, {@link Settings#onTransition}.
     *
     * @param observer is told; it must be quick, and what it throws is logged
     */
    public static void onAnyTransition(BreakerObserver observer) {
        Observers.add(Objects.requireNonNull(observer, "observer"));
    }

    Settings settings() {
        return settings;
    }

    boolean isForcedOpen() {
        return forced;
    }

    void tell(State from, State to) {
        if (from == to) {
            return;
        }
        try {
            settings.onTransition.accept(from, to);
        } catch (Throwable e) {
            Faults.report("the listener of " + this + " failed", e);
        }
        Observers.tell(this, from, to);
    }

    @Override
    public String toString() {
        return "the circuit breaker \"" + name + "\"";
    }

    /** Where a breaker stands. */
    public enum State {
        /** Calls pass. */
        CLOSED,
        /** Calls are refused. */
        OPEN,
        /** Trials pass. */
        HALF_OPEN
    }

    /**
     * Results that were counted.
     *
     * @param calls how many calls are looked at; of failures in a row, those alone
     * @param failures how many of them failed
     * @param slow how many of them succeeded, but were slow
     */
    public record Counts(long calls, long failures, long slow) {

        static final Counts NONE = new Counts(0, 0, 0);

        boolean isEmpty() {
            return calls == 0;
        }
    }

    /**
     * Leave for one call. Its result is told once, from any thread, by {@link #succeeded} or one of {@code failed}; if it is
     * {@linkplain #close() closed} without that, the call tells nothing about the service.
     */
    public static final class Permit implements AutoCloseable {

        private static final VarHandle SETTLED;

        static {
            try {
                SETTLED = MethodHandles.lookup().findVarHandle(Permit.class, "settled", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final LiveCircuit live;

        /** Of the closed circuit that has admitted the call; null for a trial. */
        private final @Nullable Window window;

        /** That of a trial. */
        private final @Nullable Object series;

        /** Whether it matters how long the call takes. */
        private final boolean timed;

        /** When the call began, if that matters; written by the thread that makes the call. */
        private long begun;

        /** false → true by whoever tells the result of a trial. */
        @SuppressWarnings("unused") // through SETTLED
        private volatile boolean settled;

        Permit(LiveCircuit live, @Nullable Window window, @Nullable Object series, long begun) {
            this.live = live;
            this.window = window;
            this.series = series;
            this.timed = settings().wantsDurations();
            this.begun = begun;
        }

        private Settings settings() {
            return live.breaker().settings();
        }

        /**
         * Whether the breaker is half-open, and this call decides how it goes on. It should be made once, without retries.
         *
         * @return true for a trial
         */
        public boolean isTrial() {
            return series != null;
        }

        /**
         * The call begins only now. What it has waited for until then, a slot or its moment for example, does not make it
         * {@linkplain Settings#slowCalls slow}. No effect unless slow calls are counted.
         */
        public void begin() {
            if (timed) {
                begun = live.now();
            }
        }

        /** The call has succeeded. */
        public void succeeded() {
            Window w = window;
            if (w != null && !timed) {
                w.succeeded(live.time());
                return;
            }
            long now = live.now();
            boolean slow = settings().areSlow(now - begun);
            if (w == null) {
                if (slow) {
                    trialFailed(null);
                } else {
                    trialSucceeded();
                }
            } else if (!slow) {
                w.succeeded(now);
            } else if (w.slow(now)) {
                trip(w, now, null);
            }
        }

        /**
         * The call has failed, with an exception that {@link Settings#failsOn} is to judge: one that it does not accept counts as
         * success. A cancellation, an interrupt or a refusal counts for nothing, and so does a call whose exception the predicate
         * fails to judge.
         *
         * @param e what the call threw
         */
        public void failed(Exception e) {
            Objects.requireNonNull(e, "e");
            if (Ignored.includes(e)) {
                close();
                return;
            }
            boolean failure;
            try {
                failure = settings().failsOn.test(e);
            } catch (RuntimeException | Error fault) {
                Faults.report("the predicate of " + live.breaker() + " failed", fault);
                close();
                return;
            }
            if (failure) {
                count(e);
            } else {
                succeeded();
            }
        }

        /** The call has failed, without an exception: its result says so, or it was cut off. */
        public void failed() {
            count(null);
        }

        private void count(@Nullable Exception e) {
            Window w = window;
            if (w == null) {
                trialFailed(e);
            } else {
                long now = live.now();
                if (w.failed(now)) {
                    trip(w, now, e);
                }
            }
        }

        /** Gives a trial back whose result was not told. No effect otherwise. */
        @Override
        public void close() {
            Object mine = series;
            if (mine != null && settles()) {
                live.goOn(circuit -> Circuit.trialGivenBack(circuit, mine));
            }
        }

        /** A window that belongs to a circuit of before may be full of failures: it trips nothing any more. */
        private void trip(Window w, long now, @Nullable Throwable cause) {
            if (!(live.get() instanceof Circuit.Closed closed && closed.window() == w)) {
                return;
            }
            long coolDown = settings().coolDownAfter(1);
            live.goOn(circuit -> Circuit.tripped(circuit, w, now, coolDown, cause));
        }

        private void trialSucceeded() {
            Object mine = Objects.requireNonNull(series);
            if (settles()) {
                live.goOn(circuit -> Circuit.trialSucceeded(circuit, mine, settings().trials, live.closed()));
            }
        }

        private void trialFailed(@Nullable Throwable cause) {
            Object mine = Objects.requireNonNull(series);
            if (settles()) {
                long now = live.now();
                long coolDown = settings().coolDownAfter(Circuit.openings(live.get()) + 1);
                live.goOn(circuit -> Circuit.trialFailed(circuit, mine, now, coolDown, cause));
            }
        }

        private boolean settles() {
            return SETTLED.compareAndSet(this, false, true);
        }
    }

    /** How a breaker is to be: an immutable value. Each step returns a new one. */
    public static final class Settings {

        private static final int FAILURES = 5;
        private static final int MINIMUM_CALLS = 10;
        private static final Duration COOL_DOWN = Duration.ofSeconds(10);

        // Written before the value is handed out, and never after that.
        private int consecutive = FAILURES;
        private int lastCalls;
        private @Nullable Duration lastWhile;
        private double failureRate;
        private int minimumCalls;
        private @Nullable Duration slowAfter;
        private double slowRate = Double.POSITIVE_INFINITY;
        private IntFunction<Duration> coolDown = opening -> COOL_DOWN;
        private double coolDownJitter;
        private @Nullable RandomGenerator random;
        private int trials = 1;
        private boolean countAttempts;
        private Predicate<? super Exception> failsOn = failure -> true;
        private BiConsumer<? super State, ? super State> onTransition = (from, to) -> {};

        private Settings() {}

        private Settings copy() {
            Settings s = new Settings();
            s.consecutive = consecutive;
            s.lastCalls = lastCalls;
            s.lastWhile = lastWhile;
            s.failureRate = failureRate;
            s.minimumCalls = minimumCalls;
            s.slowAfter = slowAfter;
            s.slowRate = slowRate;
            s.coolDown = coolDown;
            s.coolDownJitter = coolDownJitter;
            s.random = random;
            s.trials = trials;
            s.countAttempts = countAttempts;
            s.failsOn = failsOn;
            s.onTransition = onTransition;
            return s;
        }

        /**
         * Opens at the n-th failure in a row. It replaces a failure rate.
         *
         * @param consecutive how many; 5 by default
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code consecutive} is less than 1
         */
        public Settings failures(int consecutive) {
            Settings s = copy();
            s.consecutive = Checks.atLeast(1, "failures", consecutive);
            s.lastCalls = 0;
            s.lastWhile = null;
            return s;
        }

        /**
         * Opens when such a share of the last calls has failed, and there were {@linkplain #minimumCalls enough} of them. It
         * replaces a number of failures in a row, and a while. A success never opens it: the share is looked at when a call fails.
         *
         * @param ratio more than 0, and 1 at the most
         * @param calls how many calls are looked at
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code ratio} is out of range, or {@code calls} less than 1
         */
        public Settings failureRate(double ratio, int calls) {
            Settings s = copy();
            s.failureRate = Checks.share("ratio", ratio);
            s.lastCalls = Checks.atLeast(1, "calls", calls);
            s.lastWhile = null;
            return s;
        }

        /**
         * Opens when such a share of the calls of the last while has failed, and there were {@linkplain #minimumCalls enough} of
         * them. The while moves on in tenths. It replaces a number of failures in a row, and of calls. The
         * share is looked at when a call fails.
         *
         * @param ratio more than 0, and 1 at the most
         * @param last how far to look back
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code ratio} is out of range, or {@code last} zero or negative
         */
        public Settings failureRate(double ratio, Duration last) {
            Settings s = copy();
            s.failureRate = Checks.share("ratio", ratio);
            s.lastWhile = Checks.positive("last", last);
            s.lastCalls = 0;
            return s;
        }

        /**
         * Judges a rate only when there were so many calls.
         *
         * @param calls 10 by default, or all the calls that are looked at if those are fewer; no effect on failures in a row
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code calls} is less than 1
         */
        public Settings minimumCalls(int calls) {
            Settings s = copy();
            s.minimumCalls = Checks.atLeast(1, "calls", calls);
            return s;
        }

        /**
         * Opens, too, when such a share of the calls that a {@code failureRate} looks at has succeeded only after so long, which is
         * looked at when one does. A trial
         * that is as slow has failed. In a scope, the time of the attempt that has succeeded counts, without waits and attempts
         * before it; of hedges, the time since the first of them. To know how long a call takes costs looks at the clock.
         *
         * @param after from how long on a call is slow
         * @param ratio more than 0, and 1 at the most
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code after} is zero or negative, or {@code ratio} out of range
         */
        public Settings slowCalls(Duration after, double ratio) {
            Settings s = copy();
            s.slowAfter = Checks.positive("after", after);
            s.slowRate = Checks.share("ratio", ratio);
            return s;
        }

        /**
         * Refuses calls for so long, before the next one is a trial.
         *
         * @param coolDown 10 s by default; zero for a trial at once; more than a hundred years count as that
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code coolDown} is negative
         */
        public Settings coolDown(Duration coolDown) {
            Checks.notNegative("coolDown", coolDown);
            return coolDown(opening -> coolDown);
        }

        /**
         * Refuses calls for a time that depends on how often it has opened in a row.
         *
         * {@snippet class="dev.selvedge.examples.PolicyExamples" region="cool-down"}
         *
         * @param byOpening is given 1 when it opens for the first time since it was closed, 2 after the first trial that failed, and
         *     so on. If it throws, or gives null or a negative duration, that is reported, and 10 s are taken instead
         * @return a new value; this one stays as it is
         */
        public Settings coolDown(IntFunction<Duration> byOpening) {
            Settings s = copy();
            s.coolDown = Objects.requireNonNull(byOpening, "byOpening");
            return s;
        }

        /**
         * Lengthens each cool-down by chance, so that breakers of many machines do not try all at the same moment.
         *
         * @param ratio by how much of it at the most; from 0, the default, to 1
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code ratio} is not between 0 and 1
         */
        public Settings coolDownJitter(double ratio) {
            if (!(ratio >= 0 && ratio <= 1)) {
                throw new IllegalArgumentException("ratio must be between 0 and 1: " + ratio);
            }
            Settings s = copy();
            s.coolDownJitter = ratio;
            return s;
        }

        /**
         * With dice of the caller's own for the jitter.
         *
         * @param dice used by several threads, so it must be safe for that; by default, each thread has its own
         * @return a new value; this one stays as it is
         */
        public Settings random(RandomGenerator dice) {
            Settings s = copy();
            s.random = Objects.requireNonNull(dice, "dice");
            return s;
        }

        /**
         * Closes only when so many trials have succeeded; so many may run at the same time. The first that fails opens it again.
         *
         * @param trials 1 by default
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code trials} is less than 1
         */
        public Settings trials(int trials) {
            Settings s = copy();
            s.trials = Checks.atLeast(1, "trials", trials);
            return s;
        }

        /**
         * Counts each attempt of a task that is retried, rather than the task: a scope asks the breaker inside its retries and
         * hedges then. No effect where it is used alone.
         *
         * @return a new value; this one stays as it is
         */
        public Settings countAttempts() {
            Settings s = copy();
            s.countAttempts = true;
            return s;
        }

        /**
         * Counts as failures only the exceptions that the predicate accepts. Others count as success.
         *
         * @param failure by default, any exception is one; it is never asked about cancellations, interrupts and refusals,
         *     which count for nothing
         * @return a new value; this one stays as it is
         */
        public Settings failsOn(Predicate<? super Exception> failure) {
            Settings s = copy();
            s.failsOn = Objects.requireNonNull(failure, "failure");
            return s;
        }

        /**
         * Tells a listener when the breaker goes from one state to another, once each time.
         *
         * @param fromTo runs in the thread whose call has changed the state, without a lock; what it throws is logged. Two changes
         *     at the same moment may be told in any order
         * @return a new value; this one stays as it is
         */
        public Settings onTransition(BiConsumer<? super State, ? super State> fromTo) {
            Settings s = copy();
            s.onTransition = Objects.requireNonNull(fromTo, "fromTo");
            return s;
        }

        /** Whether it matters how long a call takes. */
        boolean wantsDurations() {
            return slowAfter != null;
        }

        private boolean areSlow(long nanos) {
            return slowAfter != null && nanos >= Backoff.nanos(slowAfter);
        }

        int trials() {
            return trials;
        }

        private boolean isOfRate() {
            return lastCalls > 0 || lastWhile != null;
        }

        private Settings checked() {
            if (lastCalls > 0 && minimumCalls > lastCalls) {
                throw new IllegalArgumentException("minimumCalls must not be more than the calls that are looked at: "
                        + minimumCalls + " > " + lastCalls);
            }
            if (slowAfter != null && !isOfRate()) {
                throw new IllegalArgumentException(
                        "slowCalls needs a failureRate, whose calls it looks at: " + slowAfter);
            }
            return this;
        }

        Window window() {
            int minimum = minimumCalls > 0 ? minimumCalls : MINIMUM_CALLS;
            if (lastCalls > 0) {
                return new Window.LastCalls(
                        lastCalls, new Window.Limits(failureRate, slowRate, Math.min(minimum, lastCalls)));
            }
            if (lastWhile != null) {
                return new Window.LastWhile(
                        Backoff.nanos(lastWhile), new Window.Limits(failureRate, slowRate, minimum));
            }
            return new Window.Consecutive(consecutive);
        }

        private long coolDownAfter(int opening) {
            long d = Backoff.nanos(COOL_DOWN);
            try {
                d = Backoff.nanos(Checks.notNegative("coolDown", coolDown.apply(opening)));
            } catch (RuntimeException | Error fault) {
                Faults.report("the function of the cool-down failed", fault);
            }
            long extra = (long) (d * coolDownJitter);
            RandomGenerator dice = random == null ? ThreadLocalRandom.current() : random;
            return extra == 0 ? d : d + dice.nextLong(extra + 1);
        }
    }
}
