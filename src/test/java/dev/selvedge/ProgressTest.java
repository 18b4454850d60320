package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How far a call over many items is. */
@Timeout(60)
class ProgressTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final List<Progress> told = new ArrayList<>();

    private static List<Integer> upTo(int n) {
        return IntStream.range(0, n).boxed().toList();
    }

    private static String numbers(Progress p) {
        return p.elapsed().toMillis() + " ms: " + p.started() + " of " + p.total() + ", " + p.succeeded() + " good, "
                + p.failed() + " bad, " + p.cancelled() + " cut off, " + p.retried() + " retried, " + p.inFlight()
                + " in flight" + (p.over() ? ", over" : "");
    }

    @Test
    void the_owner_tells_at_intervals_and_at_the_end() {
        Thread me = Thread.currentThread();

        Outcomes<Integer, Integer> outcomes = lab.scope()
                .concurrency(2)
                .progress(ofMillis(1700), p -> {
                    assertThat(Thread.currentThread()).isSameAs(me);
                    told.add(p);
                })
                .outcomes(upTo(6), i -> {
                    Selvedge.sleep(ofSeconds(1));
                    if (i == 1) {
                        throw new IOException("one");
                    }
                    return i;
                });

        assertThat(outcomes).hasSize(6);
        assertThat(told)
                .extracting(ProgressTest::numbers)
                .containsExactly(
                        "1700 ms: 4 of 6, 1 good, 1 bad, 0 cut off, 0 retried, 2 in flight",
                        "3000 ms: 6 of 6, 5 good, 1 bad, 0 cut off, 0 retried, 0 in flight, over");
    }

    @Test
    void what_was_cut_off_is_not_in_flight_any_more() {
        var late = Blocks.late(() -> lab.scope()
                .concurrency(2)
                .deadline(ofSeconds(3))
                .progress(ofSeconds(100), told::add)
                .forEach(() -> upTo(6).iterator(), i -> Selvedge.sleep(ofSeconds(2))));

        assertThat(late).isNotNull();
        assertThat(told)
                .extracting(ProgressTest::numbers)
                .containsExactly("3000 ms: 4 of -1, 2 good, 0 bad, 2 cut off, 0 retried, 0 in flight, over");
    }

    @Test
    void retries_are_counted() {
        AtomicInteger calls = new AtomicInteger();

        lab.scope()
                .retry(r -> r.attempts(3).fixed(ofSeconds(1)))
                .concurrency(1)
                .progress(ofSeconds(100), told::add)
                .forEach(upTo(2), i -> {
                    if (calls.getAndIncrement() < 2) {
                        throw new IOException("again");
                    }
                });

        assertThat(told)
                .extracting(ProgressTest::numbers)
                .containsExactly("2000 ms: 2 of 2, 2 good, 0 bad, 0 cut off, 2 retried, 0 in flight, over");
    }

    @Test
    void no_items_are_told_of_once() {
        lab.scope().progress(told::add).forEach(List.of(), i -> {});

        assertThat(told).hasSize(1);
        assertThat(told.get(0).over()).isTrue();
        assertThat(told.get(0).total()).isZero();
    }

    @Test
    void a_listener_of_progress_that_throws_changes_nothing() {
        IllegalStateException broken = new IllegalStateException("no paper");

        List<Integer> values = lab.scope()
                .progress(p -> {
                    throw broken;
                })
                .map(upTo(3), i -> i);

        assertThat(values).hasSize(3);
        assertThat(lab.unhandled()).containsExactly(broken);
    }

    @Test
    @Tag("real")
    void in_real_time_all_is_told_too() throws Exception {
        for (Iterable<Integer> items :
                List.of(upTo(2000), (Iterable<Integer>) () -> upTo(2000).iterator())) {
            told.clear();
            AtomicInteger ended = new AtomicInteger();

            lab.realScope().concurrency(4).progress(ofNanos(1), told::add).forEach(items, i -> ended.getAndIncrement());

            Progress last = told.get(told.size() - 1);
            assertThat(last.over()).isTrue();
            assertThat(last.succeeded()).isEqualTo(2000);
            assertThat(last.started()).isEqualTo(2000);
            assertThat(told).extracting(Progress::succeeded).isSorted();
        }
    }

    @Test
    @Tag("real")
    void a_meter_shows_it_to_other_threads() throws Exception {
        ProgressMeter meter = ProgressMeter.create();
        CountDownLatch half = new CountDownLatch(2);
        CountDownLatch go = new CountDownLatch(1);
        assertThat(meter.now().started()).isZero();
        assertThat(meter.now().total()).isEqualTo(Progress.UNKNOWN);

        Thread job = Thread.ofVirtual()
                .start(() -> lab.realScope().progress(meter).forEach(upTo(4), i -> {
                    if (i >= 2) {
                        half.countDown();
                        go.await();
                    }
                }));
        half.await();
        Blocks.spinUntil(() -> meter.now().succeeded() == 2);

        assertThat(meter.now().started()).isEqualTo(4);
        assertThat(meter.now().inFlight()).isEqualTo(2);
        assertThat(meter.now().over()).isFalse();
        go.countDown();
        job.join();
        assertThat(meter.now().succeeded()).isEqualTo(4);
        assertThat(meter.now().over()).isTrue();
    }
}
