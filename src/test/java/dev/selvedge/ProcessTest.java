package dev.selvedge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.selvedge.time.VirtualClock;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Child processes that end with their scope: real ones. */
@Timeout(120)
@EnabledOnOs({OS.LINUX, OS.MAC})
class ProcessTest {

    /** Starts another like it, as often as it is told; all say their number, and none ends when it is asked to. */
    private static final String STUBBORN = """
            trap '' TERM
            echo $$
            if [ $1 -gt 1 ]; then sh "$0" $(($1 - 1)) & fi
            while :; do sleep 0.05; done
            """;

    @RegisterExtension
    final Lab lab = new Lab();

    @TempDir
    Path dir;

    private final List<Long> pids = Collections.synchronizedList(new ArrayList<>());

    @AfterEach
    void no_thread_and_no_process_is_left() {
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(t -> t.getName().startsWith("page/") || t.getName().startsWith("scope/"));
        assertThat(pids).noneMatch(ProcessTest::isRunning);
    }

    private static ProcessBuilder sh(String script, String... arguments) {
        List<String> command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    private ProcessBuilder stubborn(int generations) throws IOException {
        Path script = Files.writeString(dir.resolve("stubborn.sh"), STUBBORN);
        return new ProcessBuilder("sh", script.toString(), Integer.toString(generations));
    }

    private ScopeSpec watchedScope(String name) {
        return lab.realScope().named(name);
    }

    private ChildProcess watched(ChildProcess p) {
        pids.add(p.pid());
        return p;
    }

    private ChildProcess sleeping(Scope s) throws IOException {
        return watched(s.process(new ProcessBuilder("sleep", "60")));
    }

    /** A zombie has ended. */
    private static boolean isRunning(long pid) {
        Path stat = Path.of("/proc", Long.toString(pid), "stat");
        try {
            String line = Files.readString(stat);
            return line.charAt(line.lastIndexOf(')') + 2) != 'Z';
        } catch (IOException e) {
            return !Files.isDirectory(Path.of("/proc/self"))
                    && ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
        }
    }

    private static void awaitEnd(long pid) {
        Blocks.spinUntil(() -> !isRunning(pid));
    }

    // What it gives.

    @Test
    void the_output_and_the_status_of_a_process() throws IOException {
        ChildProcess.Result result = lab.realScope()
                .call(s -> s.process(sh("echo out; echo err >&2; exit 3")).output());

        assertThat(result.status()).isEqualTo(3);
        assertThat(result.out()).isEqualTo("out\n");
        assertThat(result.err()).isEqualTo("err\n");
        assertThat(result.outIsCut()).isFalse();
        assertThat(result.errIsCut()).isFalse();
        assertThat(result.command()).startsWith("sh", "-c");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void what_exceeds_the_bound_is_read_and_dropped_of_stdout_the_rest_and_of_stderr_the_beginning()
            throws IOException {
        ChildProcess.Result result = lab.realScope()
                .call(s -> s.process(sh("printf abcdefgh; printf 12345678 >&2")).output(3));

        assertThat(result.out()).isEqualTo("abc");
        assertThat(result.outIsCut()).isTrue();
        assertThat(result.err()).isEqualTo("678");
        assertThat(result.errIsCut()).isTrue();
        assertThat(result.status()).isZero();

        ChildProcess.Result nothing =
                lab.realScope().call(s -> s.process(sh("printf abc")).output(0));
        assertThat(nothing.out()).isEmpty();
        assertThat(nothing.outIsCut()).isTrue();
        assertThat(nothing.errIsCut()).isFalse();
    }

    @Test
    void much_more_than_a_pipe_holds_on_both_streams_holds_nobody_up() throws IOException {
        ChildProcess.Result result = lab.realScope()
                .call(s -> s.process(sh("head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero; echo end >&2"))
                        .output());

        assertThat(result.status()).isZero();
        assertThat(result.out()).hasSize(1 << 20);
        assertThat(result.err()).hasSize(1 << 20).endsWith("\0end\n");
        assertThat(result.outIsCut()).isTrue();
    }

    @Test
    void lines_come_as_they_are_written_in_the_calling_thread() throws IOException {
        List<String> lines = new ArrayList<>();
        Thread me = Thread.currentThread();

        ChildProcess.Result answered = lab.realScope().call(s -> {
            ChildProcess p = s.process(sh("echo one; read x; printf \"$x\\r\\n\\nlast\"; echo err >&2; exit 4"));
            return p.lines(line -> {
                assertThat(Thread.currentThread()).isSameAs(me);
                if (lines.isEmpty()) {
                    p.getOutputStream().write("two\n".getBytes(UTF_8));
                    p.getOutputStream().flush(); // it waits for this: so the line came before the end
                }
                lines.add(line);
            });
        });

        assertThat(lines).containsExactly("one", "two", "", "last");
        assertThat(answered.status()).isEqualTo(4);
        assertThat(answered.out()).isEmpty();
        assertThat(answered.err()).isEqualTo("err\n");
    }

    @Test
    void stderr_is_drained_while_a_line_is_worked_on() throws IOException {
        ChildProcess.Result result = watchedScope("page").call(s -> {
            ChildProcess p =
                    s.process(sh("echo one; head -c 3000000 /dev/zero >&2; echo end >&2; touch done" + " && exit 5")
                            .directory(dir.toFile()));
            return p.lines(line -> Blocks.spinUntil(() -> Files.exists(dir.resolve("done"))));
        });

        assertThat(result.status()).isEqualTo(5);
        assertThat(result.errIsCut()).isTrue();
        assertThat(result.err()).endsWith("\0end\n");
    }

    @Test
    void a_callback_that_throws_leaves_at_once_and_the_process_goes_on_to_the_end_of_its_scope() {
        IOException boom = new IOException("boom");
        AtomicReference<ChildProcess> p = new AtomicReference<>();

        assertThatThrownBy(() -> watchedScope("page").run(s -> {
                    p.set(watched(s.process(sh("echo one; exec sleep 60"))));
                    Throwable thrown = catchThrowable(() -> p.get().lines(line -> {
                        throw boom;
                    }));
                    assertThat(p.get().isAlive()).isTrue();
                    throw (IOException) thrown;
                }))
                .isSameAs(boom);
        assertThat(p.get().exitValue()).isEqualTo(143);
    }

    @Test
    void a_line_without_an_end_comes_in_pieces() throws IOException {
        List<Integer> lengths = new ArrayList<>();

        ChildProcess.Result result = lab.realScope()
                .call(s -> s.process(sh("head -c 2500000 /dev/zero")).lines(line -> lengths.add(line.length())));

        assertThat(result.status()).isZero();
        assertThat(lengths).hasSizeBetween(2, 3).allMatch(n -> n < (1 << 20) + Kept.CHUNK);
        assertThat(lengths.stream().mapToInt(n -> n).sum()).isEqualTo(2_500_000);
    }

    @Test
    void stdin_is_written_by_a_fork_while_the_output_is_read() throws IOException {
        String text = "word\n".repeat(100_000);

        String out = lab.realScope().call(s -> {
            ChildProcess cat = s.process(new ProcessBuilder("cat"));
            Fork<?> writer = s.fork(() -> {
                try (Writer in = cat.outputWriter(UTF_8)) {
                    in.write(text);
                }
            });
            String all = cat.output().orThrow().out();
            writer.join();
            return all;
        });

        assertThat(out).isEqualTo(text);
    }

    @Test
    void a_status_that_means_failure_is_an_exception_for_those_who_ask() {
        ProcessFailedException e = catchThrowableOfType(
                ProcessFailedException.class,
                () -> lab.realScope()
                        .call(s -> s.process(new ProcessBuilder("sh", "-c", "echo 'no such thing' >&2; exit 2"))
                                .output()
                                .orThrow()));

        assertThat(e)
                .hasMessage("the process \"sh -c echo 'no such thing' >&2; exit 2\" failed with exit status 2:"
                        + " no such thing");
        assertThat(e.status()).isEqualTo(2);
        assertThat(e.command()).containsExactly("sh", "-c", "echo 'no such thing' >&2; exit 2");
        assertThat(e.errorOutput()).isEqualTo("no such thing\n");
    }

    @Test
    void a_process_that_somebody_else_has_killed_has_a_status_that_names_the_signal() throws IOException {
        assertThatThrownBy(() -> lab.realScope()
                        .deadline(ofMinutes(1))
                        .run(s -> s.process(new ProcessBuilder("sh", "-c", "kill -9 $$"))
                                .output()
                                .orThrow()))
                .isInstanceOf(ProcessFailedException.class)
                .hasMessage(
                        "the process \"sh -c kill -9 $$\" failed with exit status 137 (by convention: killed by signal 9, SIGKILL)");
        assertThatThrownBy(() -> lab.realScope()
                        .run(s -> s.process(new ProcessBuilder("sh", "-c", "kill -10 $$"))
                                .lines(line -> {})
                                .orThrow()))
                .hasMessage(
                        "the process \"sh -c kill -10 $$\" failed with exit status 138 (by convention: killed by signal 10)");

        int status = lab.realScope().call(s -> {
            ChildProcess p = sleeping(s);
            p.destroy();
            return p.output().status();
        });
        assertThat(status).isEqualTo(143);
        int killed = lab.realScope().call(s -> {
            ChildProcess p = sleeping(s);
            assertThat(p.destroyForcibly()).isSameAs(p);
            return p.waitFor();
        });
        assertThat(killed).isEqualTo(137);
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void streams_that_go_elsewhere_are_empty_here_and_the_exit_is_awaited() throws IOException {
        Path out = dir.resolve("out");
        ProcessBuilder builder = sh("sleep 0.1; echo out; echo err >&2; exit 6");

        ChildProcess.Result result = lab.realScope()
                .call(s -> s.process(builder.redirectOutput(out.toFile()).redirectError(Redirect.DISCARD))
                        .output());
        assertThat(result.status()).isEqualTo(6);
        assertThat(result.out()).isEmpty();
        assertThat(out).hasContent("out");

        ChildProcess.Result lines = lab.realScope()
                .call(s -> s.process(builder.redirectOutput(out.toFile())).lines(line -> lab.note(line)));
        assertThat(lines.status()).isEqualTo(6);
        assertThat(lab.trail()).isEmpty();

        ChildProcess.Result inherited =
                lab.realScope().call(s -> s.process(sh("exit 7").inheritIO()).output());
        assertThat(inherited.status()).isEqualTo(7);

        ChildProcess.Result merged = lab.realScope()
                .call(s -> s.process(sh("echo out; echo err >&2").redirectErrorStream(true))
                        .output());
        assertThat(merged.out()).isEqualTo("out\nerr\n");
        assertThat(merged.err()).isEmpty();
    }

    @Test
    void it_is_a_process_like_any_other() throws Exception {
        lab.realScope().run(s -> {
            ChildProcess p = watched(s.process(sh("read x; echo $x; read x; echo $x >&2; read x; exit 8")));
            Process same = p;
            assertThat(same.isAlive()).isTrue();
            assertThat(same.pid()).isEqualTo(same.toHandle().pid());
            assertThat(same.info().command())
                    .hasValueSatisfying(c -> assertThat(c).contains("sh"));
            assertThat(same.supportsNormalTermination()).isTrue();
            assertThat(same.children()).isEmpty();
            assertThat(same.descendants()).isEmpty();
            assertThat(same.waitFor(1, TimeUnit.MILLISECONDS)).isFalse();
            assertThatThrownBy(same::exitValue).isInstanceOf(IllegalThreadStateException.class);
            Writer in = same.outputWriter();
            in.write("one\n");
            in.flush();
            assertThat(same.inputReader().readLine()).isEqualTo("one");
            in.write("two\n");
            in.flush();
            assertThat(same.errorReader().readLine()).isEqualTo("two");
            assertThat(same.getInputStream().available()).isZero();
            in.close();
            assertThat(same.onExit().get()).isSameAs(p);
            assertThat(same.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(same.exitValue()).isEqualTo(8);
            assertThat(same.getInputStream().read()).isEqualTo(-1);
            assertThat(same)
                    .hasToString("the process \"sh -c read x; echo $x; read x; echo $x >&2; read x; exit 8 sh\""
                            + ", pid " + p.pid());
            assertThatThrownBy(() -> in.write("late")).isInstanceOf(IOException.class);
            same.getInputStream().close();
            assertThatThrownBy(p::output).isInstanceOf(IOException.class).hasMessage("the stream was closed");
        });
    }

    @Test
    void a_fork_reads_while_the_body_waits() throws Exception {
        String text = lab.realScope().call(s -> {
            ChildProcess p = s.process(sh("echo one; sleep 0.05; echo two"));
            Fork<String> out = s.fork(() -> new String(p.getInputStream().readAllBytes(), UTF_8));
            assertThat(p.waitFor()).isZero();
            return out.join();
        });

        assertThat(text).isEqualTo("one\ntwo\n");
    }

    // Its end.

    @Test
    @Catalogue(184)
    void when_the_body_has_ended_a_process_still_alive_is_asked_to_end_and_awaited() throws IOException {
        ChildProcess p = lab.realScope().call(s -> ready(s, "trap 'echo bye > bye; exit 9' TERM", ofMinutes(1)));

        assertThat(p.exitValue()).isEqualTo(9);
        assertThat(dir.resolve("bye")).hasContent("bye");
        assertThat(lab.unhandled()).isEmpty();
    }

    /** One that has said that its traps are set. */
    private ChildProcess ready(Scope s, String traps, Duration grace) throws IOException {
        ProcessBuilder command = sh(traps + "; echo ready; while :; do sleep 0.01; done");
        ChildProcess p = watched(s.process(command.directory(dir.toFile()), grace));
        assertThat(p.inputReader().readLine()).isEqualTo("ready");
        return p;
    }

    @Test
    @Catalogue({184, 188})
    void one_that_does_not_listen_is_killed_after_the_grace_with_one_warning() throws IOException {
        ChildProcess p = watchedScope("page").call(s -> ready(s, "trap '' TERM", ofMillis(50)));

        assertThat(p.exitValue()).isEqualTo(137);
        assertThat(lab.unhandled())
                .singleElement()
                .satisfies(e -> assertThat(e)
                        .hasMessageStartingWith(
                                "the process \"sh -c trap '' TERM; echo ready; while :; do sleep 0.01; done sh\"")
                        .hasMessageEndingWith(" did not end within 50 ms of being asked to, and was killed"));
    }

    @Test
    @Catalogue(188)
    void without_a_listener_the_warning_is_one_line_of_the_log() throws IOException {
        try (Log log = Log.of("dev.selvedge")) {
            ChildProcess p = Selvedge.scope("page").call(s -> ready(s, "trap '' TERM", ofMillis(50)));

            assertThat(p.exitValue()).isEqualTo(137);
            assertThat(log.at(Level.WARNING)).hasSize(1);
        }
    }

    @Test
    void without_a_grace_it_is_killed_at_once_and_nobody_is_warned() throws IOException {
        ChildProcess p = lab.realScope().call(s -> ready(s, "trap 'exit 9' TERM", ZERO));

        assertThat(p.exitValue()).isEqualTo(137);
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue({184, 185})
    void a_deadline_that_ends_the_process_is_a_deadline_and_no_status() {
        for (Task.Of<ChildProcess, Object, Exception> way : List.<Task.Of<ChildProcess, Object, Exception>>of(
                p -> p.waitFor(),
                p -> p.waitFor(1, TimeUnit.MINUTES),
                p -> p.output().orThrow(),
                p -> p.lines(line -> {}).orThrow(),
                p -> p.getInputStream().readAllBytes(),
                p -> p.inputReader().readLine(),
                p -> p.errorReader().readLine())) {
            AtomicReference<ChildProcess> process = new AtomicReference<>();

            assertThatThrownBy(() -> watchedScope("page").deadline(ofMillis(50)).run(s -> {
                        process.set(sleeping(s));
                        Object unused = way.call(process.get());
                    }))
                    .isInstanceOf(DeadlineExceededException.class);
            assertEndedIfBegun(process.getAndSet(null));

            assertThatThrownBy(() -> watchedScope("page").deadline(ofMillis(50)).run(s -> {
                        process.set(sleeping(s));
                        Fork<?> fork = s.fork(() -> way.call(process.get()));
                        fork.join();
                    }))
                    .isInstanceOf(DeadlineExceededException.class);
            assertEndedIfBegun(process.getAndSet(null));
        }
        assertThat(lab.unhandled()).isEmpty();
    }

    /** On a machine that is very busy, a short deadline passes before the start. */
    private static void assertEndedIfBegun(ChildProcess p) {
        if (p != null) {
            assertThat(p.exitValue()).isEqualTo(143);
        }
    }

    @Test
    void what_is_only_a_part_of_the_output_is_never_taken_for_the_whole() {
        for (int i = 0; i < 20; i++) {
            AtomicReference<Fork<String>> all = new AtomicReference<>();
            assertThatThrownBy(() -> watchedScope("page").deadline(ofMinutes(1)).run(s -> {
                        ChildProcess p = watched(s.process(sh("echo part; exec sleep 60")));
                        CountDownLatch begun = new CountDownLatch(1);
                        all.set(s.fork(() -> {
                            int first = p.getInputStream().read();
                            begun.countDown();
                            return first + new String(p.getInputStream().readAllBytes(), UTF_8);
                        }));
                        begun.await();
                        Blocks.passDeadline();
                        Selvedge.checkpoint();
                    }))
                    .isInstanceOf(DeadlineExceededException.class);
            assertThat(all.get().outcome()).isInstanceOf(Outcome.Cancelled.class);
        }
    }

    @Test
    void a_cancel_from_outside_is_one() {
        CountDownLatch waiting = new CountDownLatch(1);
        AtomicReference<Scope> scope = new AtomicReference<>();
        Thread canceller = Thread.ofPlatform().start(() -> {
            try {
                waiting.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            scope.get().cancel("enough");
        });

        assertThatThrownBy(() -> watchedScope("page").run(s -> {
                    scope.set(s);
                    ChildProcess p = sleeping(s);
                    waiting.countDown();
                    p.output();
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");
        lab.watch(canceller);
        Blocks.spinUntil(() -> !canceller.isAlive());
    }

    @Test
    void a_block_around_that_is_late_ends_it_too() {
        assertThatThrownBy(() -> watchedScope("around")
                        .deadline(ofMillis(50))
                        .run(() -> watchedScope("page").run(s -> sleeping(s).output())))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageStartingWith("the scope \"around\" exceeded its deadline of 50 ms");
    }

    @Test
    void a_deadline_inside_lets_go_of_the_process_and_it_lives_on() throws IOException {
        int status = lab.realScope().call(s -> {
            ChildProcess p = watched(s.process(sh("read x; exit 3")));
            assertThatThrownBy(
                            () -> Selvedge.scope("inner").deadline(ofMillis(20)).run(() -> p.output()))
                    .isInstanceOf(DeadlineExceededException.class);
            assertThat(p.isAlive()).isTrue();
            p.getOutputStream().close();
            return p.waitFor();
        });

        assertThat(status).isEqualTo(3);
    }

    @Test
    void a_body_that_throws_ends_it() {
        assertThatThrownBy(() -> watchedScope("page").run(s -> {
                    sleeping(s);
                    throw new IllegalStateException("body");
                }))
                .hasMessage("body")
                .hasNoSuppressedExceptions();
        assertThat(pids).hasSize(1);
    }

    @Test
    void a_fork_that_fails_ends_it() {
        assertThatThrownBy(() -> watchedScope("page").run(s -> {
                    ChildProcess p = sleeping(s);
                    Fork<?> unused = s.fork(() -> {
                        throw new IOException("boom");
                    });
                    p.output();
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasRootCauseMessage("boom");
    }

    @Test
    void that_of_an_inner_scope_ends_first() throws IOException {
        int status = watchedScope("outer").call(s -> {
            ChildProcess outer = watched(s.process(sh("read x; exit 3")));
            ChildProcess inner = watchedScope("page").call(t -> sleeping(t));
            assertThat(inner.exitValue()).isEqualTo(143);
            assertThat(outer.isAlive()).isTrue();
            outer.getOutputStream().close();
            return outer.output().status();
        });

        assertThat(status).isEqualTo(3);
    }

    @Test
    void several_end_last_first_in_turn_with_resources() throws IOException {
        Path order = dir.resolve("order");
        lab.realScope().run(s -> {
            ChildProcess a = ready(s, "trap 'echo a >> order; exit' TERM", ofMinutes(1));
            AutoCloseable unused = s.use(() -> {
                assertThat(order).hasContent("c\nb");
                assertThat(a.isAlive()).isTrue();
            });
            ready(s, "trap 'echo b >> order; exit' TERM", ofMinutes(1));
            ready(s, "trap 'echo c >> order; exit' TERM", ofMinutes(1));
        });

        assertThat(order).hasContent("c\nb\na");
    }

    @Test
    void asked_to_stop_all_of_them_are_asked_before_any_is_waited_for() {
        Path order = dir.resolve("order");

        assertThatThrownBy(() -> watchedScope("page").deadline(ofMinutes(1)).run(s -> {
                    ready(s, "trap 'echo a > part; mv part order; exit' TERM", ofMinutes(1));
                    ready(s, "trap 'while [ ! -e order ]; do :; done; echo b >> order; exit' TERM", ofMinutes(1));
                    Blocks.passDeadline();
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(order).hasContent("a\nb");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void what_else_is_to_be_done_on_cancel_does_not_wait_for_the_grace() {
        CountDownLatch done = new CountDownLatch(1);

        assertThatThrownBy(() -> watchedScope("page").deadline(ofMinutes(1)).run(s -> {
                    s.onCancel(done::countDown);
                    ready(s, "trap 'while [ ! -e done ]; do sleep 0.01; done; exit' TERM", ofMinutes(1));
                    Blocks.passDeadline();
                    Selvedge.shielded(() -> {
                        done.await();
                        Files.createFile(dir.resolve("done"));
                    });
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue({184, 186})
    @EnabledOnOs(OS.LINUX)
    void a_tree_in_which_nobody_listens_is_gone_when_the_deadline_has_passed() throws IOException {
        ProcessBuilder tree = stubborn(3);

        assertThatThrownBy(() -> watchedScope("page").deadline(ofMillis(300)).run(s -> {
                    watched(s.process(tree, ofMillis(50)))
                            .lines(line -> pids.add(Long.parseLong(line)))
                            .orThrow();
                }))
                .isInstanceOf(DeadlineExceededException.class);
        assertThat(pids).noneMatch(ProcessTest::isRunning); // however many of them there were by then
        assertThat(lab.unhandled()).hasSizeLessThan(2);

        pids.clear();
        assertThatThrownBy(() -> watchedScope("page").deadline(ofMinutes(1)).run(s -> {
                    ChildProcess p = s.process(tree, ofMillis(50));
                    p.lines(line -> {
                                pids.add(Long.parseLong(line));
                                if (pids.size() == 3) {
                                    Blocks.passDeadline();
                                }
                            })
                            .orThrow();
                }))
                .isInstanceOf(DeadlineExceededException.class);
        assertThat(pids).hasSize(3).doesNotHaveDuplicates().noneMatch(ProcessTest::isRunning);
        assertThat(lab.unhandled())
                .last()
                .satisfies(e -> assertThat(e)
                        .hasMessageContaining("stubborn.sh 3\", with ")
                        .hasMessageEndingWith(
                                " descendants, did not end within 50 ms of being asked to, and was killed"));
    }

    @Test
    @Catalogue(186)
    void descendants_that_do_not_listen_are_killed_when_the_process_itself_has_ended() throws IOException {
        ProcessBuilder child = stubborn(1);
        watchedScope("page").run(s -> {
            ProcessBuilder command = sh(
                    "trap 'exit 0' TERM; sh \"$1\" 1 & while :; do sleep 0.01; done",
                    child.command().get(1));
            ChildProcess p = watched(s.process(command, ofMillis(50)));
            pids.add(Long.parseLong(p.inputReader().readLine()));
        });

        assertThat(pids).hasSize(2).noneMatch(ProcessTest::isRunning);
        assertThat(lab.unhandled())
                .singleElement()
                .satisfies(e -> assertThat(e)
                        .hasMessageContaining("the process \"sh -c trap 'exit 0' TERM; ")
                        .hasMessageContaining("descendant")
                        .hasMessageEndingWith(" did not end within 50 ms of being asked to, and was killed"));
    }

    @Test
    @Catalogue(185)
    void a_raw_interrupt_ends_the_wait_and_the_scope_the_process() throws Exception {
        AtomicReference<ChildProcess> process = new AtomicReference<>();
        CountDownLatch waiting = new CountDownLatch(1);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread owner = Thread.ofPlatform()
                .start(() ->
                        thrown.set(catchThrowable(() -> watchedScope("page").run(s -> {
                            process.set(sleeping(s));
                            waiting.countDown();
                            try {
                                process.get().waitFor();
                            } catch (InterruptedException e) {
                                lab.note("interrupted, and alive: "
                                        + process.get().isAlive());
                                throw e;
                            }
                        }))));
        waiting.await();
        owner.interrupt();
        owner.join();

        assertThat(thrown.get()).isInstanceOf(ScopeCancelledException.class);
        assertThat(lab.trail()).containsExactly("0s interrupted, and alive: true");
        assertThat(process.get().exitValue()).isEqualTo(143);
    }

    @Test
    @Catalogue(187)
    void a_reader_is_cut_off_by_the_cancel_of_its_fork_while_the_process_lives_on() throws IOException {
        int status = lab.realScope().call(s -> {
            ChildProcess p = watched(s.process(sh("echo one; read x; echo two; exit 3")));
            CountDownLatch read = new CountDownLatch(1);
            Fork<String> reader = s.fork(() -> {
                BufferedReader lines = p.inputReader();
                String one = lines.readLine();
                read.countDown();
                return one + lines.readLine();
            });
            read.await();
            assertThat(reader.cancel()).isTrue();
            assertThatThrownBy(reader::join).isInstanceOf(ScopeCancelledException.class);
            assertThat(p.isAlive()).isTrue();
            p.getOutputStream().close();
            assertThat(p.output().out()).isEqualTo("two\n");
            return p.waitFor();
        });

        assertThat(status).isEqualTo(3);
    }

    @Test
    @Catalogue(187)
    void a_reader_to_whom_no_end_of_output_comes_is_cut_off_too() {
        assertThatThrownBy(() -> watchedScope("page").deadline(ofMillis(50)).run(s -> {
                    ChildProcess yes = watched(s.process(new ProcessBuilder("yes")));
                    Fork<?> reader = s.fork(() -> yes.getInputStream().transferTo(OutputStream.nullOutputStream()));
                    reader.join();
                }))
                .isInstanceOf(DeadlineExceededException.class);
    }

    @Test
    @Catalogue(187)
    void a_writer_whom_nobody_reads_is_freed_by_the_end_of_the_process() {
        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> watchedScope("page").deadline(ofMinutes(1)).run(s -> {
                        ChildProcess p = sleeping(s);
                        CountDownLatch begun = new CountDownLatch(1);
                        Fork<?> writer = s.fork(() -> {
                            begun.countDown();
                            p.getOutputStream().write(new byte[1 << 20]);
                        });
                        begun.await();
                        Blocks.passDeadline();
                        writer.join();
                    }))
                    .isInstanceOf(DeadlineExceededException.class)
                    .hasNoSuppressedExceptions();
        }
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void closing_stdin_does_not_wait_for_a_thread_that_writes_to_it() throws Exception {
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        OutputStream pipe = new OutputStream() {
            @Override
            public void write(int b) {
                lab.note("begun");
                writing.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                lab.note("written");
            }

            @Override
            public void close() {
                lab.note("closed");
            }
        };
        ChildInput in = new ChildInput(pipe, () -> {});
        Thread writer = Thread.ofPlatform().start(() -> {
            try {
                in.write(1);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        writing.await();

        in.close();
        assertThatThrownBy(() -> {
                    go.countDown();
                    in.flush();
                })
                .isInstanceOf(IOException.class)
                .hasMessage("the stream was closed");

        writer.join();
        assertThat(lab.trail()).startsWith("0s begun", "0s written", "0s closed");
    }

    @Test
    @Catalogue(189)
    void whatever_goes_wrong_in_ending_it_is_reported_and_the_rest_is_done() throws Exception {
        Process real = new ProcessBuilder("sleep", "60").start();
        pids.add(real.pid());
        RuntimeException noTree = new UnsupportedOperationException("no tree");
        RuntimeException noSignal = new IllegalStateException("no signal");
        List<Throwable> reported = new ArrayList<>();

        new Ending(new Broken(real, noTree, noSignal), "the process \"sleep\"", ofMillis(20), reported::add).finish();

        assertThat(real.waitFor()).isEqualTo(137);
        assertThat(reported).hasSize(3).startsWith(noTree, noSignal);
        assertThat(reported.get(2))
                .hasMessage("the process \"sleep\" did not end within 20 ms of being asked to, and was killed");
    }

    /** Whose descendants nobody can find, and whom nobody can ask. */
    private static final class Broken extends Process {
        private final Process real;
        private final RuntimeException noTree;
        private final RuntimeException noSignal;
        private final ProcessHandle handle;

        Broken(Process real, RuntimeException noTree, RuntimeException noSignal) {
            this.real = real;
            this.noTree = noTree;
            this.noSignal = noSignal;
            this.handle = (ProcessHandle) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {ProcessHandle.class}, (proxy, method, args) -> {
                        if (method.getName().equals("destroy")) {
                            throw noSignal;
                        }
                        return method.invoke(real.toHandle(), args);
                    });
        }

        @Override
        public Stream<ProcessHandle> descendants() {
            throw noTree;
        }

        @Override
        public ProcessHandle toHandle() {
            return handle;
        }

        @Override
        public OutputStream getOutputStream() {
            return real.getOutputStream();
        }

        @Override
        public InputStream getInputStream() {
            return real.getInputStream();
        }

        @Override
        public InputStream getErrorStream() {
            return real.getErrorStream();
        }

        @Override
        public int waitFor() throws InterruptedException {
            return real.waitFor();
        }

        @Override
        public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
            return real.waitFor(timeout, unit);
        }

        @Override
        public int exitValue() {
            return real.exitValue();
        }

        @Override
        public boolean isAlive() {
            return real.isAlive();
        }

        @Override
        public long pid() {
            return real.pid();
        }

        @Override
        public void destroy() {
            throw noSignal;
        }
    }

    /** A daemon that has parted from its parents, and holds what it was given. */
    private static final String STRANGER = "(setsid sh -c 'echo $$; exec sleep 60' &); ";

    @Test
    @Catalogue(190)
    @EnabledOnOs(OS.LINUX)
    void who_waits_or_reads_does_not_wait_for_a_stranger_who_holds_the_output() throws IOException {
        List<Long> strangers = new ArrayList<>();
        try {
            ChildProcess.Result result = lab.realScope()
                    .call(s -> s.process(sh(STRANGER + "while [ -z \"$(ls)\" ]; do sleep 0.01; done; exit 3")
                                    .directory(dir.toFile()))
                            .lines(line -> {
                                strangers.add(Long.parseLong(line));
                                Files.createFile(dir.resolve("seen"));
                            }));
            assertThat(result.status()).isEqualTo(3);
            assertThat(strangers).hasSize(1).allMatch(ProcessTest::isRunning);

            int status = lab.realScope().call(s -> {
                ChildProcess p = s.process(sh(STRANGER + "read x; exit 4"));
                strangers.add(Long.parseLong(p.inputReader().readLine()));
                Fork<Integer> reader = s.fork(() -> p.getInputStream().read());
                p.getOutputStream().close();
                assertThat(p.waitFor()).isEqualTo(4);
                assertThat(reader.join()).isEqualTo(-1);
                return p.exitValue();
            });
            assertThat(status).isEqualTo(4);

            assertThatThrownBy(() -> watchedScope("page").deadline(ofMinutes(1)).run(s -> {
                        ChildProcess p = watched(s.process(sh(STRANGER + "exec sleep 60")));
                        p.lines(line -> {
                            strangers.add(Long.parseLong(line));
                            Blocks.passDeadline();
                        });
                    }))
                    .isInstanceOf(DeadlineExceededException.class);
            assertThat(strangers).hasSize(3);
        } finally {
            strangers.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
            strangers.forEach(ProcessTest::awaitEnd);
        }
    }

    @Test
    @Catalogue(191)
    @EnabledOnOs(OS.LINUX)
    void a_thousand_of_them_leave_no_file_open_and_no_zombie() throws IOException {
        runs(20);
        long before = openFiles();
        runs(1_000);

        Blocks.spinUntil(() -> openFiles() < before + 20); // the JDK closes what is left when it has noticed the exit
        assertThat(ProcessHandle.current().children()).isEmpty();
    }

    private static void runs(int n) throws IOException {
        for (int i = 0; i < n; i++) {
            int kind = i % 4;
            int status = Selvedge.scope().call(s -> {
                ChildProcess p = s.process(new ProcessBuilder(kind == 3 ? "cat" : "true"), ZERO);
                return switch (kind) {
                    case 0 -> p.waitFor();
                    case 1 -> p.output().status();
                    case 2 -> p.lines(line -> {}).status();
                    default -> 0; // ended by the scope
                };
            });
            assertThat(status).isZero();
        }
    }

    private static long openFiles() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Catalogue(191)
    void after_the_scope_its_streams_are_closed() throws IOException {
        ChildProcess p = lab.realScope().call(this::sleeping);

        assertThat(p.isAlive()).isFalse();
        assertThatThrownBy(() -> p.getInputStream().read()).hasMessage("the stream was closed");
        assertThatThrownBy(() -> p.getErrorStream().available()).hasMessage("the stream was closed");
        assertThatThrownBy(() -> p.getOutputStream().write(1)).hasMessage("the stream was closed");
    }

    @Test
    void a_long_scope_keeps_only_those_that_are_alive() throws IOException {
        List<java.lang.ref.WeakReference<Object>> refs = new ArrayList<>();
        lab.realScope().run(s -> {
            refs.add(new java.lang.ref.WeakReference<>(finished(s)));
            refs.add(new java.lang.ref.WeakReference<>(finished(s)));
            Object unused = finished(s);
            Blocks.awaitCollected(refs);
        });
    }

    private static ChildProcess finished(Scope s) throws IOException, InterruptedException {
        ChildProcess p = s.process(new ProcessBuilder("true"));
        assertThat(p.waitFor()).isZero();
        return p;
    }

    // Its beginning.

    @Test
    void what_cannot_be_started_is_thrown_as_it_is_and_nothing_is_left() {
        assertThatThrownBy(() -> watchedScope("page").run(s -> s.process(new ProcessBuilder("/no/such/program"))))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("/no/such/program");
    }

    @Test
    void a_command_that_is_none_is_refused_at_the_call_and_nothing_is_started() {
        Path file = dir.resolve("file");
        Map<ProcessBuilder, String> bad = new LinkedHashMap<>();
        bad.put(
                new ProcessBuilder("touch", file + "\0", "b"),
                "command[1] must have no zero character: \"" + file + "\\0\"");
        bad.put(new ProcessBuilder("\0"), "command[0] must have no zero character: \"\\0\"");
        bad.put(
                new ProcessBuilder("touch", file.toString()).directory(new File(dir + "\0x")),
                "directory must have no zero character: \"" + dir + "\\0x\"");

        bad.forEach((command, message) -> assertThatThrownBy(
                        () -> watchedScope("page").run(s -> s.process(command)))
                .isInstanceOf(IOException.class)
                .hasMessage(message));
        assertThatThrownBy(() -> watchedScope("page").run(s -> s.process(new ProcessBuilder())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("command must not be empty: it has no program");
        for (String[] words : new String[][] {{null}, {"touch", file.toString(), null}}) {
            assertThatThrownBy(() ->
                            watchedScope("page").run(s -> s.process(new ProcessBuilder(words), Duration.ofSeconds(1))))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("command[" + (words.length - 1) + "]");
        }
        assertThat(file).doesNotExist();
    }

    /** As by Ctrl-C at a terminal, which reaches the process before its scope is cancelled. */
    @Test
    void one_that_has_failed_by_itself_gives_no_status_to_a_thread_that_is_to_stop() {
        List<String> found = new ArrayList<>();
        for (String how : List.of("exit 0", "exit 3", "exit 130")) {
            assertThatThrownBy(() -> watchedScope("page").run(s -> {
                        ChildProcess p = s.process(new ProcessBuilder("sh", "-c", how));
                        Blocks.spinUntil(() -> !p.isAlive());
                        s.cancel("Ctrl-C");
                        boolean unused = Thread.interrupted(); // it is not the flag that matters
                        for (Callable<Object> wait :
                                List.<Callable<Object>>of(p::waitFor, () -> p.waitFor(1, TimeUnit.SECONDS))) {
                            try {
                                found.add(how + ": " + wait.call());
                            } catch (ScopeCancelledException e) {
                                found.add(how + ": " + e.getMessage());
                            }
                        }
                        Selvedge.checkpoint();
                    }))
                    .isInstanceOf(ScopeCancelledException.class)
                    .hasMessage("Ctrl-C");
        }
        assertThat(found)
                .containsExactly(
                        "exit 0: 0",
                        "exit 0: true",
                        "exit 3: Ctrl-C",
                        "exit 3: Ctrl-C",
                        "exit 130: Ctrl-C",
                        "exit 130: Ctrl-C");
    }

    @Test
    void in_a_scope_that_was_asked_to_stop_none_is_started() {
        Path file = dir.resolve("file");
        List<ThrowingCallable> ways = new ArrayList<>();
        assertThatThrownBy(() -> watchedScope("page").run(s -> {
                    s.cancel("stop");
                    ways.add(() -> s.process(new ProcessBuilder("touch", file.toString())));
                    for (int i = 0; i < 2; i++) { // also when the interrupt has been swallowed
                        assertThatThrownBy(ways.get(0))
                                .isInstanceOf(ScopeCancelledException.class)
                                .hasMessage("stop");
                    }
                    Selvedge.shielded(() -> assertThatThrownBy(ways.get(0))
                            .isInstanceOf(ScopeCancelledException.class)
                            .hasMessage("stop"));
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(file).doesNotExist();
    }

    @Test
    void one_that_is_being_started_when_the_scope_is_cancelled_is_ended() {
        for (int i = 0; i < 30; i++) {
            AtomicReference<Scope> scope = new AtomicReference<>();
            CountDownLatch starting = new CountDownLatch(1);
            Thread canceller = Thread.ofPlatform().start(() -> {
                try {
                    starting.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                scope.get().cancel("stop");
            });
            lab.watch(canceller);
            assertThatThrownBy(() -> watchedScope("page").run(s -> {
                        scope.set(s);
                        sleeping(s); // another one, which the cancel finds
                        starting.countDown();
                        sleeping(s).output();
                    }))
                    .isInstanceOf(ScopeCancelledException.class)
                    .hasMessage("stop");
            Blocks.spinUntil(() -> !canceller.isAlive());
        }
        assertThat(lab.unhandled()).isEmpty();
    }

    // Misuse.

    @Test
    void only_the_owner_starts_one_and_only_in_the_body() throws IOException {
        ProcessBuilder command = new ProcessBuilder("true");
        AtomicReference<Scope> scope = new AtomicReference<>();
        watchedScope("page").run(s -> {
            scope.set(s);
            assertThatThrownBy(() -> s.process(null)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> s.process(command, null)).hasMessage("grace");
            assertThatThrownBy(() -> s.process(command, ofSeconds(-1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("grace must not be negative: PT-1S");
            Fork<Throwable> fork = s.fork(() -> catchThrowable(() -> s.process(command)));
            assertThat(fork.join())
                    .isInstanceOf(WrongThreadException.class)
                    .hasMessageStartingWith("only the thread that opened the scope \"page\" can start a process in it");
            ChildProcess p = s.process(command);
            assertThatThrownBy(() -> p.output(-1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("maxBytes must not be negative: -1");
            assertThatThrownBy(() -> p.lines(null)).hasMessage("each");
            assertThatThrownBy(() -> p.waitFor(1, null)).hasMessage("unit");
        });
        assertThatThrownBy(() -> scope.get().process(command))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot start a process in the scope \"page\": its body has ended");
    }

    // On a virtual clock.

    @Test
    void on_a_virtual_clock_it_has_the_real_time_that_it_takes() throws IOException {
        VirtualClock clock = VirtualClock.jumping();
        long begin = System.nanoTime();
        String out = Selvedge.scope("page").clock(clock).deadline(ofMinutes(1)).call(s -> {
            ChildProcess p = s.process(sh("sleep 0.1; echo out"));
            return p.output().orThrow().out();
        });
        assertThat(out).isEqualTo("out\n");
        assertThat(clock.elapsed()).isLessThanOrEqualTo(Duration.ofNanos(System.nanoTime() - begin));

        assertThat(Selvedge.scope("page")
                        .clock(VirtualClock.jumping())
                        .deadline(ofMinutes(1))
                        .<Integer, IOException>call(
                                s -> s.process(sh("sleep 0.1; exit 3")).waitFor()))
                .isEqualTo(3);
        assertThat(Selvedge.scope("page")
                        .clock(VirtualClock.jumping())
                        .deadline(ofMinutes(1))
                        .<Integer, IOException>call(s -> s.process(sh("sleep 0.1; exit 3"))
                                .lines(line -> {})
                                .status()))
                .isEqualTo(3);
    }

    @Test
    @Catalogue(161)
    void as_long_as_it_is_alive_a_virtual_clock_does_not_jump_even_if_nobody_waits_for_it() throws IOException {
        VirtualClock clock = VirtualClock.jumping();
        int status = Selvedge.scope("page").clock(clock).deadline(ofMinutes(1)).call(s -> {
            ChildProcess p = s.process(sh("sleep 0.05; exit 3"));
            while (p.isAlive()) {
                Selvedge.sleep(ofMillis(5));
            }
            assertThat(clock.elapsed()).isLessThan(ofSeconds(50));
            Selvedge.sleep(ofSeconds(50)); // now it may
            return p.exitValue();
        });

        assertThat(status).isEqualTo(3);
        assertThat(clock.elapsed()).isGreaterThanOrEqualTo(ofSeconds(50));
    }

    @Test
    void on_a_virtual_clock_a_deadline_ends_it_and_the_grace_is_real() {
        VirtualClock clock = VirtualClock.jumping();
        Path bye = dir.resolve("bye");

        assertThatThrownBy(() -> Selvedge.scope("page")
                        .clock(clock)
                        .deadline(ofMillis(200))
                        .run(s -> {
                            ProcessBuilder slow = sh("trap 'sleep 0.1; echo bye > bye; exit 0' TERM; echo ready;"
                                            + " while :; do sleep 0.01; done")
                                    .directory(dir.toFile());
                            ChildProcess p = watched(s.process(slow, ofMinutes(1)));
                            p.lines(line -> Files.createFile(dir.resolve(line)));
                        }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(clock.elapsed()).isGreaterThanOrEqualTo(ofMillis(200));
        if (Files.exists(dir.resolve("ready"))) { // else it was too early for the trap
            assertThat(bye).hasContent("bye");
        }
    }

    @Test
    void on_a_clock_that_is_moved_by_hand_it_is_ended_too() throws IOException {
        ChildProcess p =
                Selvedge.scope("page").clock(VirtualClock.manual()).<ChildProcess, IOException>call(this::sleeping);

        assertThat(p.exitValue()).isEqualTo(143);
    }
}
