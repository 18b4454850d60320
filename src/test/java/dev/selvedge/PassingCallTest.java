package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitBreaker.State;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls that set nothing which could cut them off, and that nobody listens to: they are no blocks of their own, in real time and
 * on a plain thread too, and must not be told from those that are.
 */
@Timeout(30)
class PassingCallTest {

    private static final Retry AT_ONCE = Retry.DEFAULT.immediately();

    private final AtomicInteger calls = new AtomicInteger();
    private final CountDownLatch never = new CountDownLatch(1);
    private final Log log = Log.of("dev.selvedge");

    @AfterEach
    void nothing_is_left_behind() {
        log.close();
        assertThat(Thread.interrupted()).isFalse();
        assertThat(Here.ledger()).isNull();
        assertThat(Selvedge.attempt().number()).isEqualTo(1);
    }

    @Test
    void a_call_is_no_block() {
        assertThat(scope("a").retry(AT_ONCE).<Boolean, RuntimeException>call(() -> Here.ledger() == null))
                .isTrue();
        assertThat(scope("a").listener(e -> {}).<Boolean, RuntimeException>call(() -> Here.ledger() == null))
                .isFalse();
    }

    @Test
    void a_task_is_called_anew_and_knows_which_attempt_it_is() throws IOException {
        List<Integer> numbers = new ArrayList<>();

        String value = scope("a").retry(AT_ONCE).call(() -> {
            numbers.add(Selvedge.attempt().number());
            scope("inside").run(() -> numbers.add(10 * Selvedge.attempt().number()));
            scope("inside")
                    .deadline(ofSeconds(60))
                    .run(() -> numbers.add(100 * Selvedge.attempt().number()));
            scope("inside")
                    .retry(AT_ONCE)
                    .run(() -> numbers.add(1000 * Selvedge.attempt().number()));
            numbers.add(Selvedge.attempt().number());
            if (calls.incrementAndGet() == 1) {
                throw new IOException("no");
            }
            return "value";
        });

        assertThat(value).isEqualTo("value");
        assertThat(numbers).containsExactly(1, 10, 100, 1000, 1, 2, 20, 200, 1000, 2);
    }

    @Test
    void an_interrupt_leaves_as_a_cancellation_with_the_flag_set() {
        ScopeCancelledException cut = (ScopeCancelledException)
                catchThrowable(() -> scope("a").retry(AT_ONCE).run(() -> {
                    calls.incrementAndGet();
                    throw new InterruptedException("raw");
                }));

        assertThat(cut.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
        assertThat(cut).hasCauseInstanceOf(InterruptedException.class);
        assertThat(calls).hasValue(1);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void an_interrupt_in_a_later_attempt_does_too() {
        assertThatThrownBy(() -> scope("a").retry(AT_ONCE).run(() -> {
                    if (calls.incrementAndGet() == 1) {
                        throw new IOException("no");
                    }
                    Thread.currentThread().interrupt();
                    Selvedge.sleep(ofSeconds(60));
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(calls).hasValue(2);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void an_interrupt_in_a_back_off_does_too_and_carries_the_failure() {
        IOException failure = new IOException("no");
        Thread me = Thread.currentThread();

        Throwable cut = catchThrowable(() -> scope("a")
                .retry(Retry.DEFAULT.fixed(ofSeconds(60)))
                .run(() -> {
                    Thread unused = Thread.ofPlatform().start(() -> {
                        while (me.getState() != Thread.State.TIMED_WAITING) {
                            Thread.onSpinWait();
                        }
                        me.interrupt();
                    });
                    throw failure;
                }));

        assertThat(cut).isInstanceOf(ScopeCancelledException.class);
        assertThat(cut.getCause().getSuppressed()).containsExactly(failure);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void a_channel_that_is_closed_by_an_interrupt_keeps_its_exception_and_the_flag() throws IOException {
        CircuitBreaker breaker = CircuitBreaker.of("b", b -> b.failures(1));
        Pipe pipe = Pipe.open();

        assertThatThrownBy(() -> scope("a").breaker(breaker).retry(AT_ONCE).run(() -> {
                    calls.incrementAndGet();
                    Thread.currentThread().interrupt();
                    int unused = pipe.source().read(ByteBuffer.allocate(1));
                }))
                .isInstanceOf(ClosedByInterruptException.class);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(calls).hasValue(1);
        assertThat(breaker.state()).isEqualTo(State.CLOSED);
        pipe.sink().close();
    }

    @Test
    void attempts_are_cut_off_by_their_timeout_and_nothing_is_left() {
        assertThatThrownBy(() -> scope("a").timeout(ofMillis(5)).retry(AT_ONCE).run(() -> {
                    calls.incrementAndGet();
                    never.await();
                }))
                .isInstanceOf(AttemptTimeoutException.class)
                .hasMessage("an attempt of the scope \"a\" exceeded its timeout of 5 ms");

        assertThat(calls).hasValue(3);
    }

    @Test
    void hedges_run_in_forks() {
        boolean hedged = scope("a").hedge(ofMillis(5)).call(() -> {
            if (calls.incrementAndGet() == 1) {
                never.await();
            }
            return Selvedge.attempt().isHedge() && Thread.currentThread().isVirtual();
        });

        assertThat(hedged).isTrue();
    }

    @Test
    void the_deadline_and_the_clock_are_those_around() {
        VirtualClock clock = VirtualClock.jumping();

        assertThatThrownBy(() -> scope("around")
                        .clock(clock)
                        .deadline(ofSeconds(5))
                        .run(() -> scope("a")
                                .retry(Retry.DEFAULT.fixed(ofSeconds(2)).attempts(99))
                                .run(() -> {
                                    calls.incrementAndGet();
                                    throw new IOException("no");
                                })))
                .isInstanceOf(IOException.class);

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(4));
        assertThat(calls).hasValue(3);
    }

    @Test
    void a_cancel_around_ends_a_back_off() {
        VirtualClock clock = VirtualClock.jumping();

        assertThatThrownBy(() -> scope("around").clock(clock).run(s -> {
                    s.fork(() -> {
                        Selvedge.sleep(ofSeconds(1));
                        return s.cancel("enough");
                    });
                    scope("a").retry(Retry.DEFAULT.fixed(ofSeconds(9))).run(() -> {
                        calls.incrementAndGet();
                        throw new IOException("no");
                    });
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");

        assertThat(clock.elapsed()).isEqualTo(ofSeconds(1));
        assertThat(calls).hasValue(1);
    }

    @Test
    void a_fallback_answers_as_usual() {
        assertThat(scope("a")
                        .retry(AT_ONCE)
                        .<String, RuntimeException>call(
                                () -> {
                                    throw new IOException("no " + calls.incrementAndGet());
                                },
                                Exception::getMessage))
                .isEqualTo("no 3");
    }

    @Test
    void failures_before_the_last_one_are_logged() {
        assertThatThrownBy(() -> scope("a").retry(AT_ONCE).run(() -> {
                    throw new IOException("no " + calls.incrementAndGet());
                }))
                .hasMessage("no 3");

        assertThat(log.thrown()).hasSize(1);
        assertThat(log.thrown().get(0))
                .hasMessage("2 attempts failed before the one whose failure was thrown: "
                        + "1 × java.io.IOException: no 1, 1 × java.io.IOException: no 2");
        assertThat(log.thrown().get(0).getSuppressed())
                .extracting(Throwable::getMessage)
                .containsExactly("no 1", "no 2");
    }

    @Test
    void nothing_is_logged_if_the_failure_that_is_thrown_says_it_all() {
        assertThatThrownBy(() -> scope("a").retry(AT_ONCE).run(() -> {
                    throw new IOException("down");
                }))
                .hasMessage("down");

        assertThat(log.thrown()).isEmpty();
    }

    @Test
    void a_log_of_failures_that_are_alike_has_no_trace_of_each() {
        assertThatThrownBy(() -> scope("a")
                        .retry(r -> r.attempts(15).immediately())
                        .run(() -> {
                            throw new IOException(calls.incrementAndGet() < 10 ? "down" : "busy");
                        }))
                .hasMessage("busy");

        assertThat(log.thrown()).hasSize(1);
        assertThat(log.thrown().get(0))
                .hasMessage("14 attempts failed before the one whose failure was thrown; the last 10: "
                        + "5 × java.io.IOException: down, 5 × java.io.IOException: busy");
        assertThat(log.thrown().get(0).getSuppressed())
                .extracting(Throwable::getMessage)
                .containsExactly("down");
    }

    @Test
    void failures_that_were_made_good_are_not() throws IOException {
        scope("a").retry(AT_ONCE).run(() -> {
            if (calls.incrementAndGet() < 3) {
                throw new IOException("no");
            }
        });

        assertThat(log.thrown()).isEmpty();
    }
}
