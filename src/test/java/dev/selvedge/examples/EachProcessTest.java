package dev.selvedge.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.selvedge.ChildJvm;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The tool as a process of its own: signals, pipes, what a kill leaves, and the script that starts it. */
@Timeout(120)
@EnabledOnOs({OS.LINUX, OS.MAC})
class EachProcessTest {

    private static final long PATIENCE_SECONDS = 60;

    @TempDir
    Path dir;

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void end_what_is_left() {
        started.forEach(EachProcessTest::kill);
    }

    // Signals.

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void a_signal_ends_the_commands_and_what_they_have_started_while_the_input_stays_open(String signal, int code)
            throws Exception {
        Process each = each("--inherit", "sh", "-c", "sleep 100 & echo $$ $!; wait", "_");
        write(each, "a\n");
        try (BufferedReader out = each.inputReader(UTF_8)) {
            List<ProcessHandle> running = new ArrayList<>();
            for (String pid : out.readLine().split(" ", -1)) {
                running.addAll(ProcessHandle.of(Long.parseLong(pid)).stream().toList());
            }
            assertThat(running).hasSize(2);

            signal(signal, each);

            assertThat(each.waitFor()).isEqualTo(code);
            assertThat(out.readLine()).isNull(); // nobody has the pipe any more
            assertThat(running).noneMatch(EachProcessTest::runs);
        }
        assertThat(errorsOf(each)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void a_signal_ends_shells_too_with_what_they_run(String signal, int code) throws Exception {
        Path told = pipe();
        Process each = each("sh", "-c", "sleep 100 & echo $PPID $$ $! > " + told + "; wait", "_");
        write(each, "a\n");
        List<ProcessHandle> running = named(told);
        assertThat(running).hasSize(3);

        signal(signal, each);

        assertThat(each.waitFor()).isEqualTo(code);
        assertThat(running).noneMatch(EachProcessTest::runs);
        assertThat(errorsOf(each)).isEmpty();
    }

    @Test
    void a_shell_ends_with_the_job() throws Exception {
        Path told = pipe();
        Process each = each("sh", "-c", "echo $PPID > " + told, "_");
        write(each, "a\n");
        List<ProcessHandle> running = named(told);

        each.getOutputStream().close();

        assertThat(each.waitFor()).isZero();
        assertThat(running).noneMatch(EachProcessTest::runs);
        assertThat(errorsOf(each)).isEmpty();
    }

    @Test
    void after_a_kill_a_shell_ends_when_its_command_has() throws Exception {
        Path told = pipe();
        Process each = each("sh", "-c", "echo $PPID $$ > " + told + "; exec sleep 0.5", "_");
        write(each, "a\n");
        List<ProcessHandle> running = named(told);

        assertThat(each.toHandle().destroyForcibly()).isTrue();

        assertThat(each.waitFor()).isEqualTo(137);
        for (ProcessHandle one : running) {
            ProcessHandle unused = one.onExit().get();
        }
    }

    private Path pipe() throws Exception {
        Path pipe = dir.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        return pipe;
    }

    /** The processes that somebody names in a pipe. Read by a process of its own, that is ended if nobody does. */
    private List<ProcessHandle> named(Path pipe) throws IOException {
        List<ProcessHandle> named = new ArrayList<>();
        try (BufferedReader told =
                start(new ProcessBuilder("cat", pipe.toString())).inputReader(UTF_8)) {
            String pids = told.readLine();
            assertThat(pids).isNotNull();
            for (String pid : pids.split(" ", -1)) {
                named.addAll(ProcessHandle.of(Long.parseLong(pid)).stream().toList());
            }
        }
        return named;
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void a_signal_ends_the_wait_for_a_line_that_does_not_come(String signal, int code) throws Exception {
        Process each = each("echo");
        write(each, "a\n");
        try (BufferedReader out = each.inputReader(UTF_8)) {
            assertThat(out.readLine()).isEqualTo("a"); // it is done, and nothing else is there to do

            signal(signal, each);

            assertThat(each.waitFor()).isEqualTo(code);
        }
        assertThat(errorsOf(each)).isEmpty();
    }

    @Test
    void what_was_done_before_a_signal_is_in_the_journal_and_what_it_has_ended_is_not() throws Exception {
        Path journal = dir.resolve("done");
        Process each =
                each("--journal", journal.toString(), "--concurrency", "1", "--inherit", "sh", "-c", command("b"), "_");
        write(each, "a\nb\nc\n");
        try (BufferedReader out = each.inputReader(UTF_8)) {
            assertThat(out.readLine()).isEqualTo("a");
            assertThat(out.readLine()).isEqualTo("b");

            signal("INT", each);

            assertThat(each.waitFor()).isEqualTo(130);
        }
        assertThat(Files.readString(journal)).isEqualTo("{\"key\":\"a\"}\n");
        assertThat(dir.resolve("done.failed")).doesNotExist();
    }

    /** A command that never ends for one line. */
    private static String command(String endless) {
        return "echo $1; test $1 != " + endless + " || exec sleep 100";
    }

    // Kill, and go on.

    @Test
    void after_a_kill_all_is_done_and_nothing_twice_that_the_journal_has() throws Exception {
        int lines = 60;
        Path input = Files.write(
                dir.resolve("lines"),
                IntStream.range(0, lines).mapToObj(i -> "line " + i).toList());
        Path journal = dir.resolve("done");
        Path ran = Files.createFile(dir.resolve("ran"));
        String[] job = {
            "--file",
            input.toString(),
            "--journal",
            journal.toString(),
            "--concurrency",
            "4",
            "--inherit",
            "sh",
            "-c",
            "echo \"$1\" >> " + ran + "; echo",
            "_"
        };
        for (int round = 1; round <= 2; round++) {
            Process each = each(job);
            try (BufferedReader out = each.inputReader(UTF_8)) {
                for (int i = 0; i < 8; i++) {
                    assertThat(out.readLine()).isNotNull();
                }
                assertThat(each.toHandle().destroyForcibly()).isTrue(); // the process's own closes the pipe
                while (out.readLine() != null) {
                    // until the commands that it has left have ended: they have the pipe, too
                }
            }
            assertThat(each.waitFor()).isEqualTo(137);
        }
        List<String> doneBefore = wholeLines(journal);
        assertThat(doneBefore).hasSizeGreaterThanOrEqualTo(8).hasSizeLessThan(lines);
        List<String> ranBefore = Files.readAllLines(ran);

        Process last = each(job);

        assertThat(last.inputReader(UTF_8).lines().count()).isEqualTo(lines - doneBefore.size());
        assertThat(last.waitFor()).isZero();
        List<String> ranLast = Files.readAllLines(ran)
                .subList(ranBefore.size(), Files.readAllLines(ran).size());
        assertThat(ranLast).hasSize(lines - doneBefore.size()).doesNotHaveDuplicates();
        assertThat(ranLast.stream().map(line -> "{\"key\":\"" + line + "\"}")).doesNotContainAnyElementsOf(doneBefore);
        assertThat(wholeLines(journal)).hasSize(lines).doesNotHaveDuplicates();
    }

    private static List<String> wholeLines(Path journal) throws IOException {
        String text = Files.readString(journal);
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    }

    @Test
    void a_journal_that_cannot_be_written_any_more_ends_the_job() throws Exception {
        Path journal = dir.resolve("done");
        List<String> command = new ArrayList<>(List.of("sh", "-c", "ulimit -f 8 && exec \"$@\"", "sh"));
        command.addAll(java("-XX:-UsePerfData")); // it would be a file, too
        command.addAll(List.of("--journal", journal.toString(), "--concurrency", "8", "true"));
        Process each = start(new ProcessBuilder(command));
        write(
                each,
                ("x".repeat(1_000) + "%d\n")
                        .repeat(20)
                        .formatted(IntStream.range(0, 20).boxed().toArray()));

        assertThat(errorsOf(each))
                .hasSize(1)
                .first()
                .asString()
                .startsWith("each: cannot write")
                .contains(journal.toString());
        assertThat(each.waitFor()).isEqualTo(2);
        assertThat(wholeLines(journal)).isNotEmpty();
    }

    // What others do with its output.

    @ParameterizedTest
    @ValueSource(strings = {"--null", "--inherit"})
    void when_its_reader_has_gone_it_ends(String option) throws Exception {
        String end = option.equals("--null") ? "tr '\\n' '\\000'" : "cat";
        Process each = start(new ProcessBuilder(piped("yes | " + end + " | \"$@\"", option, "/bin/echo")));
        try (BufferedReader out = each.inputReader(UTF_8)) {
            assertThat(out.readLine()).isEqualTo("y");
        }

        assertThat(errorsOf(each)).containsExactly("each: nobody reads standard output any more");
        assertThat(each.waitFor()).isEqualTo(1);
    }

    private static List<String> piped(String script, String... args) {
        List<String> command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
        command.addAll(java());
        command.addAll(List.of(args));
        return command;
    }

    @Test
    void commands_may_write_to_its_output_themselves() throws Exception {
        Process each = each("--inherit", "--attempts", "2", "sh", "-c", "echo out; echo err >&2; exit 3", "_");
        write(each, "a\n");
        each.getOutputStream().close();

        assertThat(each.inputReader(UTF_8).lines()).containsExactly("out", "out");
        assertThat(errorsOf(each))
                .containsExactly("err", "err", "each: \"a\": status 3, after 2 attempts", "each: 1 of 1 failed");
        assertThat(each.waitFor()).isEqualTo(1);
    }

    @Test
    void commands_have_its_environment_but_for_what_a_shell_adds() throws Exception {
        List<List<String>> environments = new ArrayList<>();
        for (String option : List.of("--null", "--inherit")) {
            Process each = each(option, "--concurrency", "1", "env", "{}");
            write(each, option.equals("--null") ? "LINE=1\0" : "LINE=1\n");
            each.getOutputStream().close();
            environments.add(each.inputReader(UTF_8)
                    .lines()
                    .filter(line -> !line.matches("(PWD|OLDPWD|SHLVL|_)=.*") && line.matches("\\w+=.*"))
                    .sorted()
                    .toList());
            assertThat(each.waitFor()).isZero();
        }

        assertThat(environments.get(0)).contains("LINE=1").isEqualTo(environments.get(1));
    }

    @Test
    void bytes_that_mean_something_to_a_shell_may_be_parts_of_letters() throws Exception {
        List<String> command = java();
        command.addAll(List.of("--concurrency", "1", "printf", "<%s>\\n"));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("LC_ALL", "C.UTF-8");
        Process each = start(builder);
        String letters = "\u00c1\u00c2\u00c3\u00c4\u00c5\u00c6\u00c7\u00c8 \u20ac \ud83d\ude00 '\u0441\u0301'";
        write(each, letters + "\n");
        each.getOutputStream().close();

        assertThat(each.inputReader(UTF_8).lines()).containsExactly("<" + letters + ">");
        assertThat(each.waitFor()).isZero();
    }

    @Test
    void progress_has_a_total_if_the_lines_are_in_a_file() throws Exception {
        Path file = Files.writeString(dir.resolve("lines"), "a\nb\n\nc\n");

        Process each = each("--progress", "--file", file.toString(), "echo");

        assertThat(each.inputReader(UTF_8).lines()).containsExactlyInAnyOrder("a", "b", "c");
        assertThat(errorsOf(each)).last().asString().startsWith("3 of 3 (100 %)");
        assertThat(each.waitFor()).isZero();
    }

    @Test
    void progress_counts_if_the_lines_come_from_standard_input() throws Exception {
        Process each = each("--progress", "echo");
        write(each, "a\nb\n");
        each.getOutputStream().close();

        assertThat(each.inputReader(UTF_8).lines()).containsExactlyInAnyOrder("a", "b");
        assertThat(errorsOf(each)).last().asString().startsWith("2, ").contains("took");
        assertThat(each.waitFor()).isZero();
    }

    // The script.

    @Test
    void the_script_starts_it_with_its_input_and_its_signals() throws Exception {
        Process each = start(script("--inherit", "sh", "-c", "echo \"$1\"; exec sleep 100", "_"));
        write(each, "a b\n");
        try (BufferedReader out = each.inputReader(UTF_8)) {
            assertThat(out.readLine()).isEqualTo("a b");

            signal("TERM", each);

            assertThat(each.waitFor()).isEqualTo(143);
        }
        assertThat(errorsOf(each)).isEmpty();
    }

    @Test
    void the_script_takes_utf_8_for_granted_where_no_locale_is_set() throws Exception {
        ProcessBuilder script = script("echo");
        script.environment().keySet().removeIf(name -> name.startsWith("LC_") || name.equals("LANG"));
        Process each = start(script);
        write(each, "für\n");
        each.getOutputStream().close();

        assertThat(each.inputReader(UTF_8).lines()).containsExactly("für");
        assertThat(each.waitFor()).isZero();
    }

    /** The script in a copy of the project in which all is built. */
    private ProcessBuilder script(String... args) throws IOException {
        Path bin = Path.of("bin").toAbsolutePath();
        assumeTrue(Files.exists(bin.resolve("each")), "not in the project");
        Path copy = Files.createDirectories(dir.resolve("a project/bin"));
        for (String name : List.of("each", "example")) {
            Files.copy(bin.resolve(name), copy.resolve(name));
            assertThat(copy.resolve(name).toFile().setExecutable(true)).isTrue();
        }
        Path root = copy.getParent();
        for (String part : List.of("src/main", "src/examples", "target/demo/classes")) {
            Files.createDirectories(root.resolve(part));
        }
        Files.createFile(root.resolve("pom.xml"));
        Files.writeString(root.resolve("target/demo/classpath"), System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(List.of(copy.resolve("each").toString()));
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        return builder;
    }

    // How it is run.

    private Process each(String... args) throws IOException {
        List<String> command = java();
        command.addAll(List.of(args));
        return start(new ProcessBuilder(command));
    }

    private static List<String> java(String... flags) {
        List<String> command = new ArrayList<>(ChildJvm.heedingSignals());
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Each.class.getName()));
        return command;
    }

    /** What it writes to standard error is in a file: nobody has to read it meanwhile. */
    private Process start(ProcessBuilder builder) throws IOException {
        File errors = dir.resolve("errors-" + started.size()).toFile();
        Process process = builder.redirectError(errors).start();
        started.add(process);
        CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS).execute(() -> kill(process));
        return process;
    }

    private List<String> errorsOf(Process each) throws Exception {
        each.waitFor();
        return Files.readAllLines(dir.resolve("errors-" + started.indexOf(each)));
    }

    private static void kill(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private static void write(Process each, String lines) throws IOException {
        each.getOutputStream().write(lines.getBytes(UTF_8));
        each.getOutputStream().flush();
    }

    private static void signal(String name, Process to) throws Exception {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(to.pid())).start();
        assertThat(kill.waitFor()).isZero();
    }

    /** A dead one for which nobody has waited yet runs no more. */
    private static boolean runs(ProcessHandle handle) {
        return handle.isAlive() && handle.info().command().isPresent();
    }
}
