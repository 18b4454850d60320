package dev.selvedge;

import static dev.selvedge.Blocks.cancelAfter;
import static dev.selvedge.Blocks.inner;
import static dev.selvedge.Blocks.late;
import static dev.selvedge.Blocks.passed;
import static java.time.Duration.ofDays;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Blocks inside blocks that are cut off: nobody answers for the deadline or failure of another, and no error is lost. */
@Timeout(30)
class LostAndBlamedTest {

    @RegisterExtension
    final Lab lab = new Lab();

    // 1. A scope takes a deadline that is not its own for its own.

    @Test
    void a_block_whose_own_deadline_has_not_passed_does_not_throw_that_it_has() {
        List<Throwable> left = new ArrayList<>();

        Throwable thrown = catchThrowable(() -> lab.scope("outer")
                .deadline(ofSeconds(3))
                .run(() -> Selvedge.scope("middle").deadline(ofSeconds(1)).run(() -> {
                    try {
                        Selvedge.sleep(ofDays(1));
                    } finally {
                        left.add(catchThrowable(() -> inner(ofSeconds(5))
                                .run(
                                        s -> { // opened at 1 s: would pass at 6 s
                                            Fork<?> unused =
                                                    s.fork("f", Selvedge::checkpoint); // meets the deadline of "middle"
                                            Selvedge.shielded(
                                                    () -> Selvedge.sleep(ofSeconds(3))); // at 3 s, "outer" passes
                                        })));
                    }
                })));

        assertThat(left.get(0)).isInstanceOf(ScopeCancelledException.class);
        assertThat(thrown)
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"outer\" exceeded its deadline of 3 s (after 4 s)");
        assertThat(passed(lab)).containsExactly("middle", "outer");
    }

    @Test
    void a_late_join_does_not_tell_that_the_deadline_of_a_scope_in_the_fork_has_passed() {
        lab.scope("page").run(s -> {
            Fork<List<String>> slow = s.fork("slow", () -> inner(ofSeconds(7)).gather(sleeping("a")));
            assertThat(late(() -> slow.join(ofSeconds(1)))).hasMessageContaining("(after 1 s)");
        });

        assertThat(passed(lab)).isEmpty(); // "inner" has 7 s, and 1 s has gone by
    }

    @Test
    void an_outer_deadline_does_not_tell_that_the_deadline_of_a_scope_in_the_cleanup_has_passed() {
        Throwable unused = catchThrowable(() -> lab.scope("outer")
                .deadline(ofSeconds(3))
                .run(() -> Selvedge.scope("middle").deadline(ofSeconds(1)).run(() -> {
                    try {
                        Selvedge.sleep(ofDays(1));
                    } finally {
                        List<String> unusedValue = inner(ofSeconds(5)).gather(sleeping("a"));
                    }
                })));

        assertThat(lab.now()).isEqualTo(ofSeconds(3));
        assertThat(passed(lab)).containsExactly("middle", "outer"); // "inner" would pass at 6 s
    }

    // 2. Errors that an inner scope has attached to its cancellation are lost when a block around makes its own
    // exception.

    @Test
    void errors_in_the_cleanup_of_an_inner_gather_are_not_lost_if_the_outer_scope_was_cancelled() {
        Throwable thrown = catchThrowable(() -> lab.scope("outer").run(s -> {
            cancelAfter(s, ofSeconds(1));
            List<String> unusedValue = Selvedge.scope("inner").gather(failingInCleanup("a"));
        }));

        assertThat(thrown).isInstanceOf(ScopeCancelledException.class).hasMessage("stop");
        assertThat(shownOrTold(thrown)).contains("a cleanup");
    }

    @Test
    void errors_in_the_cleanup_of_an_inner_gather_are_not_lost_if_the_outer_deadline_passed() {
        Throwable thrown = catchThrowable(() -> lab.scope("outer")
                .deadline(ofSeconds(1))
                .call(() -> Selvedge.scope("inner").gather(failingInCleanup("a"))));

        assertThat(thrown).isInstanceOf(DeadlineExceededException.class);
        assertThat(shownOrTold(thrown)).contains("a cleanup");
    }

    @Test
    void errors_in_the_cleanup_of_a_gather_in_a_fork_are_not_lost_if_the_outer_deadline_passed() {
        Throwable thrown = catchThrowable(() -> lab.scope("outer")
                .deadline(ofSeconds(1))
                .gather(() -> Selvedge.scope("inner").gather(failingInCleanup("a"))));

        assertThat(thrown).isInstanceOf(DeadlineExceededException.class);
        assertThat(shownOrTold(thrown)).contains("a cleanup");
    }

    @Test
    void errors_in_the_cleanup_of_a_gather_in_the_loser_of_a_race_are_not_lost() {
        Integer first = lab.scope("outer")
                .race(
                        () -> {
                            Selvedge.sleep(ofSeconds(1));
                            return 1;
                        },
                        () -> Selvedge.scope("inner")
                                .gather(failingInCleanup("a"))
                                .size());

        assertThat(first).isEqualTo(1);
        assertThat(shownOrTold(null)).contains("a cleanup");
    }

    @Test
    void what_a_resource_throws_at_its_close_is_not_lost_if_the_deadline_passed() {
        Throwable thrown =
                catchThrowable(() -> lab.scope("page").deadline(ofSeconds(1)).run(() -> {
                    try (AutoCloseable unused = () -> {
                        throw new IllegalStateException("close");
                    }) {
                        Selvedge.sleep(ofDays(1)); // with a wait that throws InterruptedException it is not lost
                    }
                }));

        assertThat(thrown).isInstanceOf(DeadlineExceededException.class);
        assertThat(shownOrTold(thrown)).contains("close");
    }

    // 3. A scope takes a failure outside for one of its own forks.

    @Test
    void a_gather_that_a_failure_outside_cut_off_is_left_by_the_cancellation() {
        Throwable[] left = {null};

        Throwable unused = catchThrowable(() -> lab.scope("outer").gather(failingAfterOneSecond("first"), () -> {
            left[0] = catchThrowable(() -> Selvedge.scope("inner").gather(failingInCleanup("a")));
            throw (Exception) left[0];
        }));

        assertThat(left[0])
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("\"fork-1\" failed: java.lang.IllegalStateException: first");
        assertThat(left[0].getSuppressed()).extracting(Throwable::getMessage).containsExactly("a cleanup");
    }

    @Test
    void a_fallback_is_not_asked_because_of_a_failure_outside() {
        List<String> asked = new ArrayList<>();

        Throwable unused = catchThrowable(() -> lab.scope("outer")
                .gather(
                        failingAfterOneSecond("first"),
                        () -> Selvedge.scope("inner")
                                .call(() -> Selvedge.scope("all").gather(failingInCleanup("a")), failure -> {
                                    asked.add(failure.getMessage());
                                    return List.of("answer");
                                })));

        assertThat(asked).isEmpty();
    }

    // 4. What goes wrong in a body while it is cut off, and what a join of an isolated scope carries.

    @Test
    void what_a_resource_throws_at_its_close_is_among_the_failures_if_a_fork_cut_the_body_off() {
        Throwable thrown = catchThrowable(() -> bodyThatFailsAtItsClose(failingAfterOneSecond("first")));

        assertThat(thrown)
                .isInstanceOfSatisfying(
                        ScopeFailedException.class,
                        e -> assertThat(e.failures())
                                .extracting(Throwable::getMessage)
                                .containsExactly("first", "close"));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void what_a_resource_throws_at_its_close_is_not_lost_if_an_error_of_a_fork_cut_the_body_off() {
        Throwable thrown = catchThrowable(() -> bodyThatFailsAtItsClose(() -> {
            Selvedge.sleep(ofSeconds(1));
            throw new AssertionError("first");
        }));

        assertThat(thrown).isInstanceOf(AssertionError.class).hasMessage("first");
        assertThat(shownOrTold(thrown)).contains("close");
    }

    @Test
    void the_failure_that_a_late_join_of_an_isolated_scope_carries_is_not_told_once_more() {
        Throwable thrown = catchThrowable(() -> lab.scope("page").isolated().run(s -> {
            Fork<String> slow = s.fork("slow", failingInCleanup("a"));
            slow.join(ofSeconds(1));
        }));

        assertThat(thrown).isInstanceOf(DeadlineExceededException.class);
        assertThat(shownOrTold(thrown)).containsOnlyOnce("a cleanup");
        assertThat(lab.unhandled()).isEmpty();
    }

    private void bodyThatFailsAtItsClose(Callable<String> failing) throws Exception {
        lab.scope("page").run(s -> {
            Fork<String> unused = s.fork("failing", failing);
            try (AutoCloseable unusedToo = () -> fail("close")) {
                Selvedge.sleep(ofDays(1));
            }
        });
    }

    /** The messages of all that an exception shows, and of all that was told as unhandled. */
    private List<String> shownOrTold(Throwable thrown) {
        List<String> messages = new ArrayList<>();
        lab.unhandled().forEach(t -> addAll(t, messages));
        addAll(thrown, messages);
        return messages;
    }

    private static void addAll(Throwable t, List<String> messages) {
        if (t != null) {
            messages.add(t.getMessage());
            addAll(t.getCause(), messages);
            for (Throwable s : t.getSuppressed()) {
                addAll(s, messages);
            }
        }
    }

    private static Callable<String> sleeping(String name) {
        return () -> {
            Selvedge.sleep(ofDays(1));
            return name;
        };
    }

    private static Callable<String> failingInCleanup(String name) {
        return () -> {
            try {
                return sleeping(name).call();
            } finally {
                fail(name + " cleanup");
            }
        };
    }

    private static Callable<String> failingAfterOneSecond(String message) {
        return () -> {
            Selvedge.sleep(ofSeconds(1));
            fail(message);
            return "never";
        };
    }

    private static void fail(String message) {
        throw new IllegalStateException(message);
    }
}
