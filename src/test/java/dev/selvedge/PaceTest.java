package dev.selvedge;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** When the owner of a call over items starts a further thread, and what becomes of it while it waits with that. */
@Timeout(120)
@Tag("real")
class PaceTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final AtomicInteger made = new AtomicInteger();
    private final CountDownLatch gate = new CountDownLatch(1);

    /** A thread has been interrupted before it began. */
    private final CountDownLatch asked = new CountDownLatch(1);

    /** Its threads begin when the gate is open, whatever interrupts them. */
    private final ThreadFactory late = r -> {
        made.incrementAndGet();
        return Thread.ofVirtual().unstarted(() -> {
            boolean interrupted = false;
            while (gate.getCount() > 0) {
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    interrupted = true;
                    asked.countDown();
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            r.run();
        });
    };

    private static List<Integer> upTo(int n) {
        return IntStream.range(0, n).boxed().toList();
    }

    @Test
    void no_further_thread_is_started_while_one_has_not_begun() throws InterruptedException {
        AtomicInteger done = new AtomicInteger();
        Thread owner = Thread.ofVirtual()
                .start(() -> lab.realScope().threads(late).forEach(upTo(1_000), i -> {
                    done.incrementAndGet();
                }));

        awaitBlocked(owner);
        assertThat(made).hasValue(1);

        gate.countDown();
        owner.join();
        assertThat(done).hasValue(1_000);
    }

    @Test
    void an_interrupt_ends_the_wait_and_a_second_one_stays() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        AtomicBoolean flag = new AtomicBoolean();
        AtomicInteger done = new AtomicInteger();
        Thread owner = Thread.ofVirtual().start(() -> {
            try {
                lab.realScope().threads(late).forEach(upTo(1_000), i -> {
                    done.incrementAndGet();
                });
            } catch (ScopeCancelledException e) {
                thrown.set(e);
            }
            flag.set(Blocks.flag());
        });

        awaitBlocked(owner);
        owner.interrupt();
        while (owner.isInterrupted()) {
            Thread.onSpinWait();
        }
        awaitBlocked(owner); // until its thread has ended
        owner.interrupt();
        while (owner.isInterrupted()) {
            Thread.onSpinWait();
        }
        gate.countDown();
        owner.join();

        assertThat(thrown.get()).isInstanceOf(ScopeCancelledException.class);
        assertThat(flag).isTrue();
        assertThat(done).hasValue(0);
        assertThat(made).hasValue(1);
    }

    @Test
    void a_deadline_ends_the_wait() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        AtomicInteger done = new AtomicInteger();
        Thread owner = Thread.ofVirtual().start(() -> {
            try {
                lab.realScope().deadline(ofMillis(5)).threads(late).forEach(upTo(10), i -> {
                    done.incrementAndGet();
                });
            } catch (DeadlineExceededException e) {
                thrown.set(e);
            }
        });

        asked.await();
        gate.countDown();
        owner.join();

        assertThat(thrown.get()).isInstanceOf(DeadlineExceededException.class);
        assertThat(done).hasValue(0);
        assertThat(made).hasValue(1);
    }

    @Test
    void quick_items_have_few_threads() {
        int items = 100_000;
        AtomicInteger done = new AtomicInteger();

        Selvedge.scope() // a listener would take longer than they do
                .threads(r -> {
                    made.incrementAndGet();
                    return Thread.ofVirtual().unstarted(r);
                })
                .forEach(upTo(items), i -> {
                    compute();
                    done.incrementAndGet();
                });

        assertThat(done).hasValue(items);
        assertThat(made.get()).isLessThan(items / 10);
    }

    /** Takes a microsecond. */
    private static void compute() {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < 1_000) {
            Thread.onSpinWait();
        }
    }

    private static void awaitBlocked(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }
}
