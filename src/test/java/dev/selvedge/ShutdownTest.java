package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a process that is asked to end: real processes, real signals. */
@Timeout(120)
@EnabledOnOs({OS.LINUX, OS.MAC})
class ShutdownTest {

    private static final List<String> NO_SIGNALS = List.of("--limit-modules", "java.base,java.logging");

    private static final String BY_SIGNAL = "CancelReason[kind=SHUTDOWN, message=%s was received, cause=null]";
    private static final String BY_EXIT = "CancelReason[kind=SHUTDOWN, message=the process is exiting, cause=null]";

    private static ChildJvm start(List<String> flags, String... program) throws Exception {
        return ChildJvm.start(flags, ShutdownPrograms.class, program);
    }

    private static ChildJvm start(String... program) throws Exception {
        return start(List.of(), program);
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    @Catalogue({192, 194})
    void the_first_signal_cancels_the_scope_and_the_process_exits_once_it_has_ended(String signal, int code)
            throws Exception {
        try (ChildJvm child = start("work")) {
            child.await("ready");
            child.signal(signal);

            assertThat(child.exitCode()).isEqualTo(code);
            assertThat(child.lines())
                    .containsExactlyInAnyOrder(
                            "ready",
                            "fork cleaned",
                            "body cleaned, " + BY_SIGNAL.formatted("SIG" + signal),
                            "resource closed")
                    .endsWith("resource closed");
            assertThat(child.errors()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"INT, INT, 130", "TERM, INT, 143"})
    @Catalogue({193, 194})
    void a_second_signal_during_cleanup_halts_at_once_with_the_code_of_the_first(String first, String second, int code)
            throws Exception {
        try (ChildJvm child = start("stubborn")) {
            child.await("ready");
            child.signal(first);
            child.await("cleaning"); // and it never ends
            child.signal(second);

            assertThat(child.exitCode()).isEqualTo(code);
        }
    }

    @Test
    void a_command_that_ctrl_c_at_the_terminal_has_ended_too_is_cut_off_and_has_not_failed() throws Exception {
        for (int round = 0; round < 5; round++) {
            try (ChildJvm child = start("terminal")) {
                assertThat(child.exitCode()).isEqualTo(130);
                assertThat(child.lines()).isEmpty();
                assertThat(child.errors()).isEmpty();
            }
        }
    }

    @Test
    void what_has_not_ended_when_the_grace_has_passed_is_named_and_halted() throws Exception {
        try (ChildJvm child = start("deaf")) {
            child.await("ready");
            child.signal("INT");

            assertThat(child.exitCode()).isEqualTo(130);
            assertThat(child.errors())
                    .containsPattern("the scope \"job\" has not ended, still running: .*\"deaf\""
                            + " \\(100 ms after SIGINT was received\\); halting");
        }
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    @Catalogue({195, 197})
    void where_no_handler_can_be_installed_the_shutdown_hook_cancels_the_scope_and_waits(String signal, int code)
            throws Exception {
        try (ChildJvm child = start(NO_SIGNALS, "work")) {
            child.await("ready");
            child.signal(signal);

            assertThat(child.exitCode()).isEqualTo(code);
            assertThat(child.lines())
                    .containsExactlyInAnyOrder("ready", "fork cleaned", "body cleaned, " + BY_EXIT, "resource closed");
        }
    }

    @Test
    @Catalogue(195)
    void a_signal_that_nobody_handles_stops_the_scope_by_the_hook() throws Exception {
        try (ChildJvm child = start("work")) {
            child.await("ready");
            child.signal("HUP");

            assertThat(child.exitCode()).isEqualTo(129);
            assertThat(child.lines())
                    .containsExactlyInAnyOrder("ready", "fork cleaned", "body cleaned, " + BY_EXIT, "resource closed");
        }
    }

    @Test
    @Catalogue(197)
    void a_jvm_that_gives_no_signals_away_runs_it_all_the_same() throws Exception {
        try (ChildJvm child = start(List.of("-Xrs"), "value")) {
            assertThat(child.exitCode()).isZero();
            assertThat(child.lines()).containsExactly("value 7", "main went on");
            assertThat(child.errors()).isEmpty();
        }
    }

    @Test
    @Catalogue(198)
    void one_that_a_shell_has_started_in_the_background_does_not_see_sigint_but_sigterm() throws Exception {
        try (ChildJvm shell = ChildJvm.inBackground(ShutdownPrograms.class, "work")) {
            long pid = Long.parseLong(shell.line().substring("pid ".length()));
            shell.await("ready");
            ChildJvm.signal("INT", pid);
            ChildJvm.signal("TERM", pid);

            assertThat(shell.exitCode()).isEqualTo(143);
            assertThat(shell.lines()).contains("body cleaned, " + BY_SIGNAL.formatted("SIGTERM"));
        }
    }

    @Test
    void a_failure_ends_main_with_its_stack_trace_and_code_one() throws Exception {
        try (ChildJvm child = start("failing")) {
            assertThat(child.exitCode()).isEqualTo(1);
            assertThat(child.lines()).isEmpty();
            assertThat(child.errors())
                    .startsWith("Exception in thread \"main\" java.lang.IllegalStateException: broken");
        }
    }

    @Test
    void a_second_run_is_stopped_like_the_first() throws Exception {
        try (ChildJvm child = start("two")) {
            child.await("ready");
            child.signal("INT");

            assertThat(child.exitCode()).isEqualTo(130);
            assertThat(child.lines()).contains("first", "fork cleaned").endsWith("resource closed");
        }
    }

    @Test
    @Catalogue(196)
    void after_the_run_a_signal_is_what_it_was_before() throws Exception {
        try (ChildJvm child = start("after")) {
            child.await("ready");
            child.signal("INT");

            assertThat(child.exitCode()).isEqualTo(130);
            assertThat(child.lines()).containsExactly("ended", "ready", "hook");
        }
    }

    @Test
    void when_the_last_other_thread_ends_a_scope_on_a_virtual_thread_is_stopped_and_awaited() throws Exception {
        try (ChildJvm child = start("virtual")) {
            assertThat(child.exitCode()).isZero();
            assertThat(child.lines())
                    .contains("main went on", "fork cleaned", "body cleaned, " + BY_EXIT)
                    .endsWith("resource closed");
        }
    }

    // System.exit inside: the hook waits for what can end, and not for the thread that waits for the hook.

    @ParameterizedTest
    @ValueSource(strings = {"body", "fork", "nested", "around", "outside"})
    void an_exit_from_anywhere_keeps_its_code_and_stops_the_others(String where) throws Exception {
        try (ChildJvm child = start("exit", where)) {
            assertThat(child.exitCode()).isEqualTo(3);
            assertThat(child.lines()).contains("other cleaned").doesNotContain("main went on");
            if (where.equals("nested") || where.equals("around")) {
                assertThat(child.lines()).contains("beside cleaned");
            }
            assertThat(child.errors()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cleanup", "on-cancel"})
    void an_exit_while_a_signal_is_answered_keeps_its_code(String where) throws Exception {
        try (ChildJvm child = start("exit", where)) {
            child.await("ready");
            child.signal("INT");

            assertThat(child.exitCode()).isEqualTo(3);
            assertThat(child.lines()).containsExactlyInAnyOrder("ready", "other cleaned");
            assertThat(child.errors()).isEmpty();
        }
    }
}
