package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls over many items: on the virtual clock, where each item has a thread, and in real time, where few threads do the work. */
@Timeout(120)
class BulkTest {

    @RegisterExtension
    final Lab lab = new Lab();

    /** How items come to threads. */
    enum Way {
        VIRTUAL,
        WORKERS,
        THREAD_EACH
    }

    private ScopeSpec scope(Way way) {
        return switch (way) {
            case VIRTUAL -> lab.scope();
            case WORKERS -> lab.realScope();
            case THREAD_EACH -> lab.realScope().threadPerItem();
        };
    }

    private static List<Integer> upTo(int n) {
        return IntStream.range(0, n).boxed().toList();
    }

    /** The same, from a source whose size nobody knows. */
    private static Iterable<Integer> lazily(int n) {
        return () -> IntStream.range(0, n).boxed().iterator();
    }

    /** The same for these. */
    private static <T> Iterable<T> lazily(List<T> items) {
        return () -> items.iterator();
    }

    @ParameterizedTest
    @EnumSource
    void values_come_in_the_order_of_the_items(Way way) {
        List<Integer> squares = upTo(3000).stream().map(i -> i * i).toList();

        assertThat(scope(way).map(upTo(3000), i -> i * i)).isEqualTo(squares);
        assertThat(scope(way).map(lazily(3000), i -> i * i)).isEqualTo(squares);
        assertThat(scope(way).concurrency(3).map(upTo(3000), i -> i * i)).isEqualTo(squares);
        assertThat(scope(way).concurrency(3).map(lazily(3000), i -> i * i)).isEqualTo(squares);
        assertThat(scope(way).concurrency(1).outcomes(lazily(2000), i -> i).values())
                .isEqualTo(upTo(2000));
    }

    @ParameterizedTest
    @EnumSource
    void nulls_are_items_and_values_like_others(Way way) {
        List<String> items = Arrays.asList("a", null, "b");

        assertThat(scope(way).map(items, i -> i)).containsExactly("a", null, "b");
        assertThat(scope(way).map(lazily(items), i -> i)).containsExactly("a", null, "b");
        assertThat(scope(way).map(items, i -> null)).containsExactly(null, null, null);
        assertThat(scope(way).outcomes(lazily(items), i -> i).values()).containsExactly("a", null, "b");
    }

    @ParameterizedTest
    @EnumSource
    void no_items_are_done_at_once(Way way) {
        assertThat(scope(way).map(List.of(), i -> i)).isEmpty();
        assertThat(scope(way).map(Collections::emptyIterator, i -> i)).isEmpty();
        assertThat(scope(way).outcomes(List.of(), i -> i)).isEmpty();
        assertThat(scope(way).outcomes(Collections::emptyIterator, i -> i)).isEmpty();
        scope(way).forEach(List.of(), i -> lab.note("never"));
        scope(way).eachCompleted(List.of(), i -> i, (i, o) -> lab.note("never"));
        scope(way).eachCompleted(Collections::emptyIterator, i -> i, (i, o) -> lab.note("never"));

        assertThat(lab.trail()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void each_item_is_worked_on_once(Way way) {
        for (Iterable<Integer> items : List.of(upTo(5000), lazily(5000))) {
            Set<Integer> seen = ConcurrentHashMap.newKeySet();
            AtomicInteger times = new AtomicInteger();

            scope(way).concurrency(7).forEach(items, i -> {
                seen.add(i);
                times.getAndIncrement();
            });

            assertThat(seen).hasSize(5000);
            assertThat(times).hasValue(5000);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Catalogue(18)
    void at_most_so_many_are_at_work_and_a_failed_one_gives_its_place_back(Way way) {
        for (Iterable<Integer> items : List.of(upTo(300), lazily(300))) {
            AtomicInteger atWork = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();

            Outcomes<Integer, Integer> outcomes = scope(way).concurrency(4).outcomes(items, i -> {
                most.accumulateAndGet(atWork.incrementAndGet(), Math::max);
                try {
                    Selvedge.sleep(ofMillis(1));
                    if (i % 3 == 0) {
                        throw new IOException("three");
                    }
                    return i;
                } finally {
                    atWork.getAndDecrement();
                }
            });

            assertThat(outcomes).hasSize(300);
            assertThat(outcomes.failures()).hasSize(100);
            assertThat(most.get()).isEqualTo(4);
        }
    }

    @Test
    @Catalogue(18)
    void in_a_live_scope_fork_waits_for_a_place() {
        lab.scope().concurrency(2).run(s -> {
            for (String name : List.of("a", "b", "c", "d")) {
                Fork<?> unused = s.fork(name, () -> lab.sleep(name, ofSeconds(1)));
                lab.note("forked " + name);
            }
        });

        assertThat(lab.trail())
                .containsExactly(
                        "0s forked a",
                        "0s forked b",
                        "1s a slept",
                        "1s forked c",
                        "1s b slept",
                        "1s forked d",
                        "2s c slept",
                        "2s d slept");
    }

    @Test
    void a_wait_for_a_place_can_be_cut_off() {
        var late = Blocks.late(() -> lab.scope()
                .concurrency(1)
                .deadline(ofSeconds(3))
                .run(s -> {
                    s.fork("long", () -> lab.sleep("long", ofSeconds(9)));
                    s.fork("next", () -> lab.note("never"));
                }));

        assertThat(late.unfinished()).containsExactly("long");
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
        assertThat(Blocks.flag()).isFalse();
    }

    @Test
    void a_daemon_takes_no_place() {
        lab.scope().concurrency(1).run(s -> {
            s.daemon(() -> Selvedge.sleep(ofSeconds(100)));
            s.fork(() -> lab.sleep("a", ofSeconds(1)));
            s.fork(() -> lab.sleep("b", ofSeconds(1)));
        });

        assertThat(lab.trail()).containsExactly("1s a slept", "2s b slept");
    }

    @Test
    void gather_race_and_outcomes_of_tasks_wait_for_places_too() {
        Task<String, RuntimeException> one = () -> {
            lab.sleep("one", ofSeconds(1));
            return "1";
        };

        assertThat(lab.scope().concurrency(2).gather(one, one, one, one)).hasSize(4);
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
        assertThat(lab.scope().concurrency(1).outcomes(List.of(one, one))).hasSize(2);
        assertThat(lab.now()).isEqualTo(ofSeconds(4));
        assertThat(lab.scope().concurrency(1).race(one, one)).isEqualTo("1");
        assertThat(lab.now()).isEqualTo(ofSeconds(5));
        var failed = Blocks.failed(() -> lab.scope()
                .concurrency(1)
                .gather(
                        () -> {
                            throw new IOException("no");
                        },
                        one,
                        one));
        assertThat(failed).hasRootCauseInstanceOf(IOException.class);
        assertThat(lab.now()).isEqualTo(ofSeconds(5));
    }

    @ParameterizedTest
    @EnumSource
    void the_first_failure_cancels_the_rest(Way way) {
        for (Iterable<Integer> items : List.of(upTo(1000), lazily(1000))) {
            AtomicInteger begun = new AtomicInteger();

            var failed = Blocks.failed(() -> scope(way).concurrency(2).map(items, i -> {
                begun.getAndIncrement();
                if (i == 5) {
                    throw new IOException("five");
                }
                return i;
            }));

            assertThat(failed).hasMessage("the scope failed: \"fork-6\" threw java.io.IOException: five");
            assertThat(begun).hasValueLessThan(1000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void blocked_items_are_interrupted_by_a_failure(Way way) {
        for (Iterable<Integer> items : List.of(upTo(20), lazily(20))) {
            CountDownLatch begun = new CountDownLatch(19);

            var failed = Blocks.failed(() -> scope(way).forEach(items, i -> {
                if (i == 19) {
                    if (way != Way.VIRTUAL) {
                        begun.await();
                    }
                    throw new IOException("the last");
                }
                begun.countDown();
                Selvedge.sleep(ofSeconds(1000));
            }));

            assertThat(failed).hasRootCauseMessage("the last");
            assertThat(Blocks.flag()).isFalse();
        }
    }

    @Test
    @Tag("real")
    void items_that_wait_for_each_other_all_start() {
        for (Iterable<Integer> items : List.of(upTo(200), lazily(200))) {
            CountDownLatch all = new CountDownLatch(200);

            scope(Way.WORKERS).forEach(items, i -> {
                all.countDown();
                all.await();
            });
        }
    }

    @Test
    @Tag("real")
    void nothing_of_an_item_is_left_to_the_next() {
        for (Iterable<Integer> items : List.of(upTo(100), lazily(100))) {
            ScopeSpec one = scope(Way.WORKERS).concurrency(1);

            List<Boolean> flags = one.map(items, i -> {
                boolean flag = Thread.currentThread().isInterrupted();
                Selvedge.checkpoint();
                Selvedge.scope()
                        .deadline(ofSeconds(100))
                        .run(() -> Thread.currentThread().interrupt());
                Thread.currentThread().interrupt();
                return flag;
            });

            assertThat(flags).containsOnly(false);
        }
    }

    @Test
    @Tag("real")
    void what_is_propagated_is_put_into_place_for_each_item() {
        ThreadLocal<String> tenant = new ThreadLocal<>();
        AtomicInteger opened = new AtomicInteger();
        tenant.set("acme");

        List<String> seen = scope(Way.WORKERS)
                .concurrency(2)
                .propagate(tenant::get, t -> {
                    tenant.set(t);
                    opened.getAndIncrement();
                    return tenant::remove;
                })
                .map(upTo(50), i -> {
                    String was = tenant.get();
                    tenant.set("changed");
                    return was;
                });

        assertThat(seen).containsOnly("acme");
        assertThat(opened).hasValue(50);
    }

    @Test
    @Tag("real")
    void with_a_thread_per_item_no_thread_works_twice() {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();

        scope(Way.THREAD_EACH).concurrency(3).forEach(upTo(100), i -> threads.add(Thread.currentThread()));

        assertThat(threads).hasSize(100);
    }

    @ParameterizedTest
    @EnumSource
    void a_source_that_throws_ends_the_job_and_what_was_done_is_kept(Way way) {
        CountDownLatch two = new CountDownLatch(2);
        Iterable<Integer> broken = () -> Stream.concat(Stream.of(1, 2), Stream.generate(() -> {
                    Blocks.swallow(() -> scope(way).run(() -> {
                        if (way == Way.VIRTUAL) {
                            Selvedge.sleep(ofSeconds(1));
                        } else {
                            two.await();
                        }
                    }));
                    throw new UncheckedIOException(new IOException("torn"));
                }))
                .iterator();

        var failed = Blocks.failed(() -> scope(way).map(broken, i -> {
            two.countDown();
            return 10 * i;
        }));

        assertThat(failed)
                .hasMessage("the source of the scope threw java.io.UncheckedIOException: java.io.IOException: torn");
        assertThat(failed.getCause()).isInstanceOf(UncheckedIOException.class);
        assertThat(failed.outcomes()).contains(new Outcome.Success<>(10)).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource
    void an_endless_source_is_read_as_far_as_there_is_work(Way way) {
        AtomicLong pulled = new AtomicLong();
        AtomicLong ended = new AtomicLong();
        AtomicLong most = new AtomicLong();
        Iterable<Long> endless = () -> Stream.generate(() -> {
                    most.accumulateAndGet(pulled.incrementAndGet() - ended.get(), Math::max);
                    return pulled.get();
                })
                .iterator();

        var late = Blocks.late(() -> scope(way)
                .concurrency(5)
                .deadline(ofMillis(200))
                .map(endless, i -> {
                    Selvedge.sleep(ofMillis(1));
                    ended.getAndIncrement();
                    return i;
                }));

        assertThat(late.outcomes()).contains(new Outcome.Success<>(1L));
        assertThat(most.get()).isBetween(5L, 5L + PulledFeed.READ_AHEAD + 1);
        assertThat(Blocks.flag()).isFalse();
    }

    @Test
    @Tag("real")
    void a_source_that_blocks_is_cut_off_by_the_deadline() {
        CountDownLatch never = new CountDownLatch(1);
        Iterable<String> blocking = () -> new Iterator<>() {
            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public String next() {
                Selvedge.sleep(ofSeconds(1000));
                return "never";
            }
        };

        var late =
                Blocks.late(() -> Selvedge.scope("read").deadline(ofMillis(20)).forEach(blocking, i -> never.await()));

        assertThat(late).hasMessageStartingWith("the scope \"read\" exceeded its deadline of 20 ms");
        assertThat(Blocks.flag()).isFalse();
    }

    @Test
    @Tag("real")
    void an_item_of_a_slow_source_does_not_wait_for_the_next_one() {
        CountDownLatch first = new CountDownLatch(1);
        Iterable<Integer> slow = () -> Stream.iterate(0, i -> i < 3, i -> {
                    Blocks.swallow(() -> Selvedge.scope().run(() -> first.await()));
                    return i + 1;
                })
                .iterator();

        assertThat(scope(Way.WORKERS).map(slow, i -> {
                    first.countDown();
                    return i;
                }))
                .containsExactly(0, 1, 2);
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_leaves_cancelled_in_the_places_of_those_it_cut_off(Way way) {
        Outcomes<Integer, Integer> outcomes = scope(way)
                .concurrency(2)
                .deadline(ofMillis(50))
                .outcomes(upTo(6), i -> {
                    if (i == 1) {
                        Selvedge.sleep(ofSeconds(1000));
                    }
                    if (i == 3) {
                        throw new IOException("three");
                    }
                    if (i == 4) {
                        Selvedge.sleep(ofSeconds(1000));
                    }
                    return i;
                });

        assertThat(outcomes.get(0)).isEqualTo(new Outcome.Success<>(0));
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Cancelled.class);
        assertThat(outcomes.get(3)).isInstanceOf(Outcome.Failure.class);
        assertThat(outcomes.get(4)).isInstanceOf(Outcome.Cancelled.class);
        assertThat(outcomes.get(5)).isInstanceOf(Outcome.Cancelled.class);
        assertThat(outcomes.cancelled()).isEqualTo(3);
        assertThat(outcomes.attempts(5)).isZero();
        assertThat(outcomes.duration(5)).isEqualTo(ZERO);
        assertThat(outcomes.item(5)).isEqualTo(5);
    }

    @Test
    void outcomes_know_attempts_and_durations() {
        AtomicInteger calls = new AtomicInteger();

        Outcomes<String, String> outcomes = lab.scope()
                .retry(r -> r.attempts(3).backoff(ofSeconds(1), ofSeconds(1)).withoutJitter())
                .concurrency(1)
                .outcomes(List.of("well", "slowly", "never"), i -> {
                    if (i.equals("well") || (i.equals("slowly") && calls.incrementAndGet() == 3)) {
                        return i;
                    }
                    throw new IOException(i);
                });

        assertThat(outcomes.attempts(0)).isEqualTo(1);
        assertThat(outcomes.attempts(1)).isEqualTo(3);
        assertThat(outcomes.attempts(2)).isEqualTo(3);
        assertThat(outcomes.duration(0)).isEqualTo(ZERO);
        assertThat(outcomes.duration(1)).isEqualTo(ofSeconds(2));
    }

    @Test
    void failures_are_grouped_for_a_report() {
        Outcomes<Integer, Integer> outcomes = lab.scope().outcomes(upTo(10), i -> {
            if (i % 3 == 0) {
                throw new IOException("reset");
            }
            if (i % 3 == 1) {
                throw new IllegalStateException();
            }
            return i;
        });

        assertThat(outcomes.failureGroups())
                .extracting(FailureGroup::toString)
                .containsExactly("4 × java.io.IOException: reset", "3 × java.lang.IllegalStateException");
        assertThat(outcomes.failureGroups().get(0).first())
                .isSameAs(outcomes.failures().get(0));
    }

    @ParameterizedTest
    @EnumSource
    void events_tell_of_items(Way way) {
        var failed = catchThrowable(() -> scope(way).named("job").concurrency(1).map(List.of("a", "b", "c"), i -> {
            if (i.equals("b")) {
                throw new IllegalStateException("b");
            }
            return i;
        }));

        assertThat(failed).isInstanceOf(ScopeFailedException.class);
        assertThat(lab.events(ScopeEvent.ForkCreated.class))
                .containsExactly(
                        new ScopeEvent.ForkCreated("job", "fork-1"), new ScopeEvent.ForkCreated("job", "fork-2"));
        assertThat(lab.events(ScopeEvent.ForkStarted.class))
                .containsExactly(
                        new ScopeEvent.ForkStarted("job", "fork-1"), new ScopeEvent.ForkStarted("job", "fork-2"));
        assertThat(lab.events(ScopeEvent.ForkEnded.class))
                .extracting(
                        ScopeEvent.ForkEnded::fork, e -> e.outcome().getClass().getSimpleName())
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("fork-1", "Success"),
                        org.assertj.core.groups.Tuple.tuple("fork-2", "Failure"));
        assertThat(lab.events(ScopeEvent.ScopeCancelled.class)).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void values_that_a_failure_overtakes_are_discarded(Way way) {
        var failed = Blocks.failed(() -> scope(way).concurrency(1).map(List.of("a", "b"), i -> {
            if (i.equals("b")) {
                throw new IllegalStateException("b");
            }
            return i;
        }));

        assertThat(failed).hasRootCauseMessage("b");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("scope", "fork-1", "a"));
    }

    @ParameterizedTest
    @EnumSource
    void an_error_leaves_bare(Way way) {
        Error error = new AssertionError("really");

        assertThat(catchThrowable(() -> scope(way).forEach(upTo(10), i -> {
                    throw error;
                })))
                .isSameAs(error);
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_from_outside_leaves_and_does_not_stay(Way way) {
        var cancelled = catchThrowableOfType(
                ScopeCancelledException.class,
                () -> scope(way).run(s -> {
                    s.fork(() -> {
                        Selvedge.sleep(ofMillis(20));
                        s.cancel("enough");
                    });
                    scope(way).concurrency(2).forEach(lazily(10), i -> Selvedge.sleep(ofSeconds(1000)));
                }));

        assertThat(cancelled.reason().message()).isEqualTo("enough");
        assertThat(Blocks.flag()).isFalse();
    }

    @Test
    void a_collection_is_copied_before_anything_starts() {
        List<String> items = new ArrayList<>(List.of("a", "b", "c"));

        assertThat(lab.scope().map(items, i -> {
                    items.clear();
                    return i;
                }))
                .containsExactly("a", "b", "c");
    }

    @Test
    @Tag("real")
    void threads_of_a_factory_work_on_items() {
        Set<String> names = ConcurrentHashMap.newKeySet();
        AtomicInteger made = new AtomicInteger();

        scope(Way.WORKERS)
                .concurrency(2)
                .threads(r -> Thread.ofPlatform()
                        .name("mine-" + made.incrementAndGet())
                        .unstarted(r))
                .forEach(lazily(1000), i -> names.add(Thread.currentThread().getName()));

        assertThat(names).allMatch(n -> n.startsWith("mine-"));
    }

    @Test
    @Tag("real")
    void a_factory_that_refuses_leaves_nothing_behind() {
        AtomicInteger made = new AtomicInteger();
        Set<Thread> threads = new HashSet<>();

        for (Iterable<Integer> items : List.of(upTo(50), lazily(50))) {
            made.set(0);
            assertThatThrownBy(() -> scope(Way.WORKERS)
                            .threads(r -> {
                                if (made.incrementAndGet() == 3) {
                                    return null;
                                }
                                Thread t = Thread.ofVirtual().unstarted(r);
                                threads.add(t);
                                return t;
                            })
                            .forEach(items, i -> Selvedge.sleep(ofSeconds(1000))))
                    .isInstanceOf(java.util.concurrent.RejectedExecutionException.class);
        }

        assertThat(threads).noneMatch(Thread::isAlive);
    }

    @Test
    void bad_numbers_are_refused() {
        assertThatThrownBy(() -> lab.scope().concurrency(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("atMost must be at least 1: 0");
    }
}
