package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.BulkheadFullException;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.logging.Level;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls do without much as long as nobody in the process has a listener: what a program does, and what it leaves behind, must not
 * be another thing for that. Small random programs run where the library was never used: as they are; after some scope, which has
 * nothing to do with them, has had a listener; and, if nobody interrupts anybody, under a listener of their own, with which each call is
 * a block. (An interrupt is posted again where the outermost block ends, and that is another one then.)
 */
@Timeout(300)
@Tag("stress")
class PlainOrNotTest {

    /** More, or others, by system properties. */
    private static final int PROGRAMS = Integer.getInteger("selvedge.programs", 4_000);

    private static final int FIRST = Integer.getInteger("selvedge.seed", 0);

    @Test
    void programs_do_the_same_whether_or_not_somebody_has_had_a_listener() throws Exception {
        assertSame(trails(AsTheyAre.class), trails(AfterAListener.class));
    }

    @Test
    void programs_do_the_same_whether_or_not_their_calls_are_blocks() throws Exception {
        assertSame(withoutLog(trails(Uninterrupted.class)), withoutLog(trails(Heard.class)));
    }

    @SuppressWarnings("unchecked") // as all of them give
    private static List<List<String>> trails(Class<? extends Callable<Object>> how) throws Exception {
        return (List<List<String>>) NeverUsed.run(how);
    }

    /** What a listener is told is not logged. */
    private static List<List<String>> withoutLog(List<List<String>> trails) {
        return trails.stream()
                .map(trail -> trail.stream()
                        .filter(line -> !line.startsWith("logged"))
                        .toList())
                .toList();
    }

    private static void assertSame(List<List<String>> once, List<List<String>> again) {
        int lines = 0;
        for (int i = 0; i < PROGRAMS; i++) {
            lines += once.get(i).size();
            assertThat(again.get(i)).as("the program with seed " + (FIRST + i)).isEqualTo(once.get(i));
        }
        System.out.println("plain or not: " + PROGRAMS + " programs, " + lines + " lines");
        assertThat(lines).isGreaterThan(PROGRAMS * 10);
    }

    /** Nobody has ever had a listener. */
    static final class AsTheyAre implements Callable<Object> {
        @Override
        public Object call() {
            List<List<String>> trails = runAll(true);
            check(Context.areAllPlain());
            return trails;
        }
    }

    /** Somebody else has had one. */
    static final class AfterAListener implements Callable<Object> {
        @Override
        public Object call() {
            Selvedge.scope("unrelated").listener(event -> {}).run(() -> {});
            List<List<String>> trails = runAll(true);
            check(!Context.areAllPlain());
            return trails;
        }
    }

    /** Nobody has ever had a listener, or interrupts anybody. */
    static final class Uninterrupted implements Callable<Object> {
        @Override
        public Object call() {
            return runAll(false);
        }
    }

    /** Everybody has a listener, and nobody interrupts anybody. */
    static final class Heard implements Callable<Object> {
        @Override
        public Object call() {
            Selvedge.defaults(Selvedge.scope().listener(event -> {}));
            return runAll(false);
        }
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError("the programs did not run as they should");
        }
    }

    private static List<List<String>> runAll(boolean interrupts) {
        List<List<String>> trails = new ArrayList<>();
        for (int seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
            trails.add(new Program(new Random(seed), interrupts).trail());
        }
        return trails;
    }

    /** Calls in calls, made from the dice before they run. What they do does not depend on time, or on which thread is first. */
    private static final class Program {

        private static final Duration LONG = Duration.ofHours(1);
        private static final Duration LONGER = Duration.ofHours(2);

        private final List<String> trail = Collections.synchronizedList(new ArrayList<>());
        private final Random random;
        private final boolean interrupts;
        private final List<CircuitBreaker> breakers = new ArrayList<>();
        private final List<Bulkhead> bulkheads = new ArrayList<>();
        private int nodes;

        Program(Random random, boolean interrupts) {
            this.random = random;
            this.interrupts = interrupts;
        }

        /** Makes it, runs it, and tells all that can be seen. */
        List<String> trail() {
            Callable<String> whole = node(3);
            try (Log log = Log.of("dev.selvedge")) {
                for (int i = 0; i < 2; i++) { // the second time with what the first one has left in the policies
                    try {
                        note("value " + whole.call());
                    } catch (Throwable e) {
                        note("thrown " + words(e));
                    }
                    note("flag " + Thread.interrupted() + ", ledger " + (Here.ledger() == null ? "none" : "left"));
                    breakers.forEach(b -> note(b + ": " + b.state() + " " + b.counts()));
                    bulkheads.forEach(b -> note("free " + b.free() + ", waiting " + b.waiting()));
                }
                log.at(Level.WARNING).forEach(line -> note("logged " + line));
                log.thrown().forEach(e -> note("logged " + words(e)));
            }
            return trail;
        }

        private void note(String what) {
            trail.add(what);
        }

        /** With all that hangs on it, but no times. */
        private static String words(Throwable e) {
            if (e instanceof CountedFailures) {
                return e.toString().replaceAll(" was thrown.*", ""); // it counts messages, which tell of times
            }
            StringBuilder words = new StringBuilder(e.toString()
                    .replaceAll("after [^)]*\\)", "after …)")
                    .replaceAll("for another .*", "for another …")
                    .replaceAll("thread \"?[^ ]*", "thread …"));
            if (e.getCause() != null) {
                words.append(" <- ").append(words(e.getCause()));
            }
            for (Throwable s : e.getSuppressed()) {
                words.append(" + ").append(words(s));
            }
            return words.toString();
        }

        private Callable<String> node(int depth) {
            String name = "n" + nodes++;
            Callable<String> leaf = leaf(name);
            if (depth == 0) {
                return leaf;
            }
            List<Callable<String>> kids = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                kids.add(block(node(depth - 1)));
            }
            boolean cleansUp = random.nextInt(4) == 0;
            boolean goesOn = random.nextInt(3) == 0;
            return () -> {
                try {
                    StringBuilder all = new StringBuilder();
                    for (Callable<String> kid : kids) {
                        all.append(goesOn ? whatever(kid) : kid.call()).append(' ');
                    }
                    return all + leaf.call();
                } finally {
                    if (cleansUp) {
                        note(name + " cleans up: " + whatever(kids.get(0)));
                    }
                }
            };
        }

        private String whatever(Callable<String> kid) {
            try {
                return kid.call();
            } catch (Exception e) {
                note("caught " + words(e));
                return "caught";
            }
        }

        /** Fails so many times, and gives a value after that. */
        private Callable<String> leaf(String name) {
            int[] fails = {random.nextInt(2) == 0 ? 0 : random.nextInt(6)};
            int how = (interrupts ? 0 : 3) + random.nextInt(interrupts ? 10 : 7);
            int asks = (interrupts ? 0 : 1) + random.nextInt(7);
            return () -> {
                asked(name, asks);
                if (fails[0] > 0) {
                    fails[0]--;
                    note(name + " fails");
                    throw failure(name, how);
                }
                note(name + " succeeds");
                return name;
            };
        }

        private void asked(String name, int what) {
            switch (what) {
                case 0 -> Thread.currentThread().interrupt();
                case 1, 2, 3 -> {
                    Attempt a = Selvedge.attempt();
                    note(name + " is attempt " + a.number() + (a.isTrial() ? ", trial" : "")
                            + (a.isHedge() ? ", hedge" : "") + ", after "
                            + (a.lastFailure() == null ? "nothing" : words(a.lastFailure())) + ", never ends "
                            + a.deadline().isNever());
                }
                case 4 -> note(name + " has no deadline: " + Selvedge.deadline().isNever());
                case 5 -> Selvedge.checkpoint();
                case 6 -> note(name + " has the flag: " + Thread.currentThread().isInterrupted());
                default -> {}
            }
        }

        private static Exception failure(String name, int how) {
            return switch (how) {
                case 0 -> new InterruptedException(name);
                case 1 -> new RuntimeException(name, new InterruptedException("in " + name));
                case 2 -> {
                    Thread.currentThread().interrupt(); // as the channel does
                    yield new ClosedByInterruptException();
                }
                case 3 -> new IllegalStateException(name);
                case 4 -> new CancellationException(name);
                case 5 -> throw new AssertionError(name);
                default -> new IOException(name);
            };
        }

        // Blocks.

        private Callable<String> block(Callable<String> kid) {
            ScopeSpec spec = guarded(random.nextInt(3) == 0 ? Selvedge.scope() : Selvedge.scope("s" + nodes));
            boolean isHedged = random.nextInt(8) == 0;
            int how = random.nextInt(10);
            Callable<String> called = called(isHedged ? spec.hedge(LONG, 1 + random.nextInt(2)) : spec, how, kid);
            return isHedged || (how >= 3 && how <= 6) ? () -> uninterrupted(called) : called;
        }

        /** Whether an interrupted owner finds its forks done already is a matter of luck. */
        private String uninterrupted(Callable<String> forks) throws Exception {
            if (Thread.interrupted()) {
                note("was interrupted before");
            }
            return forks.call();
        }

        private Callable<String> called(ScopeSpec spec, int how, Callable<String> kid) {
            return switch (how) {
                case 0 ->
                    () -> {
                        spec.run(() -> note("ran " + kid.call()));
                        return "ran";
                    };
                case 1 -> () -> spec.call(kid, e -> "instead of " + words(e));
                case 2 -> () -> told(spec.attempt(kid));
                case 3 -> () -> spec.gather(List.of(kid)).toString();
                case 4 ->
                    () -> spec.concurrency(1).map(List.of(1), one -> kid.call()).toString();
                case 5 ->
                    () -> spec.outcomes(List.of(kid)).stream()
                            .map(Program::told)
                            .toList()
                            .toString();
                case 6 ->
                    () -> spec.<String, Exception>call(s -> s.<String>fork(kid).join());
                default -> () -> spec.call(() -> kid.call());
            };
        }

        private static String told(Outcome<String> outcome) {
            return switch (outcome) {
                case Outcome.Success<String>(String value) -> "success " + value;
                case Outcome.Failure<String>(Throwable error) -> "failure " + words(error);
                case Outcome.Cancelled<String>(CancelReason why) -> "cancelled " + why.kind();
            };
        }

        private ScopeSpec guarded(ScopeSpec plain) {
            ScopeSpec spec = plain;
            if (random.nextInt(4) == 0) {
                spec = spec.deadline(List.of(LONG, LONGER, Duration.ofSeconds(Long.MAX_VALUE))
                        .get(random.nextInt(3)));
            }
            if (random.nextInt(2) == 0) {
                spec = spec.retry(retry());
            }
            if (random.nextInt(3) == 0) {
                spec = spec.breaker(breaker());
            }
            if (random.nextInt(3) == 0) {
                spec = spec.rateLimit(
                        RateLimiter.of(1_000_000_000, Duration.ofSeconds(1), l -> l.burst(1_000_000_000)));
            }
            if (random.nextInt(3) == 0) {
                Bulkhead bulkhead = Bulkhead.of(1 + random.nextInt(2), b -> b.maxWait(Duration.ZERO));
                bulkheads.add(bulkhead);
                spec = spec.bulkhead(bulkhead);
            }
            if (random.nextInt(3) == 0) {
                spec = spec.timeout(List.of(LONG, LONGER, Duration.ofSeconds(Long.MAX_VALUE))
                        .get(random.nextInt(3)));
            }
            return spec;
        }

        private Retry retry() {
            Retry retry = Retry.DEFAULT.immediately();
            return switch (random.nextInt(6)) {
                case 0 -> retry.attempts(2);
                case 1 -> retry.attempts(4).maxDuration(LONG);
                case 2 -> retry.on(IOException.class);
                case 3 -> retry.when(e -> e instanceof BulkheadFullException || e instanceof IllegalStateException);
                case 4 -> retry.attempts(8).never(IOException.class);
                default -> retry;
            };
        }

        private CircuitBreaker breaker() {
            int kind = random.nextInt(6);
            int n = 1 + random.nextInt(3);
            boolean countsAttempts = random.nextBoolean();
            Duration coolDown = random.nextBoolean() ? Duration.ZERO : LONG;
            CircuitBreaker breaker = CircuitBreaker.of("b" + breakers.size(), settings -> {
                CircuitBreaker.Settings s = settings.coolDown(coolDown);
                s = countsAttempts ? s.countAttempts() : s;
                return switch (kind) {
                    case 0, 1 -> s.failures(n);
                    case 2 -> s.failureRate(0.5, n);
                    case 3 -> s.failureRate(0.5, n).slowCalls(LONG, 0.5);
                    case 4 -> s.failureRate(0.5, LONG).minimumCalls(n);
                    default -> s.failures(n).failsOn(e -> e instanceof IOException);
                };
            });
            breakers.add(breaker);
            return breaker;
        }
    }
}
