package dev.selvedge;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An outcome for each task of a collection. */
@Timeout(30)
class OutcomesOfTasksTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    void there_is_an_outcome_for_each_task_in_the_order_asked() {
        IOException boom = new IOException("boom");
        List<Callable<String>> tasks = List.of(slow("a", 3), failing(boom), slow("c", 1));

        List<Outcome<String>> outcomes = lab.scope().outcomes(tasks);

        assertThat(outcomes)
                .containsExactly(new Outcome.Success<>("a"), new Outcome.Failure<>(boom), new Outcome.Success<>("c"));
        assertThat(lab.trail()).containsExactly("1s c slept", "3s a slept");
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void a_deadline_leaves_cancelled_in_the_places_of_those_it_cut_off() {
        List<Callable<String>> tasks = List.of(slow("a", 3), slow("b", 1));

        List<Outcome<String>> outcomes =
                lab.scope("page").deadline(ofSeconds(2)).outcomes(tasks);

        assertThat(outcomes)
                .containsExactly(
                        new Outcome.Cancelled<>(new CancelReason(
                                CancelReason.Kind.DEADLINE, "the deadline of 2 s of the scope \"page\" passed", null)),
                        new Outcome.Success<>("b"));
        assertThat(lab.trail()).containsExactly("1s b slept", "2s a cut off");
    }

    @Test
    void with_no_time_all_are_cancelled_and_nothing_is_started() {
        List<Callable<String>> tasks = List.of(slow("a", 3), slow("b", 1));

        List<Outcome<String>> outcomes = lab.scope("page").deadline(ZERO).outcomes(tasks);

        assertThat(outcomes)
                .hasSize(2)
                .allSatisfy(o -> assertThat(o).isInstanceOfSatisfying(Outcome.Cancelled.class, c -> {
                    assertThat(c.reason().kind()).isEqualTo(CancelReason.Kind.DEADLINE);
                    assertThat(c.reason().message())
                            .isEqualTo("the scope \"page\" exceeded its deadline of 0 ns (after 0 ns)");
                }));
        assertThat(lab.events(ScopeEvent.ForkCreated.class)).isEmpty();
    }

    @Test
    void null_is_a_value_like_any_other() {
        List<Callable<String>> tasks = List.of(() -> null);

        assertThat(lab.scope().outcomes(tasks)).containsExactly(new Outcome.Success<>(null));
    }

    @Test
    void an_error_of_a_task_is_an_outcome_but_one_of_the_virtual_machine_is_not() {
        Error own = new AssertionError("own");
        Error fatal = new OutOfMemoryError("made up");
        List<Callable<String>> assertions = List.of(throwing(own, 0), slow("b", 1));
        List<Callable<String>> hopeless = List.of(throwing(fatal, 1), slow("c", 9));

        assertThat(lab.scope().outcomes(assertions))
                .containsExactly(new Outcome.Failure<>(own), new Outcome.Success<>("b"));
        assertThat(catchThrowable(() -> lab.scope().outcomes(hopeless))).isSameAs(fatal);
        assertThat(lab.trail()).containsExactly("1s b slept", "2s c cut off");
    }

    @Test
    void no_tasks_give_no_outcomes_at_once() {
        List<Callable<String>> tasks = List.of();

        assertThat(lab.scope().outcomes(tasks)).isEmpty();
        assertThat(lab.events()).isEmpty();
    }

    @Test
    void the_same_task_given_twice_runs_twice() {
        Callable<String> task = slow("a", 1);

        assertThat(lab.scope().outcomes(List.of(task, task)))
                .containsExactly(new Outcome.Success<>("a"), new Outcome.Success<>("a"));
        assertThat(lab.trail()).containsExactly("1s a slept", "1s a slept");
    }

    @Test
    void the_collection_is_copied_and_the_list_cannot_be_modified() {
        List<Callable<String>> tasks = new ArrayList<>();
        tasks.add(() -> {
            tasks.clear();
            return "a";
        });
        tasks.add(slow("b", 1));

        List<Outcome<String>> outcomes = lab.scope().outcomes(tasks);

        assertThat(outcomes).containsExactly(new Outcome.Success<>("a"), new Outcome.Success<>("b"));
        assertThatThrownBy(outcomes::clear).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void a_null_task_is_refused_before_anything_starts() {
        List<Callable<String>> tasks = new ArrayList<>();
        tasks.add(slow("a", 1));
        tasks.add(null);

        assertThatThrownBy(() -> lab.scope().outcomes(tasks))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("tasks[1]");
        assertThatThrownBy(() -> lab.scope().outcomes(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("tasks");
        assertThat(lab.events()).isEmpty();
    }

    @Test
    void a_cancellation_from_outside_passes_through_and_the_values_are_discarded() {
        List<Callable<String>> tasks = List.of(slow("a", 1), slow("b", 9));

        lab.scope("outer").run(s -> {
            Fork<?> caller = s.fork("caller", () -> lab.scope("page").outcomes(tasks));
            Selvedge.sleep(ofSeconds(2));
            assertThat(caller.cancel()).isTrue();
            assertThatThrownBy(caller::join).hasMessage("the fork \"caller\" was cancelled");
        });

        assertThat(lab.trail()).containsExactly("1s a slept", "2s b cut off");
        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("page", "fork-1", "a"));
    }

    private Callable<String> slow(String name, int seconds) {
        return () -> {
            lab.sleep(name, ofSeconds(seconds));
            return name;
        };
    }

    private static Callable<String> failing(Exception e) {
        return () -> {
            throw e;
        };
    }

    private static Callable<String> throwing(Error e, int seconds) {
        return () -> {
            Selvedge.sleep(ofSeconds(seconds));
            throw e;
        };
    }
}
