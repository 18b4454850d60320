package dev.selvedge;

import static dev.selvedge.PolicyMatrixTest.Kind.BREAKER;
import static dev.selvedge.PolicyMatrixTest.Kind.BULKHEAD;
import static dev.selvedge.PolicyMatrixTest.Kind.COUNTING;
import static dev.selvedge.PolicyMatrixTest.Kind.HEDGE;
import static dev.selvedge.PolicyMatrixTest.Kind.LIMITER;
import static dev.selvedge.PolicyMatrixTest.Kind.RETRY;
import static dev.selvedge.PolicyMatrixTest.Kind.TIMEOUT;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.BulkheadFullException;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitBreaker.Counts;
import dev.selvedge.policy.CircuitBreaker.State;
import dev.selvedge.policy.CircuitOpenException;
import dev.selvedge.policy.RateLimitedException;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * Every one, two and three of the policies, and all of them, in every situation, however the task is run, with a breaker that is
 * closed and with one that tries. What must come of it is worked out from the numbers below, by hand: attempts, the value or
 * exception, the time it takes, what the breaker has counted and where it stands; and all permits are back.
 *
 * <p>A retry makes three attempts, 100 ms apart. A hedge joins after 30 ms. A bulkhead has two slots; a limiter lets one through
 * in 10 ms, and one that is used up only after 500 ms. A timeout is 200 ms. A task takes 20 ms, if it does not hang.
 */
@Timeout(120)
class PolicyMatrixTest {

    private static final int WORK = 20;
    private static final int BACK_OFF = 100;
    private static final int JOIN = 30;
    private static final int LIMIT = 200;
    private static final int SLOTS = 2;
    private static final int ROUNDS = 3;
    private static final int WINDOW = 100;
    private static final Duration COOL_DOWN = ofSeconds(10);

    enum Kind {
        RETRY,
        HEDGE,
        BULKHEAD,
        LIMITER,
        TIMEOUT,
        BREAKER,
        /** A breaker that counts attempts. */
        COUNTING
    }

    /** How the task is run. */
    enum Mode {
        CALL,
        /** With nobody listening: no block of its own. */
        PASSING,
        /** With a fallback, which answers whatever is no cancellation and no error. */
        FALLBACK,
        GATHER,
        FORK
    }

    enum Situation {
        SUCCESS,
        FAILURE,
        FAILURE_THEN_SUCCESS,
        ERROR,
        INTERRUPT_IN_THE_BODY,
        INTERRUPT_IN_A_BACK_OFF,
        INTERRUPT_IN_THE_QUEUE_FOR_A_SLOT,
        INTERRUPT_IN_THE_WAIT_FOR_THE_MOMENT,
        CANCEL,
        DEADLINE_IN_AN_ATTEMPT,
        DEADLINE_IN_A_BACK_OFF,
        DEADLINE_IN_THE_QUEUE_FOR_A_SLOT,
        DEADLINE_IN_THE_WAIT_FOR_THE_MOMENT,
        TIMEOUT_OF_THE_ATTEMPT,
        REFUSED_BY_THE_BREAKER,
        REFUSED_BY_THE_BULKHEAD,
        REFUSED_BY_THE_LIMITER
    }

    /**
     * What must come of it.
     *
     * @param attempts how often the task begins
     * @param millis the time it takes
     * @param thrown what leaves; null for a value
     * @param message its message, or null if that does not matter
     * @param calls what the breaker has counted, if it is closed
     * @param failures how many of them failed
     * @param afterTrial where the breaker stands if this was its trial
     */
    private record Expected(
            int attempts,
            int millis,
            @Nullable Class<? extends Throwable> thrown,
            @Nullable String message,
            int calls,
            int failures,
            State afterTrial) {}

    private record Case(Set<Kind> kinds, boolean trial, Situation situation, Mode mode) {

        boolean has(Kind kind) {
            return kinds.contains(kind);
        }

        /** How many attempts run in one round of the retry, if the first does not succeed. */
        int together() {
            return has(HEDGE) && !trial ? 2 : 1;
        }

        int rounds() {
            return has(RETRY) && !trial ? ROUNDS : 1;
        }

        private Expected failing(int attempts, int millis, String message) {
            return new Expected(
                    attempts, millis, IOException.class, message, counted(attempts), counted(attempts), State.OPEN);
        }

        private int counted(int attempts) {
            return has(COUNTING) ? attempts : 1;
        }

        private static Expected ignored(
                int attempts, int millis, Class<? extends Throwable> thrown, @Nullable String message) {
            return new Expected(attempts, millis, thrown, message, 0, 0, State.HALF_OPEN);
        }

        Expected expected() {
            int k = together();
            int rounds = rounds();
            return switch (situation) {
                case SUCCESS -> new Expected(1, WORK, null, null, 1, 0, State.CLOSED);
                case FAILURE ->
                    failing(rounds * k, rounds * k * WORK + (rounds - 1) * BACK_OFF, "no " + ((rounds - 1) * k + 1));
                case FAILURE_THEN_SUCCESS ->
                    k == 2
                            ? new Expected(2, 2 * WORK, null, null, counted(2), has(COUNTING) ? 1 : 0, State.CLOSED)
                            : rounds > 1
                                    ? new Expected(
                                            2,
                                            2 * WORK + BACK_OFF,
                                            null,
                                            null,
                                            counted(2),
                                            has(COUNTING) ? 1 : 0,
                                            State.CLOSED)
                                    : failing(1, WORK, "no 1");
                case ERROR -> ignored(1, WORK, AssertionError.class, "no 1");
                case INTERRUPT_IN_THE_BODY -> ignored(1, WORK / 2, ScopeCancelledException.class, null);
                case CANCEL -> ignored(1, WORK / 2, ScopeCancelledException.class, "enough");
                case INTERRUPT_IN_A_BACK_OFF -> {
                    int counted = has(COUNTING) ? k : 0;
                    yield new Expected(
                            k,
                            k * WORK + BACK_OFF / 2,
                            ScopeCancelledException.class,
                            null,
                            counted,
                            counted,
                            State.HALF_OPEN);
                }
                case INTERRUPT_IN_THE_QUEUE_FOR_A_SLOT, INTERRUPT_IN_THE_WAIT_FOR_THE_MOMENT ->
                    ignored(0, 60, ScopeCancelledException.class, null);
                case DEADLINE_IN_AN_ATTEMPT ->
                    new Expected(k, 100, DeadlineExceededException.class, null, counted(k), counted(k), State.OPEN);
                case DEADLINE_IN_A_BACK_OFF -> failing(k, k * WORK, "no 1");
                case DEADLINE_IN_THE_QUEUE_FOR_A_SLOT -> ignored(0, 60, DeadlineExceededException.class, null);
                case DEADLINE_IN_THE_WAIT_FOR_THE_MOMENT, REFUSED_BY_THE_LIMITER ->
                    ignored(0, 0, RateLimitedException.class, null);
                case TIMEOUT_OF_THE_ATTEMPT ->
                    new Expected(
                            rounds * k,
                            rounds * (k == 2 ? JOIN + LIMIT : LIMIT) + (rounds - 1) * BACK_OFF,
                            AttemptTimeoutException.class,
                            "an attempt of the scope \"m\" exceeded its timeout of 200 ms",
                            counted(rounds * k),
                            counted(rounds * k),
                            State.OPEN);
                case REFUSED_BY_THE_BREAKER -> ignored(0, 0, CircuitOpenException.class, null);
                case REFUSED_BY_THE_BULKHEAD -> ignored(0, 0, BulkheadFullException.class, null);
            };
        }

        boolean makesSense() {
            boolean breaker = has(BREAKER) || has(COUNTING);
            boolean sensible = switch (situation) {
                case INTERRUPT_IN_A_BACK_OFF, DEADLINE_IN_A_BACK_OFF -> has(RETRY) && !trial;
                case INTERRUPT_IN_THE_QUEUE_FOR_A_SLOT, DEADLINE_IN_THE_QUEUE_FOR_A_SLOT, REFUSED_BY_THE_BULKHEAD ->
                    has(BULKHEAD);
                case INTERRUPT_IN_THE_WAIT_FOR_THE_MOMENT,
                        DEADLINE_IN_THE_WAIT_FOR_THE_MOMENT,
                        REFUSED_BY_THE_LIMITER -> has(LIMITER);
                case TIMEOUT_OF_THE_ATTEMPT -> has(TIMEOUT);
                case REFUSED_BY_THE_BREAKER -> breaker && !trial;
                default -> true;
            };
            return sensible && (breaker || !trial) && (mode != Mode.PASSING || deadline() == null);
        }

        @Nullable
        Duration deadline() {
            return switch (situation) {
                case DEADLINE_IN_AN_ATTEMPT -> ofMillis(100);
                case DEADLINE_IN_A_BACK_OFF -> ofMillis(together() * WORK + BACK_OFF / 2);
                case DEADLINE_IN_THE_QUEUE_FOR_A_SLOT, DEADLINE_IN_THE_WAIT_FOR_THE_MOMENT -> ofMillis(60);
                default -> null;
            };
        }
    }

    @TestFactory
    Stream<DynamicTest> every_combination_in_every_situation() {
        List<DynamicTest> tests = new ArrayList<>();
        for (Set<Kind> kinds : combinations()) {
            for (Situation situation : Situation.values()) {
                List<Case> cases = new ArrayList<>();
                for (Mode mode : Mode.values()) {
                    cases.add(new Case(kinds, false, situation, mode));
                    cases.add(new Case(kinds, true, situation, mode));
                }
                cases.removeIf(c -> !c.makesSense());
                if (!cases.isEmpty()) {
                    tests.add(dynamicTest(kinds + " " + situation, () -> run(cases)));
                }
            }
        }
        return tests.stream();
    }

    private static void run(List<Case> cases) {
        for (Case one : cases) {
            try (Log log = Log.of("dev.selvedge")) {
                new World(one).run();
                assertThat(log.thrown())
                        .as("%s: logged", one)
                        .hasSizeLessThanOrEqualTo(one.mode == Mode.PASSING ? ROUNDS + 1 : 0);
            }
        }
    }

    private static List<Set<Kind>> combinations() {
        List<Set<Kind>> all = new ArrayList<>();
        List<Kind> every = List.of(Kind.values());
        for (int bits = 1; bits < 1 << every.size(); bits++) {
            Set<Kind> kinds = EnumSet.noneOf(Kind.class);
            for (int i = 0; i < every.size(); i++) {
                if ((bits >> i & 1) == 1) {
                    kinds.add(every.get(i));
                }
            }
            boolean oneBreaker = !(kinds.contains(BREAKER) && kinds.contains(COUNTING));
            if (oneBreaker && (kinds.size() <= 3 || kinds.size() == every.size() - 1)) {
                all.add(kinds);
            }
        }
        return all;
    }

    /** One case, on a clock and with policies of its own. */
    private static final class World {

        private final Case given;
        private final Lab lab = new Lab();
        private final AtomicInteger begun = new AtomicInteger();
        private final Bulkhead bulkhead;
        private final RateLimiter limiter;
        private final CircuitBreaker breaker;
        private @Nullable Object outcome;
        private Duration took = ZERO;
        private @Nullable Counts counted;
        private @Nullable State state;
        private boolean flag;
        private int answers;

        World(Case given) {
            this.given = given;
            boolean noQueue = given.situation == Situation.REFUSED_BY_THE_BULKHEAD;
            this.bulkhead = Bulkhead.of(SLOTS, b -> noQueue ? b.maxWait(ZERO) : b);
            boolean noWait = given.situation == Situation.REFUSED_BY_THE_LIMITER;
            this.limiter = RateLimiter.of(1, ofMillis(isUsedUp() ? 500 : 10), l -> noWait ? l.maxWait(ZERO) : l);
            this.breaker = CircuitBreaker.of("b", b -> {
                CircuitBreaker.Settings s =
                        b.failureRate(1, WINDOW).minimumCalls(WINDOW).coolDown(COOL_DOWN);
                return given.has(COUNTING) ? s.countAttempts() : s;
            });
        }

        private boolean isUsedUp() {
            return switch (given.situation) {
                case INTERRUPT_IN_THE_WAIT_FOR_THE_MOMENT,
                        DEADLINE_IN_THE_WAIT_FOR_THE_MOMENT,
                        REFUSED_BY_THE_LIMITER -> true;
                default -> false;
            };
        }

        private boolean isFull() {
            return switch (given.situation) {
                case INTERRUPT_IN_THE_QUEUE_FOR_A_SLOT, DEADLINE_IN_THE_QUEUE_FOR_A_SLOT, REFUSED_BY_THE_BULKHEAD ->
                    true;
                default -> false;
            };
        }

        private ScopeSpec spec() {
            ScopeSpec spec = Selvedge.scope("m");
            if (given.has(RETRY)) {
                spec = spec.retry(Retry.DEFAULT.attempts(ROUNDS).fixed(ofMillis(BACK_OFF)));
            }
            if (given.has(HEDGE)) {
                spec = spec.hedge(ofMillis(JOIN));
            }
            if (given.has(BULKHEAD)) {
                spec = spec.bulkhead(bulkhead);
            }
            if (given.has(LIMITER)) {
                spec = spec.rateLimit(limiter);
            }
            if (given.has(TIMEOUT)) {
                spec = spec.timeout(ofMillis(LIMIT));
            }
            if (given.has(BREAKER) || given.has(COUNTING)) {
                spec = spec.breaker(breaker);
            }
            Duration deadline = given.deadline();
            return deadline == null ? spec : spec.deadline(deadline);
        }

        private String task() throws Exception {
            int n = begun.incrementAndGet();
            boolean hangs = given.situation == Situation.DEADLINE_IN_AN_ATTEMPT
                    || given.situation == Situation.TIMEOUT_OF_THE_ATTEMPT;
            Selvedge.sleep(hangs ? ofSeconds(1) : ofMillis(WORK));
            return switch (given.situation) {
                case FAILURE, INTERRUPT_IN_A_BACK_OFF, DEADLINE_IN_A_BACK_OFF -> throw new IOException("no " + n);
                case FAILURE_THEN_SUCCESS -> {
                    if (n == 1) {
                        throw new IOException("no " + n);
                    }
                    yield "value";
                }
                case ERROR -> throw new AssertionError("no " + n);
                default -> "value";
            };
        }

        void run() {
            ScopeSpec around =
                    given.mode == Mode.PASSING ? Selvedge.scope("around").clock(lab.clock()) : lab.scope("around");
            try {
                around.run(this::within);
            } catch (ScopeCancelledException e) {
                assertThat(given.situation).isEqualTo(Situation.CANCEL);
            }
            check();
            lab.end();
        }

        private void within(Scope s) throws InterruptedException {
            if (given.trial || given.situation == Situation.REFUSED_BY_THE_BREAKER) {
                open();
                Selvedge.sleep(given.trial ? COOL_DOWN : ZERO);
            }
            List<Bulkhead.Slot> taken = new ArrayList<>();
            for (int i = 0; isFull() && i < SLOTS; i++) {
                taken.add(bulkhead.enter(lab.clock().never()));
            }
            if (isUsedUp()) {
                assertThat(limiter.tryAcquire(lab.clock())).isTrue();
            }
            disturb(s);
            Duration start = lab.now();
            outcome = outcome();
            took = lab.now().minus(start);
            flag = Thread.currentThread().isInterrupted();
            counted = breaker.counts();
            state = breaker.state();
            taken.forEach(Bulkhead.Slot::close);
        }

        private void open() {
            for (int i = 0; i < WINDOW; i++) {
                breaker.admit(lab.clock()).failed();
            }
        }

        /** Has something happen to this thread, or to the scope around. */
        private void disturb(Scope s) {
            Thread me = Thread.currentThread();
            int at = switch (given.situation) {
                case INTERRUPT_IN_THE_BODY, CANCEL -> WORK / 2;
                case INTERRUPT_IN_A_BACK_OFF -> given.together() * WORK + BACK_OFF / 2;
                case INTERRUPT_IN_THE_QUEUE_FOR_A_SLOT, INTERRUPT_IN_THE_WAIT_FOR_THE_MOMENT -> 60;
                default -> -1;
            };
            if (at < 0) {
                return;
            }
            Fork<?> unused = s.fork("disturber", () -> {
                Selvedge.sleep(ofMillis(at));
                if (given.situation == Situation.CANCEL) {
                    boolean ignored = s.cancel("enough");
                } else {
                    lab.clock().interrupt(me);
                }
            });
        }

        private @Nullable Object outcome() {
            Callable<String> task = this::task;
            try {
                return switch (given.mode) {
                    case CALL, PASSING -> spec().call((Task<String, Exception>) task::call);
                    case FALLBACK -> answered(spec().<Object, RuntimeException>call(task, Answer::new));
                    case GATHER -> spec().gather(List.of(task)).get(0);
                    case FORK ->
                        spec().<String, RuntimeException>call(s -> s.fork(task).join());
                };
            } catch (ScopeFailedException e) {
                return e.getCause();
            } catch (Throwable e) {
                return e;
            }
        }

        /** What the fallback was given. */
        private record Answer(Exception failure) {}

        private Object answered(Object result) {
            if (!(result instanceof Answer(Exception failure))) {
                return result;
            }
            answers++;
            return failure;
        }

        private void check() {
            Expected expected = given.expected();
            assertThat(begun).as("%s: attempts", given).hasValue(expected.attempts);
            boolean answerable = given.mode == Mode.FALLBACK
                    && outcome instanceof Exception
                    && !(outcome instanceof ScopeCancelledException);
            assertThat(answers).as("%s: fallbacks", given).isEqualTo(answerable ? 1 : 0);
            if (expected.thrown == null) {
                assertThat(outcome).as("%s", given).isEqualTo("value");
            } else {
                assertThat(outcome).as("%s", given).isExactlyInstanceOf(expected.thrown);
            }
            if (expected.message != null) {
                assertThat((Throwable) outcome).as("%s", given).hasMessage(expected.message);
            }
            assertThat(took).as("%s: time", given).isEqualTo(ofMillis(expected.millis));
            assertThat(flag).as("%s: flag", given).isFalse();
            checkBreaker(expected);
            assertThat(bulkhead.free()).as("%s: slots", given).isEqualTo(SLOTS);
            assertThat(bulkhead.waiting()).as("%s: queue", given).isZero();
            checkLimiter(expected);
        }

        private void checkBreaker(Expected expected) {
            if (!given.has(BREAKER) && !given.has(COUNTING)) {
                return;
            }
            if (given.situation == Situation.REFUSED_BY_THE_BREAKER) {
                assertThat(state).as("%s: breaker", given).isEqualTo(State.OPEN);
            } else if (given.trial) {
                assertThat(state).as("%s: trial", given).isEqualTo(expected.afterTrial);
                if (expected.afterTrial == State.HALF_OPEN) { // the trial was given back: another one passes
                    breaker.admit(lab.clock()).succeeded();
                    assertThat(breaker.state()).as("%s: next trial", given).isEqualTo(State.CLOSED);
                }
            } else {
                assertThat(state).as("%s: breaker", given).isEqualTo(State.CLOSED);
                assertThat(counted)
                        .as("%s: counted", given)
                        .isEqualTo(new Counts(expected.calls, expected.failures, 0));
            }
        }

        /** All moments that were reserved and not used are given back: it is as if nobody had come. */
        private void checkLimiter(Expected expected) {
            if (!given.has(LIMITER) || !isUsedUp()) {
                return;
            }
            lab.scope().run(() -> Selvedge.sleep(ofMillis(500 - expected.millis)));
            assertThat(limiter.tryAcquire(lab.clock())).as("%s: limiter", given).isTrue();
            assertThat(limiter.tryAcquire(lab.clock())).as("%s: limiter", given).isFalse();
        }
    }
}
