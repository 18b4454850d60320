package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.Jvm.Signal;
import dev.selvedge.time.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A main scope whose process is a fake, and the handle that stops one by hand. */
@Timeout(60)
class MainScopeTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final FakeJvm jvm = new FakeJvm(lab.clock());
    private final MainProcess process = new MainProcess(jvm);

    private MainScope main(ScopeSpec spec) {
        return MainScope.of(spec).in(process);
    }

    private MainScope main() {
        return main(lab.scope("job"));
    }

    private static CancelReason shutdown(String message) {
        return new CancelReason(CancelReason.Kind.SHUTDOWN, message, null);
    }

    private static void ends(String how, Throwable thrown) {
        assertThat(thrown).isInstanceOf(FakeJvm.Ended.class).hasMessage(how);
    }

    // Without a signal.

    @Test
    void without_a_signal_it_is_a_scope_like_any_other_and_leaves_nothing_behind() throws Exception {
        List<Object> inside = new ArrayList<>();

        String value = main().call((Scope s) -> {
            inside.addAll(jvm.handled());
            inside.addAll(jvm.hooks());
            return s.fork(() -> "value").join();
        });

        assertThat(value).isEqualTo("value");
        assertThat(inside).hasSize(3).startsWith(Signal.SIGINT, Signal.SIGTERM);
        assertThat(jvm.handled()).isEmpty();
        assertThat(jvm.hooks()).isEmpty();
        assertThat(lab.clock().pending()).isEmpty();
        assertThat(jvm.ends()).isEmpty();
    }

    @Test
    void a_failure_leaves_as_it_is_and_leaves_nothing_behind() {
        IOException broken = new IOException("broken");

        assertThatThrownBy(() -> main().run(s -> {
                    throw broken;
                }))
                .isSameAs(broken);
        assertThatThrownBy(() -> main().run(s -> {
                    Fork<?> unused = s.fork(() -> {
                        throw broken;
                    });
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasCause(broken);
        assertThat(jvm.handled()).isEmpty();
        assertThat(jvm.hooks()).isEmpty();
    }

    @Test
    void a_handler_that_was_there_before_is_put_back() {
        List<String> before = new ArrayList<>();
        Runnable unused = jvm.handle(Signal.SIGINT, () -> before.add("before"));

        main().run(s -> {});
        jvm.receive(Signal.SIGINT);

        assertThat(before).containsExactly("before");
        assertThat(jvm.handled()).containsExactly(Signal.SIGINT);
    }

    @Test
    void a_second_one_at_the_same_time_is_refused_and_one_after_the_other_is_not() {
        main().run(s -> assertThatThrownBy(() -> main(lab.scope("second")).run(t -> lab.note("ran")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("a main scope has the signals of this process already: fork into that one, or have"
                        + " the scope \"second\" stopped by a Shutdown"));
        main().run(s -> lab.note("after"));

        assertThat(lab.trail()).containsExactly("0s after");
        assertThat(jvm.handled()).isEmpty();
    }

    // With one.

    @Test
    @Catalogue({192, 194})
    void a_signal_cancels_body_and_forks_at_once_and_the_process_exits_when_they_have_ended() {
        List<CancelReason> reasons = new ArrayList<>();

        Throwable ended = catchThrowable(() -> main().run(s -> {
            Fork<?> fork = s.fork(() -> cleaningUp("fork", ofSeconds(2)));
            Blocks.after(s, ofSeconds(1), () -> jvm.receive(Signal.SIGTERM));
            try {
                cleaningUp("body", ofSeconds(3));
            } finally {
                reasons.add(((Outcome.Cancelled<?>) fork.outcome()).reason());
            }
        }));

        ends("exit 143", ended);
        assertThat(reasons).containsExactly(shutdown("SIGTERM was received"));
        assertThat(lab.trail())
                .containsExactlyInAnyOrder("1s fork cut off", "1s body cut off", "3s fork cleaned", "4s body cleaned");
        assertThat(lab.events(ScopeEvent.ScopeCancelled.class))
                .extracting(ScopeEvent.ScopeCancelled::reason)
                .contains(shutdown("SIGTERM was received"));
        assertThat(lab.clock().pending()).isEmpty();
        assertThat(jvm.ends()).isEmpty();
    }

    private void cleaningUp(String who, Duration d) {
        try {
            lab.sleep(who, ofHours(1));
        } finally {
            Selvedge.shielded(() -> Selvedge.sleep(d));
            lab.note(who + " cleaned");
        }
    }

    @Test
    void a_signal_that_comes_before_the_scope_is_open_keeps_the_body_from_running() {
        ScopeSpec early = lab.scope("job").listener(e -> {
            if (e instanceof ScopeEvent.ScopeOpened) {
                jvm.receive(Signal.SIGINT);
            }
        });

        ends("exit 130", catchThrowable(() -> main(early).run(s -> lab.note("ran"))));

        assertThat(lab.trail()).isEmpty();
    }

    @Test
    void a_body_that_returns_all_the_same_loses_its_value_to_the_exit() {
        List<Object> lost = new ArrayList<>();

        Throwable ended =
                catchThrowable(() -> main(lab.scope("job").onDiscard(lost::add)).call((Scope s) -> {
                    jvm.receive(Signal.SIGINT);
                    return "value";
                }));

        ends("exit 130", ended);
        assertThat(lost).containsExactly("value");
    }

    @Test
    void what_goes_wrong_while_the_scope_is_stopped_is_logged() {
        IOException broken = new IOException("disk full");

        try (Log log = Log.of("dev.selvedge")) {
            ends(
                    "exit 130",
                    catchThrowable(() -> main().run(s -> {
                        jvm.receive(Signal.SIGINT);
                        throw broken;
                    })));

            assertThat(log.at(Level.WARNING))
                    .containsExactly("the scope \"job\" was to stop, since SIGINT was received,"
                            + " and something went wrong meanwhile");
            assertThat(log.thrown()).containsExactly(broken);
        }
    }

    @Test
    @Catalogue(193)
    void a_second_signal_halts_with_the_code_of_the_first() {
        ends(
                "exit 143",
                catchThrowable(() -> main().run(s -> {
                    jvm.receive(Signal.SIGTERM);
                    assertThat(jvm.ends()).isEmpty();
                    jvm.receive(Signal.SIGINT);
                    assertThat(jvm.ends()).containsExactly("halt 143");
                })));
    }

    @Test
    @Catalogue(196)
    void a_signal_adds_nothing_to_a_scope_that_was_cancelled_already_but_the_next_one_does_not_begin() {
        assertThatThrownBy(() -> main().run(s -> {
                    s.cancel("enough");
                    jvm.receive(Signal.SIGINT);
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");
        assertThat(lab.clock().pending()).isEmpty();

        ends("exit 130", catchThrowable(() -> main().run(s -> lab.note("ran"))));
        main().run(s -> lab.note("told once"));
        assertThat(lab.trail()).containsExactly("0s told once");
    }

    @Test
    @Catalogue(196)
    void a_signal_before_a_scope_that_cannot_be_opened_keeps_the_next_one_from_beginning() {
        Deadline passed = lab.clock().after(ZERO);
        jvm.receiveAtOnce();

        assertThatThrownBy(() -> main(lab.scope("late").deadline(passed)).run(s -> lab.note("ran")))
                .isInstanceOf(DeadlineExceededException.class);
        ends("exit 143", catchThrowable(() -> main().run(s -> lab.note("ran"))));

        assertThat(lab.trail()).isEmpty();
    }

    @Test
    @Catalogue(196)
    void a_signal_adds_nothing_to_a_scope_that_is_ending_and_a_second_one_halts() {
        String value = main().call((Scope s) -> {
            AutoCloseable unused = s.use(() -> {
                jvm.receive(Signal.SIGINT);
                assertThat(jvm.ends()).isEmpty();
                jvm.receive(Signal.SIGINT);
            });
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(jvm.ends()).containsExactly("halt 130");
    }

    @Test
    void when_the_grace_has_passed_one_line_says_what_still_runs_and_the_process_is_halted() {
        try (Log log = Log.of("dev.selvedge")) {
            ends(
                    "exit 130",
                    catchThrowable(() -> main().grace(ofSeconds(10)).run(s -> {
                        Fork<?> done = s.fork("done", () -> "done");
                        Fork<?> deaf = s.fork("deaf", () -> {
                            Blocks.compute(lab, ofSeconds(9));
                            assertThat(jvm.ends()).isEmpty();
                            Blocks.compute(lab, ofMillis(1500)); // a second more is for the log
                            Blocks.spinUntil(() -> !jvm.ends().isEmpty());
                        });
                        done.join();
                        jvm.receive(Signal.SIGINT);
                        deaf.join();
                    })));

            assertThat(jvm.ends()).containsExactly("halt 130");
            assertThat(log.at(Level.WARNING))
                    .containsExactly("the scope \"job\" has not ended, still running: \"deaf\""
                            + " (10 s after SIGINT was received); halting");
        }
    }

    @Test
    void with_a_grace_of_zero_what_runs_is_interrupted_and_not_waited_for() {
        try (Log log = Log.of("dev.selvedge")) {
            ends(
                    "exit 130",
                    catchThrowable(() -> main().grace(ZERO).run(s -> {
                        jvm.receive(Signal.SIGINT);
                        assertThat(Blocks.flag()).isTrue();
                        Blocks.compute(lab, ofMillis(500));
                        Blocks.spinUntil(() -> !jvm.ends().isEmpty());
                    })));

            assertThat(log.at(Level.WARNING))
                    .containsExactly("the scope \"job\" has not ended, still running: the body"
                            + " (0 ns after SIGINT was received); halting");
        }
    }

    // The process exits otherwise.

    @Test
    @Catalogue(195)
    void when_the_process_begins_to_exit_the_hook_cancels_the_scope_and_waits_and_the_owner_stays() throws Exception {
        List<Thread> hooks = new ArrayList<>();
        AtomicBoolean closed = new AtomicBoolean();

        Throwable ended = catchThrowable(() -> main().run(s -> {
            AutoCloseable unused = s.use(() -> closed.set(true));
            hooks.addAll(jvm.beginExit());
            Blocks.spinUntil(s::isCancelled);
            lab.sleep("body", ofHours(1));
        }));
        for (Thread hook : hooks) {
            hook.join();
        }

        ends("stay", ended);
        assertThat(hooks).hasSize(1);
        assertThat(closed).isTrue();
        assertThat(lab.events(ScopeEvent.ScopeCancelled.class))
                .extracting(ScopeEvent.ScopeCancelled::reason)
                .containsExactly(shutdown("the process is exiting"));
    }

    @Test
    void none_begins_when_the_process_is_exiting() {
        List<Thread> none = jvm.beginExit();

        assertThatThrownBy(() -> main().run(s -> lab.note("ran")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the scope \"job\" cannot begin: the process is exiting");
        assertThat(none).isEmpty();
        assertThat(lab.trail()).isEmpty();
        assertThat(jvm.handled()).isEmpty();
    }

    // By hand.

    private final Shutdown stopping = new Shutdown();

    private MainScope byHand() {
        return main().stoppedBy(stopping);
    }

    /** Runs a body by hand, and something beside it, both on the lab's clock. */
    private Throwable beside(Task.VoidOf<Scope, ?> body, Task.Void<?> other) {
        Throwable[] thrown = new Throwable[1];
        lab.scope("both").run(s -> {
            Fork<?> unused = s.fork("run", () -> {
                thrown[0] = catchThrowable(() -> MainScope.of(scope("job"))
                        .in(process)
                        .grace(ofSeconds(5))
                        .stoppedBy(stopping)
                        .run(body));
                lab.note("run ended");
            });
            Fork<?> ignored = s.fork("other", other);
        });
        return thrown[0];
    }

    @Test
    void by_hand_it_is_cancelled_and_waited_for_and_the_process_is_left_alone() {
        Throwable thrown = beside(
                s -> {
                    assertThat(jvm.handled()).isEmpty();
                    assertThat(jvm.hooks()).isEmpty();
                    cleaningUp("body", ofSeconds(2));
                },
                () -> {
                    Selvedge.sleep(ofSeconds(1));
                    lab.note("ended: " + stopping.stop("the context closes"));
                });

        assertThat(thrown)
                .isInstanceOfSatisfying(
                        ScopeCancelledException.class,
                        e -> assertThat(e.reason()).isEqualTo(shutdown("the context closes")));
        assertThat(lab.trail())
                .startsWith("1s body cut off", "3s body cleaned")
                .containsExactlyInAnyOrder("1s body cut off", "3s body cleaned", "3s run ended", "3s ended: true");
        assertThat(jvm.ends()).isEmpty();
    }

    @Test
    void by_hand_the_grace_is_counted_from_the_first_request_and_the_first_reason_is_kept() {
        Throwable thrown = beside(s -> cleaningUp("body", ofSeconds(9)), () -> {
            Selvedge.sleep(ofSeconds(1));
            lab.note("first: " + stopping.stop("first"));
            lab.note("second: " + stopping.stop("second"));
            Selvedge.sleep(ofSeconds(9));
            lab.note("third: " + stopping.stop("third"));
        });

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class).hasMessage("first");
        assertThat(lab.trail())
                .containsExactly(
                        "1s body cut off",
                        "6s first: false",
                        "6s second: false",
                        "10s body cleaned",
                        "10s run ended",
                        "15s third: true");
    }

    @Test
    void by_hand_before_the_run_there_will_be_none() {
        assertThat(stopping.stop("too early")).isTrue();

        assertThatThrownBy(() -> byHand().run(s -> lab.note("ran")))
                .isInstanceOfSatisfying(
                        ScopeCancelledException.class,
                        e -> assertThat(e.reason()).isEqualTo(shutdown("too early")));
        assertThat(lab.trail()).isEmpty();
    }

    @Test
    void by_hand_after_the_end_nothing_is_left_to_stop() {
        assertThat(byHand().<String, RuntimeException>call((Scope s) -> "value"))
                .isEqualTo("value");

        assertThat(stopping.stop("too late")).isTrue();
        assertThat(stopping.stop("again")).isTrue();
    }

    @Test
    void by_hand_a_thread_of_the_scope_itself_does_not_wait() {
        List<Boolean> ended = new ArrayList<>();

        Throwable thrown = catchThrowable(() -> byHand().run(s -> {
            s.fork(() -> scope().gather(() -> ended.add(stopping.stop("from inside"))))
                    .join();
        }));

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class).hasMessage("from inside");
        assertThat(ended).containsExactly(false);
        assertThat(lab.now()).isZero();
    }

    @Test
    void by_hand_the_owner_does_not_wait_for_itself_either() {
        Throwable thrown = catchThrowable(() -> byHand().run(s -> scope().run(() -> {
            assertThat(stopping.stop("from the body")).isFalse();
            Selvedge.checkpoint();
        })));

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class).hasMessage("from the body");
        assertThat(lab.now()).isZero();
    }

    @Test
    void by_hand_one_serves_one_run() {
        byHand().run(s -> {});

        assertThatThrownBy(() -> byHand().run(s -> lab.note("ran")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("a Shutdown serves one run, and this one has served: the scope \"job\" needs a new one");
        assertThat(lab.trail()).isEmpty();
    }

    @Test
    void by_hand_several_run_at_the_same_time() {
        main().run(s -> byHand().run(t ->
                MainScope.of(lab.scope("third")).stoppedBy(new Shutdown()).run(u -> lab.note("ran"))));

        assertThat(lab.trail()).containsExactly("0s ran");
    }

    @Test
    void by_hand_who_is_interrupted_while_waiting_goes_on_and_the_scope_stays_cancelled() {
        Throwable thrown = beside(s -> cleaningUp("body", ofSeconds(3)), () -> {
            Selvedge.sleep(ofSeconds(1));
            assertThatThrownBy(() -> scope("impatient").deadline(ofSeconds(1)).run(() -> stopping.stop("stop")))
                    .isInstanceOf(DeadlineExceededException.class);
            lab.note("gave up");
        });

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s body cut off", "2s gave up", "4s body cleaned", "4s run ended");
    }

    @Test
    void by_hand_a_run_that_cannot_open_its_scope_is_over_too() {
        Deadline passed = lab.clock().after(ZERO);

        assertThatThrownBy(() -> main(lab.scope("job").deadline(passed))
                        .stoppedBy(stopping)
                        .run(s -> lab.note("ran")))
                .isInstanceOf(DeadlineExceededException.class);
        assertThat(stopping.stop("after")).isTrue();
    }
}
