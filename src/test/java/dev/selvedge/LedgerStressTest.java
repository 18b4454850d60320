package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three nested blocks with random deadlines, or attempts with time-outs, cancels from outside, CPU work and sleeps, in real time. */
@Timeout(300)
@Tag("stress")
class LedgerStressTest {

    private static final Duration SHORT_SLEEP = Duration.ofMillis(1);

    private final AtomicInteger leakedFlags = new AtomicInteger();
    private final AtomicInteger lateInterrupts = new AtomicInteger();
    private final AtomicInteger wrongOwners = new AtomicInteger();
    private final Map<String, Integer> results = new ConcurrentHashMap<>();

    @Test
    @Catalogue({21, 22, 23, 26, 35, 38, 39, 69, 70, 75})
    void nobody_is_blamed_wrongly_and_nothing_is_left_behind_on_virtual_threads() throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            run(threads, 30_000);
        }
        assertNothingWrong(30_000);
    }

    @Test
    @Catalogue({21, 22, 23, 26, 35, 38, 39, 69, 70, 75})
    void nobody_is_blamed_wrongly_and_nothing_is_left_behind_on_platform_threads() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
            run(threads, 3_000);
        }
        assertNothingWrong(3_000);
    }

    private void run(ExecutorService threads, int count) throws Exception {
        List<Future<?>> rounds = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long seed = i;
            rounds.add(threads.submit(() -> new Round(new Random(seed)).run()));
        }
        for (Future<?> round : rounds) {
            Object unused = round.get(); // a round that breaks off is no round
        }
    }

    private void assertNothingWrong(int rounds) {
        System.out.println("ledger stress: " + rounds + " rounds, leaked flags " + leakedFlags + ", late interrupts "
                + lateInterrupts + ", wrong owners " + wrongOwners + " " + new TreeMap<>(results));
        assertThat(results.values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(rounds);
        assertThat(leakedFlags).hasValue(0);
        assertThat(lateInterrupts).hasValue(0);
        assertThat(wrongOwners).hasValue(0);
        assertThat(results.keySet())
                .as("each kind of end was seen")
                .contains("a timed out", "b timed out", "c timed out", "value");
    }

    private final class Round {

        private final Random random;
        private final @Nullable Frame[] frames = new Frame[3];
        private volatile boolean cancelled;
        private volatile boolean recorded;

        Round(Random random) {
            this.random = random;
        }

        /** In the thread itself, or in a fork that is cancelled from outside. */
        Void run() {
            if (random.nextInt(4) != 0) {
                record(ended(this::a), false);
                return null;
            }
            int delay = random.nextInt(2_000);
            return scope().isolated().call(s -> {
                Fork<Void> fork = s.fork(() -> {
                    record(ended(this::a), true);
                    return null;
                });
                s.fork(() -> {
                    burn(delay);
                    cancelled = true;
                    return fork.cancel();
                });
                Object unused = awaited(fork);
                if (!recorded) {
                    results.merge("never ran", 1, Integer::sum); // cancelled before its thread began
                }
                return null;
            });
        }

        private Object awaited(Fork<Void> fork) {
            try {
                return fork.join();
            } catch (ScopeCancelledException e) {
                return e;
            }
        }

        private int a() {
            return block("a", 0, () -> {
                int b = block("b", 1, this::afterC);
                return random.nextInt(3) == 0 ? b : slept();
            });
        }

        private int afterC() {
            try {
                return block("c", 2, this::inner);
            } catch (DeadlineExceededException | AttemptTimeoutException e) {
                if (random.nextBoolean()) {
                    throw e;
                }
                return slept();
            }
        }

        private int inner() {
            if (random.nextBoolean()) {
                burn(random.nextInt(600));
            }
            if (random.nextInt(3) == 0) {
                return 1;
            }
            try {
                return slept();
            } finally {
                if (random.nextBoolean()) {
                    burn(random.nextInt(300));
                }
            }
        }

        private int block(String name, int place, Callable<Integer> body) {
            Duration deadline = Duration.ofNanos(50_000L + random.nextInt(3_000_000));
            frames[place] = null;
            try {
                ScopeSpec heard = scope(name).listener(event -> {});
                ScopeSpec limited = random.nextInt(3) == 0 ? heard.timeout(deadline) : heard.deadline(deadline);
                return limited.call(() -> {
                    frames[place] = Objects.requireNonNull(Here.openLedger().top());
                    return body.call();
                });
            } catch (Exception e) {
                throw Sneaky.sneak(e);
            }
        }

        private int slept() {
            try {
                return Blocks.untilInterrupted();
            } catch (InterruptedException e) {
                throw Sneaky.sneak(e);
            }
        }

        private String ended(Callable<Integer> block) {
            try {
                Object unused = block.call();
                return "value";
            } catch (DeadlineExceededException | AttemptTimeoutException e) {
                String name = String.valueOf(e.getMessage()).split("\"", -1)[1];
                if (!hasTimedOut(frames[name.charAt(0) - 'a'])) {
                    wrongOwners.incrementAndGet();
                }
                return name + " timed out";
            } catch (ScopeCancelledException e) {
                if (!cancelled) {
                    wrongOwners.incrementAndGet();
                }
                return "cancelled";
            } catch (Exception e) {
                return e.toString();
            }
        }

        /** A block whose deadline had passed before it began has no frame. */
        private static boolean hasTimedOut(@Nullable Frame frame) {
            CancelReason why = frame == null ? null : frame.reason();
            return frame == null || (why != null && why.kind() == CancelReason.Kind.DEADLINE);
        }

        private void record(String result, boolean mayBeCancelled) {
            recorded = true;
            boolean flag = Thread.interrupted();
            if (flag && !mayBeCancelled) {
                leakedFlags.incrementAndGet();
            }
            if (!mayBeCancelled) {
                try {
                    Thread.sleep(SHORT_SLEEP); // a stray interrupt would come now
                } catch (InterruptedException e) {
                    lateInterrupts.incrementAndGet();
                }
            }
            results.merge(result, 1, Integer::sum);
        }

        private void burn(int micros) {
            long end = System.nanoTime() + micros * 1_000L;
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
        }
    }
}
