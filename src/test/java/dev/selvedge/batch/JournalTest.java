package dev.selvedge.batch;

import static dev.selvedge.Selvedge.scope;
import static dev.selvedge.batch.Journals.fail;
import static dev.selvedge.batch.Journals.failuresOf;
import static dev.selvedge.batch.Journals.keys;
import static dev.selvedge.batch.Journals.lines;
import static dev.selvedge.batch.Journals.steps;
import static dev.selvedge.batch.Journals.succeed;
import static dev.selvedge.batch.Journals.write;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.selvedge.CancelReason;
import dev.selvedge.Outcome;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.Task;
import dev.selvedge.batch.Journal.Sync;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a journal promises to those who use it. */
@Timeout(60)
class JournalTest {

    @TempDir
    Path dir;

    private Path file;

    @BeforeEach
    void place() {
        file = dir.resolve("done.log");
    }

    private Journal<String> open() {
        return Journals.open(file);
    }

    // Keys only.

    @Test
    void what_is_done_is_known_in_the_next_run() {
        write(file, "a", "b");

        try (Journal<String> journal = open()) {
            assertThat(journal.size()).isEqualTo(2);
            assertThat(journal.contains("a")).isTrue();
            assertThat(journal.contains("c")).isFalse();
            assertThat(journal.pending(List.of("a", "b", "c"))).containsExactly("c");
            assertThat(journal.recovery()).isEqualTo(new Journal.Recovery(2, 0, 0, 0));
            assertThat(journal.recovery().wasTorn()).isFalse();
            succeed(journal, "c");
            assertThat(journal.contains("c")).isTrue();
        }

        assertThat(lines(file)).containsExactly("{\"key\":\"a\"}", "{\"key\":\"b\"}", "{\"key\":\"c\"}");
    }

    @Test
    void a_job_goes_on_where_an_earlier_run_failed() {
        List<Integer> items = IntStream.range(0, 100).boxed().toList();
        Set<Integer> worked = ConcurrentHashMap.newKeySet();
        Task.Of<Integer, Integer, IOException> dies = i -> {
            if (i == 50) {
                throw new IOException("the plug was pulled");
            }
            worked.add(i);
            return i;
        };
        try (Journal<Integer> journal = Journal.open(file, i -> "item " + i)) {
            assertThatThrownBy(() -> scope().map(journal.pending(items), journal.recording(dies)))
                    .isInstanceOf(ScopeFailedException.class);
            assertThat(journal.size()).isEqualTo(worked.size());
            assertThat(journal.failures())
                    .containsExactly(entry("item 50", "java.io.IOException: the plug was pulled"));
        }
        Set<Integer> first = Set.copyOf(worked);

        List<Integer> second;
        try (Journal<Integer> journal = Journal.open(file, i -> "item " + i)) {
            assertThat(journal.size()).isEqualTo(first.size());
            second = scope().map(journal.pending(items), journal.recording(i -> i));
            assertThat(journal.failures()).isEmpty();
            assertThat(scope().map(journal.pending(items), journal.recording(i -> i)))
                    .isEmpty();
        }

        assertThat(second).doesNotContainAnyElementsOf(first).hasSize(100 - first.size());
        assertThat(lines(file)).hasSize(100).doesNotHaveDuplicates();
    }

    @Test
    void an_item_that_is_done_has_no_result_to_give_without_a_decoder() {
        write(file, "a");

        try (Journal<String> journal = open()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> journal.recording(item -> item).call("a"))
                    .withMessage("the journal " + file
                            + " has the key \"a\" already, without a value to give for the item a:"
                            + " give only what is pending(items), or an encoder and a decoder");
        }
    }

    @Test
    void each_key_is_written_once_and_its_failure_not_any_more() {
        try (Journal<String> journal = open()) {
            succeed(journal, "a", "a");
            fail(journal, "a", new IOException("too late"));

            assertThat(journal.failures()).isEmpty();
        }

        assertThat(lines(file)).containsExactly("{\"key\":\"a\"}");
        assertThat(failuresOf(file)).doesNotExist();
    }

    @Test
    void a_key_that_stands_there_twice_counts_by_its_first_line() throws IOException {
        Files.writeString(
                file, "{\"key\":\"a\",\"value\":1}\n{\"key\":\"a\",\"value\":2}\n{\"key\":\"b\",\"value\":3}\n");

        try (Journal<String> journal = open()) {
            assertThat(journal.size()).isEqualTo(2);
            assertThat(Journals.values(journal).known("a")).isEqualTo(new Outcome.Success<>("1"));
            assertThat(Journals.values(journal).known("b")).isEqualTo(new Outcome.Success<>("3"));
        }
    }

    // Values.

    @Test
    void a_value_of_an_earlier_run_is_given_and_not_worked_on() {
        AtomicInteger worked = new AtomicInteger();
        Task.Of<Integer, Integer, RuntimeException> square = i -> {
            worked.incrementAndGet();
            return i * i;
        };
        List<Integer> all = IntStream.range(0, 50).boxed().toList();
        for (int run = 1; run <= 2; run++) {
            try (Journal<Integer> journal = Journal.open(file, String::valueOf)) {
                List<Integer> items = run == 1 ? all.subList(0, 30) : all;
                List<Integer> squares =
                        scope().map(items, journal.recording(square, String::valueOf, Integer::valueOf));
                assertThat(squares).isEqualTo(items.stream().map(i -> i * i).toList());
            }
            assertThat(worked).hasValue(run == 1 ? 30 : 50);
        }

        assertThat(lines(file)).contains("{\"key\":\"7\",\"value\":49}");
    }

    @Test
    void the_text_of_a_value_comes_back_as_it_was() {
        List<String> texts = List.of(
                "",
                " ",
                "{}",
                "}",
                "{\"a\":[1,{\"b\":\"}\"}]}",
                "\"\\n\"",
                "tab\tand 😀 ü \u2028",
                "x".repeat(200_000));
        try (Journal<String> journal = open()) {
            texts.forEach(t -> Journals.values(journal).record("key of " + t, new Outcome.Success<>(t)));
            texts.forEach(t ->
                    assertThat(Journals.values(journal).known("key of " + t)).isEqualTo(new Outcome.Success<>(t)));
        }

        try (Journal<String> journal = open()) {
            texts.forEach(t ->
                    assertThat(Journals.values(journal).known("key of " + t)).isEqualTo(new Outcome.Success<>(t)));
            assertThat(Journals.values(journal).known("key of nothing")).isNull();
        }
    }

    @Test
    void a_value_may_be_null_if_the_encoder_takes_that() throws Exception {
        try (Journal<String> journal = open()) {
            Task.Recorded<String, String, RuntimeException> steps =
                    steps(journal.recording(item -> null, value -> value == null ? "null" : value, text -> null));
            assertThat(steps.call("a")).isNull();
            assertThat(steps.known("a")).isEqualTo(new Outcome.Success<>(null));
        }
    }

    @Test
    void a_line_without_a_value_has_none_to_give() {
        write(file, "a");

        try (Journal<String> journal = open()) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> Journals.values(journal).known("a"))
                    .withMessage("the journal " + file
                            + " has the key \"a\" without a value: it was recorded without an encoder");
        }
    }

    // Failures.

    @Test
    void a_failure_is_kept_until_the_item_succeeds() {
        try (Journal<String> journal = open()) {
            fail(journal, "a", new IOException("first"));
            fail(journal, "b", new IllegalStateException("\"quoted\"\nand broken"));
            fail(journal, "a", new IOException("second"));
            fail(journal, "c", new IOException());
            succeed(journal, "c");
            assertThat(journal.failures())
                    .containsExactly(
                            entry("b", "java.lang.IllegalStateException: \"quoted\"\nand broken"),
                            entry("a", "java.io.IOException: second"));
            assertThat(journal.contains("a")).isFalse();
        }
        assertThat(lines(failuresOf(file)))
                .containsExactly(
                        "{\"key\":\"a\",\"error\":\"java.io.IOException: first\"}",
                        "{\"key\":\"b\",\"error\":\"java.lang.IllegalStateException: \\\"quoted\\\"\\nand broken\"}",
                        "{\"key\":\"a\",\"error\":\"java.io.IOException: second\"}",
                        "{\"key\":\"c\",\"error\":\"java.io.IOException\"}");

        try (Journal<String> journal = open()) {
            assertThat(journal.recovery()).isEqualTo(new Journal.Recovery(1, 2, 0, 0));
            assertThat(journal.pending(List.of("a", "b", "c"))).containsExactly("a", "b");
            succeed(journal, "a");
            assertThat(journal.failures()).containsOnlyKeys("b");
        }

        try (Journal<String> journal = open()) {
            assertThat(journal.failures()).containsOnlyKeys("b");
        }
    }

    @Test
    void a_failure_that_cannot_say_what_it_is_counts_by_its_type() {
        try (Journal<String> journal = open()) {
            fail(journal, "a", new MuteException());

            assertThat(journal.failures()).containsExactly(entry("a", MuteException.class.getName()));
        }
    }

    private static final class MuteException extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("mute");
        }
    }

    @Test
    void what_was_cut_off_is_neither() {
        try (Journal<String> journal = open()) {
            var cut = new Outcome.Cancelled<String>(new CancelReason(CancelReason.Kind.CALLER, "stop", null));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> keys(journal).record("a", cut))
                    .withMessageStartingWith("the item a was cut off, so there is nothing to record: ");

            assertThat(journal.size()).isZero();
        }
    }

    // What is pending.

    @Test
    void pending_items_are_looked_at_when_they_are_asked_for() {
        try (Journal<String> journal = open()) {
            Iterator<String> pending =
                    journal.pending(List.of("a", "b", "a", "c", "b", "d")).iterator();
            assertThat(pending.next()).isEqualTo("a");
            succeed(journal, "b", "c");

            assertThat(pending.hasNext()).isTrue();
            assertThat(pending.next()).isEqualTo("d");
            assertThat(pending.hasNext()).isFalse();
            assertThatThrownBy(pending::next).isInstanceOf(NoSuchElementException.class);
        }
    }

    @Test
    void each_pass_gives_each_key_once() {
        try (Journal<String> journal = open()) {
            Iterable<String> pending = journal.pending(List.of("a", "b", "a"));

            for (int pass = 0; pass < 2; pass++) {
                assertThat(pending).containsExactly("a", "b");
            }
        }
    }

    @Test
    void an_endless_source_is_pending_without_an_end() {
        write(file, "0", "2");
        try (Journal<Integer> journal = Journal.open(file, String::valueOf)) {
            Iterable<Integer> endless = () -> Stream.iterate(0, i -> i + 1).iterator();
            Iterator<Integer> pending = journal.pending(endless).iterator();

            List<Integer> first = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                first.add(pending.next());
            }

            assertThat(first).startsWith(1, 3, 4).endsWith(1_001).hasSize(1_000);
        }
    }

    @Test
    void an_item_may_be_null() {
        try (Journal<String> journal = Journal.open(file, String::valueOf)) {
            assertThat(journal.pending(Arrays.asList("a", null, null))).containsExactly("a", null);
            succeed(journal, (String) null);

            assertThat(journal.contains(null)).isTrue();
            assertThat(journal.pending(Arrays.asList("a", null))).containsExactly("a");
        }
    }

    // Functions that do wrong.

    @Test
    void a_key_function_that_throws_or_gives_null_is_said_to() {
        IllegalArgumentException own = new IllegalArgumentException("no id");
        Function<String, String> bad = item -> {
            if (item.equals("throws")) {
                throw own;
            }
            return null;
        };
        try (Journal<String> journal = Journal.open(file, bad)) {
            String threw = "the key function of the journal " + file
                    + " threw java.lang.IllegalArgumentException: no id for the item throws";
            String nothing = "the key function of the journal " + file + " gave null for the item null";
            for (String item : List.of("throws", "null")) {
                String message = item.equals("null") ? nothing : threw;
                assertThatIllegalStateException()
                        .isThrownBy(() -> journal.contains(item))
                        .withMessage(message);
                assertThatIllegalStateException()
                        .isThrownBy(
                                () -> journal.pending(List.of(item)).iterator().hasNext())
                        .withMessage(message);
                assertThatIllegalStateException()
                        .isThrownBy(() -> keys(journal).known(item))
                        .withMessage(message);
                assertThatIllegalStateException()
                        .isThrownBy(() -> succeed(journal, item))
                        .withMessage(message);
            }
            assertThatThrownBy(() -> journal.contains("throws")).hasCause(own);
        }

        assertThat(file).isEmptyFile();
    }

    @Test
    void an_encoder_that_does_wrong_is_said_to_and_nothing_is_written() throws Exception {
        try (Journal<String> journal = open()) {
            Function<String, String> encode = value -> switch (value) {
                case "throws" -> throw new IllegalArgumentException("no form");
                case "null" -> null;
                case "lines" -> "a\nb";
                case "return" -> "a\rb";
                case "zero" -> "a\0b";
                case "half" -> "a\ud83d";
                default -> value;
            };
            Task.Of<String, String, RuntimeException> fn = journal.recording(item -> item, encode, text -> text);
            String encoder = "the encoder of the journal " + file;
            String oneLine = ", and a value must be one line of text: ";

            assertThatIllegalStateException()
                    .isThrownBy(() -> fn.call("throws"))
                    .withMessage(encoder + " threw java.lang.IllegalArgumentException: no form for the item throws")
                    .withCauseInstanceOf(IllegalArgumentException.class);
            assertThatIllegalStateException()
                    .isThrownBy(() -> fn.call("null"))
                    .withMessage(encoder + " gave null for the item null");
            assertThatIllegalStateException()
                    .isThrownBy(() -> fn.call("lines"))
                    .withMessage(encoder + " gave a line break for the key \"lines\"" + oneLine + "\"a\\nb\"");
            assertThatIllegalStateException()
                    .isThrownBy(() -> fn.call("return"))
                    .withMessage(encoder + " gave a line break for the key \"return\"" + oneLine + "\"a\\rb\"");
            assertThatIllegalStateException()
                    .isThrownBy(() -> fn.call("zero"))
                    .withMessage(encoder + " gave a zero character for the key \"zero\"" + oneLine + "\"a\\u0000b\"");
            assertThatIllegalStateException()
                    .isThrownBy(() -> fn.call("half"))
                    .withMessage(
                            encoder + " gave half of a surrogate pair for the key \"half\"" + oneLine + "\"a\\ud83d\"");
            assertThat(fn.call("good")).isEqualTo("good");
            assertThat(journal.size()).isEqualTo(1);
        }

        assertThat(lines(file)).containsExactly("{\"key\":\"good\",\"value\":good}");
    }

    @Test
    void a_decoder_that_throws_is_said_to() throws Exception {
        try (Journal<String> journal = open()) {
            Task.Of<String, Integer, RuntimeException> fn =
                    journal.recording(item -> 1, value -> "one", Integer::parseInt);
            assertThat(fn.call("a")).isEqualTo(1);

            assertThatIllegalStateException()
                    .isThrownBy(() -> fn.call("a"))
                    .withMessage("the decoder of the journal " + file + " threw java.lang.NumberFormatException:"
                            + " For input string: \"one\" for the value of the item a")
                    .withCauseInstanceOf(NumberFormatException.class);
        }
    }

    @Test
    void a_long_item_that_cannot_be_shown_does_no_harm() {
        Object mute = new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException("mute");
            }
        };
        try (Journal<Object> journal = Journal.open(file, item -> null)) {
            assertThatThrownBy(() -> journal.contains(mute))
                    .hasMessageEndingWith("gave null for the item of " + mute.getClass());
            assertThatThrownBy(() -> journal.contains("x".repeat(1_000)))
                    .hasMessageEndingWith("gave null for the item " + "x".repeat(80) + "…");
        }
    }

    // Nulls, and what is out of range.

    @Test
    void null_is_refused_by_name() {
        assertThatNullPointerException()
                .isThrownBy(() -> Journal.open(null, item -> ""))
                .withMessage("file");
        assertThatNullPointerException()
                .isThrownBy(() -> Journal.open(file, null))
                .withMessage("key");
        assertThatNullPointerException()
                .isThrownBy(() -> Journal.open(file, item -> "", (Sync) null))
                .withMessage("sync");
        assertThatNullPointerException().isThrownBy(() -> Sync.interval(null)).withMessage("delay");
        assertThat(file).doesNotExist();
        try (Journal<String> journal = open()) {
            Task.Of<String, String, RuntimeException> fn = item -> item;
            assertThatNullPointerException()
                    .isThrownBy(() -> journal.pending(null))
                    .withMessage("items");
            assertThatNullPointerException()
                    .isThrownBy(() -> journal.recording((Task.Of<String, String, RuntimeException>) null))
                    .withMessage("fn");
            assertThatNullPointerException()
                    .isThrownBy(
                            () -> journal.recording((Task.Of<String, String, RuntimeException>) null, v -> v, t -> t))
                    .withMessage("fn");
            assertThatNullPointerException()
                    .isThrownBy(() -> journal.recording(fn, null, text -> text))
                    .withMessage("encode");
            assertThatNullPointerException()
                    .isThrownBy(() -> journal.recording(fn, value -> value, null))
                    .withMessage("decode");
        }
    }

    @Test
    void an_interval_is_positive() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Sync.interval(ZERO))
                .withMessage("delay must be positive: PT0S");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Sync.interval(ofSeconds(-1)))
                .withMessage("delay must be positive: PT-1S");
        assertThat(Sync.interval(ofSeconds(1))).hasToString("interval PT1S");
        assertThat(Sync.EVERY).hasToString("every");
        assertThat(Sync.OS).hasToString("os");
    }

    // Its end.

    @Test
    void a_journal_that_is_closed_takes_nothing_and_can_still_be_asked() {
        Journal<String> journal = open();
        succeed(journal, "a");
        fail(journal, "b", new IOException("boom"));
        Journals.values(journal).record("c", new Outcome.Success<>("1"));
        journal.close();
        journal.close();

        String closed = "the journal " + file + " is closed: the key \"%s\" cannot be written to it";
        assertThatIllegalStateException()
                .isThrownBy(() -> succeed(journal, "d"))
                .withMessage(closed.formatted("d"));
        assertThatIllegalStateException()
                .isThrownBy(() -> fail(journal, "d", new IOException()))
                .withMessage(closed.formatted("d"));
        assertThatIllegalStateException()
                .isThrownBy(() -> Journals.values(journal).known("c"))
                .withMessage(closed.formatted("c"));
        assertThat(journal.contains("a")).isTrue();
        assertThat(journal.pending(List.of("a", "b"))).containsExactly("b");
        assertThat(journal.size()).isEqualTo(2);
        assertThat(journal.failures()).containsOnlyKeys("b");
        assertThat(journal).hasToString("the journal " + file);
    }

    @Test
    void closing_it_again_does_not_take_it_from_the_next_one() {
        Journal<String> first = open();
        first.close();
        try (Journal<String> second = open()) {
            first.close();
            assertThatIllegalStateException().isThrownBy(this::open);
            succeed(second, "a");
        }
    }

    @Test
    void a_directory_is_not_made_and_is_no_journal() {
        Path nowhere = dir.resolve("missing").resolve("done.log");
        assertThatThrownBy(() -> Journals.open(nowhere))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + nowhere + ": there is no directory " + nowhere.getParent());
        assertThat(nowhere.getParent()).doesNotExist();

        assertThatThrownBy(() -> Journals.open(dir))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + dir + ": it is a directory");
    }
}
