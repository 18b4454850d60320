package dev.selvedge.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.selvedge.ChildJvm;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is taken for a terminal, asked of made-up systems, and of real ones in a JVM of its own. */
@Timeout(120)
@Tag("real")
class TerminalTest {

    private static final Map<String, String> XTERM = Map.of("TERM", "xterm");

    @TempDir
    Path folder;

    // Made up.

    @Test
    void a_terminal_has_the_width_that_it_tells() {
        assertThat(width("24 132")).isEqualTo(132);
        assertThat(width("24 132\n")).isEqualTo(132);
    }

    @Test
    void a_terminal_that_knows_no_width_has_the_usual_one() {
        assertThat(width("0 0")).isEqualTo(80);
        assertThat(width("1 9")).isEqualTo(80);
        assertThat(width("1 10")).isEqualTo(10);
    }

    private static int width(String answer) {
        return Objects.requireNonNull(Terminal.of(XTERM, () -> answer)).columns();
    }

    @Test
    void whatever_is_no_answer_is_no_terminal() {
        assertThat(Terminal.of(XTERM, () -> null)).isNull();
        for (String answer : List.of("", "24", "not a tty", "24 -80", "24 999999999999")) {
            assertThat(Terminal.of(XTERM, () -> answer)).as(answer).isNull();
        }
    }

    @Test
    void a_system_that_cannot_be_asked_has_no_terminal() {
        for (Exception e : List.of(
                new IOException("no sh"),
                new UncheckedIOException(new IOException()),
                new SecurityException(),
                new UnsupportedOperationException())) {
            assertThat(Terminal.of(XTERM, () -> {
                        if (e instanceof IOException io) {
                            throw io;
                        }
                        throw (RuntimeException) e;
                    }))
                    .as("%s", e)
                    .isNull();
        }
    }

    @Test
    void the_environment_can_ask_for_lines_and_then_nobody_is_asked() {
        for (Map<String, String> env : List.of(
                Map.<String, String>of(),
                Map.of("TERM", ""),
                Map.of("TERM", "dumb"),
                Map.of("TERM", "xterm", "CI", "true"),
                Map.of("TERM", "xterm", "CI", "1"))) {
            assertThat(Terminal.of(env, () -> {
                        throw new AssertionError("asked");
                    }))
                    .as("%s", env)
                    .isNull();
        }
        assertThat(Terminal.of(Map.of("TERM", "xterm", "CI", "false"), () -> "24 80"))
                .isNotNull();
        assertThat(Terminal.of(Map.of("TERM", "xterm", "CI", ""), () -> "24 80"))
                .isNotNull();
    }

    @Test
    void no_color_is_for_colours_alone() {
        assertThat(Terminal.of(XTERM, () -> "24 80")).matches(Terminal::colours);
        assertThat(Terminal.of(Map.of("TERM", "xterm", "NO_COLOR", ""), () -> "24 80"))
                .matches(Terminal::colours);
        assertThat(Terminal.of(Map.of("TERM", "xterm", "NO_COLOR", "1"), () -> "24 80"))
                .matches(t -> !t.colours());
    }

    @Test
    void blocks_are_for_those_who_know_them() {
        assertThat(new Terminal(80, true, StandardCharsets.UTF_8).unicode()).isTrue();
        assertThat(new Terminal(80, true, StandardCharsets.US_ASCII).unicode()).isFalse();
    }

    // In a JVM of its own.

    @Test
    void on_a_terminal_a_bar_reaches_a_hundred_percent() throws Exception {
        String screen = onTerminal("stty cols 100; ", everything(), "all");

        assertThat(drawn(screen))
                .hasSize(51)
                .allSatisfy(line -> assertThat(line).startsWith("grading "));
        assertThat(drawn(screen).get(20)).contains(" 40% ", "20/50");
        assertThat(drawn(screen).get(50)).contains("100%", "50/50", "1.0/s").endsWith("\nthe data\n");
        assertThat(drawn(screen).get(20)).hasSize(99);
    }

    @Test
    void a_job_that_is_cut_off_leaves_the_terminal_on_a_fresh_line() throws Exception {
        String screen = onTerminal("", everything(), "cut");

        assertThat(drawn(screen)).hasSize(22);
        assertThat(drawn(screen).get(21)).contains(" 44% ", "22/50").endsWith("\nthe data\n");
    }

    @Test
    void ctrl_c_still_runs_the_shutdown_hooks() throws Exception {
        String screen = onTerminal("", everything(), "ctrl-c", 128 + 2);

        assertThat(drawn(screen)).hasSize(21);
        assertThat(screen).endsWith("\nthe hook\n");
    }

    @Test
    void a_call_that_ctrl_c_cancels_ends_its_bar_and_leaves_a_fresh_line() throws Exception {
        String screen = onTerminal("", everything(), "job", 128 + 2);

        List<String> drawn = drawn(screen);
        assertThat(drawn.get(drawn.size() - 1))
                .startsWith("grading ")
                .contains("21/50")
                .endsWith("\n");
        assertThat(screen).doesNotContain("Exception");
    }

    @Test
    void a_bar_needs_no_terminal_but_at_standard_error() throws Exception {
        Path out = folder.resolve("out");
        String screen = onTerminal("exec >" + quoted(out) + " </dev/null; ", everything(), "all");

        assertThat(drawn(screen)).hasSize(51);
        assertThat(drawn(screen).get(50)).contains("100%");
        assertThat(out).hasContent("the data");
    }

    @Test
    void standard_error_in_a_file_has_lines_though_the_rest_is_a_terminal() throws Exception {
        Path err = folder.resolve("err");
        String screen = onTerminal("exec 2>" + quoted(err) + "; ", everything(), "all");

        assertThat(screen).isEqualTo("the data\n");
        assertThat(Files.readString(err)).isEqualTo(lines());
    }

    @Test
    void without_the_library_a_terminal_has_lines() throws Exception {
        assertThat(onTerminal("", without("progressbar"), "all")).isEqualTo(lines() + "the data\n");
    }

    @Test
    void with_half_of_the_library_too() throws Exception {
        assertThat(onTerminal("", without("jline"), "all")).isEqualTo(lines() + "the data\n");
    }

    @Test
    void a_terminal_that_wants_no_drawing_has_lines() throws Exception {
        assertThat(onTerminal("TERM=dumb; ", everything(), "all")).isEqualTo(lines() + "the data\n");
        assertThat(onTerminal("CI=true; export CI; ", everything(), "all")).isEqualTo(lines() + "the data\n");
    }

    @Test
    void a_pipe_has_lines_and_no_control_characters() throws Exception {
        Path out = folder.resolve("out");
        Process jvm = clean(new ProcessBuilder(java(everything(), "all")))
                .redirectInput(new File("/dev/null"))
                .redirectOutput(out.toFile())
                .start();
        String err = new String(jvm.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(jvm.waitFor()).isZero();
        assertThat(err.replace(System.lineSeparator(), "\n")).isEqualTo(lines());
        assertThat(out).hasContent("the data");
    }

    private static String lines() {
        return """
                grading: 0 of 50 (0 %)
                grading: 10 of 50 (20 %), 1.0/s, 40 s left
                grading: 20 of 50 (40 %), 1.0/s, 30 s left
                grading: 30 of 50 (60 %), 1.0/s, 20 s left
                grading: 40 of 50 (80 %), 1.0/s, 10 s left
                grading: 50 of 50 (100 %), 1.0/s
                """;
    }

    /** What is drawn from one return to the left to the next, without what controls the drawing. */
    private static List<String> drawn(String screen) {
        return Arrays.stream(screen.split("(?=\r)"))
                .map(s -> s.replaceAll("\u001b\\[\\??\\d*[a-zA-Z]|\r", ""))
                .toList();
    }

    private String onTerminal(String before, String classPath, String how) throws Exception {
        return onTerminal(before, classPath, how, 0);
    }

    /** All that a pseudo-terminal shows, its ends of lines as a program writes them. */
    private String onTerminal(String before, String classPath, String how, int exit) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "no script, so no pseudo-terminal");
        Path script = folder.resolve("job.sh");
        Files.writeString(
                script,
                before + java(classPath, how).stream().map(TerminalTest::quoted).collect(Collectors.joining(" ")));
        List<String> command = new ArrayList<>(ChildJvm.heedingSignals());
        command.addAll(List.of("/usr/bin/script", "-qec", "sh " + quoted(script), "/dev/null"));
        Process terminal = clean(new ProcessBuilder(command))
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .start();
        String screen = new String(terminal.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(terminal.waitFor()).as(screen).isEqualTo(exit);
        return screen.replace("^D\b\b", "").replace("\r\n", "\n");
    }

    private static ProcessBuilder clean(ProcessBuilder builder) {
        Map<String, String> env = builder.environment();
        env.keySet().removeAll(List.of("CI", "NO_COLOR", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        env.put("TERM", "xterm");
        env.put("SHELL", "/bin/sh");
        return builder;
    }

    private static List<String> java(String classPath, String how) {
        return new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dstderr.encoding=UTF-8",
                "-cp",
                classPath,
                BarMain.class.getName(),
                how));
    }

    private static String everything() {
        return System.getProperty("java.class.path");
    }

    private static String without(String jar) {
        String rest = Arrays.stream(everything().split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).getFileName().toString().contains(jar))
                .collect(Collectors.joining(File.pathSeparator));
        assertThat(rest).isNotEqualTo(everything());
        return rest;
    }

    private static String quoted(@Nullable Object word) {
        return "'" + word + "'";
    }
}
