package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofHours;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a finished scope leaves in memory: nothing. */
@Timeout(60)
@Tag("real")
class RetentionTest {

    /** As large as the collector needs to see. */
    private static final class Big {
        @SuppressWarnings("unused")
        private final byte[] bytes = new byte[1 << 16];
    }

    @Test
    @Catalogue(106)
    void tasks_and_results_of_a_finished_gather_are_collectable() {
        List<WeakReference<Object>> refs = new ArrayList<>();

        gatherAndForget(refs);

        Blocks.awaitCollected(refs);
    }

    @Test
    @Catalogue(106)
    void errors_of_a_finished_scope_are_collectable() {
        List<WeakReference<Object>> refs = new ArrayList<>();

        failAndForget(refs);

        Blocks.awaitCollected(refs);
    }

    @Test
    @Catalogue({73, 106})
    void a_deadline_of_an_hour_that_was_not_needed_holds_nothing() {
        List<WeakReference<Object>> refs = new ArrayList<>();

        for (int i = 0; i < 100; i++) {
            deadlineAndForget(refs);
        }

        Blocks.awaitCollected(refs);
    }

    private static void gatherAndForget(List<WeakReference<Object>> refs) {
        List<Callable<Big>> tasks = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Big captured = new Big();
            Callable<Big> task = () -> {
                Big result = captured.bytes.length > 0 ? new Big() : captured;
                synchronizedAdd(refs, result);
                return result;
            };
            refs.add(new WeakReference<>(captured));
            tasks.add(task);
        }
        assertThat(scope().gather(tasks)).hasSize(10);
    }

    private static synchronized void synchronizedAdd(List<WeakReference<Object>> refs, Object o) {
        refs.add(new WeakReference<>(o));
    }

    private static void failAndForget(List<WeakReference<Object>> refs) {
        try {
            List<Integer> unused = scope().gather(() -> {
                IllegalStateException e = new IllegalStateException("boom");
                synchronizedAdd(refs, e);
                throw e;
            });
        } catch (ScopeFailedException e) {
            refs.add(new WeakReference<>(e));
        }
        assertThat(refs).hasSize(2);
    }

    private static void deadlineAndForget(List<WeakReference<Object>> refs) {
        Big captured = new Big();
        refs.add(new WeakReference<>(captured));
        int length = scope().deadline(ofHours(1)).call(() -> captured.bytes.length);
        assertThat(length).isPositive();
    }
}
