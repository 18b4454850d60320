package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.ChildProcess;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The examples of child processes do what the text around them says. */
@Timeout(120)
@EnabledOnOs({OS.LINUX, OS.MAC})
class ProcessExamplesTest {

    @TempDir
    Path dir;

    private static ProcessBuilder sh(String script) {
        return new ProcessBuilder("sh", "-c", script);
    }

    @Test
    void the_output_of_git_or_what_it_says_is_wrong() {
        assertThatThrownBy(() -> ProcessExamples.diff(dir.resolve("missing").toFile()))
                .isInstanceOf(IOException.class); // no such directory, or no git
    }

    @Test
    void a_status_an_answer_to_a_failure_lines_and_bytes() throws IOException {
        List<String> log = new ArrayList<>();

        assertThat(ProcessExamples.status(sh("exit 3"))).isEqualTo(3);
        assertThat(ProcessExamples.handled(sh("echo well"))).isEqualTo("well\n");
        assertThat(ProcessExamples.handled(sh("echo ill >&2; exit 2"))).isEqualTo("sh gave 2 and said: ill\n");
        ProcessExamples.follow(sh("echo a; echo b"), log::add);
        assertThat(log).containsExactly("a", "b");
        assertThat(ProcessExamples.stream(sh("printf abc"))).isEqualTo("abc");
    }

    @Test
    void words_are_written_to_stdin_while_the_output_is_read() throws IOException {
        assertThat(ProcessExamples.sorted(List.of("b", "c", "a"))).containsExactly("a", "b", "c");
    }

    @Test
    void a_server_runs_beside_its_client_and_ends_with_the_scope() throws IOException {
        assertThat(ProcessExamples.grace(sh("exec sleep 60"), sh("echo answer")))
                .isEqualTo("answer\n");
    }

    @Test
    void another_java_that_ignores_everything_is_gone_when_the_scope_is() throws IOException {
        AtomicReference<ChildProcess> child = new AtomicReference<>();

        scope("search").deadline(ofMinutes(1)).run(s -> {
            child.set(s.process(ChildJvm.java(ChildJvm.Task.class, "27")));
            assertThat(child.get().inputReader().readLine()).isEqualTo("searching from 27"); // it spins from now on
            assertThat(child.get().isAlive()).isTrue();
        });

        assertThat(child.get().isAlive()).isFalse();
        assertThat(child.get().toHandle().isAlive()).isFalse();
    }

    @Test
    void the_main_of_the_example_is_late_and_says_so() throws IOException {
        String printed = printedBy(() -> ChildJvm.main(new String[0]));

        assertThat(printed).contains("the scope \"search\" exceeded its deadline of 2 s");
        assertThat(ProcessHandle.current().children()).isEmpty();
    }

    private interface Program {
        void run() throws IOException;
    }

    private static String printedBy(Program program) throws IOException {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            program.run();
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
