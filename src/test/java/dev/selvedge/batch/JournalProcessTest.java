package dev.selvedge.batch;

import static dev.selvedge.batch.Journals.lines;
import static dev.selvedge.batch.Journals.open;
import static dev.selvedge.batch.Journals.read;
import static dev.selvedge.batch.Journals.succeed;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A journal and other processes: those that hold it, and those that are killed while they write. */
@Timeout(240)
class JournalProcessTest {

    @TempDir
    Path dir;

    private final List<Process> children = new ArrayList<>();

    private Path file;

    @BeforeEach
    void place() {
        file = dir.resolve("done.log");
    }

    @AfterEach
    void end() {
        children.forEach(Process::destroyForcibly);
    }

    private Process child(String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                JournalChild.class.getName()));
        command.addAll(List.of(args));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        children.add(process);
        return process;
    }

    // Who holds it.

    @Test
    void a_journal_that_another_process_holds_is_refused() throws Exception {
        Process holder = child("hold", file.toString());
        try (BufferedReader says = holder.inputReader(UTF_8)) {
            assertThat(says.readLine()).isEqualTo("open with 0");

            assertThatIllegalStateException().isThrownBy(() -> open(file)).withMessage(inUse("by another process"));

            holder.getOutputStream().close();
            assertThat(holder.waitFor()).isZero();
        }
        open(file).close();
    }

    @Test
    void a_process_may_read_its_own_journal_and_try_to_open_it_and_holds_it_still() throws Exception {
        try (Journal<String> journal = open(file)) {
            succeed(journal, "a");
            assertThat(read(file)).isEqualTo("{\"key\":\"a\"}\n");
            assertThatIllegalStateException().isThrownBy(() -> open(file)).withMessage(inUse("in this process"));

            assertThat(firstLineOfHolder()).isEqualTo(inUse("by another process"));
        }
        assertThat(firstLineOfHolder()).isEqualTo("open with 1");
    }

    @Test
    void a_lock_that_other_code_of_the_process_has_is_respected_and_not_lost() throws Exception {
        try (RandomAccessFile other = new RandomAccessFile(file + ".lock", "rw");
                FileLock lock = other.getChannel().lock()) {
            assertThat(lock.isValid()).isTrue();
            assertThatIllegalStateException().isThrownBy(() -> open(file)).withMessage(inUse("in this process"));

            assertThat(firstLineOfHolder()).isEqualTo(inUse("by another process"));
        }
        open(file).close();
    }

    private String inUse(String where) {
        return "the journal " + file + " is in use " + where + ": wait until that is closed, or use another file";
    }

    private String firstLineOfHolder() throws Exception {
        Process holder = child("hold", file.toString());
        try (BufferedReader says = holder.inputReader(UTF_8)) {
            String first = says.readLine();
            holder.getOutputStream().close();
            assertThat(holder.waitFor()).isZero();
            return first;
        }
    }

    // Who is killed.

    @Test
    void a_process_that_is_killed_at_any_moment_loses_nothing_that_was_acknowledged() throws Exception {
        Random random = new Random(20);
        Set<Integer> acknowledged = new HashSet<>();
        for (int round = 0; round < 20; round++) {
            killAfter(random.nextInt(200), round % 2 == 0 ? "every" : "os", acknowledged);

            try (Journal<Integer> journal = Journal.open(file, i -> "key " + i)) {
                assertThat(acknowledged).allMatch(journal::contains);
                assertThat(journal.size()).isEqualTo(lines(file).size());
                assertThat(lines(file)).allMatch(l -> l.matches("\\{\"key\":\"key (\\d+)\",\"value\":\\1}"));
                int ahead = journal.size() - acknowledged.size();
                assertThat(ahead).as("written, and not said yet").isBetween(0, 4 * (round + 1));
            }
        }
        assertThat(acknowledged).hasSizeGreaterThan(20);

        int total = acknowledged.size() + 500;
        Process last = child("work", file.toString(), "every", String.valueOf(total));
        try (BufferedReader says = last.inputReader(UTF_8)) {
            List<String> said = says.lines().toList();
            assertThat(said).endsWith("end").doesNotHaveDuplicates();
            assertThat(said.subList(0, said.size() - 1)).doesNotContainAnyElementsOf(strings(acknowledged));
        }
        assertThat(last.waitFor()).isZero();
        try (Journal<Integer> journal = Journal.open(file, i -> "key " + i)) {
            assertThat(journal.recovery().wasTorn()).isFalse();
            assertThat(IntStream.range(0, total).boxed()).allMatch(journal::contains);
        }
    }

    /** Starts a process, and kills it when it has said that so many more items are done. */
    private void killAfter(int items, String sync, Set<Integer> acknowledged) throws Exception {
        Process process = child("work", file.toString(), sync, "1000000");
        StringBuilder said = new StringBuilder();
        try (BufferedReader says = process.inputReader(UTF_8)) {
            char[] some = new char[1 << 12];
            int n = 0;
            for (int lines = 0; n >= 0 && lines <= items; ) {
                n = says.read(some, 0, 64);
                lines += n < 0 ? 0 : (int) new String(some, 0, n).lines().count();
                said.append(some, 0, Math.max(0, n));
            }
            assertThat(process.toHandle().destroyForcibly()).isTrue(); // that of the process closes the pipe, too
            for (n = says.read(some); n >= 0; n = says.read(some)) {
                said.append(some, 0, n);
            }
        }
        assertThat(process.waitFor()).isNotZero();
        String whole = said.substring(0, said.lastIndexOf("\n") + 1);
        whole.lines().map(Integer::valueOf).forEach(acknowledged::add);
    }

    private static List<String> strings(Set<Integer> numbers) {
        return numbers.stream().map(String::valueOf).toList();
    }
}
