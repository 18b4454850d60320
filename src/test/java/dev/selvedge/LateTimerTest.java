package dev.selvedge;

import static dev.selvedge.Blocks.compute;
import static dev.selvedge.Blocks.flag;
import static dev.selvedge.Blocks.inner;
import static dev.selvedge.Blocks.late;
import static dev.selvedge.Blocks.on;
import static dev.selvedge.Blocks.passDeadline;
import static dev.selvedge.Blocks.passed;
import static dev.selvedge.Blocks.spinUntil;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.time.Alarm;
import dev.selvedge.time.ClockInside;
import dev.selvedge.time.TimeSource;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Timers and cancels that come when it is too late: none of them may hit what the thread does next. */
@Timeout(30)
class LateTimerTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final Thread tester = Thread.currentThread();
    private volatile boolean blockHasEnded;

    private static Frame top() {
        Frame top = Here.openLedger().top();
        assertThat(top).isNotNull();
        return top;
    }

    @Test
    @Catalogue(69)
    void a_timer_that_fires_after_the_block_has_ended_does_nothing_and_says_so() {
        Frame ended = lab.scope("page").deadline(ofSeconds(1)).call(LateTimerTest::top);

        assertThat(ended.cancelAsPassed()).isFalse();
        assertThat(ended.ledger.fire(ended)).isFalse();
        assertThat(flag()).isFalse();
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue(69)
    void a_timer_that_fires_after_an_inner_block_has_ended_does_not_hit_the_outer_one() {
        lab.scope("outer").run(() -> {
            Frame ended = inner(ofSeconds(1)).call(LateTimerTest::top);

            assertThat(ended.cancelAsPassed()).isFalse();
            assertThat(ended.ledger.fire(ended)).isFalse();
            assertThat(flag()).isFalse();
            lab.sleep("outer", ofSeconds(2));
        });

        assertThat(lab.trail()).containsExactly("2s outer slept");
        assertThat(passed(lab)).isEmpty();
    }

    @Test
    @Catalogue(69)
    void a_block_fires_once() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> {
                    Frame frame = top();
                    passDeadline();
                    assertThat(frame.cancelAsPassed()).isFalse();
                    assertThat(frame.ledger.fire(frame)).isFalse();
                    Selvedge.sleep(ofSeconds(9));
                }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 0 ns)");
        assertThat(flag()).isFalse();
    }

    /** A ledger that holds the firing thread at one of its steps until the owner has come so far. */
    private final class Held extends Ledger {

        private final Step where;
        private final BooleanSupplier until;
        private volatile boolean reached;

        Held(Step where, BooleanSupplier until) {
            super(null);
            this.where = where;
            this.until = until;
        }

        @Override
        void at(Step step) {
            if (step == where) {
                reached = true;
                spinUntil(until);
            }
            assertThat(blockHasEnded).isFalse();
        }
    }

    private boolean testerIsIn(String className, String method) {
        return Arrays.stream(tester.getStackTrace())
                .anyMatch(e -> e.getClassName().startsWith(className)
                        && e.getMethodName().equals(method));
    }

    private Thread fireAside(AtomicReference<Boolean> accepted) {
        Frame frame = top();
        return Thread.ofPlatform().start(() -> accepted.set(frame.cancelAsPassed()));
    }

    @ParameterizedTest
    @EnumSource(Ledger.Step.class)
    @Catalogue(70)
    void a_block_that_ends_while_its_timer_fires_waits_for_the_interrupt_and_clears_it(Ledger.Step step)
            throws Exception {
        AtomicReference<Boolean> accepted = new AtomicReference<>();
        List<Thread> timers = new ArrayList<>();
        Held held = new Held(step, () -> testerIsIn("dev.selvedge.Frame", "awaitFired"));
        Here.install(held);

        int value = lab.scope("page").deadline(ofSeconds(1)).call(() -> {
            timers.add(fireAside(accepted));
            spinUntil(() -> held.reached);
            return 42;
        });
        blockHasEnded = true;

        assertThat(value).isEqualTo(42);
        assertThat(flag()).isFalse();
        timers.get(0).join();
        assertThat(flag()).isFalse();
        assertThat(accepted).hasValue(true);
        assertThat(passed(lab)).containsExactly("page");
    }

    @Tag("real")
    @Test
    @Catalogue({19, 70})
    void an_interrupt_that_arrives_before_its_request_is_published_is_known_as_the_blocks_own() throws Exception {
        AtomicReference<Boolean> accepted = new AtomicReference<>();
        List<Thread> timers = new ArrayList<>();
        AtomicBoolean caught = new AtomicBoolean();
        Here.install(new Held(
                Ledger.Step.INTERRUPTED,
                () -> caught.get() || testerIsIn("java.util.concurrent.locks.ReentrantLock", "lock")));

        DeadlineExceededException late =
                late(() -> lab.realScope().named("page").deadline(ofHours(1)).run(() -> {
                    timers.add(fireAside(accepted));
                    try {
                        Selvedge.sleep(ofHours(1));
                    } catch (ScopeCancelledException e) {
                        caught.set(true);
                        throw e;
                    }
                }));

        timers.get(0).join();
        assertThat(late).hasMessageStartingWith("the scope \"page\" exceeded its deadline of 1 h (after ");
        assertThat(accepted).hasValue(true);
        assertThat(flag()).isFalse();
    }

    @Tag("stress")
    @Test
    @Catalogue(70)
    void nested_blocks_whose_deadlines_pass_as_they_end_leave_no_flag_and_no_late_interrupt() {
        ScopeSpec quiet = Selvedge.scope().listener(event -> {});
        for (int i = 0; i < 5_000; i++) {
            int seed = i;
            try {
                quiet.deadline(ofNanos(3_000 + seed * 7L % 40_000)).run(() -> spinInTwoBlocks(seed));
            } catch (DeadlineExceededException e) {
                assertThat(e.getMessage()).startsWith("the scope");
            }
            assertThat(flag()).isFalse();
        }
    }

    private static void spinInTwoBlocks(int seed) {
        Selvedge.scope().deadline(ofNanos(2_000 + seed * 11L % 40_000)).run(() -> {
            Selvedge.scope().deadline(ofNanos(1_000 + seed * 13L % 40_000)).run(() -> {
                long end = System.nanoTime() + seed * 17L % 40_000;
                spinUntil(() -> System.nanoTime() - end >= 0);
            });
        });
    }

    @Test
    @Catalogue(71)
    void a_deadline_that_passes_in_a_body_that_never_blocks_leaves_the_flag_clear() {
        lab.scope("page").deadline(ofSeconds(1)).run(() -> {
            compute(lab, ofSeconds(2));
            assertThat(flag()).isTrue();
        });

        assertThat(flag()).isFalse();
        lab.scope().run(() -> lab.sleep("next", ofSeconds(1)));
        assertThat(lab.trail()).containsExactly("3s next slept");
    }

    @Test
    @Catalogue(72)
    void a_body_that_restores_the_flag_and_returns_leaves_it_clear() {
        int value = lab.scope("page").deadline(ofSeconds(1)).call(() -> {
            try {
                Blocks.rawSleep(lab, ofSeconds(9));
                return 1;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return 2;
            }
        });

        assertThat(value).isEqualTo(2);
        assertThat(flag()).isFalse();
        assertThat(passed(lab)).containsExactly("page");
    }

    @Test
    @Catalogue(72)
    void a_body_that_restores_the_flag_and_throws_on_leaves_it_clear() {
        DeadlineExceededException late =
                late(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> {
                    try {
                        Selvedge.sleep(ofSeconds(9));
                    } catch (ScopeCancelledException e) {
                        Thread.currentThread().interrupt();
                        throw e;
                    }
                }));

        assertThat(late).hasMessage("the scope \"page\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(73)
    void the_timer_of_a_block_that_ended_in_time_moves_no_clock() throws Exception {
        List<Thread> cancellers = new ArrayList<>();

        ScopeCancelledException cancelled =
                Blocks.cancelled(() -> lab.scope("outer").run(s -> {
                    inner(ofHours(1)).run(() -> lab.sleep("inner", ofSeconds(1)));
                    cancellers.add(Thread.ofPlatform().start(() -> {
                        spinUntil(() -> tester.getState() == Thread.State.WAITING);
                        assertThat(s.cancel("stop")).isTrue();
                    }));
                    lab.sleep("outer", ofSeconds(Long.MAX_VALUE));
                }));

        cancellers.get(0).join();
        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("1s inner slept", "1s outer cut off");
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(73)
    void the_timer_of_a_scope_that_ended_in_time_moves_no_clock_and_is_told_nowhere() {
        lab.scope("outer").run(() -> {
            List<Integer> values =
                    Selvedge.scope("inner").deadline(ofSeconds(5)).gather(() -> 1, () -> 2);
            assertThat(values).containsExactly(1, 2);
            lab.sleep("outer", ofSeconds(9));
        });

        assertThat(lab.trail()).containsExactly("9s outer slept");
        assertThat(passed(lab)).isEmpty();
    }

    /** An alarm that is being stopped while it rings. */
    private static final class Ringing extends Alarm {

        private volatile boolean rings;
        private volatile boolean stopped;
        private volatile boolean interrupted;
        private volatile boolean over;

        @Override
        protected void ring() {
            rings = true;
            spinUntil(() -> stopped);
            interrupted = flag();
            over = true;
        }
    }

    @Tag("real")
    @Test
    @Catalogue(74)
    void stopping_an_alarm_that_rings_does_not_interrupt_the_timers_thread() {
        Ringing alarm = new Ringing();
        TimeSource.system().set(alarm, TimeSource.system().after(ZERO));
        spinUntil(() -> alarm.rings);

        boolean stoppedInTime = alarm.stop();

        alarm.stopped = true;
        spinUntil(() -> alarm.over);
        assertThat(stoppedInTime).isFalse();
        assertThat(alarm.interrupted).isFalse();
    }

    @Test
    @Catalogue(75)
    void the_next_user_of_a_pooled_thread_sees_a_clean_thread() throws Exception {
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            pool.submit(() -> late(() -> lab.scope().deadline(ofSeconds(1)).run(() -> compute(lab, ofSeconds(2)))))
                    .get();
            String late = pool.submit(() -> late(() ->
                                    lab.scope("page").deadline(ofSeconds(1)).run(() -> Selvedge.sleep(ofSeconds(9))))
                            .getMessage())
                    .get();

            boolean flag = pool.submit(Blocks::flag).get();
            Ledger ledger = pool.submit(Here::ledger).get();

            assertThat(late).isEqualTo("the scope \"page\" exceeded its deadline of 1 s (after 1 s)");
            assertThat(flag).isFalse();
            assertThat(ledger).isNull();
        }
    }

    @Test
    @Catalogue(76)
    void a_scope_that_is_cancelled_between_a_fork_and_its_start_never_runs_its_task() {
        Scope[] open = {null};
        ScopeSpec scope = lab.scope("page").listener(when(ScopeEvent.ForkCreated.class, () -> open[0].cancel("stop")));

        ScopeCancelledException cancelled = Blocks.cancelled(() -> scope.run(s -> {
            open[0] = s;
            Fork<?> fork = s.fork("work", () -> lab.note("work ran"));
            Object unused = fork.join();
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).isEmpty();
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue(76)
    void a_scope_that_is_cancelled_while_a_fork_begins_interrupts_its_task() {
        Scope[] open = {null};
        ScopeSpec scope = lab.scope("page").listener(when(ScopeEvent.ForkStarted.class, () -> open[0].cancel("stop")));

        ScopeCancelledException cancelled = Blocks.cancelled(() -> scope.run(s -> {
            open[0] = s;
            Fork<?> unused = s.fork("work", () -> lab.sleep("work", ofSeconds(9)));
        }));

        assertThat(cancelled).hasMessage("stop");
        assertThat(lab.trail()).containsExactly("0s work cut off");
        assertThat(flag()).isFalse();
    }

    @Tag("real")
    @Test
    @Catalogue(76)
    void in_real_time_too_a_cancel_between_a_fork_and_its_start_is_not_missed() {
        Scope[] open = {null};
        for (Class<? extends ScopeEvent> moment : List.of(ScopeEvent.ForkCreated.class, ScopeEvent.ForkStarted.class)) {
            ScopeSpec scope = lab.realScope().listener(when(moment, () -> open[0].cancel("stop")));

            ScopeCancelledException cancelled = Blocks.cancelled(() -> scope.run(s -> {
                open[0] = s;
                Fork<?> unused = s.fork("work", () -> Selvedge.sleep(ofHours(1)));
            }));

            assertThat(cancelled).hasMessage("stop");
            assertThat(flag()).isFalse();
        }
    }

    private static Consumer<ScopeEvent> when(Class<? extends ScopeEvent> kind, Runnable what) {
        return event -> {
            if (kind.isInstance(event)) {
                what.run();
            }
        };
    }

    @Test
    void no_time_passes_between_the_reason_of_a_foreign_cancel_and_its_interrupt() {
        ReentrantLock stopped = ClockInside.lock(lab.clock());

        lab.scope().run(s -> {
            LiveFork<?> fork = (LiveFork<?>) s.fork(() -> lab.sleep("fork", ofSeconds(10)));
            Selvedge.sleep(ofSeconds(1));
            Thread canceller;
            stopped.lock();
            try {
                canceller = Thread.ofPlatform().start(fork::cancel);
                while (!stopped.hasQueuedThread(canceller)) {
                    Thread.onSpinWait();
                }
                assertThat(fork.cancelReason()).isNull();
            } finally {
                stopped.unlock();
            }
            canceller.join();
        });

        assertThat(lab.trail()).containsExactly("1s fork cut off");
    }

    @Test
    @Catalogue(77)
    void a_cancel_of_a_fork_that_is_done_does_nothing() {
        int value = lab.scope("page").call(s -> {
            Fork<Integer> done = s.fork("done", () -> 42);
            Selvedge.sleep(ofSeconds(1));

            assertThat(done.cancel()).isFalse();
            assertThat(done.outcome()).isEqualTo(new Outcome.Success<>(42));
            return done.join();
        });

        assertThat(value).isEqualTo(42);
    }

    @Test
    @Catalogue(77)
    void the_thread_of_a_task_that_is_done_is_not_interrupted_by_a_cancel_of_its_scope() {
        Scope[] open = {null};
        AtomicBoolean hit = new AtomicBoolean();
        AtomicBoolean looked = new AtomicBoolean();
        ScopeSpec scope = lab.scope("page").listener(when(ScopeEvent.ForkEnded.class, () -> {
            looked.set(open[0].cancel("stop"));
            hit.set(flag());
        }));

        int value = scope.call(s -> {
            open[0] = s;
            Fork<?> unused = s.fork("done", () -> 1);
            compute(lab, ofSeconds(1));
            return 42;
        });

        assertThat(looked).isTrue();
        assertThat(hit).isFalse();
        assertThat(value).isEqualTo(42);
        assertThat(flag()).isFalse();
    }

    /** A channel whose closing, on the thread that interrupts, takes until something else has happened. */
    private static final class SlowToClose extends AbstractInterruptibleChannel {

        private final BooleanSupplier until;

        SlowToClose(BooleanSupplier until) {
            this.until = until;
        }

        @Override
        protected void implCloseChannel() {
            spinUntil(until);
        }

        void use(CountDownLatch begun) throws ClosedByInterruptException, AsynchronousCloseException {
            try {
                begin();
                begun.countDown(); // from here on, whoever interrupts closes it
                while (!flag()) {
                    LockSupport.park(this);
                }
            } finally {
                end(false);
            }
        }
    }

    /** The owner is hit last: a canceller goes through the forks first, and the last of them keeps it busy. */
    private boolean testerAwaitsForks() {
        return testerIsIn("dev.selvedge.OpenScope", "awaitForks") || testerIsIn("dev.selvedge.Frame", "awaitFired");
    }

    private void forkSlowToClose(Scope s, BooleanSupplier until) {
        CountDownLatch begun = new CountDownLatch(1);
        Fork<?> unused = s.fork("slow", () -> {
            new SlowToClose(until).use(begun);
        });
        spinUntil(() -> begun.getCount() == 0);
    }

    @Tag("real")
    @Test
    @Catalogue({19, 32})
    void a_deadline_that_a_joined_fork_shows_before_the_interrupt_arrives_is_the_timeout() {
        assertTimeoutOf(s -> {
            Fork<?> quick = s.fork("quick", () -> Selvedge.sleep(ofHours(1)));
            forkSlowToClose(s, this::testerAwaitsForks);
            Thread timer = fireAside(new AtomicReference<>());
            Object unused = quick.join();
            timer.join();
        });
    }

    @Tag("real")
    @Test
    @Catalogue({19, 80})
    void a_deadline_that_a_checkpoint_shows_before_the_interrupt_arrives_is_the_timeout() {
        assertTimeoutOf(s -> {
            forkSlowToClose(s, this::testerAwaitsForks);
            Thread timer = fireAside(new AtomicReference<>());
            spinUntil(s::isCancelled);
            Selvedge.checkpoint();
            timer.join();
        });
    }

    @Tag("real")
    @Test
    @Catalogue({19, 80})
    void a_deadline_that_a_checkpoint_shows_and_whose_interrupt_comes_in_the_cleanup_is_the_timeout() {
        AtomicBoolean shown = new AtomicBoolean();

        assertTimeoutOf(s -> {
            forkSlowToClose(s, shown::get);
            Thread timer = fireAside(new AtomicReference<>());
            spinUntil(s::isCancelled);
            try {
                Selvedge.checkpoint();
                timer.join();
            } finally {
                shown.set(true);
                spinUntil(Blocks::flag);
            }
        });
    }

    private void assertTimeoutOf(Task.VoidOf<Scope, RuntimeException> body) {
        DeadlineExceededException late =
                late(() -> lab.realScope().named("page").deadline(ofHours(1)).run(body));

        assertThat(late).hasMessageStartingWith("the scope \"page\" exceeded its deadline of 1 h (after ");
        assertThat(flag()).isFalse();
    }

    @Test
    @Catalogue({75, 77})
    void a_virtual_thread_that_goes_on_after_a_block_is_not_hit_by_a_late_cancel() throws Exception {
        boolean hit = on(lab, Thread.ofVirtual(), () -> {
            Scope[] ended = {null};
            lab.scope("page").run(s -> ended[0] = s);
            assertThat(ended[0].cancel("too late")).isFalse();
            assertThat(ended[0].isCancelled()).isFalse();
            return flag();
        });

        assertThat(hit).isFalse();
    }
}
