package dev.selvedge.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.Selvedge;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The example that a container starts and closes. */
@Timeout(60)
class WorkerTest {

    private final List<String> trail = new CopyOnWriteArrayList<>();

    @Test
    void when_close_comes_back_nothing_of_the_worker_runs_any_more() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Worker worker = new Worker(() -> {
            begun.countDown();
            try {
                Selvedge.sleep(Duration.ofHours(1));
            } finally {
                trail.add("cleaned");
            }
        });

        worker.start();
        begun.await();
        worker.close();
        worker.close();

        assertThat(trail).containsExactly("cleaned");
    }

    @Test
    void one_that_was_never_started_is_closed_at_once() {
        Worker worker = new Worker(() -> trail.add("ran"));

        worker.close();

        assertThat(trail).isEmpty();
    }
}
