package dev.selvedge;

import static dev.selvedge.Blocks.after;
import static dev.selvedge.Blocks.cancelAfter;
import static dev.selvedge.Blocks.cancelled;
import static dev.selvedge.Blocks.failed;
import static dev.selvedge.Blocks.flag;
import static dev.selvedge.Blocks.late;
import static dev.selvedge.Blocks.passed;
import static dev.selvedge.Blocks.spinUntil;
import static dev.selvedge.Blocks.swallow;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What code may do after it was asked to stop, and that nobody leaves before it has. */
@Timeout(30)
class CleanupTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final Thread tester = Thread.currentThread();

    private void sleepThen(String who, Runnable cleanup) {
        try {
            lab.sleep(who, ofSeconds(9));
        } finally {
            cleanup.run();
        }
    }

    private int stubborn(String who, Duration more) {
        swallow(() -> lab.sleep(who, ofSeconds(9)));
        lab.sleep(who + " goes on and", more);
        return 42;
    }

    @Test
    @Catalogue({78, 79, 80})
    void cleanup_that_blocks_runs_to_its_end_and_then_the_timeout_is_thrown() {
        DeadlineExceededException late = late(() -> lab.scope("page")
                .deadline(ofSeconds(1))
                .run(() -> sleepThen("work", () -> lab.sleep("cleanup", ofSeconds(1)))));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 2 s)");
        assertThat(late.limit()).isEqualTo(ofSeconds(1));
        assertThat(late.elapsed()).isEqualTo(ofSeconds(2));
        assertThat(lab.trail()).containsExactly("1s work cut off", "2s cleanup slept");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue({78, 80})
    void cleanup_of_a_fork_whose_sibling_failed_may_block() {
        ScopeFailedException failed = failed(() -> lab.scope("page")
                .gather(
                        () -> {
                            Selvedge.sleep(ofSeconds(1));
                            throw new IllegalStateException("boom");
                        },
                        () -> {
                            sleepThen("work", () -> lab.sleep("cleanup", ofSeconds(1)));
                            return 1;
                        }));

        assertThat(failed)
                .hasMessage("the scope \"page\" failed: \"fork-1\" threw java.lang.IllegalStateException: boom");
        assertThat(lab.trail()).containsExactly("1s work cut off", "2s cleanup slept");
    }

    @Test
    @Catalogue(80)
    void blocking_calls_of_the_cleanup_are_not_cut_off_again_but_checkpoints_say_that_the_scope_is_cancelled() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("page").run(s -> {
            cancelAfter(s, ofSeconds(1));
            sleepThen("work", () -> {
                lab.sleep("cleanup", ofSeconds(1));
                assertThat(s.isCancelled()).isTrue();
                assertThat(cancelled(Selvedge::checkpoint)).hasMessage("stop");
                assertThat(cancelled(() -> Selvedge.sleep(Duration.ZERO))).hasMessage("stop");
                assertThat(flag()).isFalse();
                lab.sleep("more cleanup", ofSeconds(1));
            });
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s work cut off", "2s cleanup slept", "3s more cleanup slept");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(80)
    void a_checkpoint_in_the_cleanup_after_a_deadline_says_so_and_becomes_the_timeout() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> {
                    swallow(() -> lab.sleep("work", ofSeconds(9)));
                    lab.sleep("cleanup", ofSeconds(1));
                    Selvedge.checkpoint();
                }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 2 s)");
        assertThat(lab.trail()).containsExactly("1s work cut off", "2s cleanup slept");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(81)
    void an_exception_of_the_cleanup_leaves_untouched_and_the_timeout_is_reported() {
        IllegalStateException own = new IllegalStateException("cleanup failed");

        assertThatThrownBy(() -> lab.scope("page")
                        .deadline(ofSeconds(1))
                        .run(() -> sleepThen("work", () -> {
                            throw own;
                        })))
                .isSameAs(own)
                .hasNoSuppressedExceptions();

        assertTimeoutReported();
    }

    @Test
    @Catalogue(81)
    void an_exception_of_the_cleanup_of_a_live_scope_leaves_untouched_and_the_timeout_is_reported() {
        IllegalStateException own = new IllegalStateException("cleanup failed");

        assertThatThrownBy(() -> lab.scope("page")
                        .deadline(ofSeconds(1))
                        .run(s -> sleepThen("work", () -> {
                            throw own;
                        })))
                .isSameAs(own)
                .hasNoSuppressedExceptions();

        assertTimeoutReported();
    }

    private void assertTimeoutReported() {
        assertThat(lab.unhandled())
                .singleElement()
                .satisfies(e -> assertThat(e)
                        .isInstanceOf(DeadlineExceededException.class)
                        .hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 1 s)"));
        assertThat(lab.trail()).containsExactly("1s work cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(82)
    void a_gather_waits_for_a_fork_that_swallows_the_interrupt() {
        ScopeFailedException failed = failed(() -> lab.scope("page")
                .gather(
                        () -> {
                            Selvedge.sleep(ofSeconds(1));
                            throw new IllegalStateException("boom");
                        },
                        () -> stubborn("slow", ofSeconds(10))));

        assertThat(failed)
                .hasMessage("the scope \"page\" failed: \"fork-1\" threw java.lang.IllegalStateException: boom");
        assertThat(lab.trail()).containsExactly("1s slow cut off", "11s slow goes on and slept");
        assertThat(lab.now()).isEqualTo(ofSeconds(11));
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "fork-2", 42));
    }

    @Test
    @Catalogue(82)
    void a_scope_whose_deadline_passed_waits_for_a_fork_that_swallows_the_interrupt_and_keeps_its_value() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(s -> {
                    Fork<?> slow = s.fork("slow", () -> stubborn("slow", ofSeconds(10)));
                    Object unused = slow.join();
                }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 11 s)");
        assertThat(late.outcomes()).containsExactly(new Outcome.Success<>(42));
        assertThat(late.unfinished()).isEmpty();
        assertThat(lab.trail()).containsExactly("1s slow cut off", "11s slow goes on and slept");
    }

    @Test
    @Catalogue(83)
    void a_second_cancel_of_one_who_waits_for_a_stubborn_fork_is_remembered() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(2));
            Selvedge.scope("inner").deadline(ofSeconds(1)).run(i -> {
                Fork<?> unused = i.fork("slow", () -> stubborn("slow", ofSeconds(10)));
                lab.sleep("body", ofSeconds(9));
            });
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(passed(lab)).containsExactly("inner");
        assertThat(lab.trail()).containsExactly("1s slow cut off", "1s body cut off", "11s slow goes on and slept");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue({83, 85})
    void of_two_foreign_interrupts_of_one_who_waits_for_a_stubborn_fork_none_is_lost() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("outer").run(s -> {
            after(s, ofSeconds(1), this::interruptTester);
            after(s, ofSeconds(2), this::interruptTester);
            Selvedge.scope("inner").run(i -> {
                Fork<?> cut = i.fork("cut", () -> lab.sleep("cut", ofSeconds(9)));
                Fork<?> slow = i.fork("slow", () -> stubborn("slow", ofSeconds(10)));
                assertThat(cut.name() + slow.name()).isEqualTo("cutslow");
            });
        }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
        assertThat(lab.trail()).containsExactly("1s cut cut off", "1s slow cut off", "11s slow goes on and slept");
    }

    private void interruptTester() {
        lab.clock().interrupt(tester);
    }

    @Test
    @Catalogue(85)
    void a_scope_that_is_interrupted_while_it_waits_at_its_end_gives_its_value_if_nothing_was_cut_off() {
        int value = lab.scope("outer").call(s -> {
            after(s, ofSeconds(1), this::interruptTester);
            int inner = Selvedge.scope("inner").call(i -> {
                Fork<?> slow = i.fork("slow", () -> stubborn("slow", ofSeconds(10)));
                return slow.name().length();
            });
            assertThat(Thread.interrupted()).isTrue();
            return inner;
        });

        assertThat(value).isEqualTo(4);
        assertThat(lab.trail()).containsExactly("1s slow cut off", "11s slow goes on and slept");
    }

    @Test
    @Catalogue({84, 82})
    @Tag("real")
    void a_scope_waits_for_a_fork_that_takes_no_notice_of_its_flag() throws Exception {
        AtomicReference<Thread> fork = new AtomicReference<>();
        CountDownLatch release = new CountDownLatch(1);
        FutureTask<Fork<Integer>> scope = new FutureTask<>(() -> lab.realScope().call(s -> {
            Fork<Integer> stubborn = s.fork("stubborn", () -> {
                fork.set(Thread.currentThread());
                spinUntil(() -> release.getCount() == 0);
                return 42;
            });
            spinUntil(() -> fork.get() != null);
            assertThat(s.cancel("enough")).isTrue();
            return stubborn;
        }));
        Thread owner = Thread.ofPlatform().start(scope);
        lab.watch(owner);

        spinUntil(() -> fork.get() != null && fork.get().isInterrupted());
        assertThat(owner.isAlive()).isTrue();
        release.countDown();

        assertThat(scope.get().join()).isEqualTo(42);
        owner.join();
    }

    static List<Thread.Builder> kindsOfThread() {
        return List.of(Thread.ofPlatform().name("platform"), Thread.ofVirtual().name("virtual"));
    }

    @Tag("real")
    @ParameterizedTest
    @MethodSource("kindsOfThread")
    @Catalogue(84)
    void a_deadline_only_sets_the_flag_of_a_thread_that_waits_for_a_lock(Thread.Builder kind) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();

        assertBlockEndsWithItsBody(kind, lock::lock, lock::unlock);
    }

    @Tag("real")
    @ParameterizedTest
    @MethodSource("kindsOfThread")
    @Catalogue(84)
    void a_deadline_only_sets_the_flag_of_a_thread_that_waits_for_a_future(Thread.Builder kind) throws Exception {
        CompletableFuture<Integer> future = new CompletableFuture<>();

        assertBlockEndsWithItsBody(kind, () -> assertThat(future.join()).isEqualTo(1), () -> future.complete(1));
    }

    @Tag("real")
    @ParameterizedTest
    @MethodSource("kindsOfThread")
    @Catalogue(84)
    void a_deadline_only_sets_the_flag_of_a_thread_that_waits_for_a_monitor(Thread.Builder kind) throws Exception {
        Object monitor = new Object();
        CompletableFuture<Integer> held = new CompletableFuture<>();
        CompletableFuture<Integer> release = new CompletableFuture<>();
        Thread holder = Thread.ofPlatform().start(() -> {
            synchronized (monitor) {
                held.complete(1);
                int unused = release.join();
            }
        });
        int unused = held.join();

        assertBlockEndsWithItsBody(kind, () -> enter(monitor), () -> release.complete(1));

        holder.join();
    }

    private static void enter(Object monitor) {
        synchronized (monitor) {
            assertThat(Thread.holdsLock(monitor)).isTrue();
        }
    }

    @Tag("real")
    @Test
    @Catalogue(84)
    void a_deadline_only_sets_the_flag_of_a_platform_thread_that_reads_a_socket() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket peer = server.accept()) {
            assertBlockEndsWithItsBody(
                    Thread.ofPlatform(),
                    () -> assertThat(unchecked(() -> client.getInputStream().read()))
                            .isEqualTo(7),
                    () -> unchecked(() -> {
                        peer.getOutputStream().write(7);
                        return 0;
                    }));
        }
    }

    private static int unchecked(Task<Integer, IOException> io) {
        try {
            return io.call();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A block with a deadline around an uninterruptible call, which is released when the deadline has passed. */
    private void assertBlockEndsWithItsBody(Thread.Builder kind, Runnable call, Runnable release) throws Exception {
        ScopeSpec page = lab.realScope().named("page").deadline(ofMillis(20));
        AtomicReference<Frame> block = new AtomicReference<>();
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            int value = page.call(() -> {
                block.set(Here.openLedger().top());
                call.run();
                spinUntil(Blocks::flag); // some calls put it aside while they wait, none consumes it
                return 42;
            });
            assertThat(value).isEqualTo(42);
            return flag();
        });
        Thread thread = kind.start(task);
        lab.watch(thread);

        spinUntil(() -> block.get() != null && block.get().reason() != null);
        assertThat(task.isDone()).isFalse();
        release.run();

        assertThat(task.get()).as("the flag after the block").isFalse();
        assertThat(passed(lab)).containsExactly("page");
        thread.join();
    }

    @Test
    @Catalogue(87)
    void the_cleanup_of_one_cancelled_fork_may_wait_for_that_of_another() {
        ScopeCancelledException cancelled = cancelled(() -> lab.scope("page").run(s -> {
            Fork<?> b = s.fork("b", () -> sleepThen("b", () -> lab.sleep("b's cleanup", ofSeconds(2))));
            Fork<?> unused = s.fork(
                    "a",
                    () -> sleepThen("a", () -> {
                        assertThat(cancelled(b::join)).hasMessage("stop");
                        lab.note("a has waited for b");
                    }));
            cancelAfter(s, ofSeconds(1));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail())
                .containsExactly("1s b cut off", "1s a cut off", "3s b's cleanup slept", "3s a has waited for b");
        assertThat(flag()).isFalse();
    }
}
