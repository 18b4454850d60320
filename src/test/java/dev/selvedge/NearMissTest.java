package dev.selvedge;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.policy.RealThreads;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts that end at the very moment at which their timeout passes, or another one wins. */
@Timeout(120)
@Tag("stress")
class NearMissTest {

    private static final int ATTEMPTS = 1_000_000;
    private static final int LONGEST_SPIN = 60;

    private final AtomicReference<@Nullable Frame> current = new AtomicReference<>();
    private final AtomicInteger timedOut = new AtomicInteger();
    private final AtomicInteger values = new AtomicInteger();
    private final AtomicInteger strays = new AtomicInteger();
    private volatile boolean over;

    @Test
    @Lesson(69)
    void no_interrupt_of_a_timeout_hits_what_comes_after_the_attempt() throws Exception {
        RealThreads.each(2, n -> n == 0 ? this::attempts : this::timer);

        System.out.println("near misses: " + timedOut + " timed out, " + values + " values, " + strays + " strays");
        assertThat(strays).hasValue(0);
        assertThat(timedOut.get() + values.get()).isEqualTo(ATTEMPTS);
        assertThat(timedOut).hasPositiveValue();
        assertThat(values).hasPositiveValue();
    }

    private void attempts() {
        SplittableRandom dice = new SplittableRandom(1);
        ScopeSpec spec = Selvedge.scope().timeout(ofHours(1));
        for (int i = 0; i < ATTEMPTS; i++) {
            int before = dice.nextInt(LONGEST_SPIN);
            try {
                spec.run(() -> {
                    current.set(Here.openLedger().top());
                    spin(before);
                    if (Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                });
                values.incrementAndGet();
            } catch (AttemptTimeoutException e) {
                timedOut.incrementAndGet();
            }
            spin(dice.nextInt(LONGEST_SPIN));
            if (Thread.interrupted()) {
                strays.incrementAndGet();
            }
        }
        over = true;
    }

    private void timer() {
        SplittableRandom dice = new SplittableRandom(2);
        while (!over) {
            Frame frame = current.getAndSet(null);
            if (frame != null) {
                spin(dice.nextInt(LONGEST_SPIN));
                boolean unused = frame.cancelAsPassed();
            }
        }
    }

    private static void spin(int times) {
        for (int i = 0; i < times; i++) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Lesson(83)
    void the_winner_of_a_hedge_is_one_and_nobody_waits_for_another() throws Exception {
        ScopeSpec spec = Selvedge.scope().hedge(ofMillis(0), 3);
        AtomicInteger wins = new AtomicInteger();

        RealThreads.each(4, n -> () -> {
            for (int i = 0; i < 2_500; i++) {
                AtomicInteger begun = new AtomicInteger();
                int winner = spec.call(begun::incrementAndGet);
                assertThat(winner).isBetween(1, 4);
                wins.incrementAndGet();
                assertThat(Thread.currentThread().isInterrupted()).isFalse();
            }
        });

        assertThat(wins).hasValue(10_000);
    }
}
