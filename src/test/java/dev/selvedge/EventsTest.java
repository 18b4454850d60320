package dev.selvedge;

import static dev.selvedge.Blocks.flag;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.policy.Bulkhead;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitBreaker.State;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What listeners are told: each kind of event with its fields, and when and where it happened. */
@Timeout(30)
class EventsTest {

    @RegisterExtension
    final Lab lab = new Lab();

    private final List<Told> told = new CopyOnWriteArrayList<>();
    private final ScopeListener ear = (event, where) -> told.add(new Told(event, where));

    private record Told(ScopeEvent event, ScopeListener.Where where) {}

    private ScopeSpec heard(String name) {
        return lab.scope(name).listener(ear);
    }

    private <E extends ScopeEvent> Told only(Class<E> kind) {
        List<Told> found = all(kind);
        assertThat(found).hasSize(1);
        return found.get(0);
    }

    private List<Told> all(Class<? extends ScopeEvent> kind) {
        return told.stream().filter(t -> kind.isInstance(t.event)).toList();
    }

    private String nap(String who, Duration length) {
        lab.sleep(who, length);
        return who;
    }

    private long millis(Told t) {
        return (t.where.nanoTime() - begun) / 1_000_000;
    }

    private final long begun = lab.clock().nanoTime();

    // How a scope ended.

    @Test
    void a_scope_that_gives_a_value_closes_without_an_error() {
        heard("call").run(() -> nap("task", ofMillis(10)));
        heard("tasks").gather(List.of(() -> nap("task", ofMillis(20))));
        heard("kept").attempt(() -> {
            throw new IOException("no");
        });

        assertThat(told.stream().map(Told::event).filter(e -> e instanceof ScopeEvent.ScopeClosed))
                .containsExactly(
                        new ScopeEvent.ScopeClosed("call", ofMillis(10), null),
                        new ScopeEvent.ScopeClosed("tasks", ofMillis(20), null),
                        new ScopeEvent.ScopeClosed("kept", ZERO, null));
    }

    @Test
    void a_scope_that_throws_closes_with_what_it_throws() {
        IOException no = new IOException("no");
        Task.Void<IOException> failing = () -> {
            throw no;
        };

        Throwable call = catchThrowable(() -> heard("call").run(failing));
        Throwable body = catchThrowable(() -> heard("body").run(s -> {
            throw no;
        }));
        Throwable forks = catchThrowable(() -> heard("forks").run(s -> s.fork(failing)));
        Throwable late =
                catchThrowable(() -> heard("late").deadline(ofMillis(5)).run(() -> nap("late", ofSeconds(1))));
        Throwable lateForks = catchThrowable(() ->
                heard("late").deadline(ofMillis(5)).gather(List.of(() -> nap("late", ofSeconds(1)))));

        assertThat(all(ScopeEvent.ScopeClosed.class))
                .extracting(t -> ((ScopeEvent.ScopeClosed) t.event).error())
                .containsExactly(call, body, forks, late, lateForks);
        assertThat(call).isSameAs(no);
        assertThat(body).isSameAs(no);
        assertThat(forks).isInstanceOf(ScopeFailedException.class);
        assertThat(late).isInstanceOf(DeadlineExceededException.class);
        assertThat(lateForks).isInstanceOf(DeadlineExceededException.class);
    }

    @Test
    void a_scope_that_was_cancelled_from_outside_closes_with_that() {
        heard("outer").deadline(ofMillis(5)).attempt(() -> heard("inner").call(() -> nap("task", ofSeconds(1))));

        ScopeEvent.ScopeClosed inner =
                (ScopeEvent.ScopeClosed) all(ScopeEvent.ScopeClosed.class).get(0).event;
        assertThat(inner.scope()).isEqualTo("inner");
        assertThat(inner.error()).isInstanceOf(ScopeCancelledException.class);
    }

    // The tree.

    @Test
    void scopes_of_the_same_name_have_numbers_and_a_parent() {
        heard("page").run(s -> {
            s.fork(() -> Selvedge.scope("part").call(() -> nap("a", ofMillis(10))));
            s.fork(() -> Selvedge.scope("part").call(() -> nap("b", ofMillis(20))));
            Selvedge.scope("part").run(() -> {});
        });

        List<ScopeId> opened = all(ScopeEvent.ScopeOpened.class).stream()
                .map(t -> t.where.scope())
                .toList();
        assertThat(opened).extracting(ScopeId::name).containsExactly("page", "part", "part", "part");
        assertThat(opened).extracting(ScopeId::number).doesNotHaveDuplicates();
        ScopeId page = opened.get(0);
        assertThat(page.parent()).isNull();
        assertThat(page.parentFork()).isZero();
        assertThat(opened.subList(1, 4)).extracting(ScopeId::parent).containsOnly(page);
        assertThat(opened.subList(1, 4)).extracting(ScopeId::parentFork).containsExactlyInAnyOrder(0L, 1L, 2L);
        assertThat(all(ScopeEvent.ScopeClosed.class))
                .extracting(this::millis)
                .containsExactlyInAnyOrder(0L, 10L, 20L, 20L);
    }

    @Test
    void a_scope_in_a_block_of_a_fork_has_that_block_as_its_parent() {
        heard("page").gather(List.of(() -> {
            Selvedge.scope("outer").run(() -> Selvedge.scope("inner").run(() -> {}));
            return 1;
        }));

        ScopeId inner = all(ScopeEvent.ScopeOpened.class).get(2).where.scope();
        assertThat(inner.name()).isEqualTo("inner");
        assertThat(inner.parent()).isNotNull();
        assertThat(inner.parent().name()).isEqualTo("outer");
        assertThat(inner.parentFork()).isZero();
        assertThat(inner.parent().parentFork()).isEqualTo(1);
    }

    @Test
    void a_scope_that_nobody_hears_is_left_out_of_the_tree() {
        Selvedge.scope("silent").run(s -> s.fork(() -> heard("heard").call(() -> 1)));

        assertThat(only(ScopeEvent.ScopeOpened.class).where.scope().parent()).isNull();
    }

    @Test
    void events_of_a_fork_have_its_number_also_of_an_item_of_a_job() {
        heard("job")
                .concurrency(2)
                .map(List.of("a", "b", "c"), item -> Selvedge.scope(item).call(() -> item));

        assertThat(all(ScopeEvent.ForkCreated.class))
                .extracting(t -> t.where.fork())
                .containsExactlyInAnyOrder(1L, 2L, 3L);
        for (Told t : all(ScopeEvent.ForkEnded.class)) {
            assertThat(((ScopeEvent.ForkEnded) t.event).fork()).isEqualTo("fork-" + t.where.fork());
        }
        assertEachItemHasOpenedItsScope();
    }

    @Test
    void items_of_workers_are_numbered_in_real_time_too() {
        Selvedge.scope("job")
                .listener(ear)
                .concurrency(2)
                .map(List.of("a", "b", "c"), item -> Selvedge.scope(item).call(() -> item));

        assertEachItemHasOpenedItsScope();
    }

    /** Those items are "a", "b" and "c", and so are the names of the scopes. */
    private void assertEachItemHasOpenedItsScope() {
        List<ScopeId> inside = all(ScopeEvent.ScopeOpened.class).stream()
                .map(t -> t.where.scope())
                .filter(scope -> scope.parent() != null)
                .toList();
        assertThat(inside)
                .hasSize(3)
                .allSatisfy(scope -> assertThat(scope.name())
                        .isEqualTo("abc".substring((int) scope.parentFork() - 1, (int) scope.parentFork())));
    }

    // Each kind.

    @Test
    void a_scope_is_opened_and_closed() {
        heard("page").run(() -> nap("a", ofSeconds(2)));

        assertThat(told)
                .extracting(Told::event)
                .containsExactly(
                        new ScopeEvent.ScopeOpened("page"), new ScopeEvent.ScopeClosed("page", ofSeconds(2), null));
        assertThat(told).extracting(this::millis).containsExactly(0L, 2000L);
    }

    @Test
    void a_deadline_is_set_and_passed() {
        Throwable thrown =
                catchThrowable(() -> heard("page").deadline(ofSeconds(1)).run(() -> nap("a", ofSeconds(2))));

        assertThat(thrown).isInstanceOf(DeadlineExceededException.class);
        assertThat(only(ScopeEvent.DeadlineSet.class).event)
                .isEqualTo(new ScopeEvent.DeadlineSet("page", ofSeconds(1)));
        Told passed = only(ScopeEvent.DeadlinePassed.class);
        assertThat(passed.event).isEqualTo(new ScopeEvent.DeadlinePassed("page", ofSeconds(1)));
        assertThat(millis(passed)).isEqualTo(1000);
        Told cancelled = only(ScopeEvent.ScopeCancelled.class);
        assertThat(((ScopeEvent.ScopeCancelled) cancelled.event).reason().kind())
                .isEqualTo(CancelReason.Kind.DEADLINE);
        assertThat(cancelled.where.fork()).isZero();
    }

    @Test
    void a_cancellation_names_the_fork_that_failed() {
        Throwable thrown = catchThrowable(() -> heard("page").gather(List.of(() -> nap("slow", ofSeconds(9)), () -> {
            nap("bad", ofSeconds(1));
            throw new IOException("no");
        })));

        assertThat(thrown).isInstanceOf(ScopeFailedException.class);
        Told cancelled = only(ScopeEvent.ScopeCancelled.class);
        assertThat(cancelled.where.fork()).isEqualTo(2);
        assertThat(millis(cancelled)).isEqualTo(1000);
        assertThat(all(ScopeEvent.ForkEnded.class))
                .extracting(t -> t.where.fork())
                .containsExactly(2L, 1L);
        assertThat(((ScopeEvent.ForkEnded) all(ScopeEvent.ForkEnded.class).get(1).event).outcome())
                .isInstanceOf(Outcome.Cancelled.class);
    }

    @Test
    void a_cancellation_names_the_item_that_failed() {
        Throwable thrown = catchThrowable(() -> heard("job").map(List.of(1, 2, 3), i -> {
            nap("item " + i, ofSeconds(i == 2 ? 1 : 5));
            if (i == 2) {
                throw new IOException("no");
            }
            return i;
        }));

        assertThat(thrown).isInstanceOf(ScopeFailedException.class);
        assertThat(only(ScopeEvent.ScopeCancelled.class).where.fork()).isEqualTo(2);
    }

    @Test
    void a_cancellation_names_the_winner_of_a_race() {
        heard("race").race(List.of(() -> nap("slow", ofSeconds(9)), () -> nap("quick", ofSeconds(1))));

        Told cancelled = only(ScopeEvent.ScopeCancelled.class);
        assertThat(((ScopeEvent.ScopeCancelled) cancelled.event).reason().kind())
                .isEqualTo(CancelReason.Kind.RACE_LOST);
        assertThat(cancelled.where.fork()).isEqualTo(2);
    }

    @Test
    void a_cancellation_by_hand_names_nobody() {
        Throwable unused2 = catchThrowable(() -> heard("page").run(s -> {
            s.fork(() -> nap("slow", ofSeconds(9)));
            s.cancel("enough");
        }));

        Told cancelled = only(ScopeEvent.ScopeCancelled.class);
        assertThat(((ScopeEvent.ScopeCancelled) cancelled.event).reason().kind())
                .isEqualTo(CancelReason.Kind.CALLER);
        assertThat(cancelled.where.fork()).isZero();
    }

    @Test
    void attempts_start_and_fail() throws Exception {
        IOException no = new IOException("no");
        int[] calls = {0};
        heard("call")
                .retry(Retry.DEFAULT
                        .attempts(3)
                        .backoff(ofMillis(100), ofSeconds(1))
                        .withoutJitter())
                .run(() -> {
                    if (++calls[0] < 3) {
                        throw no;
                    }
                });

        assertThat(told)
                .extracting(Told::event)
                .containsExactly(
                        new ScopeEvent.ScopeOpened("call"),
                        new ScopeEvent.AttemptStarted("call", "call", 1),
                        new ScopeEvent.AttemptFailed("call", "call", 1, no, ofMillis(100), Retry.DelaySource.BACKOFF),
                        new ScopeEvent.AttemptStarted("call", "call", 2),
                        new ScopeEvent.AttemptFailed("call", "call", 2, no, ofMillis(200), Retry.DelaySource.BACKOFF),
                        new ScopeEvent.AttemptStarted("call", "call", 3),
                        new ScopeEvent.AttemptSucceeded("call", "call", 3),
                        new ScopeEvent.ScopeClosed("call", ofMillis(300), null));
        assertThat(told).extracting(this::millis).containsExactly(0L, 0L, 0L, 100L, 100L, 300L, 300L, 300L);
        assertThat(told).extracting(t -> t.where.fork()).containsOnly(0L);
    }

    @Test
    void attempts_of_a_fork_have_its_number_and_a_retry_that_gives_up_says_so() {
        IOException no = new IOException("no");
        Throwable unused3 = catchThrowable(() -> heard("page")
                .retry(Retry.DEFAULT.attempts(2).immediately())
                .gather(List.of(() -> 1, () -> {
                    throw no;
                })));

        Told gaveUp = only(ScopeEvent.RetryGaveUp.class);
        assertThat(gaveUp.event)
                .isEqualTo(new ScopeEvent.RetryGaveUp("page", "fork-2", 2, Retry.Reason.ATTEMPTS, no, List.of()));
        assertThat(gaveUp.where.fork()).isEqualTo(2);
        assertThat(all(ScopeEvent.AttemptStarted.class))
                .extracting(Told::event)
                .containsExactly(
                        new ScopeEvent.AttemptStarted("page", "fork-1", 1),
                        new ScopeEvent.AttemptStarted("page", "fork-2", 1),
                        new ScopeEvent.AttemptStarted("page", "fork-2", 2));
        Told succeeded = only(ScopeEvent.AttemptSucceeded.class);
        assertThat(succeeded.event).isEqualTo(new ScopeEvent.AttemptSucceeded("page", "fork-1", 1));
        assertThat(succeeded.where.fork()).isEqualTo(1);
    }

    @Test
    void an_attempt_that_is_cut_off_or_ended_by_an_error_is_told_no_end_of_its_own() {
        Throwable late = catchThrowable(
                () -> heard("late").deadline(ofMillis(5)).retry(Retry.DEFAULT).run(() -> nap("late", ofSeconds(1))));
        Throwable error =
                catchThrowable(() -> heard("error").retry(Retry.DEFAULT).run(() -> {
                    throw new AssertionError("broken");
                }));

        assertThat(late).isInstanceOf(DeadlineExceededException.class);
        assertThat(error).isInstanceOf(AssertionError.class);
        assertThat(all(ScopeEvent.AttemptStarted.class)).hasSize(2);
        assertThat(all(ScopeEvent.AttemptSucceeded.class)).isEmpty();
        assertThat(all(ScopeEvent.AttemptFailed.class)).isEmpty();
        assertThat(all(ScopeEvent.RetryGaveUp.class)).isEmpty();
    }

    @Test
    void a_trial_of_a_breaker_is_one_attempt() {
        CircuitBreaker breaker = CircuitBreaker.of("prices", b -> b.failures(1).coolDown(ofSeconds(1)));
        Throwable first =
                catchThrowable(() -> lab.scope("call").breaker(breaker).run(() -> {
                    throw new IOException("no");
                }));
        assertThat(first).hasMessage("no");
        lab.scope("pause").run(() -> lab.sleep("cool-down", ofSeconds(2)));

        heard("call").breaker(breaker).retry(Retry.DEFAULT).run(() -> {});

        assertThat(told)
                .extracting(Told::event)
                .contains(
                        new ScopeEvent.AttemptStarted("call", "call", 1),
                        new ScopeEvent.AttemptSucceeded("call", "call", 1));
    }

    @Test
    void a_hedge_joins() throws Exception {
        int[] calls = {0};
        String value = heard("call").hedge(ofMillis(50)).call(() -> {
            boolean first = ++calls[0] == 1;
            nap("attempt", ofMillis(first ? 500 : 10));
            return first ? "first" : "second";
        });

        assertThat(value).isEqualTo("second");
        Told hedge = only(ScopeEvent.HedgeStarted.class);
        assertThat(hedge.event).isEqualTo(new ScopeEvent.HedgeStarted("call/hedge", "hedge-1", 1, ofMillis(50)));
        assertThat(hedge.where.fork()).isEqualTo(2);
        assertThat(hedge.where.scope().parent()).isNotNull();
        assertThat(hedge.where.scope().parent().name()).isEqualTo("call");
        Told lost = only(ScopeEvent.ScopeCancelled.class);
        assertThat(lost.where.fork()).isEqualTo(2);
    }

    @Test
    void a_breaker_changes_by_a_call_of_the_scope() {
        CircuitBreaker breaker = CircuitBreaker.of("store", b -> b.failures(1).coolDown(ofSeconds(10)));
        Throwable unused4 = catchThrowable(() -> heard("page").breaker(breaker).run(() -> {
            throw new IOException("no");
        }));
        Throwable unused5 = catchThrowable(() -> heard("page").run(() -> nap("cool down", ofSeconds(11))));
        heard("again").breaker(breaker).gather(List.of(() -> 1));

        assertThat(all(ScopeEvent.BreakerChanged.class))
                .extracting(Told::event)
                .containsExactly(
                        new ScopeEvent.BreakerChanged("page", "page", "store", State.CLOSED, State.OPEN),
                        new ScopeEvent.BreakerChanged("again", "fork-1", "store", State.OPEN, State.HALF_OPEN),
                        new ScopeEvent.BreakerChanged("again", "fork-1", "store", State.HALF_OPEN, State.CLOSED));
        assertThat(all(ScopeEvent.BreakerChanged.class))
                .extracting(t -> t.where.fork())
                .containsExactly(0L, 1L, 1L);
        assertThat(all(ScopeEvent.BreakerChanged.class))
                .extracting(this::millis)
                .containsExactly(0L, 11000L, 11000L);
    }

    @Test
    void a_wait_for_a_limiter_and_for_a_bulkhead_is_told_when_it_is_over() {
        RateLimiter limiter = RateLimiter.of(1, ofSeconds(1));
        Bulkhead bulkhead = Bulkhead.of(1, b -> b.maxWait(ofSeconds(9)));
        heard("limited").rateLimit(limiter).gather(List.of(() -> 1, () -> 2));
        heard("slots").bulkhead(bulkhead).gather(List.of(() -> nap("a", ofSeconds(3)), () -> 2));

        Told limited = only(ScopeEvent.RateLimitAwaited.class);
        assertThat(limited.event).isEqualTo(new ScopeEvent.RateLimitAwaited("limited", "fork-2", ofSeconds(1)));
        assertThat(limited.where.fork()).isEqualTo(2);
        Told slot = only(ScopeEvent.BulkheadAwaited.class);
        assertThat(slot.event).isEqualTo(new ScopeEvent.BulkheadAwaited("slots", "fork-2", ofSeconds(3)));
        assertThat(slot.where.fork()).isEqualTo(2);
    }

    @Test
    void a_wait_that_is_cut_off_is_told_and_one_that_is_refused_is_not() {
        RateLimiter limiter = RateLimiter.of(1, ofSeconds(10));
        Throwable unused6 = catchThrowable(() -> heard("limited")
                .deadline(ofSeconds(40))
                .rateLimit(limiter)
                .gather(List.of(
                        () -> 1,
                        () -> {
                            throw new IOException("no");
                        },
                        () -> nap("c", ofSeconds(60)))));
        Bulkhead none = Bulkhead.of(1, b -> b.maxWait(ZERO));
        Throwable unused7 = catchThrowable(() ->
                heard("slots").bulkhead(none).gather(List.of(() -> nap("a", ofSeconds(3)), () -> 2)));

        assertThat(all(ScopeEvent.RateLimitAwaited.class))
                .extracting(Told::event)
                .containsExactly(
                        new ScopeEvent.RateLimitAwaited("limited", "fork-2", ofSeconds(10)),
                        new ScopeEvent.RateLimitAwaited("limited", "fork-3", ofSeconds(10)));
        assertThat(all(ScopeEvent.BulkheadAwaited.class)).isEmpty();
    }

    @Test
    void a_value_that_is_late_is_told_with_its_fork() {
        heard("race").race(List.of(() -> nap("quick", ofSeconds(1)), () -> {
            Blocks.compute(lab, ofSeconds(2));
            return "late";
        }));

        Told late = only(ScopeEvent.ValueDiscarded.class);
        assertThat(late.event).isEqualTo(new ScopeEvent.ValueDiscarded("race", "fork-2", "late"));
        assertThat(late.where.fork()).isEqualTo(2);
    }

    @Test
    void an_error_that_nobody_can_see_is_told_with_its_scope() {
        IOException late = new IOException("late");
        heard("race").race(List.of(() -> nap("quick", ofSeconds(1)), () -> {
            Blocks.compute(lab, ofSeconds(2));
            throw late;
        }));

        Told unhandled = only(ScopeEvent.Unhandled.class);
        assertThat(unhandled.event).isEqualTo(new ScopeEvent.Unhandled("race", late));
        assertThat(unhandled.where.scope()).isEqualTo(told.get(0).where.scope());
    }

    // Order, and listeners that misbehave.

    @Test
    void a_forks_events_come_in_order_within_those_of_its_scope() {
        heard("page").map(List.of(1, 2, 3), i -> nap("item", ofMillis(i)));

        assertThat(told.get(0).event).isInstanceOf(ScopeEvent.ScopeOpened.class);
        assertThat(told.get(told.size() - 1).event).isInstanceOf(ScopeEvent.ScopeClosed.class);
        for (long n = 1; n <= 3; n++) {
            long fork = n;
            assertThat(told.stream()
                            .filter(t -> t.where.fork() == fork)
                            .map(t -> t.event.getClass().getSimpleName()))
                    .containsExactly("ForkCreated", "ForkStarted", "ForkEnded");
        }
    }

    @Test
    void a_listener_that_throws_hears_of_it_where_it_happened() {
        List<ScopeListener.Where> heard = new ArrayList<>();
        ScopeListener broken = (event, where) -> {
            if (event instanceof ScopeEvent.Unhandled) {
                heard.add(where);
            }
            if (event instanceof ScopeEvent.ScopeOpened) {
                throw new IllegalStateException("broken");
            }
        };
        lab.scope("page").listener(broken).listener(ear).run(() -> {});

        assertThat(heard)
                .singleElement()
                .extracting(ScopeListener.Where::scope)
                .isEqualTo(told.get(0).where.scope());
    }

    @Test
    void a_listener_may_cancel_the_scope_from_inside() {
        List<Object> cancelled = new CopyOnWriteArrayList<>();
        Scope[] scope = new Scope[1];
        ScopeListener canceller = (event, where) -> {
            if (event instanceof ScopeEvent.ForkStarted && where.fork() == 1) {
                cancelled.add(scope[0].cancel("by the listener"));
            }
        };
        Throwable thrown =
                catchThrowable(() -> heard("page").listener(canceller).run(s -> {
                    scope[0] = s;
                    s.fork(() -> nap("a", ofSeconds(5)));
                    s.fork(() -> nap("b", ofSeconds(5)));
                }));

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class).hasMessageContaining("by the listener");
        assertThat(cancelled).hasSize(1);
        assertThat(lab.now()).isEqualTo(ZERO);
        assertThat(flag()).isFalse();
    }

    @Test
    void a_listener_that_blocks_holds_up_the_thread_that_tells_and_no_other() {
        ScopeListener slow = (event, where) -> {
            if (event instanceof ScopeEvent.ForkStarted && where.fork() == 1) {
                Blocks.compute(lab, ofSeconds(5));
            }
        };
        heard("page").listener(slow).gather(List.of(() -> 1, () -> nap("b", ofSeconds(1))));

        assertThat(all(ScopeEvent.ForkEnded.class))
                .extracting(t -> t.where.fork())
                .containsExactly(2L, 1L);
        assertThat(all(ScopeEvent.ForkEnded.class)).extracting(this::millis).containsExactly(1000L, 5000L);
    }

    @Test
    void two_listeners_in_one_both_know_where() {
        List<ScopeListener.Where> second = new ArrayList<>();
        List<ScopeEvent> third = new ArrayList<>();
        ScopeListener both =
                ear.andThen((ScopeListener) (event, where) -> second.add(where)).andThen(third::add);
        lab.scope("page").listener(both).run(() -> {});

        assertThat(second).isEqualTo(told.stream().map(Told::where).toList());
        assertThat(third).isEqualTo(told.stream().map(Told::event).toList());
    }

    @Test
    void an_event_that_is_handed_on_by_hand_is_of_a_scope_without_a_number() {
        Consumer<ScopeEvent> plain = ear;
        plain.accept(new ScopeEvent.ScopeOpened("page"));

        assertThat(told.get(0).where.scope()).isEqualTo(new ScopeId(0, "page", null, 0));
    }

    @Test
    void nothing_is_built_when_nobody_listens() {
        ScopeId[] seen = new ScopeId[1];
        Duration took = Selvedge.scope("silent").clock(lab.clock()).call(() -> {
            seen[0] = Here.scopeId();
            return ZERO;
        });

        assertThat(took).isZero();
        assertThat(seen[0]).isNull();
    }
}
