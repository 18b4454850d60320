package dev.selvedge.time;

import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** One wait, in real and in virtual time alike. */
@Timeout(60)
class WaiterTest {

    static Stream<TimeSource> times() {
        return Stream.of(TimeSource.system(), VirtualClock.jumping());
    }

    @ParameterizedTest
    @MethodSource("times")
    void a_wake_before_the_wait_is_not_lost(TimeSource time) throws Exception {
        Waiter w = time.waiter();

        assertThat(w.wake()).isTrue();

        assertThat(w.await(time.never())).isTrue();
        assertThat(w.wake()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("times")
    void the_deadline_ends_the_wait(TimeSource time) throws Exception {
        Waiter w = time.waiter();

        assertThat(w.await(time.after(ofNanos(1_000)))).isFalse();
        assertThat(w.wake()).isFalse();
        assertThat(w.leave()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("times")
    void an_interrupt_ends_the_wait_and_clears_the_flag(TimeSource time) {
        Waiter w = time.waiter();
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> w.await(time.never())).isInstanceOf(InterruptedException.class);

        assertThat(Thread.interrupted()).isFalse();
        assertThat(w.wake()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("times")
    void a_wake_that_came_first_wins_and_the_interrupt_stays(TimeSource time) throws Exception {
        Waiter w = time.waiter();
        assertThat(w.wake()).isTrue();
        Thread.currentThread().interrupt();

        assertThat(w.await(time.never())).isTrue();

        assertThat(Thread.interrupted()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("times")
    void another_thread_wakes_it(TimeSource time) throws Exception {
        AtomicReference<Waiter> waiter = new AtomicReference<>();
        FutureTask<Boolean> waiting = new FutureTask<>(() -> {
            Waiter w = time.waiter();
            waiter.set(w);
            return w.await(time.never());
        });
        Thread.ofVirtual().start(waiting);
        while (waiter.get() == null) {
            Thread.onSpinWait();
        }

        assertThat(waiter.get().wake()).isTrue();

        assertThat(waiting.get()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("times")
    void an_interrupt_from_another_thread_ends_it(TimeSource time) throws Exception {
        AtomicReference<Waiter> waiter = new AtomicReference<>();
        FutureTask<String> waiting = new FutureTask<>(() -> {
            Waiter w = time.waiter();
            waiter.set(w);
            try {
                return "woken " + w.await(time.never());
            } catch (InterruptedException e) {
                return "interrupted";
            }
        });
        Thread thread = Thread.ofVirtual().start(waiting);
        while (waiter.get() == null) {
            Thread.onSpinWait();
        }

        thread.interrupt();

        assertThat(waiting.get()).isEqualTo("interrupted");
    }

    @Test
    void only_its_thread_may_wait() throws Exception {
        AtomicReference<Waiter> waiter = new AtomicReference<>();
        Thread other = Thread.ofVirtual()
                .name("other")
                .start(() -> waiter.set(TimeSource.system().waiter()));
        other.join();

        assertThatThrownBy(() -> waiter.get().await(Deadline.after(ofSeconds(1))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("a waiter of VirtualThread[#");
    }

    @Test
    void a_deadline_of_another_clock_is_refused_and_nothing_waits() {
        Waiter w = TimeSource.system().waiter();

        assertThatThrownBy(() -> w.await(VirtualClock.jumping().after(ofSeconds(1))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(w.leave()).isTrue();
    }
}
