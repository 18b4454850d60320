package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A fork fails while others are being forked; and while very many are blocked. In real time. */
@Timeout(300)
@Tag("stress")
class CancelWhileForkingTest {

    private static final int ROUNDS = 10_000;
    private static final int MOST = 16;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Catalogue({76, 141})
    void however_many_forks_come_before_and_after_the_failing_one_all_end(boolean virtualOwner) throws Exception {
        AtomicInteger failed = new AtomicInteger();

        onOwner(virtualOwner, () -> {
            for (int i = 0; i < ROUNDS; i++) {
                failed.addAndGet(round(i % MOST, i / MOST % MOST, i % 3 == 0));
            }
            return null;
        });

        assertThat(failed).hasValue(ROUNDS);
    }

    private static int round(int before, int after, boolean live) {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Callable<Integer> blocked = () -> {
            threads.add(Thread.currentThread());
            new CountDownLatch(1).await();
            return 1;
        };
        Callable<Integer> failing = () -> {
            threads.add(Thread.currentThread());
            throw new IllegalStateException("boom");
        };
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < before; i++) {
            tasks.add(blocked);
        }
        tasks.add(failing);
        for (int i = 0; i < after; i++) {
            tasks.add(blocked);
        }
        int failed = run(tasks, live);
        assertThat(threads).noneMatch(Thread::isAlive);
        assertThat(Thread.interrupted()).isFalse();
        return failed;
    }

    private static int run(List<Callable<Integer>> tasks, boolean live) {
        try {
            if (live) {
                scope().run(s -> {
                    for (Callable<Integer> t : tasks) {
                        Fork<Integer> unused = s.fork(t);
                    }
                });
            } else {
                List<Integer> unused = scope().gather(tasks);
            }
            return 0;
        } catch (ScopeFailedException e) {
            assertThat(e.failures()).hasSize(1).first().isInstanceOf(IllegalStateException.class);
            return 1;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_hundred_thousand_blocked_forks_end_when_one_fails(boolean live) {
        int n = 100_000;
        AtomicInteger ended = new AtomicInteger();
        CountDownLatch allBlocked = new CountDownLatch(n);
        Callable<Integer> blocked = () -> {
            allBlocked.countDown();
            try {
                new CountDownLatch(1).await();
                return 1;
            } finally {
                ended.incrementAndGet();
            }
        };
        List<Callable<Integer>> tasks = new ArrayList<>(java.util.Collections.nCopies(n, blocked));
        tasks.add(() -> {
            allBlocked.await();
            throw new IllegalStateException("boom");
        });

        int failed = run(tasks, live);

        assertThat(failed).isEqualTo(1);
        assertThat(ended).hasValue(n);
    }

    private static void onOwner(boolean virtual, Callable<?> body) throws Exception {
        FutureTask<?> task = new FutureTask<>(body);
        (virtual ? Thread.ofVirtual() : Thread.ofPlatform()).start(task);
        Object unused = task.get();
    }
}
