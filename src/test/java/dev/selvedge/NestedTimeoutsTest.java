package dev.selvedge;

import static dev.selvedge.Blocks.cancelAfter;
import static dev.selvedge.Blocks.cancelled;
import static dev.selvedge.Blocks.compute;
import static dev.selvedge.Blocks.failed;
import static dev.selvedge.Blocks.flag;
import static dev.selvedge.Blocks.inner;
import static dev.selvedge.Blocks.late;
import static dev.selvedge.Blocks.on;
import static dev.selvedge.Blocks.passed;
import static dev.selvedge.Blocks.rawSleep;
import static dev.selvedge.Blocks.swallow;
import static dev.selvedge.Blocks.through;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which of several blocks on a thread a passed deadline belongs to. */
@Timeout(30)
class NestedTimeoutsTest {

    private static final String OUTER_PASSED = "the deadline of 2 s of the scope \"outer\" passed";

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    @Catalogue(19)
    void an_inner_deadline_stops_the_inner_block_only() {
        lab.scope("outer").deadline(ofSeconds(3)).run(() -> {
            DeadlineExceededException late = late(() -> inner(ofMillis(20)).run(() -> lab.sleep("work", ofSeconds(1))));

            assertThat(late).hasMessage("the scope \"inner\" exceeded its deadline of 20 ms (after 20 ms)");
            assertThat(late).hasCauseInstanceOf(InterruptedException.class);
            assertThat(flag()).isFalse();
            lab.sleep("outer", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("0.02s work cut off", "1.02s outer slept");
        assertThat(passed(lab)).containsExactly("inner");
    }

    @Test
    @Catalogue(20)
    void an_outer_deadline_passes_through_the_inner_block_and_leaves_at_the_outer() {
        ScopeSpec outer = lab.scope("outer").deadline(ofMillis(20));

        DeadlineExceededException late =
                late(() -> outer.run(() -> through(lab, inner(ofSeconds(3)), () -> lab.sleep("work", ofSeconds(5)))));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 20 ms (after 20 ms)");
        assertThat(late).hasCauseInstanceOf(InterruptedException.class);
        assertThat(lab.trail())
                .containsExactly(
                        "0.02s work cut off",
                        "0.02s inner left by ScopeCancelledException: the deadline of 20 ms of the scope \"outer\""
                                + " passed");
        assertThat(passed(lab)).containsExactly("outer");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(21)
    void of_two_equal_deadlines_only_that_of_the_outermost_block_is_thrown() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(2));

        DeadlineExceededException late =
                late(() -> outer.run(() -> through(lab, inner(ofSeconds(2)), () -> lab.sleep("work", ofSeconds(5)))));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 2 s (after 2 s)");
        assertThat(lab.trail())
                .containsExactly("2s work cut off", "2s inner left by ScopeCancelledException: " + OUTER_PASSED);
        assertThat(passed(lab)).containsExactly("outer");
    }

    @Test
    @Catalogue(21)
    void of_two_deadlines_that_passed_during_cpu_work_only_that_of_the_outermost_block_is_thrown() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(2));

        DeadlineExceededException late = late(() -> outer.run(() -> through(lab, inner(ofSeconds(1)), () -> {
            compute(lab, ofSeconds(3));
            lab.sleep("work", ofSeconds(5));
        })));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 2 s (after 3 s)");
        assertThat(lab.trail())
                .containsExactly("3s work cut off", "3s inner left by ScopeCancelledException: " + OUTER_PASSED);
        assertThat(passed(lab)).containsExactly("inner", "outer");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(22)
    void an_outer_deadline_wins_that_passes_in_the_spinning_cleanup_of_an_inner_block() {
        DeadlineExceededException late = lateInCleanupOfInner(() -> compute(lab, ofSeconds(2)));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 2 s (after 3 s)");
        assertThat(lab.trail())
                .containsExactly("1s work cut off", "3s inner left by ScopeCancelledException: " + OUTER_PASSED);
    }

    @Test
    @Catalogue(22)
    void an_outer_deadline_wins_that_passes_in_the_blocking_cleanup_of_an_inner_block() {
        DeadlineExceededException late = lateInCleanupOfInner(() -> lab.sleep("cleanup", ofSeconds(2)));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 2 s (after 2 s)");
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off",
                        "2s cleanup cut off",
                        "2s inner left by ScopeCancelledException: " + OUTER_PASSED);
    }

    /** The inner deadline passes after one second, the outer one after two. */
    private DeadlineExceededException lateInCleanupOfInner(Runnable cleanup) {
        DeadlineExceededException late = late(() -> lab.scope("outer")
                .deadline(ofSeconds(2))
                .run(() -> through(lab, inner(ofSeconds(1)), () -> sleepAndCleanUp(cleanup))));
        assertThat(passed(lab)).containsExactly("inner", "outer");
        assertThat(flag()).isFalse();
        return late;
    }

    private void sleepAndCleanUp(Runnable cleanup) {
        try {
            lab.sleep("work", ofSeconds(10));
        } finally {
            cleanup.run();
        }
    }

    @Test
    @Catalogue(23)
    void an_inner_deadline_that_passes_while_an_outer_cancellation_unwinds_converts_nothing() {
        ScopeSpec outer = lab.scope("outer");

        ScopeCancelledException cancelled = cancelled(() -> outer.run(s -> {
            cancelAfter(s, ofSeconds(1));
            through(lab, inner(ofSeconds(2)), () -> sleepAndCleanUp(() -> compute(lab, ofSeconds(3))));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s work cut off", "4s inner left by ScopeCancelledException: stop");
        assertThat(passed(lab)).containsExactly("inner");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(24)
    void a_block_in_the_cleanup_after_a_deadline_has_its_own_deadline_and_the_outer_one_is_still_thrown() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(1));

        DeadlineExceededException late = late(() -> outer.run(() -> sleepAndCleanUp(() -> {
            DeadlineExceededException own =
                    late(() -> inner(ofSeconds(2)).run(() -> lab.sleep("cleanup", ofSeconds(9))));
            assertThat(own).hasMessage("the scope \"inner\" exceeded its deadline of 2 s (after 2 s)");
        })));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("1s work cut off", "3s cleanup cut off");
        assertThat(passed(lab)).containsExactly("inner", "outer");
        assertThat(flag()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 5_000_000_000L})
    @Catalogue(25)
    void a_block_that_is_entered_with_an_outer_deadline_undelivered_does_not_claim_it(long nanos) {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(2));

        DeadlineExceededException late = late(() -> outer.run(() -> {
            compute(lab, ofSeconds(3));
            through(lab, inner(Duration.ofNanos(nanos)), () -> Selvedge.sleep(ofSeconds(9)));
        }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 2 s (after 3 s)");
        assertThat(late).hasCauseInstanceOf(InterruptedException.class);
        assertThat(lab.trail()).containsExactly("3s inner left by ScopeCancelledException: " + OUTER_PASSED);
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(25)
    void a_block_that_is_entered_with_an_outer_cancellation_undelivered_does_not_claim_it_even_if_it_is_late_too() {
        ScopeSpec outer = lab.scope("outer");

        ScopeCancelledException cancelled = cancelled(() -> outer.run(s -> {
            assertThat(s.cancel("stop")).isTrue();
            through(lab, inner(ofSeconds(1)), () -> {
                compute(lab, ofSeconds(2));
                Selvedge.sleep(ofSeconds(9));
            });
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("2s inner left by ScopeCancelledException: stop");
        assertThat(passed(lab)).containsExactly("inner");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(26)
    void of_three_levels_the_middle_one_throws_its_own_deadline() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(3));
        ScopeSpec middle = Selvedge.scope("middle").deadline(ofSeconds(1));

        DeadlineExceededException late = late(() -> through(
                lab,
                outer,
                () -> through(
                        lab, middle, () -> through(lab, inner(ofSeconds(2)), () -> lab.sleep("work", ofSeconds(9))))));

        String message = "the scope \"middle\" exceeded its deadline of 1 s (after 1 s)";
        assertThat(late).hasMessage(message);
        assertThat(lab.trail())
                .containsExactly(
                        "1s work cut off",
                        "1s inner left by ScopeCancelledException: the deadline of 1 s of the scope \"middle\" passed",
                        "1s middle left by DeadlineExceededException: " + message,
                        "1s outer left by DeadlineExceededException: " + message);
        assertThat(passed(lab)).containsExactly("middle");
    }

    @Test
    @Catalogue(27)
    void an_inner_deadline_that_nobody_catches_passes_the_outer_block_unchanged() {
        DeadlineExceededException[] atInner = {null};
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(3));

        DeadlineExceededException late = late(() -> outer.run(() -> {
            atInner[0] = late(() -> inner(ofSeconds(1)).run(() -> Selvedge.sleep(ofSeconds(9))));
            throw atInner[0];
        }));

        assertThat(late).isSameAs(atInner[0]);
        assertThat(late).hasMessage("the scope \"inner\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(passed(lab)).containsExactly("inner");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(27)
    void an_inner_deadline_that_nobody_catches_passes_a_live_scope_unchanged() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(3));

        DeadlineExceededException late =
                late(() -> outer.run(s -> inner(ofSeconds(1)).run(() -> Selvedge.sleep(ofSeconds(9)))));

        assertThat(late).hasMessage("the scope \"inner\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(passed(lab)).containsExactly("inner");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(28)
    void a_fallback_and_an_outcome_answer_the_own_deadline() {
        lab.scope("outer").deadline(ofSeconds(9)).run(() -> {
            String answer = inner(ofSeconds(1)).call(this::sleepLong, failure -> "answer to " + failure.getMessage());
            Outcome<String> outcome = inner(ofSeconds(1)).attempt(this::sleepLong);

            String message = "the scope \"inner\" exceeded its deadline of 1 s (after 1 s)";
            assertThat(answer).isEqualTo("answer to " + message);
            assertThat(outcome).isInstanceOfSatisfying(Outcome.Cancelled.class, cut -> {
                assertThat(cut.reason().kind()).isEqualTo(CancelReason.Kind.DEADLINE);
                assertThat(cut.reason().message()).isEqualTo(message);
            });
        });
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    private String sleepLong() {
        Selvedge.sleep(ofHours(1));
        return "done";
    }

    @Test
    @Catalogue(28)
    void neither_a_fallback_nor_an_outcome_answers_the_deadline_of_a_block_around() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(1));

        DeadlineExceededException withFallback =
                late(() -> outer.call(() -> inner(ofSeconds(5)).call(this::sleepLong, failure -> "answer")));
        DeadlineExceededException withOutcome =
                late(() -> outer.call(() -> inner(ofSeconds(5)).attempt(this::sleepLong)));

        String message = "the scope \"outer\" exceeded its deadline of 1 s (after 1 s)";
        assertThat(withFallback).hasMessage(message);
        assertThat(withOutcome).hasMessage(message);
        assertThat(passed(lab)).containsExactly("outer", "outer");
    }

    @Test
    @Catalogue(28)
    void neither_a_fallback_nor_an_outcome_answers_a_cancellation_that_came_with_the_own_deadline() {
        ScopeSpec outer = lab.scope("outer");
        List<ScopeCancelledException> left = new ArrayList<>();

        ScopeCancelledException cancelled = cancelled(() -> outer.run(s -> {
            cancelAfter(s, ofSeconds(2));
            left.add(cancelled(() -> inner(ofSeconds(1)).call(this::workAndSleep, failure -> "answer")));
            assertThat(flag()).isFalse();
            throw left.get(0);
        }));

        assertThat(left.get(0).reason().message()).isEqualTo("stop");
        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
    }

    private String workAndSleep() {
        compute(lab, ofSeconds(3));
        return sleepLong();
    }

    @Test
    @Catalogue(29)
    void a_timeout_exception_that_the_user_throws_passes_as_it_is() {
        TimeoutException users = new TimeoutException("mine");

        assertThatThrownBy(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    throw users;
                }))
                .isSameAs(users)
                .hasNoSuppressedExceptions();

        assertThat(passed(lab)).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue({7, 29})
    void an_interrupted_exception_that_the_user_throws_is_a_cancellation_from_outside() {
        InterruptedException users = new InterruptedException("mine");

        ScopeCancelledException cancelled =
                cancelled(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    throw users;
                }));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(cancelled).hasCause(users);
        assertThat(cancelled.getCause()).isSameAs(users);
        assertThat(cancelled.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue(30)
    void an_exception_that_wraps_the_interrupt_of_the_own_deadline_becomes_the_timeout() {
        Throwable[] interrupt = {null};

        DeadlineExceededException late =
                late(() -> lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
                    try {
                        rawSleep(lab, ofSeconds(9));
                    } catch (InterruptedException e) {
                        interrupt[0] = e;
                        throw new IllegalStateException("wrapped twice", new IOException("wrapped", e));
                    }
                }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(late.getCause()).isSameAs(interrupt[0]).isNotNull();
        assertThat(lab.unhandled()).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(30)
    void another_exception_passes_untouched_and_the_timeout_is_reported() {
        IllegalStateException users = new IllegalStateException("mine");

        assertThatThrownBy(() -> throwAfterDeadline(users)).isSameAs(users).hasNoSuppressedExceptions();

        assertTimeoutReported();
    }

    @Test
    @Catalogue(30)
    void an_exception_whose_causes_form_a_circle_passes_untouched_and_the_timeout_is_reported() {
        IllegalStateException head = new IllegalStateException("head");
        head.initCause(new IllegalStateException("tail", head));

        assertThatThrownBy(() -> throwAfterDeadline(head)).isSameAs(head);

        assertTimeoutReported();
    }

    @Test
    @Catalogue(31)
    void a_socket_timeout_is_not_taken_for_the_interrupt_of_the_own_deadline() {
        SocketTimeoutException read = new SocketTimeoutException("Read timed out");

        assertThatThrownBy(() -> throwAfterDeadline(read)).isSameAs(read).hasNoSuppressedExceptions();

        assertTimeoutReported();
    }

    private void throwAfterDeadline(Exception users) throws Exception {
        lab.scope("outer").deadline(ofSeconds(1)).run(() -> {
            compute(lab, ofSeconds(2));
            throw users;
        });
    }

    private void assertTimeoutReported() {
        assertThat(lab.unhandled())
                .singleElement()
                .satisfies(e -> assertThat(e)
                        .isInstanceOf(DeadlineExceededException.class)
                        .hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 2 s)"));
        assertThat(flag()).isFalse();
    }

    static List<Thread.Builder> kindsOfThread() {
        return List.of(Thread.ofPlatform().name("platform"), Thread.ofVirtual().name("virtual"));
    }

    @Tag("real")
    @ParameterizedTest
    @MethodSource("kindsOfThread")
    @Catalogue(31)
    void a_channel_that_the_own_deadline_closes_is_a_timeout_and_leaves_the_flag_clear(Thread.Builder kind)
            throws Exception {
        DeadlineExceededException late = on(lab, kind, () -> {
            DeadlineExceededException e = late(this::readChannelUntilLate);
            assertThat(flag()).isFalse();
            return e;
        });

        assertThat(late).hasCauseInstanceOf(ClosedByInterruptException.class);
        assertThat(late).hasMessageStartingWith("the scope \"read\" exceeded its deadline of 50 ms (after ");
        assertThat(late.elapsed()).isGreaterThanOrEqualTo(ofMillis(50));
    }

    private void readChannelUntilLate() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(loopback());
                SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
            int unused = lab.realScope()
                    .named("read")
                    .deadline(ofMillis(50))
                    .call(() -> client.read(ByteBuffer.allocate(1)));
        }
    }

    private static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    @Tag("real")
    @Test
    @Catalogue(31)
    void a_socket_that_the_own_deadline_closes_on_a_virtual_thread_is_a_timeout_and_leaves_the_flag_clear()
            throws Exception {
        DeadlineExceededException late = on(lab, Thread.ofVirtual(), () -> {
            DeadlineExceededException e = late(() -> readSocket(0, ofMillis(50)));
            assertThat(flag()).isFalse();
            return e;
        });

        assertThat(late.getCause()).isInstanceOf(SocketException.class).hasMessage("Closed by interrupt");
    }

    @Tag("real")
    @ParameterizedTest
    @MethodSource("kindsOfThread")
    @Catalogue(31)
    void a_socket_timeout_in_time_passes_as_it_is(Thread.Builder kind) throws Exception {
        Throwable thrown = on(lab, kind, () -> catchThrowable(() -> readSocket(10, ofHours(1))));

        assertThat(thrown).isInstanceOf(SocketTimeoutException.class);
        assertThat(lab.unhandled()).isEmpty();
    }

    private void readSocket(int soTimeout, Duration deadline) throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(loopback());
            try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
                client.setSoTimeout(soTimeout);
                int unused = lab.realScope()
                        .deadline(deadline)
                        .call(() -> client.getInputStream().read());
            }
        }
    }

    @Test
    @Catalogue(32)
    void a_deadline_around_a_gather_cancels_and_awaits_the_forks_and_then_leaves() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(1));

        DeadlineExceededException late = late(() -> outer.run(() -> {
            List<Object> unused =
                    Selvedge.scope("inner").gather(() -> sleepThenCleanUp("a"), () -> sleepThenCleanUp("b"));
        }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 2 s)");
        assertThat(late).hasCauseInstanceOf(InterruptedException.class);
        assertThat(lab.trail())
                .containsExactly("1s a cut off", "1s b cut off", "2s a cleanup slept", "2s b cleanup slept");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(32)
    void a_deadline_of_a_live_scope_that_passes_in_join_cancels_and_awaits_the_forks_and_then_leaves() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(1));

        DeadlineExceededException late = late(() -> outer.run(s -> {
            Object unused = s.fork("a", () -> sleepThenCleanUp("a")).join();
        }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 2 s); not finished: a");
        assertThat(late).hasCauseInstanceOf(InterruptedException.class);
        assertThat(late.unfinished()).containsExactly("a");
        assertThat(lab.trail()).containsExactly("1s a cut off", "2s a cleanup slept");
        assertThat(flag()).isFalse();
    }

    private Object sleepThenCleanUp(String who) {
        try {
            lab.sleep(who, ofSeconds(9));
        } finally {
            lab.sleep(who + " cleanup", ofSeconds(1));
        }
        return who;
    }

    @Test
    @Catalogue(33)
    void an_outer_deadline_leaves_that_passes_while_a_cancelled_scope_awaits_a_slow_cleanup() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(2));

        DeadlineExceededException late = late(() -> outer.run(() -> through(lab, Selvedge.scope("inner"), () -> {
            Selvedge.scope("cancelled").run(s -> {
                Fork<?> unused = s.fork("slow", this::sleepThenCleanUpLong);
                cancelAfter(s, ofSeconds(1));
                lab.sleep("body", ofSeconds(9));
            });
        })));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 2 s (after 6 s)");
        assertThat(lab.trail())
                .containsExactly(
                        "1s body cut off",
                        "6s slow ended",
                        "6s inner left by ScopeCancelledException: " + OUTER_PASSED);
        assertThat(flag()).isFalse();
    }

    private void sleepThenCleanUpLong() {
        try {
            Selvedge.sleep(ofSeconds(9));
        } finally {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(5)));
            lab.note("slow ended");
        }
    }

    @Test
    @Catalogue(34)
    void when_an_inner_and_an_outer_fork_fail_together_the_outer_cancellation_is_pending_after_a_join() {
        assertOuterFailureIsPendingAfterInner(in -> {
            Object unused = in.join();
        });
    }

    @Test
    @Catalogue(34)
    void when_an_inner_and_an_outer_fork_fail_together_the_outer_cancellation_is_pending_after_a_sleep() {
        assertOuterFailureIsPendingAfterInner(in -> Selvedge.sleep(ofSeconds(9)));
    }

    private void assertOuterFailureIsPendingAfterInner(Consumer<Fork<?>> restOfBody) {
        ScopeFailedException failed = failed(() -> lab.scope("outer").run(o -> {
            ScopeFailedException ofInner = failed(() -> Selvedge.scope("inner").run(i -> {
                Fork<?> in = i.fork("in", () -> failAfter("in"));
                Fork<?> unused = o.fork("out", () -> failAfter("out"));
                compute(lab, ofSeconds(2));
                restOfBody.accept(in);
            }));
            lab.note("inner: " + ofInner.getMessage());
            assertThat(flag()).isTrue();
            lab.sleep("after", ofSeconds(1));
        }));

        assertThat(lab.trail())
                .containsExactly(
                        "2s inner: the scope \"inner\" failed: \"in\" threw java.lang.IllegalStateException: in",
                        "2s after cut off");
        assertThat(failed).hasMessage("the scope \"outer\" failed: \"out\" threw java.lang.IllegalStateException: out");
        assertThat(flag()).isFalse();
    }

    private static Object failAfter(String message) {
        Selvedge.sleep(ofSeconds(1));
        throw new IllegalStateException(message);
    }

    @Test
    @Catalogue(35)
    void when_the_inner_body_swallows_the_one_interrupt_of_both_the_outer_one_is_asserted_again() {
        ScopeSpec outer = lab.scope("outer").deadline(ofSeconds(2));

        DeadlineExceededException late = late(() -> outer.run(() -> {
            int value = inner(ofSeconds(1)).call(() -> {
                compute(lab, ofSeconds(3));
                swallow(() -> lab.sleep("work", ofSeconds(9)));
                assertThat(flag()).isFalse();
                return 42;
            });
            assertThat(value).isEqualTo(42);
            assertThat(flag()).isTrue();
            lab.sleep("after", ofSeconds(9));
        }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 2 s (after 3 s)");
        assertThat(lab.trail()).containsExactly("3s work cut off", "3s after cut off");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(36)
    void a_cancel_before_the_deadline_is_reported_as_a_cancel_though_the_deadline_passes_before_the_exit() {
        ScopeSpec scope = lab.scope("outer").deadline(ofSeconds(2));

        ScopeCancelledException cancelled = cancelled(() -> scope.run(s -> {
            cancelAfter(s, ofSeconds(1));
            sleepAndCleanUp(() -> compute(lab, ofSeconds(3)));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(cancelled.reason()).isEqualTo(new CancelReason(CancelReason.Kind.CALLER, "stop", null));
        assertThat(cancelled).hasCauseInstanceOf(InterruptedException.class);
        assertThat(lab.now()).isEqualTo(ofSeconds(4));
        assertThat(passed(lab)).isEmpty();
        assertThat(lab.unhandled()).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(36)
    void a_deadline_before_the_cancel_is_reported_as_a_timeout() {
        ScopeSpec scope = lab.scope("outer").deadline(ofSeconds(1));

        DeadlineExceededException late = late(() -> scope.run(s -> {
            compute(lab, ofSeconds(2));
            assertThat(s.cancel("stop")).isFalse();
            Selvedge.sleep(ZERO);
        }));

        assertThat(late).hasMessage("the scope \"outer\" exceeded its deadline of 1 s (after 2 s)");
        assertThat(flag()).isFalse();
    }

    /** It answers the interrupt without an exception: it interrupts its tasks, waits for them, and sets the flag again. */
    @Test
    @Tag("real")
    @Catalogue(86)
    void an_executor_that_is_closed_when_the_deadline_passes_leaves_the_flag_to_the_block() {
        AtomicInteger interrupted = new AtomicInteger();

        String value = lab.realScope().deadline(ofMillis(20)).call(() -> {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                Future<?> unused = executor.submit(() -> {
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        interrupted.incrementAndGet();
                    }
                });
            }
            assertThat(flag()).isTrue();
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(interrupted).hasValue(1);
        assertThat(flag()).isFalse();
    }
}
