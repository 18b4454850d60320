package dev.selvedge.batch;

import static dev.selvedge.Selvedge.scope;
import static dev.selvedge.batch.Journals.fail;
import static dev.selvedge.batch.Journals.failuresOf;
import static dev.selvedge.batch.Journals.keys;
import static dev.selvedge.batch.Journals.lines;
import static dev.selvedge.batch.Journals.open;
import static dev.selvedge.batch.Journals.spinUntil;
import static dev.selvedge.batch.Journals.succeed;
import static dev.selvedge.batch.Journals.write;
import static java.time.Duration.ofSeconds;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.selvedge.Log;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.Selvedge;
import dev.selvedge.batch.Journal.Sync;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A disk that is full or breaks: what was acknowledged stays, and nobody is told that all is well. */
@Timeout(60)
class JournalFaultsTest {

    @TempDir
    Path dir;

    private final FaultyDisk disk = new FaultyDisk();

    @AutoClose
    @SuppressWarnings("UnusedVariable") // keeps what is logged off the console
    private final Log log = Log.of("dev.selvedge");

    private Path file;

    @BeforeEach
    void place() {
        file = dir.resolve("done.log");
    }

    private static UncheckedIOException thrownBy(Runnable code) {
        return catchThrowableOfType(UncheckedIOException.class, code::run);
    }

    private String incomplete(String why) {
        return "the journal " + file + " was closed, and is not complete: " + why;
    }

    // A full disk.

    @Test
    void a_line_that_does_not_fit_is_cut_off_again_and_nothing_is_taken_any_more() {
        Journal<String> journal = open(file, Sync.EVERY, disk);
        succeed(journal, "a");
        disk.room.set(5);

        UncheckedIOException first = thrownBy(() -> succeed(journal, "b"));
        disk.room.set(1_000);
        UncheckedIOException second = thrownBy(() -> succeed(journal, "c"));
        UncheckedIOException asked = thrownBy(() -> keys(journal).known("d"));
        UncheckedIOException failed = thrownBy(() -> fail(journal, "e", new IOException()));
        UncheckedIOException closed = thrownBy(journal::close);

        String to = "\" to the journal " + file + ": ";
        String earlier = "since an earlier write failed: No space left on device";
        assertThat(first).hasMessage("cannot write the key \"b" + to + "No space left on device");
        assertThat(second).hasMessage("cannot write the key \"c" + to + earlier);
        assertThat(asked).hasMessage("cannot write the key \"d" + to + earlier);
        assertThat(failed).hasMessage("cannot write the key \"e" + to + earlier);
        assertThat(closed).hasMessage(incomplete("No space left on device"));
        assertThat(List.of(second, asked, failed, closed))
                .allSatisfy(e -> assertThat(e.getCause()).isSameAs(first.getCause()));
        assertThat(journal.contains("b")).isFalse();
        assertThat(disk.appends).hasValue(2);
        journal.close(); // once

        assertThat(lines(file)).containsExactly("{\"key\":\"a\"}");
        write(file, "b");
        assertThat(lines(file)).hasSize(2);
    }

    @Test
    void what_cannot_be_cut_off_either_is_cut_off_by_the_next_one() {
        Journal<String> journal = open(file, Sync.EVERY, disk);
        succeed(journal, "a");
        disk.room.set(5);
        disk.cutsFail = true;

        assertThat(thrownBy(() -> succeed(journal, "b"))).hasMessageEndingWith("No space left on device");
        assertThat(thrownBy(journal::close)).isNotNull();

        assertThat(lines(file)).containsExactly("{\"key\":\"a\"}", "{\"key");
        try (Journal<String> next = open(file)) {
            assertThat(next.recovery()).isEqualTo(new Journal.Recovery(1, 0, 5, 0));
        }
    }

    @Test
    void those_who_wait_for_a_sync_get_it_though_the_disk_is_full_meanwhile() throws Exception {
        CountDownLatch syncing = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        disk.onSync = number -> {
            if (number == 1) {
                syncing.countDown();
                await(go);
            }
        };
        Journal<String> journal = open(file, Sync.EVERY, disk);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> leader = threads.submit(() -> succeed(journal, "a"));
            syncing.await();
            Future<?> follower = threads.submit(() -> succeed(journal, "b"));
            spinUntil(() -> disk.appends.get() == 2);
            disk.room.set(0);
            assertThat(thrownBy(() -> succeed(journal, "c"))).hasMessageEndingWith("No space left on device");

            go.countDown();
            Object unused = List.of(leader.get() == null, follower.get() == null);
        }
        assertThat(disk.syncs).hasValue(2);
        assertThat(thrownBy(journal::close)).isNotNull();
        assertThat(lines(file)).containsExactly("{\"key\":\"a\"}", "{\"key\":\"b\"}");
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // A sync that fails.

    @Test
    void all_who_wait_for_a_sync_that_fails_are_told_so_and_their_lines_are_cut_off() throws Exception {
        CountDownLatch syncing = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        disk.onSync = number -> {
            if (number == 2) {
                syncing.countDown();
                await(go);
                throw new IOException("Input/output error");
            }
        };
        Journal<String> journal = open(file, Sync.EVERY, disk);
        succeed(journal, "safe");
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 32; i++) {
                String key = "key " + i;
                all.add(threads.submit(() -> succeed(journal, key)));
            }
            syncing.await();
            spinUntil(() -> disk.appends.get() == 33);
            go.countDown();
            List<Throwable> causes = new ArrayList<>();
            for (Future<?> f : all) {
                Throwable e = catchThrowable(f::get);
                assertThat(e).isInstanceOf(ExecutionException.class);
                assertThat(e.getCause())
                        .isInstanceOf(UncheckedIOException.class)
                        .hasMessageMatching("cannot write the key \"key \\d+\" to .*: Input/output error");
                causes.add(e.getCause().getCause());
            }
            assertThat(causes).allSatisfy(c -> assertThat(c).isSameAs(causes.getFirst()));
        }

        assertThat(thrownBy(() -> succeed(journal, "late")))
                .hasMessageEndingWith("since an earlier write failed: Input/output error");
        assertThat(journal.size()).isEqualTo(1);
        assertThat(thrownBy(journal::close)).hasMessage(incomplete("Input/output error"));
        assertThat(disk.syncs).hasValue(2); // never again
        assertThat(lines(file)).containsExactly("{\"key\":\"safe\"}");
    }

    @Test
    void a_sync_that_fails_later_is_told_to_the_next_one_and_takes_nothing_back() {
        disk.onSync = number -> {
            throw new IOException("Input/output error");
        };
        Journal<String> journal = open(file, Sync.interval(ofSeconds(5)), disk);
        scope().clock(VirtualClock.jumping()).run(() -> {
            succeed(journal, "a");
            Selvedge.sleep(ofSeconds(6));
            assertThat(thrownBy(() -> succeed(journal, "b")))
                    .hasMessageEndingWith("since an earlier write failed: Input/output error");
        });

        assertThat(journal.contains("a")).isTrue();
        assertThat(thrownBy(journal::close)).hasMessage(incomplete("Input/output error"));
        assertThat(disk.syncs).hasValue(1);
        assertThat(lines(file)).containsExactly("{\"key\":\"a\"}");
    }

    @Test
    void a_sync_that_fails_at_the_end_is_thrown_by_close() {
        disk.onSync = number -> {
            throw new IOException("Input/output error");
        };
        Journal<String> journal = open(file, Sync.OS, disk);
        succeed(journal, "a");

        assertThat(thrownBy(journal::close)).hasMessage(incomplete("Input/output error"));

        write(file, "b"); // it is free all the same
        assertThat(lines(file)).hasSize(2);
    }

    @Test
    void a_file_that_cannot_be_closed_is_thrown_by_close() {
        disk.closeFails = true;
        Journal<String> journal = open(file, Sync.EVERY, disk);

        assertThat(thrownBy(journal::close)).hasMessage(incomplete("Stale file handle"));
        write(file, "a");
    }

    @Test
    void an_error_of_the_machine_leaves_as_it_is_and_breaks_the_journal() {
        OutOfMemoryError error = new OutOfMemoryError("not really");
        disk.onSync = number -> {
            throw error;
        };
        Journal<String> journal = open(file, Sync.EVERY, disk);

        assertThatThrownBy(() -> succeed(journal, "a")).isSameAs(error);

        assertThat(thrownBy(() -> succeed(journal, "b")))
                .hasRootCause(error)
                .hasMessageEndingWith("since an earlier write failed: java.lang.OutOfMemoryError: not really");
        assertThat(thrownBy(journal::close)).hasRootCause(error);
    }

    @Test
    void a_sync_that_fails_when_it_is_opened_leaves_it_closed() {
        write(file, "a");
        disk.onSync = number -> {
            throw new IOException("Input/output error");
        };

        assertThat(thrownBy(() -> open(file, Sync.EVERY, disk)))
                .hasMessage("cannot open the journal " + file + ": Input/output error");

        write(file, "b");
    }

    // Failures that cannot be written.

    @Test
    void failures_that_cannot_be_written_break_the_journal_too() throws IOException {
        Journal<String> journal = open(file);
        succeed(journal, "a");
        Files.createDirectory(failuresOf(file));

        UncheckedIOException first = thrownBy(() -> fail(journal, "b", new IOException()));
        assertThat(first)
                .hasMessageStartingWith(
                        "cannot write the key \"b\" to the file of failures " + failuresOf(file) + ": ");
        assertThat(thrownBy(() -> succeed(journal, "c")))
                .hasMessageStartingWith("cannot write the key \"c\" to the file of failures " + failuresOf(file)
                        + ": since an earlier write failed: ")
                .cause()
                .isSameAs(first.getCause());
        assertThat(thrownBy(journal::close))
                .hasMessageStartingWith(
                        "the file of failures " + failuresOf(file) + " was closed, and is not complete: ");

        Files.delete(failuresOf(file));
        write(file, "c");
        assertThat(lines(file)).hasSize(2);
    }

    @Test
    void whatever_goes_wrong_when_it_is_closed_is_thrown_together() throws IOException {
        disk.closeFails = true;
        Journal<String> journal = open(file, Sync.EVERY, disk);
        Files.createDirectory(failuresOf(file));
        assertThat(thrownBy(() -> fail(journal, "b", new IOException()))).isNotNull();

        UncheckedIOException e = thrownBy(journal::close);

        assertThat(e).hasMessage(incomplete("Stale file handle"));
        assertThat(e.getSuppressed()).hasSize(1);
        assertThat(e.getSuppressed()[0]).hasMessageStartingWith("the file of failures ");
    }

    // Inside a scope.

    @Test
    void a_job_ends_when_its_journal_breaks() {
        disk.room.set("{\"key\":\"a\"}\n".length() * 3L);
        List<String> items = List.of("a", "b", "c", "d", "e", "f");

        Journal<String> journal = open(file, Sync.EVERY, disk);
        ScopeFailedException e = catchThrowableOfType(
                ScopeFailedException.class, () -> scope().map(items, journal.recording(item -> item)));
        assertThat(e).hasCauseInstanceOf(UncheckedIOException.class).hasRootCauseMessage("No space left on device");
        assertThat(thrownBy(journal::close)).isNotNull();

        assertThat(lines(file)).hasSize(3);
        try (Journal<String> next = open(file)) {
            List<String> unused = scope().map(next.pending(items), next.recording(item -> item));
            assertThat(next.size()).isEqualTo(6);
        }
    }

    @Test
    void a_journal_that_was_closed_too_early_ends_the_job() {
        Journal<String> journal = open(file);
        journal.close();

        assertThatThrownBy(() -> scope().map(List.of("a"), journal.recording(item -> item)))
                .isInstanceOf(ScopeFailedException.class)
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThatIllegalStateException().isThrownBy(() -> keys(journal).call("a"));
    }

    /** On a file system of its own, so small that it fills up, where the test may mount one. */
    @Test
    void a_disk_that_is_really_full_loses_nothing_that_was_acknowledged() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/bin/mount")), "no mount here");
        Path small = Files.createDirectory(dir.resolve("small"));
        assumeTrue(succeeds("/bin/mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small.toString()), "may not mount");
        try {
            Path full = small.resolve("done.log");
            Journal<String> journal = open(full);
            List<String> acknowledged = new ArrayList<>();
            UncheckedIOException e = thrownBy(() -> {
                for (int i = 0; i < 100_000; i++) {
                    String key = "a key of no great length " + i;
                    succeed(journal, key);
                    acknowledged.add(key);
                }
            });
            assertThat(e).hasMessageEndingWith("No space left on device");
            assertThat(thrownBy(journal::close)).hasMessageEndingWith("No space left on device");

            assertThat(acknowledged).hasSizeGreaterThan(500);
            try (Journal<String> next = open(full)) {
                assertThat(next.recovery()).isEqualTo(new Journal.Recovery(acknowledged.size(), 0, 0, 0));
                assertThat(acknowledged).allMatch(next::contains);
            }
        } finally {
            assertThat(succeeds("/bin/umount", small.toString())).isTrue();
        }
    }

    private static boolean succeeds(String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        return process.waitFor(30, SECONDS) && process.exitValue() == 0;
    }
}
