package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Part G of the catalogue: what becomes of failures, above all of those that were not the first. */
@Timeout(30)
class FailuresTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    @Catalogue(89)
    void the_task_s_own_exception_is_the_cause_and_can_be_thrown_on_by_its_type() {
        IOException own = new FileNotFoundException("page.html");

        var failure = failureOf(slow(9), failing(own, 1));

        assertThat(failure)
                .hasMessage("the scope failed: \"fork-2\" threw java.io.FileNotFoundException: page.html")
                .hasNoSuppressedExceptions();
        assertThat(failure.getCause()).isSameAs(own);
        assertThatThrownBy(() -> {
                    throw failure.rethrow(InterruptedException.class).rethrow(IOException.class);
                })
                .isSameAs(own);
    }

    @Test
    @Catalogue(89)
    void rethrow_of_a_type_that_is_not_there_gives_the_exception_itself() throws IOException {
        var failure = failureOf(failing(new IllegalStateException("a"), 1));

        assertThat(failure.rethrow(IOException.class)).isSameAs(failure);
    }

    @Test
    @Catalogue(90)
    void failures_are_kept_in_the_order_in_which_they_happened() {
        Exception a = new IllegalStateException("a");
        Exception b = new IOException("b");
        Exception c = new IllegalArgumentException("c");

        var failure = failureOf(shieldedFailing(a, 3), shieldedFailing(b, 1), shieldedFailing(c, 2));

        assertThat(failure)
                .hasMessage("the scope failed: \"fork-2\" threw java.io.IOException: b (and 2 more failures)");
        assertThat(failure.getCause()).isSameAs(b);
        assertSame(failure.failures(), b, c, a);
        assertThat(failure.getSuppressed()).containsExactly(c, a);
        assertThatThrownBy(() -> failure.failures().clear()).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @Catalogue(90)
    void of_many_failures_all_are_kept_and_ten_are_suppressed() {
        List<Exception> errors = IntStream.range(0, 15)
                .<Exception>mapToObj(i -> new IllegalStateException("e" + i))
                .toList();

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope()
                        .map(
                                errors,
                                e -> shieldedFailing(e, 1 + errors.indexOf(e)).call()));

        assertThat(failure)
                .hasMessage("the scope failed: \"fork-1\" threw java.lang.IllegalStateException: e0"
                        + " (and 14 more failures)");
        assertSame(failure.failures(), errors.toArray(new Exception[0]));
        assertSame(Arrays.asList(failure.getSuppressed()), errors.subList(1, 11).toArray(new Exception[0]));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(90)
    void a_failure_that_comes_after_the_join_of_another_is_in_what_the_scope_throws() {
        Exception a = new IllegalStateException("a");
        Exception b = new IllegalStateException("b");
        AtomicReference<ScopeFailedException> seen = new AtomicReference<>();

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope("page").run(s -> {
                    Fork<?> first = s.fork("a", failing(a, 1));
                    var unused = s.fork("b", shieldedFailing(b, 2));
                    seen.set(catchThrowableOfType(ScopeFailedException.class, first::join));
                    throw seen.get();
                }));

        assertThat(failure).isSameAs(seen.get());
        assertThat(failure)
                .hasMessage("the scope \"page\" failed: \"a\" threw java.lang.IllegalStateException: a"
                        + " (and 1 more failure)");
        assertSame(failure.failures(), a, b);
        assertThat(failure.getSuppressed()).containsExactly(b);
    }

    @Test
    @Catalogue(90)
    void a_failure_that_was_there_at_the_join_is_suppressed_once() {
        Exception a = new IllegalStateException("a");
        Exception b = new IllegalStateException("b");

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope().run(s -> {
                    Fork<?> first = s.fork("a", failing(a, 1));
                    var unused = s.fork("b", shieldedFailing(b, 2));
                    Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(3)));
                    first.join();
                }));

        assertSame(failure.failures(), a, b);
        assertThat(failure.getSuppressed()).containsExactly(b);
    }

    @Test
    @Catalogue({89, 90})
    void the_join_of_a_fork_that_failed_second_has_that_fork_s_own_exception_as_cause() {
        Exception a = new IllegalStateException("a");
        Exception b = new IllegalStateException("b");

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope().run(s -> {
                    var unused = s.fork("a", failing(a, 1));
                    Fork<?> second = s.fork("b", shieldedFailing(b, 2));
                    Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(3)));
                    assertThatThrownBy(second::join)
                            .isInstanceOf(ScopeFailedException.class)
                            .cause()
                            .isSameAs(b);
                }));

        assertThat(failure.getCause()).isSameAs(a);
        assertSame(failure.failures(), a, b);
    }

    @Test
    @Catalogue({90, 121})
    void failures_of_an_isolated_scope_are_kept_however_many_forks_come_after_them() {
        Exception early = new IllegalStateException("early");

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope("page").isolated().run(s -> {
                    var unused = s.fork("early", failing(early, 0));
                    Fork<?> seen = s.fork("seen", failing(new IllegalStateException("seen"), 0));
                    for (int i = 0; i < 50; i++) {
                        Fork<Integer> next = s.fork(slow(1));
                        assertThat(next.join()).isEqualTo(1);
                    }
                    assertThat(seen.outcome()).isInstanceOf(Outcome.Failure.class);
                }));

        assertThat(failure)
                .hasMessage("the scope \"page\" failed: \"early\" threw java.lang.IllegalStateException: early");
        assertSame(failure.failures(), early);
    }

    @Test
    @Catalogue(91)
    void siblings_that_were_cut_off_are_no_failures() {
        Exception own = new IllegalStateException("b");
        Callable<?> wrapsTheInterrupt = () -> {
            try {
                return slow(9).call();
            } catch (ScopeCancelledException e) {
                throw new IllegalArgumentException("cut", e);
            }
        };

        Callable<?> throwsAsTheJdkDoes = () -> {
            try {
                return slow(9).call();
            } catch (ScopeCancelledException e) {
                throw new InterruptedException();
            }
        };

        var failure = failureOf(slow(9), failing(own, 1), wrapsTheInterrupt, throwsAsTheJdkDoes);

        assertSame(failure.failures(), own);
        assertThat(failure).hasNoSuppressedExceptions();
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    @Catalogue(92)
    void what_a_sibling_throws_in_its_cleanup_is_kept() {
        Exception own = new IllegalStateException("b");
        Exception cleanup = new IOException("cleanup");

        var failure = failureOf(
                () -> {
                    try {
                        return slow(9).call();
                    } finally {
                        failing(cleanup, 1).call();
                    }
                },
                failing(own, 1));

        assertThat(failure)
                .hasMessage("the scope failed: \"fork-2\" threw java.lang.IllegalStateException: b"
                        + " (and 1 more failure)");
        assertSame(failure.failures(), own, cleanup);
        assertThat(failure.getSuppressed()).containsExactly(cleanup);
    }

    @Test
    @Catalogue(93)
    void failures_beside_a_value_are_reported() {
        Exception early = new IllegalStateException("early");
        Exception late = new IllegalStateException("late");

        Object value = lab.scope().race(shieldedFailing(late, 3), failing(early, 1), slow(2));

        assertThat(value).isEqualTo(2);
        assertSame(lab.unhandled(), early, late);
    }

    @Test
    @Catalogue(93)
    void without_a_listener_they_are_logged_one_line_each() {
        Exception early = new IllegalStateException("early");

        List<LogRecord> log = logOf(() -> {
            Object value = Selvedge.scope("page").clock(lab.clock()).race(failing(early, 1), slow(2));
            assertThat(value).isEqualTo(2);
        });

        assertThat(log).hasSize(1);
        assertThat(log.get(0).getMessage()).isEqualTo("an error that nobody can see otherwise, in scope \"page\"");
        assertThat(log.get(0).getThrown()).isSameAs(early);
    }

    @Test
    @Catalogue(94)
    void a_listener_that_throws_hears_of_it_and_the_others_and_the_scope_do_not() {
        IllegalStateException broken = new IllegalStateException("listener");
        List<ScopeEvent> told = new ArrayList<>();

        Object value = lab.scope("page")
                .listener(e -> {
                    told.add(e);
                    if (e instanceof ScopeEvent.ForkStarted) {
                        throw broken;
                    }
                })
                .race(failing(new IllegalStateException("early"), 1), slow(2));

        assertThat(value).isEqualTo(2);
        assertThat(lab.unhandled()).extracting(Throwable::getMessage).containsExactly("early");
        ScopeEvent hearsOfIt = new ScopeEvent.Unhandled("page", broken);
        List<ScopeEvent> expected = new ArrayList<>();
        for (ScopeEvent e : lab.events()) {
            expected.add(e);
            if (e instanceof ScopeEvent.ForkStarted) {
                expected.add(hearsOfIt);
            }
        }
        assertThat(told).hasSize(12).isEqualTo(expected);
    }

    @Test
    @Catalogue(94)
    void a_listener_that_throws_at_everything_is_logged_and_hides_no_failure() {
        Exception own = new IllegalStateException("a");
        AssertionError broken = new AssertionError("listener");

        List<LogRecord> log = logOf(() -> {
            ScopeSpec scope = lab.scope("page").listener(e -> {
                throw broken;
            });
            assertThatThrownBy(() -> scope.gather(failing(own, 1), slow(9)))
                    .isInstanceOf(ScopeFailedException.class)
                    .hasNoSuppressedExceptions()
                    .cause()
                    .isSameAs(own);
        });

        assertThat(log).hasSameSizeAs(lab.events()).allSatisfy(line -> {
            assertThat(line.getMessage()).isEqualTo("the listener of scope \"page\" failed");
            assertThat(line.getThrown()).isSameAs(broken);
        });
    }

    @Test
    @Catalogue(94)
    void an_unhandled_error_at_which_the_listener_throws_is_logged_too() {
        Exception early = new IllegalStateException("early");
        IllegalStateException broken = new IllegalStateException("listener");

        List<LogRecord> log = logOf(() -> {
            ScopeSpec scope = Selvedge.scope("page").clock(lab.clock()).listener(e -> {
                if (e instanceof ScopeEvent.Unhandled) {
                    throw broken;
                }
            });
            Object value = scope.race(failing(early, 1), slow(2));
            assertThat(value).isEqualTo(2);
        });

        assertThat(log).extracting(LogRecord::getThrown).contains(early, broken);
    }

    @Test
    @Lesson(91)
    @Catalogue(95)
    void an_error_cancels_the_siblings_leaves_bare_and_later_failures_are_reported() {
        Error own = new AssertionError("a");
        Exception late = new IllegalStateException("late");

        Throwable thrown =
                catchThrowable(() -> lab.scope().gather(throwing(own, 1), shieldedFailing(late, 2), slow(9)));

        assertThat(thrown).isSameAs(own).hasNoSuppressedExceptions();
        assertSame(lab.unhandled(), late);
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    @Catalogue(95)
    void an_error_after_a_failure_is_kept_with_it() {
        Exception first = new IllegalStateException("first");
        Error second = new AssertionError("second");

        var failure = failureOf(failing(first, 1), () -> {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2)));
            throw second;
        });

        assertThat(failure.getCause()).isSameAs(first);
        assertThat(failure.getSuppressed()).containsExactly(second);
        assertSame(failure.failures(), first);
        assertSame(failure.all(Throwable.class), first, second);
    }

    @Test
    @Catalogue(95)
    void an_error_of_a_fork_that_the_body_joins_leaves_bare_and_later_failures_are_reported() {
        Error own = new AssertionError("a");
        Exception late = new IllegalStateException("late");

        Throwable thrown = catchThrowable(() -> lab.scope().run(s -> {
            Fork<?> a = s.fork("a", throwing(own, 1));
            var unused = s.fork("b", shieldedFailing(late, 2));
            a.join();
        }));

        assertThat(thrown).isSameAs(own).hasNoSuppressedExceptions();
        assertSame(lab.unhandled(), late);
    }

    @Test
    @Catalogue(95)
    void an_error_of_the_body_leaves_bare_and_later_failures_are_reported() {
        Error own = new AssertionError("body");
        Exception late = new IllegalStateException("late");

        Throwable thrown = catchThrowable(() -> lab.scope().run(s -> {
            var unused = s.fork(shieldedFailing(late, 2));
            Selvedge.sleep(ofSeconds(1));
            throw own;
        }));

        assertThat(thrown).isSameAs(own).hasNoSuppressedExceptions();
        assertSame(lab.unhandled(), late);
    }

    @Test
    @Catalogue(95)
    void in_outcomes_an_error_is_a_failure_also_a_stack_overflow() {
        Error own = new AssertionError("a");
        Error overflow = new StackOverflowError("deep");

        Outcomes<Error, Object> outcomes =
                lab.scope().outcomes(Arrays.asList(own, overflow, null), e -> e == null ? slow(2).call() : thrown(e));

        assertThat(outcomes)
                .containsExactly(new Outcome.Failure<>(own), new Outcome.Failure<>(overflow), new Outcome.Success<>(2));
    }

    @Test
    @Catalogue(95)
    void in_outcomes_an_error_of_the_machine_ends_the_job_and_nothing_is_lost() {
        Error own = new OutOfMemoryError("simulated");
        Exception early = new IllegalStateException("early");
        Exception late = new IllegalStateException("late");
        List<Callable<?>> tasks =
                List.of(failing(early, 1), slow(1), throwing(own, 2), shieldedFailing(late, 3), slow(9));

        Throwable thrown = catchThrowable(() -> lab.scope("job").outcomes(tasks, Callable::call));

        assertThat(thrown).isSameAs(own).hasNoSuppressedExceptions();
        assertThat(lab.now()).isEqualTo(ofSeconds(3));
        assertSame(lab.unhandled(), early, late);
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("job", "fork-2", 1));
    }

    @Test
    @Catalogue(95)
    void of_two_errors_of_the_machine_the_first_in_time_is_thrown_and_the_other_reported() {
        Error first = new OutOfMemoryError("first");
        Error second = new InternalError("second");
        List<Callable<?>> tasks = List.of(throwing(first, 1), () -> {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(2)));
            throw second;
        });

        Throwable thrown = catchThrowable(() -> lab.scope().outcomes(tasks, Callable::call));

        assertThat(thrown).isSameAs(first);
        assertSame(lab.unhandled(), second);
    }

    @Test
    @Catalogue({95, 121})
    void in_an_isolated_scope_an_error_is_a_failure_like_any_other() {
        Error own = new AssertionError("a");

        assertThatThrownBy(() -> lab.scope("page").isolated().run(s -> {
                    var unused = s.fork("a", throwing(own, 1));
                    lab.sleep("body", ofSeconds(2));
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"a\" threw java.lang.AssertionError: a")
                .cause()
                .isSameAs(own);

        assertThat(lab.trail()).containsExactly("2s body slept");
    }

    @Test
    @Catalogue({95, 121})
    void in_an_isolated_scope_an_error_of_the_machine_ends_the_job_and_other_failures_are_reported() {
        Error own = new OutOfMemoryError("simulated");
        Exception early = new IllegalStateException("early");

        Throwable thrown = catchThrowable(() -> lab.scope().isolated().run(s -> {
            var unused = s.fork("early", failing(early, 1));
            var unusedToo = s.fork("oom", throwing(own, 2));
            lab.sleep("body", ofSeconds(9));
        }));

        assertThat(thrown).isSameAs(own).hasNoSuppressedExceptions();
        assertThat(lab.trail()).containsExactly("2s body cut off");
        assertSame(lab.unhandled(), early);
    }

    @Test
    @Catalogue(96)
    void one_exception_thrown_by_two_forks_is_listed_once() {
        Exception shared = new IllegalStateException("shared");

        var failure = failureOf(shieldedFailing(shared, 1), shieldedFailing(shared, 2));

        assertThat(failure).hasMessage("the scope failed: \"fork-1\" threw java.lang.IllegalStateException: shared");
        assertSame(failure.failures(), shared);
        assertThat(failure).hasNoSuppressedExceptions();
        assertThat(shared).hasNoSuppressedExceptions();
    }

    @Test
    @Catalogue(96)
    void one_exception_thrown_by_a_fork_and_then_by_the_body_is_listed_once() {
        RuntimeException shared = new IllegalStateException("shared");

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope().run(s -> {
                    var unused = s.fork(failing(shared, 1));
                    assertThatThrownBy(() -> Selvedge.sleep(ofSeconds(9))).isInstanceOf(ScopeCancelledException.class);
                    throw shared;
                }));

        assertSame(failure.failures(), shared);
    }

    @Test
    @Catalogue(97)
    void exceptions_that_are_equal_but_two_objects_are_both_kept() {
        Exception one = new Equal();
        Exception other = new Equal();

        var failure = failureOf(shieldedFailing(one, 1), shieldedFailing(other, 2));

        assertSame(failure.failures(), one, other);
        assertSame(Arrays.asList(failure.getSuppressed()), other);
    }

    @Test
    @Catalogue(97)
    void a_body_s_exception_that_is_equal_to_a_fork_s_is_kept_too() {
        Exception forks = new Equal();
        RuntimeException bodys = new Equal();

        var failure = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope().run(s -> {
                    var unused = s.fork(failing(forks, 1));
                    assertThatThrownBy(() -> Selvedge.sleep(ofSeconds(9))).isInstanceOf(ScopeCancelledException.class);
                    throw bodys;
                }));

        assertSame(failure.failures(), forks, bodys);
    }

    @Test
    @Catalogue(97)
    void a_late_failure_that_is_equal_to_the_body_s_exception_is_reported() {
        Exception forks = new Equal();
        RuntimeException bodys = new Equal();

        Throwable thrown = catchThrowable(() -> lab.scope().run(s -> {
            var unused = s.fork(shieldedFailing(forks, 2));
            Selvedge.sleep(ofSeconds(1));
            throw bodys;
        }));

        assertThat(thrown).isSameAs(bodys);
        assertSame(lab.unhandled(), forks);
    }

    @Test
    @Catalogue(98)
    void causes_that_form_a_cycle_end_collecting_searching_and_printing() {
        Exception one = new IllegalStateException("one");
        Exception other = new IllegalStateException("other", one);
        one.initCause(other);

        var failure = failureOf(shieldedFailing(one, 1), shieldedFailing(other, 2));

        assertSame(failure.failures(), one, other);
        assertSame(failure.all(IllegalStateException.class), one, other);
        assertThat(failure.all(IOException.class)).isEmpty();
        assertThat(printed(failure)).contains("CIRCULAR REFERENCE");
    }

    @Test
    @Catalogue(98)
    void a_cycle_in_what_the_body_throws_ends_too() {
        RuntimeException one = new IllegalStateException("one");
        one.initCause(new IllegalStateException("other", one));

        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(1)).run(() -> {
                    throw one;
                }))
                .isSameAs(one);
    }

    @Test
    @Catalogue(99)
    void failures_beside_one_that_takes_no_suppressed_ones_are_not_lost() {
        Exception closed = new Closed("closed");
        Exception late = new IllegalStateException("late");

        var failure = failureOf(shieldedFailing(closed, 1), shieldedFailing(late, 2));

        assertThat(failure.getCause()).isSameAs(closed);
        assertSame(failure.failures(), closed, late);
        assertThat(failure.getSuppressed()).containsExactly(late);
    }

    @Test
    @Catalogue(100)
    void a_failure_that_is_the_cause_of_another_is_shown_once() {
        Exception root = new IOException("root");
        Exception wrapper = new IllegalStateException("wrapper", root);

        var failure = failureOf(shieldedFailing(wrapper, 1), shieldedFailing(root, 2));

        assertThat(failure.getCause()).isSameAs(wrapper);
        assertThat(failure).hasNoSuppressedExceptions();
        assertSame(failure.failures(), wrapper, root);
    }

    @Test
    @Catalogue(100)
    void a_failure_that_wraps_the_first_one_is_kept() {
        Exception root = new IOException("root");
        Exception wrapper = new IllegalStateException("wrapper", root);

        var failure = failureOf(shieldedFailing(root, 1), shieldedFailing(wrapper, 2));

        assertThat(failure.getCause()).isSameAs(root);
        assertThat(failure.getSuppressed()).containsExactly(wrapper);
        assertSame(failure.failures(), root, wrapper);
    }

    @Test
    @Catalogue({89, 101})
    void a_nested_failure_is_one_of_the_outer_s_and_its_leaves_are_found_through_all_levels() {
        Exception a = new IOException("a");
        Exception b = new FileNotFoundException("b");
        Exception c = new IllegalStateException("c");
        Callable<?> innermost = () -> lab.scope("innermost").gather(shieldedFailing(a, 1), shieldedFailing(b, 2));
        Callable<?> inner = () -> lab.scope("inner").gather(innermost, slow(9));

        var failure = failureOf(shieldedFailing(c, 3), inner);

        assertThat(failure)
                .hasMessage("the scope failed: \"fork-2\" threw dev.selvedge.ScopeFailedException: "
                        + "the scope \"inner\" failed: \"fork-1\" threw dev.selvedge.ScopeFailedException: "
                        + "the scope \"innermost\" failed: \"fork-1\" threw java.io.IOException: a"
                        + " (and 1 more failure) (and 1 more failure)");
        assertThat(failure.failures()).hasSize(2).first().isInstanceOf(ScopeFailedException.class);
        assertSame(failure.all(IOException.class), a, b);
        assertSame(failure.all(Exception.class), a, b, c);
        assertSame(failure.all(FileNotFoundException.class), b);
        assertThat(failure.all(ScopeFailedException.class)).isEmpty();
    }

    @Test
    @Catalogue(102)
    void what_is_picked_out_by_type_keeps_its_stack_trace_and_its_cause() {
        Exception root = new IllegalArgumentException("root");
        IOException picked = new IOException("picked", root);
        StackTraceElement[] trace = picked.getStackTrace();

        var failure = failureOf(shieldedFailing(new IllegalStateException("first"), 1), shieldedFailing(picked, 2));

        assertThatThrownBy(() -> failure.rethrow(IOException.class)).isSameAs(picked);
        assertSame(failure.all(IOException.class), picked);
        assertThat(picked.getStackTrace()).isEqualTo(trace);
        assertThat(picked.getCause()).isSameAs(root);
    }

    @Test
    @Catalogue(103)
    void exceptions_of_others_are_never_changed() {
        Exception shared = new IllegalStateException("shared, made once");
        Exception late = new IllegalArgumentException("late");

        for (int i = 0; i < 3; i++) {
            var failure = failureOf(shieldedFailing(shared, 1), shieldedFailing(late, 2));
            assertSame(failure.failures(), shared, late);
        }

        assertThat(shared).hasNoSuppressedExceptions().hasNoCause();
        assertThat(late).hasNoSuppressedExceptions().hasNoCause();
    }

    @Test
    @Catalogue(103)
    void an_exception_of_the_body_gets_neither_late_failures_nor_those_of_closing() {
        RuntimeException shared = new IllegalStateException("shared, made once");
        Exception late = new IllegalArgumentException("late");
        IOException closing = new IOException("close");

        Throwable thrown = catchThrowable(() -> lab.scope().run(s -> {
            AutoCloseable unused = s.use(() -> {
                throw closing;
            });
            var unusedToo = s.fork(shieldedFailing(late, 2));
            Selvedge.sleep(ofSeconds(1));
            throw shared;
        }));

        assertThat(thrown).isSameAs(shared).hasNoSuppressedExceptions();
        assertThat(lab.unhandled()).containsExactlyInAnyOrder(late, closing);
    }

    @Test
    @Catalogue(104)
    void the_report_shows_where_the_task_failed_and_where_the_scope_was_opened() {
        var failure = failureOf(FailuresTest::failingHere);

        assertThat(methodsIn(failure))
                .contains("the_report_shows_where_the_task_failed_and_where_the_scope_was_opened");
        assertThat(methodsIn(failure.getCause())).contains("failingHere");
        assertThat(printed(failure)).contains("FailuresTest.failingHere(").contains(".gather(");
    }

    @Test
    @Catalogue(105)
    void a_missed_deadline_says_the_limit_the_time_and_the_name_and_is_caused_by_the_interrupt() {
        var late = catchThrowableOfType(
                DeadlineExceededException.class,
                () -> lab.scope("report").deadline(ofMillis(1500)).call(() -> {
                    try {
                        return slow(9).call();
                    } finally {
                        Selvedge.sleep(ofSeconds(2));
                    }
                }));

        assertThat(late).hasMessage("the scope \"report\" exceeded its deadline of 1.5 s (after 3.5 s)");
        assertThat(late.getCause()).isInstanceOf(InterruptedException.class);
        assertThat(late.limit()).isEqualTo(ofMillis(1500));
        assertThat(late.elapsed()).isEqualTo(ofMillis(3500));
        assertThat(late.unfinished()).isEmpty();
        assertThat(late.outcomes()).isEmpty();
    }

    @Test
    @Catalogue(105)
    void a_missed_deadline_of_several_names_those_that_had_not_finished_and_keeps_what_was_done() {
        ScopeSpec scope = lab.scope("report").deadline(ofSeconds(2));

        var late = catchThrowableOfType(
                DeadlineExceededException.class,
                () -> scope.fork(slow(1)).fork("slow", slow(9)).fork(slow(8)).gather((a, b, c) -> 0));

        assertThat(late)
                .hasMessage(
                        "the scope \"report\" exceeded its deadline of 2 s (after 2 s); not finished: slow, fork-3");
        assertThat(late.unfinished()).containsExactly("slow", "fork-3");
        var reason = new CancelReason(
                CancelReason.Kind.DEADLINE, "the deadline of 2 s of the scope \"report\" passed", null);
        assertThat(late.outcomes())
                .isEqualTo(List.of(
                        new Outcome.Success<>(1), new Outcome.Cancelled<>(reason), new Outcome.Cancelled<>(reason)));
    }

    @Test
    @Catalogue({105, 115})
    void a_failure_after_the_deadline_is_suppressed_in_it() {
        Exception cleanup = new IllegalStateException("cleanup");

        var late = catchThrowableOfType(
                DeadlineExceededException.class,
                () -> lab.scope().deadline(ofSeconds(1)).gather(slow(9), shieldedFailing(cleanup, 2)));

        assertThat(late).hasMessage("the scope exceeded its deadline of 1 s (after 2 s); not finished: fork-1");
        assertThat(late.getSuppressed()).containsExactly(cleanup);
    }

    @Test
    @Tag("real")
    @Catalogue(106)
    void a_scope_that_is_held_after_its_end_holds_neither_values_nor_its_body() {
        AtomicReference<Scope> leaked = new AtomicReference<>();

        List<WeakReference<Object>> refs = runWithGarbage(leaked, (s, garbage) -> {
            var unused = s.fork(() -> garbage.get(0));
            return garbage.get(1);
        });

        assertThat(leaked.get()).isNotNull();
        Blocks.awaitCollected(refs);
    }

    @Test
    @Tag("real")
    @Catalogue(106)
    void a_scope_that_is_held_after_its_end_holds_no_errors() {
        AtomicReference<Scope> leaked = new AtomicReference<>();

        List<WeakReference<Object>> refs = runWithGarbage(leaked, (s, garbage) -> {
            var unused = s.fork(() -> {
                throw new Heavy(garbage.get(0));
            });
            throw new Heavy(garbage.get(1));
        });

        assertThat(leaked.get()).isNotNull();
        Blocks.awaitCollected(refs);
    }

    @Test
    @Tag("real")
    @Catalogue(106)
    void a_fork_that_is_held_after_the_end_holds_its_own_value_only() {
        AtomicReference<Fork<String>> kept = new AtomicReference<>();

        List<WeakReference<Object>> refs = runWithGarbage(new AtomicReference<>(), (s, garbage) -> {
            kept.set(s.fork(() -> "kept " + garbage.size()));
            var unused = s.fork(() -> garbage.get(0));
            return garbage.get(1);
        });

        Blocks.awaitCollected(refs);
        assertThat(kept.get().join()).isEqualTo("kept 2");
    }

    @Test
    @Tag("real")
    @Catalogue(106)
    void a_scope_that_is_held_after_its_end_does_not_hold_its_owner() throws InterruptedException {
        AtomicReference<Scope> leaked = new AtomicReference<>();
        Thread owner = new Thread(() -> Selvedge.scope().run(leaked::set));
        WeakReference<Object> ref = new WeakReference<>(owner);

        owner.start();
        owner.join();
        owner = null;

        assertThat(leaked.get()).isNotNull();
        Blocks.awaitCollected(List.of(ref));
    }

    private ScopeFailedException failureOf(Callable<?>... tasks) {
        return catchThrowableOfType(
                ScopeFailedException.class, () -> lab.scope().gather(tasks));
    }

    private static Callable<Integer> slow(int seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            return seconds;
        };
    }

    private static Callable<Object> failing(Exception e, int seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            throw e;
        };
    }

    /** Fails at its time, whatever happens before. */
    private static Callable<Object> shieldedFailing(Exception e, int seconds) {
        return () -> {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(seconds)));
            throw e;
        };
    }

    private static Callable<Object> throwing(Error e, int seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            throw e;
        };
    }

    private static Object thrown(Error e) {
        throw e;
    }

    private static Object failingHere() throws IOException {
        throw new IOException("here");
    }

    private static List<String> methodsIn(Throwable t) {
        return Arrays.stream(t.getStackTrace())
                .map(StackTraceElement::getMethodName)
                .toList();
    }

    private static String printed(Throwable t) {
        StringWriter text = new StringWriter();
        t.printStackTrace(new PrintWriter(text, true));
        return text.toString();
    }

    /** The very objects, in this order. */
    private static void assertSame(List<? extends Throwable> actual, Throwable... expected) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < expected.length; i++) {
            assertThat(actual.get(i)).isSameAs(expected[i]);
        }
    }

    private static List<LogRecord> logOf(Runnable action) {
        List<LogRecord> lines = new ArrayList<>();
        Handler handler = new Handler() {
            @Override
            public synchronized void publish(LogRecord line) {
                lines.add(line);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("dev.selvedge");
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        try {
            action.run();
        } finally {
            logger.setUseParentHandlers(true);
            logger.removeHandler(handler);
        }
        return lines;
    }

    /** A body that is given two objects which nothing but it and its forks may hold. */
    private interface Littering {
        Object call(Scope s, List<Object> garbage) throws Exception;
    }

    private static List<WeakReference<Object>> runWithGarbage(AtomicReference<Scope> leaked, Littering body) {
        List<Object> garbage = List.of(new Object(), new Object());
        var unused = catchThrowable(() -> Selvedge.scope().call(s -> {
            leaked.set(s);
            return body.call(s, garbage);
        }));
        return garbage.stream().map(WeakReference::new).toList();
    }

    /** Equal to all of its kind. */
    @SuppressWarnings("ThrowableEqualsHashCode") // that is what it is for
    private static final class Equal extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public boolean equals(Object other) {
            return other instanceof Equal;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    /** Takes no suppressed exceptions. */
    private static final class Closed extends Exception {
        private static final long serialVersionUID = 1;

        Closed(String message) {
            super(message, null, false, false);
        }
    }

    /** Holds something. */
    private static final class Heavy extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient Object load;

        Heavy(Object load) {
            this.load = load;
        }

        @Override
        public String getMessage() {
            return "holds " + (load == null ? "nothing" : "something");
        }
    }

    @Test
    @Catalogue({98, 100})
    void a_body_that_wraps_the_exception_of_a_join_closes_no_circle() {
        IOException boom = new IOException("boom");
        List<Throwable> wrapped = new ArrayList<>();

        ScopeFailedException e = catchThrowableOfType(
                ScopeFailedException.class,
                () -> lab.scope().run(s -> {
                    try {
                        Object unused = s.fork(() -> {
                                    throw boom;
                                })
                                .join();
                    } catch (ScopeFailedException failed) {
                        IllegalStateException own = new IllegalStateException("wrapped", failed);
                        wrapped.add(own);
                        throw own;
                    }
                }));

        assertThat(e).hasCause(boom).hasNoSuppressedExceptions();
        assertThat(e.failures()).containsExactly(boom, (Exception) wrapped.get(0));
    }
}
