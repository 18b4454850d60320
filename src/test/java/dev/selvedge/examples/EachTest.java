package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.Selvedge;
import dev.selvedge.batch.Journal;
import dev.selvedge.time.VirtualClock;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The tool inside this process, with commands that are real; {@link EachProcessTest} has it as a process of its own. */
@Timeout(60)
@EnabledOnOs({OS.LINUX, OS.MAC})
class EachTest {

    @TempDir
    Path dir;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    // Lines and arguments.

    @Test
    void the_line_is_the_last_argument_if_no_other_place_is_named() {
        int code = each("one\ntwo words\n", "--concurrency", "1", "printf", "<%s><%s>\n", "-");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("<-><one>\n<-><two words>\n");
        assertThat(err()).isEmpty();
    }

    @Test
    void braces_stand_for_the_line_wherever_they_are() {
        int code = each("a\nb\n", "--concurrency", "1", "--", "printf", "%s %s %s\n", "{}", "x{}y{}", "{");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("a xaya {\nb xbyb {\n");
    }

    @Test
    void the_command_begins_with_the_first_word_that_is_no_option_and_has_options_of_its_own() {
        int code = each("a\n", "printf", "%s %s\n", "--null");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("--null a\n");
    }

    @Test
    void what_follows_two_dashes_is_the_command() {
        assertThat(each("a\n", "--", "--null")).isEqualTo(127);
        assertThat(err()).isEqualTo("each: there is no command --null\n");
    }

    @Test
    void empty_lines_are_skipped_and_the_last_one_needs_no_end() {
        int code = each("\na\n\n\nb", "--concurrency", "1", "echo");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("a\nb\n");
    }

    @Test
    void items_may_end_with_a_zero_byte() {
        int code = each("a b\0c\nd\0\0e", "--null", "--concurrency", "1", "printf", "<%s>\n");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("<a b>\n<c\nd>\n<e>\n");
    }

    @Test
    void no_shell_sees_a_line() {
        int code = each("$HOME; echo x *\n", "echo");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("$HOME; echo x *\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                " ",
                "'",
                "''",
                "a'b \"c\"",
                "$0 `id` $(id)",
                "\\",
                "\\n\\'",
                "\n'\n",
                "-n",
                "--",
                "!",
                "#",
                "&;|<>*?~{",
                "\t\177\1"
            })
    void any_text_is_one_argument(String text) {
        int code = each("x\0", "--null", "printf", "<%s> <%s>\n", text);

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("<" + text + "> <x>\n");
        assertThat(err()).isEmpty();
    }

    @Test
    void a_line_may_be_longer_than_what_is_read_at_once() {
        String line = "0123456789".repeat(5_000);

        int code = each(line + "\n" + line, "echo");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo(line + "\n" + line + "\n");
    }

    @Test
    void lines_come_from_a_file_if_one_is_named() throws IOException {
        Path file = Files.writeString(dir.resolve("lines"), "a\nb\n");

        int code = each("not read", "--file", file.toString(), "--concurrency", "1", "echo");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("a\nb\n");
    }

    @Test
    void no_lines_are_no_failure() {
        assertThat(each("", "false")).isZero();
        assertThat(err()).isEmpty();
    }

    @Test
    void commands_have_nothing_on_their_standard_input() {
        int code = each("a\nb\n", "--concurrency", "1", "sh", "-c", "cat; echo $1", "_");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("a\nb\n");
    }

    @Test
    void of_an_endless_input_only_a_few_lines_are_held() {
        int[] reads = {0};
        InputStream endless = reading(() -> {
            reads[0]++;
            return "a\n";
        });

        int code = each(endless, "--concurrency", "2", "--max-failures", "0", "false");

        assertThat(code).isEqualTo(1);
        assertThat(reads[0]).isBetween(1, 40);
    }

    @Test
    void a_line_that_is_no_text_ends_the_job() {
        byte[] lines = {'a', '\n', (byte) 0xff, '\n'};

        int code = each(new ByteArrayInputStream(lines), "echo");

        assertThat(code).isEqualTo(2);
        assertThat(err())
                .matches("each: cannot read standard input: item 2 is no text in .*, the encoding of LC_ALL or LANG\n");
    }

    @Test
    void a_line_without_an_end_ends_the_job() {
        int code = each("a\n" + "x".repeat(1_100_000), "true");

        assertThat(code).isEqualTo(2);
        assertThat(err()).isEqualTo("each: cannot read standard input: item 2 has more than 1048576 bytes\n");
    }

    @Test
    void an_input_that_breaks_ends_the_job() {
        InputStream broken = reading(() -> {
            throw new IOException("gone");
        });

        assertThat(each(broken, "true")).isEqualTo(2);
        assertThat(err()).isEqualTo("each: cannot read standard input: gone\n");
    }

    // What is printed.

    @Test
    void what_a_command_writes_is_printed_byte_for_byte() {
        int code = each("a\n", "sh", "-c", "printf '\\377\\000x'; printf '\\376' >&2", "_");

        assertThat(code).isZero();
        assertThat(out.toByteArray()).containsExactly(0xff, 0, 'x');
        assertThat(err.toByteArray()).containsExactly(0xfe);
    }

    @Test
    void lines_of_two_commands_do_not_mix_however_many_there_are() {
        String many = "i=0; while [ $i -lt 10 ]; do echo $1$1$1; i=$((i+1)); done";

        int code = each("a\nb\nc\nd\n", "--concurrency", "4", "sh", "-c", many, "_");

        assertThat(code).isZero();
        assertThat(out().replace("\n", "")).matches("(([a-d])\\2{29}){4}");
    }

    @Test
    void more_than_a_megabyte_is_printed_in_pieces_of_whole_lines() {
        int code = each("a\nb\n", "--concurrency", "2", "sh", "-c", "yes $1$1$1$1$1$1$1 | head -n 300000", "_");

        assertThat(code).isZero();
        List<String> lines = out().lines().toList();
        assertThat(lines).hasSize(600_000);
        assertThat(lines.stream().distinct()).containsExactlyInAnyOrder("aaaaaaa", "bbbbbbb");
    }

    @Test
    void a_line_of_more_than_a_megabyte_is_printed_too() {
        int code = each("a\n", "sh", "-c", "yes | head -n 1500000 | tr -d '\\n'", "_");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("y".repeat(1_500_000));
    }

    @Test
    void much_on_both_streams_at_the_same_time_is_printed_as_it_was_written() {
        String both = "yes out | head -n 400000 & yes err | head -n 400000 >&2; wait; printf end; printf end >&2";

        int code = each("a\nb\n", "--concurrency", "1", "sh", "-c", both, "_");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo(("out\n".repeat(400_000) + "end").repeat(2));
        assertThat(err()).isEqualTo(("err\n".repeat(400_000) + "end").repeat(2));
    }

    @Test
    void what_looks_like_the_mark_of_an_end_is_none() {
        String almost = Capture.MARK.substring(0, Capture.MARK.length() - 1);
        String text = almost + almost + "\n" + almost;

        int code = each(
                "a\nb\n", "--concurrency", "1", "sh", "-c", "printf '" + text + "'; printf '" + text + "' >&2", "_");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo(text + text);
        assertThat(err()).isEqualTo(text + text);
    }

    @ParameterizedTest
    @ValueSource(ints = {-50, -43, -42, -41, -40, -20, -2, -1, 0, 1})
    void an_end_that_comes_with_the_last_of_a_megabyte_is_found(int more) {
        int size = (1 << 20) + more;

        int code = each("a\nb\n", "--concurrency", "1", "sh", "-c", "head -c " + size + " /dev/zero", "_");

        assertThat(code).isZero();
        assertThat(out.toByteArray()).isEqualTo(new byte[2 * size]);
    }

    @Test
    void a_command_may_close_its_streams_before_it_ends() {
        int code = each("a\nb\n", "--concurrency", "1", "sh", "-c", "echo $1; exec >&- 2>&-; sleep 0.02; exit 3", "_");

        assertThat(code).isEqualTo(1);
        assertThat(out()).isEqualTo("a\nb\n");
        assertThat(err()).isEqualTo("each: \"a\": status 3\neach: \"b\": status 3\neach: 2 of 2 failed\n");
    }

    @Test
    void what_a_command_has_left_behind_is_not_waited_for_and_does_not_write_for_the_next_one() {
        Path go = dir.resolve("go");
        Path late = dir.resolve("late");
        String leaves = "test $1 = b || (while ! [ -e " + go + " ]; do sleep 0.01; done; echo late; echo late >&2;"
                + " touch " + late + ") & echo $1";
        CountDownLatch shown = new CountDownLatch(1);
        Iterator<String> parts = List.of("a\n", "b\n", "").iterator();
        InputStream slow = reading(() -> {
            String part = parts.next();
            if (part.equals("b\n")) {
                shown.await();
                Files.createFile(go);
                await(late);
            }
            return part;
        });

        int code = Each.run(
                List.of("--concurrency", "1", "sh", "-c", leaves, "_"),
                slow,
                new PrintStream(counting(out, shown), true, UTF_8),
                new PrintStream(err, true, UTF_8));

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("a\nb\n");
        assertThat(err()).isEmpty();
    }

    private static void await(Path file) throws Exception {
        Process wait = new ProcessBuilder("sh", "-c", "while ! [ -e " + file + " ]; do sleep 0.01; done").start();
        assertThat(wait.waitFor()).isZero();
    }

    @Test
    void what_has_been_done_and_has_failed_is_shown_while_the_next_line_is_waited_for() {
        CountDownLatch shown = new CountDownLatch(2);
        Iterator<String> parts = List.of("a\n", "").iterator();
        InputStream slow = reading(() -> {
            String part = parts.next();
            if (part.isEmpty()) {
                shown.await();
            }
            return part;
        });

        int code = Each.run(
                List.of("sh", "-c", "echo out; exit 3", "_"),
                slow,
                new PrintStream(counting(out, shown), true, UTF_8),
                new PrintStream(counting(err, shown), true, UTF_8));

        assertThat(code).isEqualTo(1);
        assertThat(out()).isEqualTo("out\n");
        assertThat(err()).isEqualTo("each: \"a\": status 3\neach: 1 of 1 failed\n");
    }

    @Test
    void when_nobody_reads_what_is_printed_the_job_ends() {
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };

        int code = Each.run(
                List.of("--concurrency", "2", "echo"),
                endless(),
                new PrintStream(closed, false, UTF_8),
                new PrintStream(err, true, UTF_8));

        assertThat(code).isEqualTo(1);
        assertThat(err()).isEqualTo("each: nobody reads standard output any more\n");
    }

    // Failures.

    @Test
    void a_failure_is_said_with_its_line_after_what_the_command_wrote_and_the_others_go_on() {
        int code =
                each("a\nb\nc\n", "--concurrency", "1", "sh", "-c", "printf $1; printf 'why?' >&2; test $1 != b", "_");

        assertThat(code).isEqualTo(1);
        assertThat(out()).isEqualTo("abc");
        assertThat(err()).isEqualTo("why?why?\neach: \"b\": status 1\nwhy?each: 1 of 3 failed\n");
    }

    @Test
    void a_signal_that_has_ended_a_command_is_named() {
        int code = each("a\n", "sh", "-c", "kill -9 $$", "_");

        assertThat(code).isEqualTo(1);
        assertThat(err()).isEqualTo("each: \"a\": status 137, as of signal 9\neach: 1 of 1 failed\n");
    }

    @Test
    void a_command_whose_shell_is_killed_has_failed_and_the_others_go_on() {
        String killer = "echo $1; test $1 != b || kill -9 $PPID";

        int code = each("a\nb\nc\n", "--concurrency", "1", "sh", "-c", killer, "_");

        assertThat(code).isEqualTo(1);
        assertThat(out()).isEqualTo("a\nb\nc\n");
        assertThat(err())
                .isEqualTo("each: \"b\": its shell has ended: status 137, as of signal 9\neach: 1 of 3 failed\n");
    }

    @Test
    void a_long_line_and_one_with_line_breaks_are_said_in_one_short_line() {
        int code = each("a\nb\0" + "x".repeat(300) + "\0", "--null", "--concurrency", "1", "false");

        assertThat(code).isEqualTo(1);
        assertThat(err())
                .isEqualTo("each: \"a\\nb\": status 1\neach: \"" + "x".repeat(200)
                        + "...\": status 1\neach: 2 of 2 failed\n");
    }

    @Test
    void a_line_that_the_system_does_not_take_as_an_argument_has_failed_and_the_others_go_on() {
        int code = each("a\nb\0c\n" + "x".repeat(1_000_000) + "\nd\n", "--concurrency", "1", "echo");

        assertThat(code).isEqualTo(1);
        assertThat(out()).isEqualTo("a\nd\n");
        assertThat(err().lines())
                .satisfiesExactly(
                        line -> assertThat(line)
                                .startsWith("each: \"b")
                                .endsWith("\": not started: a zero byte cannot be handed over"),
                        line -> assertThat(line).endsWith(": Argument list too long"),
                        line -> assertThat(line).startsWith("each: \"xxx").endsWith("...\": status 126"),
                        line -> assertThat(line).isEqualTo("each: 2 of 4 failed"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"no-such-command", "/no/such/command", "exit"})
    void a_command_that_does_not_exist_ends_the_job(String command) {
        int code = each(endless(), "--concurrency", "4", "--attempts", "3", command);

        assertThat(code).isEqualTo(127);
        assertThat(err()).isEqualTo("each: there is no command " + command + "\n");
    }

    @Test
    void a_command_that_cannot_be_run_ends_the_job() throws IOException {
        Path file = Files.writeString(dir.resolve("text"), "echo x\n");

        int code = each(endless(), "--concurrency", "4", file.toString());

        assertThat(code).isEqualTo(126);
        assertThat(err()).isEqualTo("each: the command " + file + " cannot be run: Permission denied\n");
    }

    @Test
    void a_directory_cannot_be_run() {
        assertThat(each(endless(), dir.toString())).isEqualTo(126);
        assertThat(err()).isEqualTo("each: the command " + dir + " cannot be run: Permission denied\n");
    }

    @Test
    void a_command_that_depends_on_the_line_is_looked_for_each_time() {
        int code = each("echo\nno-such-command\n", "--concurrency", "1", "{}", "x");

        assertThat(code).isEqualTo(127);
        assertThat(out()).isEqualTo("x\n");
        assertThat(err()).isEqualTo("each: there is no command no-such-command\n");
    }

    @Test
    void a_status_that_a_shell_has_for_no_command_is_a_failure_of_the_line() {
        assertThat(each("126\n127\n", "--concurrency", "1", "sh", "-c", "exit $1", "_"))
                .isEqualTo(1);
        assertThat(err()).isEqualTo("each: \"126\": status 126\neach: \"127\": status 127\neach: 2 of 2 failed\n");
    }

    @Test
    void a_command_that_fails_is_tried_again() {
        String secondTime = "echo try; test -e " + dir + "/$1 || { touch " + dir + "/$1; echo no >&2; exit 7; }";

        int code = each("a\n", "--attempts", "3", "sh", "-c", secondTime, "_");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("try\ntry\n");
        assertThat(err()).isEqualTo("no\n");
    }

    @Test
    void a_command_that_fails_each_time_is_said_once() {
        int code = each("a\n", "--attempts", "3", "sh", "-c", "echo try; echo no >&2; exit 7", "_");

        assertThat(code).isEqualTo(1);
        assertThat(out()).isEqualTo("try\ntry\ntry\n");
        assertThat(err()).isEqualTo("no\nno\nno\neach: \"a\": status 7, after 3 attempts\neach: 1 of 1 failed\n");
    }

    @Test
    void an_attempt_that_takes_too_long_is_ended_and_has_failed() {
        int code = each("100\n", "--timeout", "50ms", "--attempts", "2", "sleep");

        assertThat(code).isEqualTo(1);
        assertThat(err()).isEqualTo("each: \"100\": did not end within 50 ms, after 2 attempts\neach: 1 of 1 failed\n");
    }

    @Test
    void after_one_that_was_ended_the_next_one_runs() {
        int code = each("100\n0\n", "--concurrency", "1", "--timeout", "300ms", "sh", "-c", "sleep $1; echo $1", "_");

        assertThat(code).isEqualTo(1);
        assertThat(out()).isEqualTo("0\n");
        assertThat(err()).isEqualTo("each: \"100\": did not end within 300 ms\neach: 1 of 2 failed\n");
    }

    @Test
    void what_a_command_has_written_before_it_is_cut_off_is_printed() {
        String oneFailsOnceTheOtherRuns = "if [ $1 = a ]; then echo begun; touch " + dir + "/ready; exec sleep 100; fi;"
                + " while ! [ -e " + dir + "/ready ]; do sleep 0.01; done; exit 1";

        int code =
                each("a\nb\n", "--concurrency", "2", "--max-failures", "0", "sh", "-c", oneFailsOnceTheOtherRuns, "_");

        assertThat(code).isEqualTo(1);
        assertThat(out()).isEqualTo("begun\n");
    }

    @Test
    void more_failures_than_allowed_end_the_job() {
        int code = each(endless(), "--concurrency", "1", "--max-failures", "2", "false");

        assertThat(code).isEqualTo(1);
        assertThat(err())
                .endsWith("each: more than 2 have failed: 0 succeeded, 3 failed, the others were cut off or not run\n");
    }

    @Test
    void as_many_failures_as_allowed_do_not() {
        assertThat(each("a\nb\n", "--max-failures", "2", "false")).isEqualTo(1);
        assertThat(err()).endsWith("each: 2 of 2 failed\n");
    }

    @Test
    void the_deadline_ends_what_runs() {
        int code = each("100\n100\n", "--concurrency", "1", "--deadline", "200ms", "sleep");

        assertThat(code).isEqualTo(1);
        assertThat(err())
                .isEqualTo("each: the deadline of 200 ms has passed: 0 succeeded, 0 failed,"
                        + " the others were cut off or not run\n");
    }

    @Test
    void the_deadline_ends_the_wait_for_a_line() {
        VirtualClock clock = VirtualClock.jumping();
        InputStream tomorrow = reading(() -> {
            Selvedge.sleep(Duration.ofDays(1));
            return "";
        });

        int code = scope().clock(clock).call(() -> each(tomorrow, "--deadline", "5min", "no-such-command"));

        assertThat(code).isEqualTo(1);
        assertThat(clock.elapsed()).isEqualTo(Duration.ofMinutes(5));
        assertThat(err())
                .isEqualTo("each: the deadline of 5 min has passed: 0 succeeded, 0 failed,"
                        + " the others were cut off or not run\n");
    }

    // The journal.

    @Test
    void lines_that_are_done_are_not_run_again() throws IOException {
        Path journal = dir.resolve("done");
        String[] options = {"--journal", journal.toString(), "--concurrency", "1"};
        assertThat(each("a\nb\nc\na\n", with(options, "sh", "-c", "echo run $1; test $1 != b", "_")))
                .isEqualTo(1);
        assertThat(out()).isEqualTo("run a\nrun b\nrun c\n");
        assertThat(Files.readString(dir.resolve("done.failed")))
                .isEqualTo("{\"key\":\"b\",\"error\":\"dev.selvedge.examples.Failed: status 1\"}\n");
        out.reset();
        err.reset();

        int code = each("a\nb\nc\nd\n", with(options, "echo", "again"));

        assertThat(code).isZero();
        assertThat(out()).isEqualTo("again b\nagain d\n");
        assertThat(err()).isEmpty();
        assertThat(Files.readAllLines(journal))
                .containsExactly("{\"key\":\"a\"}", "{\"key\":\"c\"}", "{\"key\":\"b\"}", "{\"key\":\"d\"}");
    }

    @Test
    void the_journal_has_the_last_attempt_alone() throws IOException {
        Path journal = dir.resolve("done");

        int code = each("a\n", "--journal", journal.toString(), "--attempts", "2", "false");

        assertThat(code).isEqualTo(1);
        assertThat(Files.readString(dir.resolve("done.failed")))
                .isEqualTo("{\"key\":\"a\",\"error\":\"dev.selvedge.examples.Failed: status 1, after 2 attempts\"}\n");
    }

    @Test
    void a_command_that_does_not_exist_is_no_failure_of_a_line() {
        Path journal = dir.resolve("done");

        int code = each("a\n", "--journal", journal.toString(), "no-such-command");

        assertThat(code).isEqualTo(127);
        assertThat(dir.resolve("done.failed")).doesNotExist();
    }

    @Test
    void a_journal_that_cannot_be_opened_is_an_error_before_anything_is_run() {
        int code = each("a\n", "--journal", dir + "/no/done", "echo");

        assertThat(code).isEqualTo(2);
        assertThat(out()).isEmpty();
        assertThat(err())
                .isEqualTo("each: cannot open the journal " + dir + "/no/done: there is no directory " + dir + "/no\n");
    }

    @Test
    void a_journal_that_is_in_use_is_an_error_before_anything_is_run() {
        Path journal = dir.resolve("done");
        try (Journal<String> other = Journal.open(journal, line -> line)) {
            assertThat(each("a\n", "--journal", journal.toString(), "echo")).isEqualTo(2);
            assertThat(other.size()).isZero();
        }

        assertThat(out()).isEmpty();
        assertThat(err())
                .isEqualTo("each: the journal " + journal + " is in use in this process: wait until that is closed,"
                        + " or use another file\n");
    }

    // Bad arguments.

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --fast echo                 | there is no option --fast
        -P 4 echo                   | there is no option -P
        --file                      | --file needs a file after it
        --file '' echo              | --file needs the path of a file: "" is none
        --journal                   | --journal needs a file after it
        --concurrency               | --concurrency needs a number after it
        --concurrency many echo     | --concurrency needs a whole number such as 8: "many" is none
        --concurrency -1 echo       | --concurrency needs a whole number such as 8: "-1" is none
        --concurrency 0 echo        | --concurrency needs at least 1: "0"
        --concurrency 1234567890 x  | --concurrency needs a whole number such as 8: "1234567890" is none
        --attempts 0 echo           | --attempts needs at least 1: "0"
        --attempts 1.5 echo         | --attempts needs a whole number such as 8: "1.5" is none
        --max-failures              | --max-failures needs a number after it
        --max-failures none echo    | --max-failures needs a whole number such as 8: "none" is none
        --deadline                  | --deadline needs a time after it, such as 5s
        --deadline 5 echo           | --deadline needs a time such as 500ms, 5s or 2min: "5" is none
        --deadline 0s echo          | --deadline needs more than no time: "0s"
        --timeout echo              | --timeout needs a time such as 500ms, 5s or 2min: "echo" is none
        --timeout 0ms echo          | --timeout needs more than no time: "0ms"
        --concurrency 4             | there is no command to run
        --                          | -- needs a command after it
        -- '' a                     | the command has no name: ""
        """)
    void a_bad_argument_is_named_and_nothing_is_run(String arguments, String message) {
        String[] words = arguments.split(" +");
        for (int i = 0; i < words.length; i++) {
            words[i] = words[i].equals("''") ? "" : words[i];
        }

        int code = each("a\n", words);

        assertThat(code).isEqualTo(2);
        assertThat(err()).isEqualTo("each: " + message + "\neach: for help: each --help\n");
        assertThat(out()).isEmpty();
    }

    @Test
    void without_arguments_there_is_no_command() {
        assertThat(each("a\n")).isEqualTo(2);
        assertThat(err()).startsWith("each: there is no command to run\n");
    }

    @Test
    void a_file_that_is_not_there_is_an_error() {
        assertThat(each("a\n", "--file", "/no/such/file", "echo")).isEqualTo(2);
        assertThat(err()).isEqualTo("each: cannot read /no/such/file: there is no such file\n");
    }

    @Test
    void a_directory_is_no_file_of_lines() {
        assertThat(each("a\n", "--file", dir.toString(), "echo")).isEqualTo(2);
        assertThat(err()).isEqualTo("each: cannot read " + dir + ": it is a directory\n");
    }

    @Test
    void help_is_the_usage_and_nothing_is_run() {
        int code = each("a\n", "--concurrency", "4", "--help", "echo");

        assertThat(code).isZero();
        assertThat(out()).isEqualTo(EachArguments.USAGE);
        assertThat(err()).isEmpty();
    }

    @Test
    void help_after_the_command_is_the_command_s() {
        assertThat(each("a\n", "echo", "--", "--help")).isZero();
        assertThat(out()).isEqualTo("-- --help a\n");
    }

    // How it is run.

    private int each(String lines, String... args) {
        return each(new ByteArrayInputStream(lines.getBytes(UTF_8)), args);
    }

    private int each(InputStream lines, String... args) {
        return Each.run(List.of(args), lines, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
    }

    private static String[] with(String[] options, String... command) {
        String[] all = new String[options.length + command.length];
        System.arraycopy(options, 0, all, 0, options.length);
        System.arraycopy(command, 0, all, options.length, command.length);
        return all;
    }

    private static InputStream endless() {
        return reading(() -> "a\n");
    }

    /** A stream that gives one part after the other, until an empty one. */
    private static InputStream reading(Callable<String> parts) {
        return new InputStream() {
            @Override
            public int read() {
                throw new UnsupportedOperationException("one by one");
            }

            @Override
            public int read(byte[] b, int off, int len) throws IOException {
                try {
                    byte[] part = parts.call().getBytes(UTF_8);
                    System.arraycopy(part, 0, b, off, part.length);
                    return part.length == 0 ? -1 : part.length;
                } catch (IOException | RuntimeException e) {
                    throw e;
                } catch (Exception e) {
                    throw new IOException(e);
                }
            }
        };
    }

    /** Passes on, and counts what is written. */
    private static OutputStream counting(OutputStream to, CountDownLatch writes) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                to.write(b);
            }

            @Override
            public void write(byte[] b, int off, int len) throws IOException {
                to.write(b, off, len);
                if (new String(b, off, len, UTF_8).endsWith("\n")) {
                    writes.countDown();
                }
            }
        };
    }

    private String out() {
        return out.toString(UTF_8);
    }

    private String err() {
        return err.toString(UTF_8);
    }
}
