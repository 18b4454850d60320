package dev.selvedge.batch;

import static dev.selvedge.Selvedge.scope;
import static dev.selvedge.batch.Journals.fail;
import static dev.selvedge.batch.Journals.lines;
import static dev.selvedge.batch.Journals.open;
import static dev.selvedge.batch.Journals.read;
import static dev.selvedge.batch.Journals.spinUntil;
import static dev.selvedge.batch.Journals.succeed;
import static dev.selvedge.batch.Journals.write;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.Selvedge;
import dev.selvedge.batch.Journal.Sync;
import dev.selvedge.time.StuckClockError;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** When lines come to the disk, who waits for it, and what an interrupt does meanwhile. */
@Timeout(60)
class JournalSyncTest {

    @TempDir
    Path dir;

    private final FaultyDisk disk = new FaultyDisk();
    private final CountDownLatch syncing = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);

    private Path file;

    @BeforeEach
    void place() {
        file = dir.resolve("done.log");
    }

    /** The first sync waits to be let go. */
    private void blockFirst() {
        disk.onSync = number -> {
            if (number == 1) {
                syncing.countDown();
                awaitUninterruptibly(go);
            }
        };
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isSafe(String key) {
        return read(file).substring(0, (int) disk.safe).contains("{\"key\":\"" + key + "\"}\n");
    }

    // Every line.

    @Test
    void a_line_that_was_acknowledged_is_on_the_disk() {
        try (Journal<String> journal = open(file, Sync.EVERY, disk)) {
            for (String key : List.of("a", "b", "c")) {
                succeed(journal, key);
                assertThat(isSafe(key)).isTrue();
            }
        }

        assertThat(disk.syncs).hasValue(3);
    }

    @Test
    void those_who_come_meanwhile_share_the_next_sync() throws Exception {
        blockFirst();
        List<Future<Boolean>> safe = new ArrayList<>();
        try (Journal<String> journal = open(file, Sync.EVERY, disk);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 64; i++) {
                String key = "key " + i;
                safe.add(threads.submit(() -> {
                    succeed(journal, key);
                    return isSafe(key);
                }));
            }
            syncing.await();
            spinUntil(() -> disk.appends.get() == 64);
            assertThat(safe).noneMatch(Future::isDone);

            go.countDown();
            for (Future<Boolean> s : safe) {
                assertThat(s.get()).isTrue();
            }
            assertThat(disk.syncs).hasValue(2);
        }

        assertThat(disk.syncs).hasValue(2); // nothing was left to be synced
        assertThat(lines(file)).hasSize(64).doesNotHaveDuplicates();
    }

    @Test
    void two_items_of_one_key_write_it_once_and_both_wait_for_it() throws Exception {
        blockFirst();
        try (Journal<String> journal = open(file, Sync.EVERY, disk);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> first = threads.submit(() -> succeed(journal, "a"));
            syncing.await();
            AtomicReference<Thread> other = new AtomicReference<>();
            Future<Boolean> second = threads.submit(() -> {
                other.set(Thread.currentThread());
                succeed(journal, "a");
                return isSafe("a");
            });
            spinUntil(() -> other.get() != null && other.get().getState() == Thread.State.WAITING);
            assertThat(second.isDone()).isFalse();

            go.countDown();
            assertThat(second.get()).isTrue();
            Object unused = first.get();
        }

        assertThat(disk.syncs).hasValue(1);
        assertThat(lines(file)).containsExactly("{\"key\":\"a\"}");
    }

    @Test
    void ten_thousand_keys_from_sixteen_threads_are_there_once() throws Exception {
        List<Future<?>> all = new ArrayList<>();
        try (Journal<String> journal = open(file, Sync.EVERY, disk);
                ExecutorService threads = Executors.newFixedThreadPool(16)) {
            for (int t = 0; t < 16; t++) {
                int thread = t;
                all.add(threads.submit(() -> {
                    for (int i = thread * 500; i < thread * 500 + 2_500; i++) { // each key from up to five
                        int key = i % 10_000;
                        Journals.call(Journals.values(journal), "key " + key);
                        if (key % 100 == thread) {
                            fail(journal, "failed " + key, new IOException("boom " + key));
                        }
                    }
                }));
            }
            for (Future<?> f : all) {
                Object unused = f.get();
            }
            assertThat(journal.size()).isEqualTo(10_000);
        }

        assertThat(disk.appends).hasValue(10_000);
        assertThat(lines(file))
                .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 10_000)
                        .mapToObj(i -> "{\"key\":\"key " + i + "\",\"value\":key " + i + "}")
                        .toList());
        try (Journal<String> journal = open(file)) {
            assertThat(journal.recovery().wasTorn()).isFalse();
            assertThat(journal.size()).isEqualTo(10_000);
            assertThat(journal.failures())
                    .isNotEmpty()
                    .allSatisfy((key, error) ->
                            assertThat(error).isEqualTo("java.io.IOException: " + key.replace("failed", "boom")));
        }
    }

    @Test
    void what_an_earlier_run_left_to_the_system_is_given_to_the_disk_first() {
        write(file, "a");

        try (Journal<String> journal = open(file, Sync.EVERY, disk)) {
            assertThat(journal.contains("a")).isTrue();
            assertThat(disk.syncs).hasValue(1);
        }
        try (Journal<String> journal = open(file, Sync.interval(ofSeconds(1)), disk)) {
            assertThat(journal.contains("a")).isTrue();
            assertThat(disk.syncs).hasValue(2);
        }
        assertThat(disk.syncs).hasValue(2);
    }

    // In virtual time.

    @Test
    void on_a_virtual_clock_they_share_syncs_in_the_same_order_each_time() {
        disk.onSync = number -> Selvedge.sleep(ofSeconds(1));
        List<String> trail = Collections.synchronizedList(new ArrayList<>());
        VirtualClock clock = VirtualClock.jumping();

        try (Journal<String> journal = open(file, Sync.EVERY, disk)) {
            List<String> unused = scope().clock(clock).map(List.of("a", "b", "c", "d"), journal.recording(item -> {
                Selvedge.sleep(ofSeconds(item.equals("d") ? 2 : 5));
                return item;
            }));
            scope().clock(clock).run(s -> {
                for (String key : List.of("e", "f", "g")) {
                    s.fork(() -> {
                        succeed(journal, key);
                        trail.add(clock.elapsed().toSeconds() + " " + key);
                    });
                }
            });
        }

        // d at 2; one of the others at 5, the others at 6, until 7; then e from 7, f and g from 8
        assertThat(disk.syncs).hasValue(5);
        assertThat(trail).containsExactly("8 e", "9 f", "9 g");
        assertThat(lines(file)).hasSize(7).startsWith("{\"key\":\"d\"}");
    }

    @Test
    void a_wait_on_a_virtual_clock_is_ended_by_a_thread_that_is_not_on_it() throws Exception {
        blockFirst();
        try (Journal<String> journal = open(file, Sync.EVERY, disk)) {
            Thread leader = Thread.ofVirtual().start(() -> succeed(journal, "a"));
            syncing.await();
            Thread me = Thread.currentThread();
            Thread helper = Thread.ofPlatform().start(() -> {
                spinUntil(() -> disk.appends.get() == 2 && me.getState() == Thread.State.WAITING);
                awaitDeadlock(); // by then the other clock has been looked at too
                go.countDown();
            });

            scope().clock(VirtualClock.jumping()).run(() -> succeed(journal, "b"));

            leader.join();
            helper.join();
        }
        assertThat(lines(file)).containsExactly("{\"key\":\"a\"}", "{\"key\":\"b\"}");
    }

    private static void awaitDeadlock() {
        VirtualClock clock = VirtualClock.jumping();
        assertThatThrownBy(() -> clock.waiter().await(clock.never())).isInstanceOf(StuckClockError.class);
    }

    // Now and then.

    @Test
    void an_interval_syncs_that_long_after_the_first_line() {
        try (Journal<String> journal = open(file, Sync.interval(ofSeconds(5)), disk)) {
            scope().clock(VirtualClock.jumping()).run(() -> {
                Selvedge.sleep(ofSeconds(60)); // nothing to do
                succeed(journal, "a");
                Selvedge.sleep(ofSeconds(3));
                succeed(journal, "b");
                assertThat(lines(file)).hasSize(2);
                Selvedge.sleep(ofSeconds(2).minus(ofNanos(1)));
                assertThat(disk.syncs).hasValue(0);

                Selvedge.sleep(ofNanos(2));
                assertThat(disk.syncs).hasValue(1);
                assertThat(isSafe("b")).isTrue();

                Selvedge.sleep(ofSeconds(60));
                assertThat(disk.syncs).hasValue(1);
                succeed(journal, "c");
                Selvedge.sleep(ofSeconds(6));
                assertThat(disk.syncs).hasValue(2);
                succeed(journal, "d");
            });
            assertThat(isSafe("d")).isFalse();
        }

        assertThat(disk.syncs).hasValue(3); // at the end
        assertThat(isSafe("d")).isTrue();
    }

    @Test
    void an_interval_goes_by_the_clock_of_whoever_writes() {
        try (Journal<String> journal = open(file, Sync.interval(ofSeconds(5)), disk)) {
            VirtualClock first = VirtualClock.jumping();
            scope().clock(first).run(() -> succeed(journal, "a")); // its time stands still from now on
            scope().clock(VirtualClock.jumping()).run(() -> {
                succeed(journal, "b");
                Selvedge.sleep(ofSeconds(6));
            });

            assertThat(disk.syncs).hasValue(1);
            assertThat(isSafe("a") && isSafe("b")).isTrue();
        }
    }

    @Test
    void an_interval_passes_in_real_time_too() {
        try (Journal<String> journal = open(file, Sync.interval(ofNanos(1)), disk)) {
            succeed(journal, "a");

            spinUntil(() -> isSafe("a"));
        }
    }

    @Test
    void closing_waits_for_a_sync_that_is_under_way() throws Exception {
        blockFirst();
        Journal<String> journal = open(file, Sync.interval(ofNanos(1)), disk);
        succeed(journal, "a");
        syncing.await();
        Thread closer = Thread.ofVirtual().start(journal::close);
        spinUntil(() -> closer.getState() == Thread.State.WAITING);

        go.countDown();
        closer.join();

        assertThat(disk.syncs).hasValue(1);
        write(file, "b"); // it is free
    }

    @Test
    void what_is_left_to_the_system_is_synced_at_the_end_only() {
        write(file, "a");
        try (Journal<String> journal = open(file, Sync.OS, disk)) {
            succeed(journal, "b", "c");
            assertThat(lines(file)).hasSize(3);
            assertThat(disk.syncs).hasValue(0);
        }

        assertThat(disk.syncs).hasValue(1);
        assertThat(isSafe("c")).isTrue();
    }

    // Interrupts.

    @Test
    void an_interrupt_that_came_before_disturbs_nothing_and_stays() {
        Thread.currentThread().interrupt();
        try (Journal<String> journal = open(file)) {
            for (int i = 0; i < 100; i++) {
                Journals.call(Journals.values(journal), "key " + i);
                fail(journal, "failed " + i, new IOException());
                assertThat(Journals.call(Journals.values(journal), "key " + i)).isEqualTo("key " + i);
            }
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        }
        assertThat(Thread.interrupted()).isTrue();

        write(file, "one more");
        assertThat(lines(file)).hasSize(101);
    }

    @Test
    void an_interrupt_that_comes_meanwhile_disturbs_neither_who_leads_nor_who_follows() throws Exception {
        blockFirst();
        List<String> flags = Collections.synchronizedList(new ArrayList<>());
        try (Journal<String> journal = open(file, Sync.EVERY, disk)) {
            Thread leader = Thread.ofVirtual().start(() -> {
                succeed(journal, "a");
                flags.add("a " + isSafe("a") + " " + Thread.interrupted());
            });
            syncing.await();
            Thread follower = Thread.ofVirtual().start(() -> {
                succeed(journal, "b");
                flags.add("b " + isSafe("b") + " " + Thread.interrupted());
            });
            spinUntil(() -> disk.appends.get() == 2 && follower.getState() == Thread.State.WAITING);
            for (int i = 0; i < 10; i++) {
                leader.interrupt();
                follower.interrupt();
                spinUntil(() -> !follower.isInterrupted() && follower.getState() == Thread.State.WAITING);
            }
            assertThat(flags).isEmpty();

            go.countDown();
            leader.join();
            follower.join();
            succeed(journal, "c");
        }

        assertThat(flags).containsExactlyInAnyOrder("a true true", "b true true");
        assertThat(lines(file)).hasSize(3);
    }

    @Test
    void an_interrupted_item_of_a_scope_is_recorded_all_the_same() {
        try (Journal<String> journal = open(file)) {
            List<String> done = scope().map(List.of("a", "b", "c"), journal.recording(item -> {
                Thread.currentThread().interrupt();
                return item;
            }));

            assertThat(done).containsExactly("a", "b", "c");
            assertThat(Thread.interrupted()).isFalse();
            assertThat(journal.size()).isEqualTo(3);
        }
    }

    // One at a time.

    @Test
    void a_journal_is_open_once_whatever_the_path() throws IOException {
        Path link = Files.createSymbolicLink(dir.resolve("link.log"), file);
        try (Journal<String> journal = open(file)) {
            for (Path same : List.of(file, dir.resolve(".").resolve("done.log"), link)) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> open(same))
                        .withMessage("the journal " + same
                                + " is in use in this process: wait until that is closed, or use another file");
            }
            succeed(journal, "a");
        }
        write(link, "b");

        assertThat(lines(file)).hasSize(2);
        assertThat(dir.resolve("done.log.lock")).isEmptyFile();
        assertThat(dir.resolve("link.log.lock")).doesNotExist();
    }

    @Test
    void a_journal_that_could_not_be_opened_is_free() throws IOException {
        Files.writeString(file, "something else\n");
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> open(file)).isInstanceOf(UncheckedIOException.class);
        }
        Files.delete(file);

        write(file, "a");
    }
}
