package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.selvedge.time.Deadline;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Part K of the catalogue: what scopes and forks answer when they are used in ways they are not made for. */
@Timeout(30)
class MisuseTest {

    private static final Duration EARLIEST = ofSeconds(Long.MIN_VALUE);
    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);

    @RegisterExtension
    final Lab lab = new Lab();

    // The end of a scope.

    @Test
    @Catalogue(127)
    void nothing_can_be_done_with_a_leaked_scope_after_its_end() {
        AtomicReference<Fork<String>> fork = new AtomicReference<>();
        Scope leaked = lab.scope("page").call(s -> {
            fork.set(s.fork("a", slow("a", 1)));
            return s;
        });
        int told = lab.events().size();

        refusesAll(leaked, fork.get(), IllegalStateException.class, "cannot %s the scope \"page\": its body has ended");

        assertThat(lab.events()).hasSize(told);
        assertThat(leaked.name()).isEqualTo("page");
        assertThat(leaked).hasToString("the scope \"page\"");
    }

    @Test
    @Catalogue(127)
    void a_resource_that_is_closed_at_the_end_cannot_fork() {
        AtomicReference<Throwable> refused = new AtomicReference<>();

        lab.scope().run(s -> {
            AutoCloseable unused = s.use(() -> refused.set(catchThrowable(() -> s.fork(slow("a", 1)))));
        });

        assertThat(refused.get())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot fork into the scope: its body has ended");
        assertThat(lab.events(ScopeEvent.ForkCreated.class)).isEmpty();
    }

    @Test
    @Catalogue(127)
    void a_fork_can_be_joined_again_and_after_the_end() {
        Fork<String> fork = lab.scope().call(s -> {
            Fork<String> a = s.fork("a", slow("a", 1));
            assertThat(a.join()).isEqualTo("a");
            assertThat(a.join()).isEqualTo("a");
            return a;
        });

        assertThat(fork.join()).isEqualTo("a");
        assertThat(fork.join(ZERO)).isEqualTo("a");
        assertThat(fork.outcome()).isEqualTo(new Outcome.Success<>("a"));
        assertThat(fork.isDone()).isTrue();
        assertThat(fork.name()).isEqualTo("a");
    }

    @Test
    @Catalogue({127, 133})
    void forks_that_are_long_done_can_be_joined_however_many_came_after_them() {
        List<Fork<Integer>> forks = new ArrayList<>();
        AtomicReference<Fork<String>> cancelled = new AtomicReference<>();

        lab.scope().run(s -> {
            cancelled.set(s.fork("cancelled", slow("cancelled", 1)));
            assertThat(cancelled.get().cancel()).isTrue();
            for (int i = 0; i < 100; i++) {
                int n = i;
                forks.add(s.fork(() -> n));
                Selvedge.sleep(ofMillis(1));
            }
            assertThat(s.gather(forks)).hasSize(100).startsWith(0, 1, 2).endsWith(98, 99);
            assertThatThrownBy(() -> cancelled.get().join()).hasMessage("the fork \"cancelled\" was cancelled");
        });

        assertThat(forks.get(3).join()).isEqualTo(3);
        assertThat(forks.get(3).name()).isEqualTo("fork-5");
        assertThat(forks.get(3).cancel()).isFalse();
        assertThatThrownBy(() -> cancelled.get().join()).hasMessage("the fork \"cancelled\" was cancelled");
    }

    @Test
    @Catalogue(127)
    void a_failed_or_cancelled_fork_says_so_after_the_end_and_leaves_the_flag_clear() {
        List<Fork<String>> forks = new ArrayList<>();
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    forks.add(s.fork("a", slow("a", 9)));
                    forks.add(s.fork("b", failing("b", 1)));
                }))
                .isInstanceOf(ScopeFailedException.class);

        assertThatThrownBy(() -> forks.get(0).join())
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("\"b\" failed: java.lang.IllegalStateException: b");
        assertThatThrownBy(() -> forks.get(1).join())
                .isInstanceOf(ScopeFailedException.class)
                .cause()
                .hasMessage("b");

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Catalogue(128)
    void a_fork_into_a_cancelled_scope_is_cancelled_and_its_task_never_runs() {
        AtomicReference<Fork<String>> fork = new AtomicReference<>();

        assertThatThrownBy(() -> lab.scope().call(s -> {
                    assertThat(s.cancel("enough")).isTrue();
                    fork.set(s.fork("a", slow("a", 1)));
                    assertThat(fork.get().isDone()).isTrue();
                    assertThat(fork.get().cancel()).isFalse();
                    return "body";
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");

        assertThat(fork.get().outcome())
                .isEqualTo(new Outcome.Cancelled<>(new CancelReason(CancelReason.Kind.CALLER, "enough", null)));
        assertThat(lab.events(ScopeEvent.ForkCreated.class)).isEmpty();
        assertThat(lab.trail()).isEmpty();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Catalogue({128, 138})
    void a_fork_that_is_cancelled_before_it_has_begun_never_runs() {
        String value = lab.scope().call(s -> {
            Fork<String> a = s.fork("a", slow("a", 1));
            assertThat(a.cancel()).isTrue();
            assertThatThrownBy(a::join).hasMessage("the fork \"a\" was cancelled");
            assertThat(a.isDone()).isTrue();
            return "body";
        });

        assertThat(value).isEqualTo("body");
        assertThat(lab.events(ScopeEvent.ForkStarted.class)).isEmpty();
        assertThat(lab.trail()).isEmpty();
    }

    // The wrong thread.

    @Test
    @Catalogue(129)
    void another_thread_can_do_nothing_but_ask_and_cancel() {
        List<String> values = lab.scope("page").call(s -> {
            Fork<String> a = s.fork("a", slow("a", 1));
            inAnotherThread(() -> refusesAll(
                    s,
                    a,
                    WrongThreadException.class,
                    "only the thread that opened the scope \"page\" can %s it:"
                            + " open a scope of its own here, scope().run(s -> ...)"));
            return s.gather(List.of(a, s.fork("b", slow("b", 1))));
        });

        assertThat(values).containsExactly("a", "b");
        assertThat(lab.events(ScopeEvent.ForkCreated.class)).hasSize(2);
    }

    @Test
    @Catalogue(129)
    void another_thread_may_cancel_the_scope() {
        assertThatThrownBy(() -> lab.scope("page").run(s -> {
                    inAnotherThread(() -> {
                        assertThat(s.isCancelled()).isFalse();
                        assertThat(s.cancel("from there")).isTrue();
                    });
                    assertThat(s.isCancelled()).isTrue();
                    Selvedge.sleep(ofSeconds(1));
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("from there");

        assertThat(lab.now()).isEqualTo(ZERO);
    }

    @Test
    @Catalogue({127, 129})
    void after_the_end_another_thread_is_told_of_the_end() {
        Scope leaked = lab.scope().call(s -> s);

        inAnotherThread(() -> assertThatThrownBy(() -> leaked.fork(slow("a", 1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot fork into the scope: its body has ended"));
    }

    @Test
    @Catalogue({129, 130})
    void a_fork_cannot_fork_into_the_scope_that_runs_it() {
        assertThatThrownBy(() -> lab.scope("page").run(s -> s.fork("a", () -> s.fork(slow("b", 1)))))
                .isInstanceOf(ScopeFailedException.class)
                .cause()
                .isInstanceOf(WrongThreadException.class)
                .hasMessage("only the thread that opened the scope \"page\" can fork into it:"
                        + " open a scope of its own here, scope().run(s -> ...)");

        assertThat(lab.events(ScopeEvent.ForkCreated.class)).hasSize(1);
        assertThat(lab.trail()).isEmpty();
    }

    @Test
    @Catalogue(130)
    void the_owner_can_fork_into_an_outer_scope_while_an_inner_one_is_open() {
        String value = lab.scope("outer").call(outer -> {
            Fork<String> late = lab.scope("inner").call(inner -> {
                Fork<String> ofInner = inner.fork("inner", slow("inner", 1));
                Fork<String> ofOuter = outer.fork("outer", slow("outer", 3));
                Fork<String> more = inner.fork("more", slow("more", 2));
                assertThat(inner.gather(List.of(ofInner, more))).containsExactly("inner", "more");
                return ofOuter;
            });
            lab.note("inner has ended");
            return late.join();
        });

        assertThat(value).isEqualTo("outer");
        assertThat(lab.trail())
                .containsExactly("1s inner slept", "2s more slept", "2s inner has ended", "3s outer slept");
    }

    @Test
    @Catalogue(130)
    void gathering_a_fork_of_another_scope_is_refused() {
        lab.scope("outer").run(outer -> {
            Fork<String> a = outer.fork("a", slow("a", 1));
            lab.scope("inner")
                    .run(inner -> assertThatThrownBy(() -> inner.gather(List.of(a)))
                            .isInstanceOf(IllegalArgumentException.class)
                            .hasMessage("the fork \"a\" is not of the scope \"inner\": join it instead"));
        });

        assertThat(lab.trail()).containsExactly("1s a slept");
    }

    @Test
    @Catalogue(129)
    void a_fork_cannot_join_itself() {
        AtomicReference<Fork<?>> self = new AtomicReference<>();

        assertThatThrownBy(() -> lab.scope().run(s -> {
                    self.set(s.fork("a", () -> {
                        self.get().join();
                    }));
                    self.get().join();
                }))
                .isInstanceOf(ScopeFailedException.class)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the fork \"a\" cannot wait for itself");
    }

    // Joining.

    @Test
    @Catalogue(131)
    void a_join_that_was_interrupted_can_be_repeated() {
        Thread owner = Thread.currentThread();

        String value = lab.scope().call(s -> {
            Fork<String> a = s.fork("a", slow("a", 2));
            var unused = s.fork("interrupter", () -> {
                Selvedge.sleep(ofSeconds(1));
                lab.clock().interrupt(owner);
            });
            assertThatThrownBy(a::join)
                    .isInstanceOf(ScopeCancelledException.class)
                    .hasMessage("the thread \"" + owner.getName() + "\" was interrupted");
            lab.note("cut off");
            return a.join();
        });

        assertThat(value).isEqualTo("a");
        assertThat(lab.trail()).containsExactly("1s cut off", "2s a slept");
    }

    @Test
    @Catalogue(132)
    void forks_that_nobody_joins_are_awaited() {
        String value = lab.scope().call(s -> {
            var unused = s.fork(slow("a", 1));
            var unusedToo = s.fork(slow("b", 2));
            lab.note("body ends");
            return "body";
        });

        assertThat(value).isEqualTo("body");
        assertThat(lab.trail()).containsExactly("0s body ends", "1s a slept", "2s b slept");
    }

    @Test
    @Catalogue(133)
    void the_outcome_cannot_be_read_before_the_end_by_anyone() {
        lab.scope().run(s -> {
            Fork<String> a = s.fork("a", slow("a", 2));
            ThrowingCallable refused = () -> assertThatThrownBy(a::outcome)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("the fork \"a\" has not ended: join it first");
            refusing(refused);
            Fork<?> asking = s.fork(() -> refusing(refused));
            asking.join();
            inAnotherThread(refused);
            assertThat(a.isDone()).isFalse();
            assertThat(a.join()).isEqualTo("a");
            assertThat(a.outcome()).isEqualTo(new Outcome.Success<>("a"));
        });
    }

    @Test
    @Catalogue(135)
    void a_scoped_value_bound_after_the_scope_was_opened_forbids_forks_and_the_scope_goes_on() {
        assumeTrue(Container.isStructured(), "plain threads know of no bindings");

        String value = lab.scope().call(s -> {
            AtomicReference<Throwable> refused = new AtomicReference<>();
            withScopedValue(() -> refused.set(catchThrowable(() -> s.fork(slow("a", 1)))));
            assertThat(refused.get().getClass().getSimpleName()).isEqualTo("StructureViolationException");
            assertThat(s.isCancelled()).isFalse();
            return s.fork("b", slow("b", 1)).join();
        });

        assertThat(value).isEqualTo("b");
        assertThat(lab.trail()).containsExactly("1s b slept");
    }

    @Test
    @Catalogue(135)
    void under_a_scoped_value_of_one_s_own_a_scope_can_be_opened() {
        lab.scope("outer")
                .run(s -> withScopedValue(() -> assertThat(lab.scope("inner").gather(slow("a", 1), slow("b", 1)))
                        .containsExactly("a", "b")));

        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }

    // One constant, many scopes.

    @Test
    @Catalogue(136)
    void a_spec_that_is_used_twice_at_once_gives_two_scopes() {
        ScopeSpec both = lab.scope("both").deadline(ofSeconds(2));

        String slots = lab.scope()
                .fork(() -> both.call(slow("a", 1)))
                .fork(() -> both.call(slow("b", 9)))
                .outcomes((a, b) -> a.orElse("late") + ", " + b.orElse("late"));

        assertThat(slots).isEqualTo("a, late");
        assertThat(lab.trail()).containsExactly("1s a slept", "2s b cut off");
    }

    @Test
    @Catalogue(136)
    void a_spec_opened_inside_itself_gives_two_scopes() {
        ScopeSpec both = lab.scope("both").deadline(ofSeconds(2));

        assertThatThrownBy(() -> both.run(() -> {
                    Selvedge.sleep(ofSeconds(1));
                    both.run(() -> lab.sleep("inner", ofSeconds(9)));
                }))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"both\" exceeded its deadline of 2 s (after 2 s)");

        assertThat(lab.trail()).containsExactly("2s inner cut off");
    }

    @Test
    @Catalogue(136)
    void a_step_changes_nothing_in_the_spec_it_comes_from() {
        ScopeSpec plain = lab.scope("plain");
        ScopeSpec refined = plain.named("refined").deadline(ofSeconds(1)).isolated();

        assertThat(plain.call(() -> Selvedge.deadline().isNever())).isTrue();
        assertThat(refined.call(() -> Selvedge.deadline().remaining())).isEqualTo(ofSeconds(1));
        assertThat(plain.call(Scope::name)).isEqualTo("plain");
    }

    // Cancelling before and after.

    @Test
    @Catalogue({49, 137})
    void with_the_flag_set_at_entry_the_body_starts_and_its_first_blocking_call_throws() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> lab.scope().run(s -> {
                    lab.note("started");
                    lab.sleep("body", ofSeconds(1));
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("the thread \"" + Thread.currentThread().getName() + "\" was interrupted")
                .hasCauseInstanceOf(InterruptedException.class);

        assertThat(Thread.interrupted())
                .as("the flag is set again for the code outside")
                .isTrue();
        assertThat(lab.trail()).containsExactly("0s started", "0s body cut off");
    }

    @Test
    @Catalogue(137)
    void in_a_scope_that_is_cancelled_already_a_nested_body_starts_and_its_first_blocking_call_throws() {
        assertThatThrownBy(() -> lab.scope("outer").run(s -> {
                    assertThat(s.cancel("before")).isTrue();
                    lab.scope("inner").run(() -> {
                        lab.note("started");
                        lab.sleep("inner", ofSeconds(1));
                    });
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("before");

        assertThat(lab.trail()).containsExactly("0s started", "0s inner cut off");
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Catalogue(138)
    void a_cancel_after_the_end_is_refused_and_touches_no_thread() {
        AtomicReference<Fork<String>> fork = new AtomicReference<>();
        Scope leaked = lab.scope().call(s -> {
            fork.set(s.fork("a", slow("a", 1)));
            return s;
        });

        assertThat(leaked.cancel("late")).isFalse();
        assertThat(leaked.cancel(new IllegalStateException("late"))).isFalse();
        assertThat(leaked.isCancelled()).isFalse();
        assertThat(fork.get().cancel()).isFalse();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(lab.events(ScopeEvent.ScopeCancelled.class)).isEmpty();
        assertThat(fork.get().join()).isEqualTo("a");
    }

    @Test
    @Catalogue({44, 138})
    void of_two_cancels_the_first_counts() {
        IllegalStateException cause = new IllegalStateException("first");

        assertThatThrownBy(() -> lab.scope().run(s -> {
                    assertThat(s.cancel(cause)).isTrue();
                    assertThat(s.cancel("second")).isFalse();
                    Selvedge.sleep(ofSeconds(1));
                }))
                .isInstanceOfSatisfying(
                        ScopeCancelledException.class,
                        e -> assertThat(e.reason())
                                .isEqualTo(new CancelReason(
                                        CancelReason.Kind.CALLER,
                                        "cancelled because of java.lang.IllegalStateException: first",
                                        cause)));
    }

    @Test
    @Catalogue(140)
    void a_deadline_of_another_clock_is_refused_and_leaves_nothing_behind() {
        ScopeSpec wrong = lab.scope("page").deadline(Deadline.after(ofHours(1)));

        assertThatThrownBy(() -> wrong.gather(slow("a", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the deadline of the scope \"page\" is of the system's time,"
                        + " but the scope runs on a virtual clock at 0 s");
        lab.scope("outer").run(() -> {
            assertThatThrownBy(() -> wrong.run(s -> lab.note("never"))).isInstanceOf(IllegalArgumentException.class);
            lab.sleep("outer", ofSeconds(1));
        });

        assertThat(lab.trail()).containsExactly("1s outer slept");
        assertThat(lab.events(ScopeEvent.ScopeOpened.class)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("real")
    @Catalogue(141)
    void forks_before_and_after_one_that_cancels_end_at_once(boolean virtual) {
        inThread(virtual ? Thread.ofVirtual() : Thread.ofPlatform(), () -> {
            for (int n = 0; n < 16; n++) {
                cancelledAmong(n, 15 - n);
                cancelledAmong(n, n);
                cancelledAmong(15, n);
            }
        });
    }

    @Test
    @Catalogue(142)
    void five_thousand_nested_blocks_are_no_matter() throws InterruptedException {
        AtomicReference<Object> result = new AtomicReference<>();
        Thread deep = new Thread(
                null,
                () -> result.set(nested(5000, () -> {
                    Selvedge.checkpoint();
                    return "done";
                })),
                "deep",
                1L << 29);

        deep.start();
        deep.join();

        assertThat(result).hasValue("done");
    }

    @Test
    @Catalogue(142)
    void a_cancellation_passes_through_a_thousand_nested_blocks() throws InterruptedException {
        AtomicReference<Throwable> result = new AtomicReference<>();
        Thread deep = new Thread(
                null,
                () -> result.set(catchThrowable(() ->
                        lab.scope("outermost").deadline(ofSeconds(1)).call(() -> nested(1000, slow("innermost", 9))))),
                "deep",
                1L << 29);

        deep.start();
        deep.join();

        assertThat(result.get())
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"outermost\" exceeded its deadline of 1 s (after 1 s)");
        assertThat(lab.trail()).containsExactly("1s innermost cut off");
    }

    @Test
    @Tag("real")
    @Catalogue(143)
    void a_hundred_scopes_that_are_cancelled_from_many_threads_and_by_one_another_all_end() {
        List<Scope> open = new CopyOnWriteArrayList<>();
        CountDownLatch allOpen = new CountDownLatch(100);
        AtomicInteger ended = new AtomicInteger();

        Selvedge.scope("root").run(root -> {
            for (int i = 0; i < 100; i++) {
                var unused = root.fork(() -> {
                    assertThatThrownBy(() -> blockUntilCancelled(open, allOpen))
                            .isInstanceOf(ScopeCancelledException.class);
                    ended.incrementAndGet();
                });
            }
            for (int i = 0; i < 4; i++) {
                Random random = new Random(i);
                var unused = root.fork(() -> {
                    allOpen.await();
                    cancelAll(open, random);
                });
            }
        });

        assertThat(ended).hasValue(100);
    }

    // Null.

    @Test
    @Catalogue({13, 127})
    void null_is_refused_by_every_step_and_terminal_and_nothing_is_started() {
        ScopeSpec scope = lab.scope();
        Callable<String> task = slow("a", 1);
        List<Callable<String>> hasNull = Arrays.asList(task, null);

        refusesNull("name", () -> Selvedge.scope(null));
        refusesNull("name", () -> scope.named(null));
        refusesNull("d", () -> scope.deadline((Duration) null));
        refusesNull("d", () -> scope.deadline((Deadline) null));
        refusesNull("time", () -> scope.clock(null));
        refusesNull("sink", () -> scope.listener(null));
        refusesNull("task", () -> scope.call((Task<String, RuntimeException>) null));
        refusesNull("task", () -> scope.call((Callable<String>) null, failure -> "x"));
        refusesNull("fallback", () -> scope.call(task, null));
        refusesNull("task", () -> scope.attempt(null));
        refusesNull("task", () -> scope.run((Task.Void<RuntimeException>) null));
        refusesNull("body", () -> scope.call((Task.Of<Scope, String, RuntimeException>) null));
        refusesNull("body", () -> scope.run((Task.VoidOf<Scope, RuntimeException>) null));
        refusesNull("tasks", () -> scope.gather((List<Callable<String>>) null));
        refusesNull("tasks", () -> scope.race((List<Callable<String>>) null));
        refusesNull("tasks[1]", () -> scope.gather(hasNull));
        refusesNull("tasks[1]", () -> scope.race(hasNull));
        refusesNull("items", () -> scope.map((List<String>) null, n -> n));
        refusesNull("fn", () -> scope.map(List.of("a"), null));
        refusesNull("items", () -> scope.outcomes((List<String>) null, n -> n));
        refusesNull("fn", () -> scope.outcomes(List.of("a"), null));

        assertThat(lab.events()).isEmpty();
    }

    @Test
    @Catalogue(13)
    void null_is_refused_by_every_step_of_a_chain_and_nothing_is_started() {
        ScopeSpec scope = lab.scope();
        Callable<String> task = slow("a", 1);
        FanOut.Of1<String> one = scope.fork(task);
        FanOut.Of2<String, String> two = one.fork(task);
        FanOut.Of3<String, String, String> three = two.fork(task);
        FanOut.Of4<String, String, String, String> four = three.fork(task);
        FanOut.Of5<String, String, String, String, String> five = four.fork(task);

        refusesNull("task", () -> scope.fork(null));
        refusesNull("task", () -> scope.fork("x", null));
        refusesNull("name", () -> scope.fork(null, task));
        refusesNull("task", () -> one.fork(null));
        refusesNull("name", () -> one.fork(null, task));
        refusesNull("task", () -> two.fork("x", null));
        refusesNull("name", () -> three.fork(null, task));
        refusesNull("task", () -> four.fork(null));
        refusesNull("combine", () -> one.gather(null));
        refusesNull("combine", () -> two.gather(null));
        refusesNull("combine", () -> three.outcomes(null));
        refusesNull("combine", () -> four.gather(null));
        refusesNull("combine", () -> five.outcomes(null));

        assertThat(lab.events()).isEmpty();
    }

    @Test
    @Catalogue(13)
    void null_is_refused_by_a_live_scope_which_then_goes_on() {
        String value = lab.scope().call(s -> {
            Callable<String> task = slow("a", 1);
            refusesNull("task", () -> s.fork((Callable<String>) null));
            refusesNull("task", () -> s.fork((Task.Void<?>) null));
            refusesNull("task", () -> s.fork("x", (Callable<String>) null));
            refusesNull("task", () -> s.fork("x", (Task.Void<?>) null));
            refusesNull("name", () -> s.fork(null, task));
            refusesNull("name", () -> s.fork(null, () -> lab.note("never")));
            refusesNull("running", () -> s.gather(null));
            refusesNull("running[0]", () -> s.gather(Arrays.asList((Fork<String>) null)));
            refusesNull("resource", () -> s.use(null));
            refusesNull("why", () -> s.cancel((String) null));
            refusesNull("cause", () -> s.cancel((Throwable) null));
            Fork<String> a = s.fork(task);
            refusesNull("atMost", () -> a.join(null));
            return a.join();
        });

        assertThat(value).isEqualTo("a");
        assertThat(lab.events(ScopeEvent.ForkCreated.class)).hasSize(1);
    }

    @Test
    @Catalogue(13)
    void null_is_refused_by_what_can_be_called_anywhere() {
        refusesNull("d", () -> Selvedge.sleep(null));
        refusesNull("atMost", () -> Selvedge.timeLeft(null));
        refusesNull("cleanup", () -> Selvedge.shielded((Task<String, RuntimeException>) null));
        refusesNull("cleanup", () -> Selvedge.shielded((Task.Void<RuntimeException>) null));
        refusesNull("error", () -> new Outcome.Failure<>(null));
        refusesNull("reason", () -> new Outcome.Cancelled<>(null));
        refusesNull("kind", () -> new CancelReason(null, "why", null));
        refusesNull("message", () -> new CancelReason(CancelReason.Kind.CALLER, null, null));
    }

    @Test
    @Catalogue(13)
    void null_items_are_items_like_others() {
        List<String> values = lab.scope().map(Arrays.asList("a", null), n -> "got " + n);

        assertThat(values).containsExactly("got a", "got null");
    }

    // Durations that are none, or too long.

    @Test
    @Catalogue(56)
    void a_deadline_of_zero_or_less_starts_nothing() {
        for (Duration none : List.of(ZERO, ofNanos(-1), ofSeconds(-3), EARLIEST)) {
            ScopeSpec scope = lab.scope("page").deadline(none);
            for (ThrowingCallable terminal : terminals(scope)) {
                var late = catchThrowableOfType(DeadlineExceededException.class, terminal);
                assertThat(late).hasMessageStartingWith("the scope \"page\" exceeded its deadline of ");
                assertThat(late).hasMessageEndingWith(" (after 0 ns)").hasNoCause();
                assertThat(late.limit()).isEqualTo(none);
                assertThat(late.elapsed()).isEqualTo(ZERO);
                assertThat(late.unfinished()).isEmpty();
            }
        }
        assertThat(lab.trail()).isEmpty();
        assertThat(lab.events(ScopeEvent.ForkStarted.class)).isEmpty();
    }

    @Test
    @Catalogue(56)
    void a_deadline_of_zero_says_so() {
        assertThatThrownBy(() -> lab.scope("page").deadline(ZERO).call(slow("a", 1)))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"page\" exceeded its deadline of 0 ns (after 0 ns)");
        assertThatThrownBy(() -> lab.scope().deadline(ofMillis(-1500)).call(slow("a", 1)))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope exceeded its deadline of -1.5 s (after 0 ns)");
    }

    @Test
    @Catalogue({56, 137})
    void a_pending_cancel_comes_before_a_deadline_that_has_passed() {
        assertThatThrownBy(() -> lab.scope("outer").run(s -> {
                    assertThat(s.cancel("before")).isTrue();
                    lab.scope("inner").deadline(ZERO).run(() -> lab.note("never"));
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("before");

        assertThat(lab.trail()).isEmpty();
    }

    @Test
    @Catalogue(58)
    void a_deadline_too_long_to_count_is_none() {
        for (Duration d : List.of(ofSeconds(Long.MAX_VALUE), LONGEST, ChronoUnit.FOREVER.getDuration())) {
            Deadline inside = lab.scope().deadline(d).call(() -> {
                Selvedge.sleep(ofDays(365));
                return Selvedge.deadline();
            });
            assertThat(inside.isNever()).isTrue();
        }
        assertThat(lab.events(ScopeEvent.DeadlineSet.class)).isEmpty();
    }

    @Test
    @Catalogue({57, 58})
    void the_time_of_a_join_may_be_nothing_or_endless() {
        lab.scope().run(s -> {
            Fork<String> a = s.fork("a", slow("a", 1));
            Fork<String> b = s.fork("b", slow("b", 2));
            Fork<String> c = s.fork("c", slow("c", 9));
            assertThat(a.join(LONGEST)).isEqualTo("a");
            assertThat(a.join(ZERO)).isEqualTo("a");
            assertThat(a.join(EARLIEST)).isEqualTo("a");
            refusesLateJoin(b, ZERO, "0 ns");
            refusesLateJoin(c, ofSeconds(-1), "-1 s");
        });

        assertThat(lab.trail()).containsExactly("1s a slept", "1s b cut off", "1s c cut off");
    }

    @Test
    @Catalogue(58)
    void the_time_of_a_join_may_be_as_small_as_can_be() {
        lab.scope().run(s -> {
            Fork<String> a = s.fork("a", slow("a", 1));
            assertThatThrownBy(() -> a.join(EARLIEST)).isInstanceOf(DeadlineExceededException.class);
        });

        assertThat(lab.now()).isEqualTo(ZERO);
    }

    @Test
    @Catalogue(56)
    void a_late_join_names_the_fork_and_the_scope_goes_on() {
        lab.scope().run(s -> {
            Fork<String> a = s.fork("a", tidy("a", 2));
            var late = catchThrowableOfType(DeadlineExceededException.class, () -> a.join(ofSeconds(1)));
            var reason = new CancelReason(CancelReason.Kind.DEADLINE, "the fork \"a\" was late", null);
            assertThat(late)
                    .hasMessage("the join of the fork \"a\" exceeded its deadline of 1 s (after 3 s); not finished: a");
            assertThat(late.outcomes()).isEqualTo(List.of(new Outcome.Cancelled<>(reason)));
            assertThat(s.isCancelled()).isFalse();
            assertThatThrownBy(a::join)
                    .isInstanceOf(ScopeCancelledException.class)
                    .hasMessage("the fork \"a\" was late");
            assertThat(s.fork("b", slow("b", 1)).join()).isEqualTo("b");
        });

        assertThat(lab.trail()).containsExactly("1s a cut off", "3s a cleaned up", "4s b slept");
    }

    @Test
    @Catalogue(57)
    void a_value_that_arrives_after_a_late_join_s_cancel_is_given() {
        String value = lab.scope()
                .call(s -> s.fork("a", () -> {
                            Selvedge.shielded(() -> lab.sleep("a", ofSeconds(2)));
                            return "a";
                        })
                        .join(ofSeconds(1)));

        assertThat(value).isEqualTo("a");
        assertThat(lab.trail()).containsExactly("2s a slept");
    }

    @Test
    @Catalogue({167, 168})
    void a_sleep_of_zero_or_less_takes_no_time_but_is_a_checkpoint() {
        for (Duration none : List.of(ZERO, ofNanos(-1), EARLIEST)) {
            lab.scope().run(() -> Selvedge.sleep(none));
            assertThatThrownBy(() -> lab.scope().run(s -> {
                        assertThat(s.cancel("stop")).isTrue();
                        Selvedge.sleep(none);
                    }))
                    .isInstanceOf(ScopeCancelledException.class)
                    .hasMessage("stop");
        }
        assertThat(lab.now()).isEqualTo(ZERO);
    }

    @Test
    @Catalogue({58, 169})
    void a_sleep_too_long_to_count_lasts_until_it_is_cut_off() {
        for (Duration d : List.of(ofSeconds(Long.MAX_VALUE), LONGEST)) {
            assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(1)).run(() -> lab.sleep("endless", d)))
                    .isInstanceOf(DeadlineExceededException.class);
        }
        assertThat(lab.trail()).containsExactly("1s endless cut off", "2s endless cut off");
    }

    @Test
    @Catalogue(62)
    void the_time_left_is_at_most_what_is_asked_and_never_nothing() {
        assertThat(Selvedge.timeLeft(LONGEST)).isLessThanOrEqualTo(LONGEST).isGreaterThan(ofHours(1_000_000));
        assertThat(Selvedge.timeLeft(ofSeconds(5))).isEqualTo(ofSeconds(5));
        lab.scope().deadline(ofSeconds(2)).run(() -> {
            assertThat(Selvedge.timeLeft(LONGEST)).isEqualTo(ofSeconds(2));
            assertThat(Selvedge.timeLeft(ofSeconds(5))).isEqualTo(ofSeconds(2));
            assertThat(Selvedge.timeLeft(ofSeconds(1))).isEqualTo(ofSeconds(1));
            Selvedge.sleep(ofMillis(1500).plusNanos(1));
            assertThat(Selvedge.timeLeft(ofSeconds(5))).isEqualTo(ofMillis(500));
            Selvedge.sleep(ofMillis(499).plusNanos(999_998));
            assertThat(Selvedge.timeLeft(ofSeconds(5))).isEqualTo(ofMillis(1));
        });
    }

    @Test
    @Catalogue(62)
    void to_ask_for_no_time_left_is_refused() {
        for (Duration none : List.of(ZERO, ofNanos(-1), EARLIEST)) {
            assertThatThrownBy(() -> Selvedge.timeLeft(none))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("atMost must be positive: " + none);
        }
    }

    @Test
    @Tag("real")
    @Catalogue({127, 129, 133})
    void in_real_time_the_same_is_refused() {
        CountDownLatch open = new CountDownLatch(1);
        Scope leaked = lab.realScope().call(s -> {
            Fork<?> a = s.fork("a", () -> open.await());
            Fork<Throwable> child = s.fork(() -> catchThrowable(() -> s.fork(slow("b", 1))));
            assertThat(child.join()).isInstanceOf(WrongThreadException.class);
            assertThatThrownBy(a::outcome).hasMessage("the fork \"a\" has not ended: join it first");
            open.countDown();
            return s;
        });

        assertThatThrownBy(() -> leaked.fork(slow("c", 1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("cannot fork into the scope: its body has ended");
        assertThat(lab.events(ScopeEvent.ForkCreated.class)).hasSize(2);
    }

    private static void refusesAll(Scope s, Fork<String> fork, Class<? extends Throwable> type, String message) {
        Callable<String> never = () -> {
            throw new AssertionError("must not run");
        };
        refuses(() -> s.fork(never), type, message, "fork into");
        refuses(() -> s.fork("named", never), type, message, "fork into");
        refuses(() -> s.fork(() -> {}), type, message, "fork into");
        refuses(() -> s.fork("named", () -> {}), type, message, "fork into");
        refuses(() -> s.use(() -> {}), type, message, "use a resource in");
        refuses(() -> s.gather(List.of(fork)), type, message, "gather in");
    }

    private static void refuses(ThrowingCallable call, Class<? extends Throwable> type, String message, String what) {
        assertThatThrownBy(call).isInstanceOf(type).hasMessage(message.formatted(what));
    }

    private static void refusesNull(String name, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(name);
    }

    private static void refusesLateJoin(Fork<String> fork, Duration d, String words) {
        assertThatThrownBy(() -> fork.join(d))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the join of the fork \"" + fork.name() + "\" exceeded its deadline of " + words
                        + " (after 0 ns); not finished: " + fork.name());
    }

    private static void refusing(ThrowingCallable check) {
        assertThat(catchThrowable(check)).isNull();
    }

    private List<ThrowingCallable> terminals(ScopeSpec scope) {
        Task<String, RuntimeException> never = slow("never", 1);
        return List.of(
                () -> scope.call(never),
                () -> scope.run(() -> lab.note("never")),
                () -> scope.run(s -> lab.note("never")),
                () -> scope.call(s -> s.fork(never).join()),
                () -> scope.gather(never),
                () -> scope.race(never),
                () -> scope.map(List.of(1), n -> never.call()),
                () -> scope.fork(never).fork(never).gather((a, b) -> a + b));
    }

    private static void inAnotherThread(ThrowingCallable action) {
        inThread(Thread.ofPlatform(), action);
    }

    private static void inThread(Thread.Builder builder, ThrowingCallable action) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = builder.start(() -> thrown.set(catchThrowable(action)));
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertThat(thrown.get()).isNull();
    }

    /** Binds a scoped value of its own, which classes of release 21 cannot name. */
    private static void withScopedValue(Runnable action) {
        try {
            Class<?> type = Class.forName("java.lang.ScopedValue");
            Object value = type.getMethod("newInstance").invoke(null);
            Object carrier = type.getMethod("where", type, Object.class).invoke(null, value, "bound");
            carrier.getClass().getMethod("run", Runnable.class).invoke(carrier, action);
        } catch (InvocationTargetException e) {
            throw new AssertionError(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("no ScopedValue can be bound here", e);
        }
    }

    private static void cancelledAmong(int before, int after) {
        assertThatThrownBy(() -> Selvedge.scope().run(s -> {
                    for (int i = 0; i < before; i++) {
                        var unused = s.fork(() -> Selvedge.sleep(ofHours(1)));
                    }
                    var unused = s.fork(() -> s.cancel("enough"));
                    for (int i = 0; i < after; i++) {
                        var unusedToo = s.fork(() -> Selvedge.sleep(ofHours(1)));
                    }
                    Selvedge.sleep(ofHours(1));
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");
    }

    private static <T> T nested(int depth, Task<T, RuntimeException> innermost) {
        return depth == 0
                ? Selvedge.scope().call(innermost)
                : Selvedge.scope().call(() -> nested(depth - 1, innermost));
    }

    private static void blockUntilCancelled(List<Scope> open, CountDownLatch allOpen) {
        Selvedge.scope().run(s -> {
            open.add(s);
            allOpen.countDown();
            for (int i = 0; i < 3; i++) {
                var unused = s.fork(() -> Selvedge.sleep(ofHours(1)));
            }
            try {
                Selvedge.sleep(ofHours(1));
            } finally {
                cancelAll(open, new Random(1));
            }
        });
    }

    private static void cancelAll(List<Scope> open, Random random) {
        List<Scope> shuffled = new ArrayList<>(open);
        Collections.shuffle(shuffled, random);
        for (Scope s : shuffled) {
            s.cancel("cancelled at random");
        }
    }

    private Task<String, RuntimeException> slow(String name, int seconds) {
        return () -> {
            lab.sleep(name, ofSeconds(seconds));
            return name;
        };
    }

    private static Callable<String> failing(String message, int seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            throw new IllegalStateException(message);
        };
    }

    /** Waits until it is cut off, and takes its time to clean up. */
    private Callable<String> tidy(String name, int cleanup) {
        return () -> {
            try {
                return slow(name, 1000).call();
            } finally {
                Selvedge.sleep(ofSeconds(cleanup));
                lab.note(name + " cleaned up");
            }
        };
    }

    // A full stack.

    @Test
    @Catalogue(142)
    @Tag("real")
    void a_stack_overflow_inside_nested_blocks_leaves_as_itself_and_leaves_nothing_behind() {
        assertThatThrownBy(() -> nestedWithoutEnd()).isInstanceOf(StackOverflowError.class);

        assertThat(Here.ledger()).isNull();
        String after = lab.scope().deadline(ofSeconds(1)).call(() -> "fine");
        assertThat(after).isEqualTo("fine");
    }

    private static int nestedWithoutEnd() {
        return Selvedge.scope().deadline(java.time.Duration.ofHours(1)).call(() -> nestedWithoutEnd() + 1);
    }
}
