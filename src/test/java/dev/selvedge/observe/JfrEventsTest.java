package dev.selvedge.observe;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.AttemptTimeoutException;
import dev.selvedge.DeadlineExceededException;
import dev.selvedge.Log;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.ScopeListener;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.Task;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import jdk.jfr.EventType;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a recording of the flight recorder holds of scopes. */
@Timeout(60)
class JfrEventsTest {

    private static final String[] KINDS = {"Scope", "Fork", "Attempt", "Breaker", "Cancel", "Straggler", "Unhandled"};

    private final VirtualClock clock = VirtualClock.jumping();

    @TempDir
    private Path folder;

    private ScopeSpec heard(String name) {
        return scope(name).clock(clock).listener(JfrEvents.events());
    }

    private static Task<String, RuntimeException> nap(int millis) {
        return () -> {
            Selvedge.sleep(ofMillis(millis));
            return "rested";
        };
    }

    @AfterEach
    void nothing_is_kept() {
        assertThat(((FlightRecorder) JfrEvents.events()).isIdle()).isTrue();
    }

    // Reading.

    private List<RecordedEvent> recorded(Runnable work) throws IOException {
        return recorded(ZERO, work);
    }

    private List<RecordedEvent> recorded(Duration threshold, Runnable work) throws IOException {
        try (Recording recording = new Recording()) {
            for (String kind : KINDS) {
                recording.enable("dev.selvedge." + kind).withThreshold(threshold);
            }
            recording.start();
            work.run();
            return events(recording);
        }
    }

    private List<RecordedEvent> events(Recording recording) throws IOException {
        recording.stop();
        Path file = folder.resolve("recording.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(e -> e.getEventType().getName().startsWith("dev.selvedge."))
                .toList();
    }

    private static List<RecordedEvent> of(String kind, List<RecordedEvent> all) {
        return all.stream()
                .filter(e -> e.getEventType().getName().equals("dev.selvedge." + kind))
                .toList();
    }

    private static RecordedEvent only(String kind, List<RecordedEvent> all) {
        List<RecordedEvent> found = of(kind, all);
        assertThat(found).hasSize(1);
        return found.get(0);
    }

    private static List<String> fields(RecordedEvent event, String... names) {
        return List.of(names).stream()
                .map(name -> Objects.toString(event.getValue(name)))
                .toList();
    }

    // Scopes and forks.

    @Test
    void a_scope_and_its_forks_are_recorded_with_names_numbers_and_outcomes() throws IOException {
        List<RecordedEvent> all = recorded(() -> heard("page")
                .deadline(ofSeconds(5))
                .fork("prices", nap(20))
                .fork(nap(30))
                .gather((a, b) -> a + b));

        RecordedEvent page = only("Scope", all);
        assertThat(fields(page, "scope", "parent", "parentFork", "outcome", "error"))
                .containsExactly("page", "0", "0", "succeeded", "null");
        assertThat(page.getDuration("deadline")).isEqualTo(ofSeconds(5));
        assertThat(page.getDuration("elapsed")).isEqualTo(ofMillis(30));
        assertThat(page.getLong("scopeId")).isPositive();

        List<RecordedEvent> forks = of("Fork", all);
        assertThat(forks)
                .extracting(f -> fields(f, "scope", "fork", "forkId", "outcome", "error"))
                .containsExactlyInAnyOrder(
                        List.of("page", "prices", "1", "succeeded", "null"),
                        List.of("page", "fork-2", "2", "succeeded", "null"));
        assertThat(forks).extracting(f -> f.getLong("scopeId")).containsOnly(page.getLong("scopeId"));
        assertThat(forks).extracting(f -> f.getThread().isVirtual()).containsOnly(true);
        assertThat(forks).allSatisfy(f -> {
            assertThat(f.getStartTime()).isBetween(page.getStartTime(), page.getEndTime());
            assertThat(f.getEndTime()).isBetween(page.getStartTime(), page.getEndTime());
        });
    }

    @Test
    void a_scope_without_a_deadline_of_its_own_has_none() throws IOException {
        RecordedEvent page = only("Scope", recorded(() -> heard("page").call(nap(1))));

        assertThat(page.getLong("deadline")).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void a_scope_within_a_fork_names_both() throws IOException {
        List<RecordedEvent> all = recorded(() -> heard("outer").run(s -> {
            s.fork(nap(1));
            s.fork(() -> scope("inner").run(nap(1)::call));
            scope("beside").run(() -> {});
        }));

        List<RecordedEvent> scopes = of("Scope", all);
        RecordedEvent outer = scopes.get(scopes.size() - 1);
        assertThat(scopes)
                .extracting(s -> fields(s, "scope", "parent", "parentFork"))
                .containsExactlyInAnyOrder(
                        List.of("inner", String.valueOf(outer.getLong("scopeId")), "2"),
                        List.of("beside", String.valueOf(outer.getLong("scopeId")), "0"),
                        List.of("outer", "0", "0"));
    }

    @Test
    void a_failure_is_recorded_with_its_cancellation_and_its_victims() throws IOException {
        List<RecordedEvent> all =
                recorded(() -> assertThat(catchThrowable(() -> heard("page").gather(List.of(nap(50), () -> {
                            Selvedge.sleep(ofMillis(10));
                            throw new IllegalStateException("no");
                        }))))
                        .isInstanceOf(ScopeFailedException.class));

        assertThat(of("Fork", all))
                .extracting(f -> fields(f, "fork", "outcome", "error"))
                .containsExactlyInAnyOrder(
                        List.of("fork-2", "failed", "java.lang.IllegalStateException: no"),
                        List.of("fork-1", "cancelled", "\"fork-2\" failed: java.lang.IllegalStateException: no"));
        assertThat(fields(only("Cancel", all), "scope", "kind", "reason", "causeFork"))
                .containsExactly(
                        "page", "SIBLING_FAILED", "\"fork-2\" failed: java.lang.IllegalStateException: no", "2");
        assertThat(only("Scope", all).getString("outcome")).isEqualTo("failed");
        assertThat(only("Scope", all).getString("error")).contains("ScopeFailedException");
    }

    @Test
    void a_scope_that_is_cut_off_from_outside_is_cancelled() throws IOException {
        List<RecordedEvent> all = recorded(() -> assertThat(catchThrowable(() -> heard("outer")
                        .deadline(ofMillis(5))
                        .run(() -> scope("inner").deadline(ofSeconds(1)).call(nap(100)))))
                .isInstanceOf(DeadlineExceededException.class));

        assertThat(of("Scope", all))
                .extracting(s -> fields(s, "scope", "outcome"))
                .containsExactly(List.of("inner", "cancelled"), List.of("outer", "failed"));
        assertThat(of("Cancel", all))
                .extracting(c -> fields(c, "scope", "kind", "causeFork"))
                .contains(List.of("outer", "DEADLINE", "0"));
    }

    @Test
    void items_of_a_call_over_many_are_forks() throws IOException {
        List<RecordedEvent> all = recorded(() -> heard("items")
                .concurrency(2)
                .forEach(List.of(5, 5, 5), millis -> nap(millis).call()));

        assertThat(of("Fork", all))
                .extracting(f -> fields(f, "fork", "forkId", "outcome"))
                .containsExactlyInAnyOrder(
                        List.of("fork-1", "1", "succeeded"),
                        List.of("fork-2", "2", "succeeded"),
                        List.of("fork-3", "3", "succeeded"));
    }

    // Attempts.

    @Test
    void attempts_are_recorded_with_their_ends_and_the_waits_between_them() throws IOException {
        int[] calls = {0};
        List<RecordedEvent> all = recorded(() -> heard("call")
                .retry(Retry.DEFAULT
                        .attempts(3)
                        .backoff(ofMillis(100), ofSeconds(1))
                        .withoutJitter())
                .run(() -> {
                    if (++calls[0] < 3) {
                        throw new IllegalStateException("no " + calls[0]);
                    }
                }));

        assertThat(of("Attempt", all))
                .extracting(a -> fields(a, "scope", "fork", "forkId", "attempt", "outcome", "error", "reason"))
                .containsExactly(
                        List.of("call", "call", "0", "1", "failed", "java.lang.IllegalStateException: no 1", "BACKOFF"),
                        List.of("call", "call", "0", "2", "failed", "java.lang.IllegalStateException: no 2", "BACKOFF"),
                        List.of("call", "call", "0", "3", "succeeded", "null", "null"));
        assertThat(of("Attempt", all).subList(0, 2))
                .extracting(a -> a.getDuration("nextDelay"))
                .containsExactly(ofMillis(100), ofMillis(200));
        assertThat(of("Attempt", all).get(2).getLong("nextDelay")).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void the_last_attempt_says_why_there_is_no_further_one() throws IOException {
        List<RecordedEvent> all = recorded(() -> assertThat(catchThrowable(() -> heard("page")
                        .retry(Retry.DEFAULT.attempts(2).immediately())
                        .timeout(ofMillis(5))
                        .gather(List.of(nap(100)))))
                .isInstanceOf(ScopeFailedException.class)
                .hasCauseInstanceOf(AttemptTimeoutException.class));

        assertThat(of("Attempt", all))
                .extracting(a -> fields(a, "fork", "forkId", "attempt", "outcome", "reason"))
                .containsExactly(
                        List.of("fork-1", "1", "1", "failed", "BACKOFF"),
                        List.of("fork-1", "1", "2", "gave up", "ATTEMPTS"));
    }

    @Test
    void an_attempt_that_is_cut_off_ends_with_its_fork_or_its_scope() throws IOException {
        List<RecordedEvent> all = recorded(() -> {
            assertThat(catchThrowable(() -> heard("forks")
                            .deadline(ofMillis(5))
                            .retry(Retry.DEFAULT)
                            .gather(List.of(nap(100)))))
                    .isInstanceOf(DeadlineExceededException.class);
            assertThat(catchThrowable(() -> heard("call").retry(Retry.DEFAULT).run(() -> {
                        throw new AssertionError("broken");
                    })))
                    .isInstanceOf(AssertionError.class);
        });

        assertThat(of("Attempt", all))
                .extracting(a -> fields(a, "scope", "forkId", "attempt", "outcome"))
                .containsExactly(List.of("forks", "1", "1", "cut off"), List.of("call", "0", "1", "cut off"));
    }

    @Test
    void attempts_within_an_attempt_are_told_apart() throws IOException {
        List<RecordedEvent> all = recorded(() -> heard("page")
                .retry(Retry.DEFAULT.attempts(2).immediately())
                .gather(List.of(() -> {
                    String inner = scope("inner")
                            .retry(Retry.DEFAULT.attempts(2).immediately())
                            .call(() -> Selvedge.attempt().number() == 1 ? failing() : "second");
                    return inner;
                })));

        assertThat(of("Attempt", all))
                .extracting(a -> fields(a, "attempt", "outcome"))
                .containsExactly(List.of("1", "failed"), List.of("2", "succeeded"), List.of("1", "succeeded"));
    }

    private static String failing() {
        throw new IllegalStateException("no");
    }

    // Moments.

    @Test
    void a_breaker_is_recorded_when_it_changes() throws IOException {
        CircuitBreaker breaker = CircuitBreaker.of("store", b -> b.failures(1).coolDown(ofSeconds(10)));
        List<RecordedEvent> all = recorded(() -> assertThat(
                        catchThrowable(() -> heard("page").breaker(breaker).run(() -> {
                            throw new IllegalStateException("no");
                        })))
                .isInstanceOf(IllegalStateException.class));

        assertThat(fields(only("Breaker", all), "scope", "fork", "forkId", "breaker", "from", "to"))
                .containsExactly("page", "page", "0", "store", "CLOSED", "OPEN");
    }

    @Test
    void a_task_that_goes_on_is_recorded_and_logged_as_well() throws IOException {
        try (Log log = Log.of("dev.selvedge")) {
            List<RecordedEvent> all = recorded(() -> assertThat(heard("page")
                            .deadline(ofSeconds(1))
                            .gather(List.of(
                                    () -> Selvedge.shielded(() -> nap(10_000).call()))))
                    .containsExactly("rested"));

            RecordedEvent straggler = only("Straggler", all);
            assertThat(fields(straggler, "scope", "fork", "forkId")).containsExactly("page", "fork-1", "1");
            assertThat(straggler.getDuration("since")).isEqualTo(ofSeconds(5));
            assertThat(straggler.getString("calls")).contains("JfrEventsTest");
            assertThat(log.thrown()).hasSize(1);
        }
    }

    @Test
    void an_unhandled_error_is_recorded_and_logged_as_well() throws IOException {
        IllegalStateException late = new IllegalStateException("late");
        try (Log log = Log.of("dev.selvedge")) {
            List<RecordedEvent> all = recorded(() -> heard("page").run(s -> {
                s.onCancel(() -> {
                    throw late;
                });
                s.cancel("enough");
            }));

            assertThat(fields(only("Unhandled", all), "scope", "error"))
                    .containsExactly("page", "java.lang.IllegalStateException: late");
            assertThat(log.thrown()).containsExactly(late);
        }
    }

    // What is recorded, and what not.

    @Test
    void by_default_what_is_short_is_left_out_and_moments_are_kept() throws IOException {
        CircuitBreaker breaker = CircuitBreaker.of("store", b -> b.failures(1).coolDown(ofSeconds(10)));
        try (Recording recording = new Recording()) {
            for (String kind : KINDS) {
                recording.enable("dev.selvedge." + kind); // with the threshold that it has by itself
            }
            recording.start();
            heard("short").retry(Retry.DEFAULT).gather(List.of(nap(1)));
            assertThat(catchThrowable(() -> heard("breaker").breaker(breaker).run(() -> {
                        throw new IllegalStateException("no");
                    })))
                    .isNotNull();
            scope("long").listener(JfrEvents.events()).retry(Retry.DEFAULT).gather(List.of(nap(20)));

            List<RecordedEvent> all = events(recording);
            assertThat(of("Scope", all)).extracting(s -> s.getString("scope")).contains("long");
            assertThat(of("Fork", all)).extracting(s -> s.getString("scope")).contains("long");
            assertThat(of("Attempt", all)).extracting(s -> s.getString("scope")).contains("long");
            assertThat(of("Breaker", all)).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Scope", "Fork", "Attempt"})
    void what_takes_time_has_a_threshold_of_10_ms(String kind) {
        assertThat(type(kind).getSettingDescriptors().stream()
                        .filter(s -> s.getName().equals("threshold"))
                        .map(s -> s.getDefaultValue()))
                .containsExactly("10 ms");
    }

    @Test
    void forks_under_the_threshold_are_left_out_whatever_attempts_are_open() throws IOException {
        List<RecordedEvent> all = recorded(
                Duration.ofHours(1),
                () -> heard("page").retry(Retry.DEFAULT).run(s -> {
                    s.fork(nap(1));
                    s.fork(nap(1));
                }));

        assertThat(all).isEmpty();
    }

    @Test
    void it_listens_while_a_recording_runs_that_wants_any_of_it() {
        ScopeListener events = JfrEvents.events();
        assertThat(events.isListening()).isFalse();

        try (Recording other = new Recording()) {
            other.disable("dev.selvedge.Scope");
            for (String kind : KINDS) {
                other.disable("dev.selvedge." + kind);
            }
            other.start();
            assertThat(events.isListening()).isFalse();
        }
        try (Recording recording = new Recording()) {
            for (String kind : KINDS) {
                recording.disable("dev.selvedge." + kind);
            }
            recording.enable("dev.selvedge.Cancel");
            recording.start();
            assertThat(events.isListening()).isTrue();
        }
        assertThat(events.isListening()).isFalse();
    }

    @Test
    void a_scope_that_was_open_before_is_not_in_a_recording_but_those_within_it_are()
            throws IOException, InterruptedException {
        CountDownLatch ready = new CountDownLatch(1);
        CountDownLatch recording = new CountDownLatch(1);
        Thread owner = Thread.ofPlatform()
                .start(() -> scope("before").listener(JfrEvents.events()).run(s -> {
                    ready.countDown();
                    recording.await();
                    s.fork(nap(1));
                    scope("within").gather(List.of(nap(1)));
                }));

        ready.await();
        List<RecordedEvent> all = recorded(() -> {
            try {
                recording.countDown();
                owner.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });

        assertThat(of("Scope", all)).extracting(s -> s.getString("scope")).containsExactly("within");
        assertThat(of("Fork", all)).extracting(s -> s.getString("scope")).containsExactly("within");
        assertThat(only("Scope", all).getLong("parent")).isZero();
    }

    @Test
    void a_recording_that_ends_within_a_scope_leaves_nothing_behind() throws IOException {
        heard("page").run(s -> {
            List<RecordedEvent> all = recorded(() -> scope("within").run(nap(1)::call));
            assertThat(of("Scope", all)).hasSize(1);
        });

        assertThat(((FlightRecorder) JfrEvents.events()).isIdle()).isTrue();
    }

    @Test
    void ten_thousand_forks_are_all_there() throws IOException {
        List<RecordedEvent> all = recorded(() -> heard("many")
                .gather(IntStream.range(0, 10_000).mapToObj(i -> nap(i % 7)).toList()));

        assertThat(of("Fork", all)).hasSize(10_000);
        assertThat(of("Fork", all).stream().map(f -> f.getLong("forkId")).distinct())
                .hasSize(10_000);
    }

    // How the events describe themselves.

    private static EventType type(String kind) {
        try (Recording recording = new Recording()) {
            recording.enable("dev.selvedge." + kind);
            recording.start();
            assertThat(JfrEvents.events().isListening()).isTrue(); // loads them
        }
        return jdk.jfr.FlightRecorder.getFlightRecorder().getEventTypes().stream()
                .filter(t -> t.getName().equals("dev.selvedge." + kind))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Scope", "Fork", "Attempt", "Breaker", "Cancel", "Straggler", "Unhandled"})
    void each_event_and_each_field_says_what_it_is(String kind) {
        EventType type = type(kind);

        assertThat(type.getLabel()).isNotBlank();
        assertThat(type.getDescription()).isNotBlank();
        assertThat(type.getCategoryNames()).containsExactly("Selvedge");
        assertThat(type.getSettingDescriptors().stream()
                        .filter(s -> s.getName().equals("stackTrace"))
                        .map(s -> s.getDefaultValue()))
                .containsExactly("false");
        List<String> inherent = List.of("startTime", "duration", "eventThread", "stackTrace");
        for (ValueDescriptor field : type.getFields()) {
            if (!inherent.contains(field.getName())) {
                assertThat(field.getLabel()).as(field.getName()).isNotBlank();
                assertThat(field.getDescription()).as(field.getName()).isNotBlank();
            }
        }
        assertThat(type.getFields()).extracting(ValueDescriptor::getName).doesNotContain("recorder", "around");
    }
}
