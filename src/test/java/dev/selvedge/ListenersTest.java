package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who is told what: listeners that are switched off, that only record, that time forks by themselves, and several of them. */
@Timeout(30)
class ListenersTest {

    @RegisterExtension
    final Lab lab = new Lab();

    /** What was told, by kind, and who was asked for what, in order. */
    private final List<String> trail = Collections.synchronizedList(new ArrayList<>());

    private void plain(ScopeEvent event) {
        trail.add("plain " + event.getClass().getSimpleName());
    }

    /** One that can be switched off, and times forks or not. */
    private class Recorder implements ScopeListener {

        boolean listening = true;
        boolean timing;
        boolean keeping = true;

        @Nullable
        RuntimeException failure;

        @Override
        public void on(ScopeEvent event, Where where) {
            trail.add(event.getClass().getSimpleName());
        }

        @Override
        public boolean isListening() {
            return listening;
        }

        @Override
        public boolean replacesLog() {
            return false;
        }

        @Override
        public boolean timesForks() {
            return timing;
        }

        @Override
        public Stopwatch stopwatch(ScopeId scope) {
            trail.add("start in " + scope.name());
            long begun = lab.clock().nanoTime();
            Thread thread = Thread.currentThread();
            return new Stopwatch() {

                @Override
                public boolean stop() {
                    assertThat(Thread.currentThread()).isSameAs(thread);
                    trail.add("stop after "
                            + Duration.ofNanos(lab.clock().nanoTime() - begun).toMillis() + " ms");
                    if (failure != null) {
                        throw failure;
                    }
                    return keeping;
                }

                @Override
                public void ended(ScopeEvent.ForkEnded event, Where where) {
                    trail.add(event.fork() + "#" + where.fork() + " of "
                            + where.scope().name() + ": "
                            + event.outcome().getClass().getSimpleName());
                }
            };
        }
    }

    private final Recorder recorder = new Recorder();

    /** One that nobody listens to yet. */
    private ScopeSpec scope(String name) {
        return Selvedge.scope(name).clock(lab.clock());
    }

    private Task<String, RuntimeException> nap(int millis) {
        return () -> {
            lab.sleep("nap", ofMillis(millis));
            return "rested";
        };
    }

    // Switched off.

    @Test
    void nothing_is_told_to_one_that_does_not_listen() {
        recorder.listening = false;

        scope("page").listener(recorder).gather(List.of(nap(1), nap(2)));
        scope("call").listener(recorder).call(nap(1));
        scope("items").listener(recorder).map(List.of(1, 2), n -> n);

        assertThat(trail).isEmpty();
    }

    @Test
    void it_is_asked_again_for_each_scope() {
        recorder.listening = false;

        scope("outer").listener(recorder).run(s -> {
            recorder.listening = true;
            Selvedge.scope("inner").gather(List.of(nap(1)));
        });

        assertThat(trail).containsExactly("ScopeOpened", "ForkCreated", "ForkStarted", "ForkEnded", "ScopeClosed");
    }

    @Test
    void one_that_begins_to_listen_within_a_scope_hears_nothing_of_the_forks_of_that() {
        recorder.listening = false;

        scope("outer").listener(recorder).run(s -> {
            Fork<String> before = s.fork(nap(1));
            recorder.listening = true;
            Fork<String> after = s.fork(nap(2));
            assertThat(before.join() + after.join()).isEqualTo("restedrested");
        });

        assertThat(trail).isEmpty();
    }

    @Test
    void errors_are_logged_while_nobody_listens() {
        recorder.listening = false;
        IOException late = new IOException("late");

        try (Log log = Log.of("dev.selvedge")) {
            scope("page").listener(recorder).run(s -> endWith(late, s));

            assertThat(log.thrown()).containsExactly(late);
        }
        assertThat(trail).isEmpty();
    }

    /** An error for which the scope has no room: an action of its end, after a value. */
    private static void endWith(IOException error, Scope scope) {
        scope.onCancel(() -> {
            throw error;
        });
        scope.cancel("enough");
    }

    // One that only records.

    @Test
    void an_error_is_told_and_logged_where_only_recorders_listen() {
        IOException late = new IOException("late");

        try (Log log = Log.of("dev.selvedge")) {
            scope("page").listener(recorder).run(s -> endWith(late, s));

            assertThat(log.thrown()).containsExactly(late);
        }
        assertThat(trail).contains("Unhandled");
    }

    @Test
    void an_error_is_not_logged_where_somebody_else_is_told() {
        try (Log log = Log.of("dev.selvedge")) {
            scope("page").listener(recorder).listener(this::plain).run(s -> endWith(new IOException("late"), s));

            assertThat(log.at(Level.WARNING)).isEmpty();
        }
        assertThat(trail).contains("Unhandled", "plain Unhandled");
    }

    // Stopwatches.

    @Test
    void one_that_times_forks_is_asked_for_a_watch_and_not_told_of_their_lives() {
        recorder.timing = true;

        scope("page").listener(recorder).gather(List.of(nap(10)));

        assertThat(trail)
                .containsExactly(
                        "ScopeOpened", "start in page", "stop after 10 ms", "fork-1#1 of page: Success", "ScopeClosed");
    }

    @Test
    void a_watch_that_is_stopped_without_interest_is_told_nothing() {
        recorder.timing = true;
        recorder.keeping = false;

        scope("page").listener(recorder).gather(List.of(nap(10)));

        assertThat(trail).containsExactly("ScopeOpened", "start in page", "stop after 10 ms", "ScopeClosed");
    }

    @Test
    void others_are_told_of_the_forks_all_the_same() {
        recorder.timing = true;

        scope("page").listener(recorder).listener(this::plain).gather(List.of(nap(10)));

        assertThat(trail).containsSubsequence("plain ForkCreated", "plain ForkStarted", "plain ForkEnded");
        assertThat(trail).containsSubsequence("start in page", "stop after 10 ms", "fork-1#1 of page: Success");
        assertThat(trail).doesNotContain("ForkCreated", "ForkStarted", "ForkEnded");
    }

    @Test
    void a_listener_after_one_that_times_forks_is_told_by_itself() {
        recorder.timing = true;

        scope("page").listener(recorder.andThen(this::plain)).gather(List.of(nap(10)));

        assertThat(trail)
                .contains("plain ForkCreated", "start in page", "fork-1#1 of page: Success")
                .doesNotContain("ForkCreated");
    }

    @Test
    void items_of_a_worker_have_a_watch_each() {
        recorder.timing = true;

        scope("items")
                .concurrency(1)
                .listener(recorder)
                .forEach(List.of(10, 20), millis -> nap(millis).call());

        assertThat(trail)
                .containsExactly(
                        "ScopeOpened",
                        "start in items",
                        "stop after 10 ms",
                        "fork-1#1 of items: Success",
                        "start in items",
                        "stop after 20 ms",
                        "fork-2#2 of items: Success",
                        "ScopeClosed");
    }

    @Test
    void a_fork_that_fails_or_is_cut_off_stops_its_watch() {
        recorder.timing = true;

        Throwable thrown = catchThrowable(() -> scope("page").listener(recorder).gather(List.of(nap(50), () -> {
            lab.sleep("failing", ofMillis(10));
            throw new IllegalStateException("no");
        })));

        assertThat(thrown).isInstanceOf(ScopeFailedException.class);
        assertThat(trail)
                .containsExactly(
                        "ScopeOpened",
                        "start in page",
                        "start in page",
                        "stop after 10 ms",
                        "fork-2#2 of page: Failure",
                        "ScopeCancelled",
                        "stop after 10 ms",
                        "fork-1#1 of page: Cancelled",
                        "ScopeClosed");
    }

    @Test
    void two_that_time_forks_have_a_watch_each() {
        Recorder second = new Recorder();
        recorder.timing = true;
        second.timing = true;
        second.keeping = false;

        scope("page").listener(recorder).listener(second).gather(List.of(nap(10)));

        assertThat(trail)
                .containsExactlyInAnyOrder(
                        "ScopeOpened",
                        "ScopeOpened",
                        "start in page",
                        "start in page",
                        "stop after 10 ms",
                        "stop after 10 ms",
                        "fork-1#1 of page: Success",
                        "ScopeClosed",
                        "ScopeClosed");
    }

    @Test
    void what_a_watch_throws_changes_nothing_and_is_told_to_its_owner() {
        recorder.timing = true;
        recorder.failure = new IllegalStateException("broken watch");

        assertThat(scope("page").listener(recorder).gather(List.of(nap(10)))).containsExactly("rested");

        assertThat(trail)
                .containsExactly("ScopeOpened", "start in page", "stop after 10 ms", "Unhandled", "ScopeClosed");
    }

    @Test
    void by_itself_a_listener_has_no_watches() {
        ScopeListener silent = (event, where) -> {};

        assertThat(silent.isListening()).isTrue();
        assertThat(silent.replacesLog()).isTrue();
        assertThat(silent.timesForks()).isFalse();
        assertThat(silent.stopwatch(new ScopeId(1, "page", null, 0))).isNull();
    }

    // One made of two.

    @Test
    void one_made_of_two_listens_if_either_does() {
        recorder.listening = false;
        Recorder second = new Recorder();

        assertThat(recorder.andThen(second).isListening()).isTrue();
        second.listening = false;
        assertThat(recorder.andThen(second).isListening()).isFalse();
        assertThat(recorder.andThen(second).replacesLog()).isFalse();
        assertThat(recorder.andThen(this::plain).replacesLog()).isTrue();
    }

    @Test
    void what_the_first_of_two_throws_does_not_keep_it_from_the_second() {
        List<ScopeEvent> failures = new ArrayList<>();
        ScopeListener failing = (event, where) -> {
            if (event instanceof ScopeEvent.Unhandled) {
                failures.add(event);
                return;
            }
            throw new IllegalStateException("broken");
        };
        ScopeListener both = failing.andThen(this::plain);

        scope("page").deadline(ofSeconds(1)).listener(both).run(() -> {});

        assertThat(trail).containsExactly("plain ScopeOpened", "plain DeadlineSet", "plain ScopeClosed");
        assertThat(failures).hasSize(3); // it is told itself
        assertThat(catchThrowable(() -> both.accept(new ScopeEvent.ScopeOpened("page"))))
                .hasMessage("broken");
        assertThat(trail).endsWith("plain ScopeClosed", "plain ScopeOpened");
    }
}
