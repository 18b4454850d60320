package dev.selvedge.policy;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.selvedge.Fork;
import dev.selvedge.Lesson;
import dev.selvedge.Scope;
import dev.selvedge.Selvedge;
import dev.selvedge.policy.Bulkhead.Slot;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A bulkhead used alone: who gets a slot when, and that all come back. */
@Timeout(60)
@ExtendWith(VirtualTime.class)
class BulkheadTest {

    private final List<String> trail = Collections.synchronizedList(new ArrayList<>());

    private void note(VirtualClock clock, String what) {
        trail.add(clock.elapsed().toSeconds() + " " + what);
    }

    /** Holds a slot for so long. */
    private Fork<?> holding(Scope s, VirtualClock clock, Bulkhead bulkhead, String name, Duration d) {
        return s.fork(name, () -> {
            try (Slot slot = bulkhead.enter(clock.never())) {
                note(clock, name);
                Selvedge.sleep(d);
            }
        });
    }

    @Test
    void who_does_not_want_to_wait_gets_a_slot_or_nothing(VirtualClock clock) {
        Bulkhead one = Bulkhead.of(1);

        Slot slot = one.tryEnter(clock);
        assertThat(slot).isNotNull();
        assertThat(one.tryEnter(clock)).isNull();
        assertThat(one.waiting()).isZero();
        slot.close();
        assertThat(one.free()).isEqualTo(1);
        scope().clock(clock).run(s -> {
            holding(s, clock, one, "a", ofSeconds(2));
            holding(s, clock, one, "b", ofSeconds(2));
            Selvedge.sleep(ofSeconds(1));
            assertThat(one.tryEnter(clock))
                    .as("it is taken, and somebody waits")
                    .isNull();
        });
        assertThat(trail).containsExactly("0 a", "2 b");
    }

    @Test
    void so_many_run_at_a_time_and_the_others_follow_in_their_order(VirtualClock clock) {
        Bulkhead two = Bulkhead.of(2);

        scope().clock(clock).run(s -> {
            holding(s, clock, two, "a", ofSeconds(2));
            holding(s, clock, two, "b", ofSeconds(3));
            holding(s, clock, two, "c", ofSeconds(2));
            holding(s, clock, two, "d", ofSeconds(2));
            holding(s, clock, two, "e", ofSeconds(2));
            Selvedge.sleep(ofSeconds(1));
            assertThat(two.free()).isZero();
            assertThat(two.waiting()).isEqualTo(3);
        });

        assertThat(trail).containsExactly("0 a", "0 b", "2 c", "3 d", "4 e");
        assertThat(two.free()).isEqualTo(2);
        assertThat(two.waiting()).isZero();
    }

    @Test
    void who_finds_none_in_time_is_refused(VirtualClock clock) {
        Bulkhead one = Bulkhead.of(1);
        Bulkhead impatient = Bulkhead.of(1, b -> b.maxWait(ofMillis(50)));

        scope().clock(clock).run(() -> {
            try (Slot first = one.enter(clock.never());
                    Slot second = impatient.enter(clock.never())) {
                BulkheadFullException full =
                        catchThrowableOfType(BulkheadFullException.class, () -> one.enter(clock.after(ofSeconds(2))));
                assertThat(full)
                        .hasMessage("the bulkhead of 1 slot had none free in time")
                        .hasNoCause();
                assertThat(full.slots()).isEqualTo(1);
                assertThat(full.getStackTrace()).isEmpty();
                assertThat(clock.elapsed()).isEqualTo(ofSeconds(2));

                assertThatThrownBy(() -> impatient.enter(clock.never())).isInstanceOf(BulkheadFullException.class);
                assertThat(clock.elapsed()).isEqualTo(ofMillis(2_050));
                assertThatThrownBy(() -> impatient.enter(clock.after(ofMillis(20))))
                        .isInstanceOf(BulkheadFullException.class);
                assertThat(clock.elapsed()).isEqualTo(ofMillis(2_070));
            }
        });

        assertThat(one.free()).isEqualTo(1);
        assertThat(impatient.free()).isEqualTo(1);
    }

    @Test
    void without_any_wait_it_is_taken_or_refused_at_once(VirtualClock clock) throws InterruptedException {
        Bulkhead one = Bulkhead.of(1, b -> b.maxWait(ZERO));

        try (Slot slot = one.enter(clock.never())) {
            assertThatThrownBy(() -> one.enter(clock.never())).isInstanceOf(BulkheadFullException.class);
        }
        one.enter(clock.never()).close();

        assertThat(one.free()).isEqualTo(1);
    }

    @Test
    @Lesson({56, 60})
    void one_that_is_interrupted_while_it_waits_takes_none(VirtualClock clock) {
        Bulkhead one = Bulkhead.of(1);

        scope().clock(clock).run(s -> {
            holding(s, clock, one, "a", ofSeconds(2));
            Fork<?> b = holding(s, clock, one, "b", ofSeconds(2));
            holding(s, clock, one, "c", ofSeconds(2));
            Selvedge.sleep(ofSeconds(1));
            b.cancel();
        });

        assertThat(trail).containsExactly("0 a", "2 c");
        assertThat(one.free()).isEqualTo(1);
    }

    @Test
    @Lesson(58)
    void a_slot_is_given_back_once(VirtualClock clock) throws InterruptedException {
        Bulkhead two = Bulkhead.of(2);
        Slot slot = two.enter(clock.never());

        slot.close();
        slot.close();

        assertThat(two.free()).isEqualTo(2);
    }

    @Test
    void a_newcomer_waits_behind_the_others_unless_it_is_unfair(VirtualClock clock) {
        for (Bulkhead one : List.of(Bulkhead.of(1), Bulkhead.of(1, b -> b.unfair()))) {
            scope().clock(clock).run(s -> {
                Slot held = one.enter(clock.never());
                s.fork("waits", () -> {
                    try (Slot slot = one.enter(clock.never())) {
                        trail.add("who waited");
                    }
                });
                Selvedge.sleep(ofSeconds(1));
                held.close(); // the slot is handed over
                try (Slot slot = one.enter(clock.never())) {
                    trail.add("newcomer");
                }
            });
            assertThat(one.free()).isEqualTo(1);
        }

        assertThat(trail).containsExactly("who waited", "newcomer", "who waited", "newcomer");
    }

    @Test
    void on_another_clock_it_starts_fresh_and_old_slots_go_back_where_they_came_from(VirtualClock clock)
            throws InterruptedException {
        Bulkhead one = Bulkhead.of(1, b -> b.maxWait(ZERO));
        VirtualClock other = VirtualClock.manual();
        Slot old = one.enter(clock.never());

        Slot fresh = one.enter(other.never());
        old.close();

        assertThat(one.free()).isZero();
        fresh.close();
        assertThat(one.free()).isEqualTo(1);
    }

    static Stream<Bulkhead> both() {
        return Stream.of(Bulkhead.of(3), Bulkhead.of(3, b -> b.unfair()));
    }

    @ParameterizedTest
    @MethodSource("both")
    @Lesson({47, 56})
    void after_ten_thousand_timeouts_and_cancels_all_slots_are_there_again(Bulkhead three) {
        VirtualClock clock = VirtualClock.jumping();
        Random dice = new Random(3);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        scope().clock(clock)
                .isolated()
                .attempt(() -> scope().isolated().call(s -> {
                    for (int i = 0; i < 10_000; i++) {
                        Duration patience = ofMillis(dice.nextInt(40));
                        Duration work = ofMillis(dice.nextInt(10));
                        Fork<?> fork = s.fork(() -> {
                            try (Slot slot = three.enter(clock.after(patience))) {
                                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                                Selvedge.sleep(work);
                            } catch (BulkheadFullException e) {
                                return;
                            } finally {
                                inside.updateAndGet(n -> Math.max(0, n - 1));
                            }
                        });
                        Selvedge.sleep(ofMillis(dice.nextInt(2)));
                        if (dice.nextInt(4) == 0) {
                            fork.cancel();
                        }
                    }
                    return null;
                }));

        assertThat(most.get()).isLessThanOrEqualTo(3);
        assertThat(three.free()).isEqualTo(3);
        assertThat(three.waiting()).isZero();
    }

    @ParameterizedTest
    @MethodSource("both")
    @Tag("stress")
    @Lesson({56, 67})
    void under_real_threads_no_slot_is_lost_and_none_too_many(Bulkhead three) throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger tooMany = new AtomicInteger();
        RealThreads.each(8, t -> {
            Random dice = new Random(t);
            return () -> {
                for (int i = 0; i < 5_000; i++) {
                    try (Slot slot = three.enter(Deadline.after(ofNanos(dice.nextInt(200_000))))) {
                        tooMany.addAndGet(inside.incrementAndGet() > 3 ? 1 : 0);
                        Thread.yield();
                        inside.decrementAndGet();
                    } catch (BulkheadFullException e) {
                        // too late
                    }
                }
            };
        });

        assertThat(tooMany).hasValue(0);
        assertThat(three.free()).isEqualTo(3);
        assertThat(three.waiting()).isZero();
    }

    @Test
    void numbers_out_of_range_are_refused_with_their_value() {
        assertThatThrownBy(() -> Bulkhead.of(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("slots must be at least 1: 0");
        assertThatThrownBy(() -> Bulkhead.of(1, b -> b.maxWait(ofNanos(-1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxWait must not be negative: PT-0.000000001S");
        assertThatThrownBy(() -> Bulkhead.of(1, b -> null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("settings gave null");
        assertThat(Bulkhead.of(Integer.MAX_VALUE, b -> b.maxWait(ofSeconds(Long.MAX_VALUE)))
                        .free())
                .isEqualTo(Integer.MAX_VALUE);
    }
}
