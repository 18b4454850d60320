package dev.selvedge.batch;

import static dev.selvedge.batch.Journals.fail;
import static dev.selvedge.batch.Journals.failuresOf;
import static dev.selvedge.batch.Journals.lines;
import static dev.selvedge.batch.Journals.open;
import static dev.selvedge.batch.Journals.read;
import static dev.selvedge.batch.Journals.succeed;
import static dev.selvedge.batch.Journals.write;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.selvedge.Log;
import dev.selvedge.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The file of a journal: its form, what is cut off when it is opened, and what is refused. */
@Timeout(60)
class JournalFilesTest {

    private static final List<String> ODD_KEYS = List.of(
            "",
            " ",
            "\"",
            "\\",
            "\\\"",
            "a\"b\\c/d",
            "line\nbreak\r\n",
            "tab\t, bell \b, feed \f",
            "\0\u0001\u001f\u007f",
            "zürich 東京 😀",
            "\u2028\u2029\ufeff",
            "\ud83d",
            "\ude00\ud83d",
            "a\ud83d\ud83d\ude00b",
            "}\n{\"key\":\"x\"}",
            "\\u0041",
            "x".repeat(10_000),
            "😀".repeat(10_000));

    @TempDir
    Path dir;

    @AutoClose
    private final Log log = Log.of("dev.selvedge");

    private Path file;

    @BeforeEach
    void place() {
        file = dir.resolve("done.log");
    }

    // The form.

    @Test
    void any_text_is_a_key() {
        write(file, ODD_KEYS.toArray(String[]::new));

        try (Journal<String> journal = open(file)) {
            assertThat(journal.size()).isEqualTo(ODD_KEYS.size());
            assertThat(ODD_KEYS).allMatch(journal::contains);
            assertThat(journal.pending(ODD_KEYS)).isEmpty();
        }
    }

    @Test
    void each_line_is_json_that_others_read() throws IOException {
        try (Journal<String> journal = open(file)) {
            ODD_KEYS.forEach(key -> Journals.values(journal).record(key, new Outcome.Success<>("{\"n\":[1,null]}")));
            ODD_KEYS.forEach(key -> fail(journal, "failed " + key, new IOException(key)));
        }

        ObjectMapper json = new ObjectMapper();
        List<String> lines = Arrays.asList(read(file).split("\n"));
        List<String> failed = Arrays.asList(read(failuresOf(file)).split("\n"));
        assertThat(lines).hasSize(ODD_KEYS.size());
        assertThat(failed).hasSize(ODD_KEYS.size());
        for (int i = 0; i < ODD_KEYS.size(); i++) {
            JsonNode line = json.readTree(lines.get(i));
            assertThat(line.get("key").textValue()).isEqualTo(ODD_KEYS.get(i));
            assertThat(line.get("value").toString()).isEqualTo("{\"n\":[1,null]}");
            assertThat(json.readTree(failed.get(i)).get("error").textValue())
                    .isEqualTo("java.io.IOException: " + ODD_KEYS.get(i));
        }
    }

    @Test
    void escapes_that_others_write_are_read() throws IOException {
        Files.writeString(file, "{\"key\":\"\\u0061\\/\\u00e9\\uD83D\\uDE00\"}\n");

        try (Journal<String> journal = open(file)) {
            assertThat(journal.contains("a/é😀")).isTrue();
        }
    }

    @Test
    void it_goes_on_where_the_file_ends() {
        write(file, "a");
        write(file, "b");
        write(file, "c");

        assertThat(lines(file)).containsExactly("{\"key\":\"a\"}", "{\"key\":\"b\"}", "{\"key\":\"c\"}");
    }

    @Test
    void lines_and_files_longer_than_a_block_are_read() {
        String[] keys = new String[3_000];
        Arrays.setAll(keys, i -> "key " + i);
        try (Journal<String> journal = open(file, Journal.Sync.OS, Disk.REAL)) {
            for (String key : keys) {
                Journals.values(journal).record(key, new Outcome.Success<>(key.repeat(key.endsWith("7") ? 1_000 : 1)));
            }
            Journals.values(journal).record("long", new Outcome.Success<>("x".repeat(300_000)));
        }

        try (Journal<String> journal = open(file)) {
            assertThat(journal.size()).isEqualTo(3_001);
            assertThat(keys).allMatch(journal::contains);
            assertThat(Journals.values(journal).known("key 2997"))
                    .isEqualTo(new Outcome.Success<>("key 2997".repeat(1_000)));
            assertThat(Journals.values(journal).known("long")).isEqualTo(new Outcome.Success<>("x".repeat(300_000)));
        }
    }

    // A torn end.

    @Test
    void a_last_line_that_is_torn_anywhere_is_cut_off_and_reported() throws IOException {
        byte[] whole = "{\"key\":\"a\"}\n{\"key\":\"b\",\"value\":{\"n\":\"ü}\"}}\n".getBytes(UTF_8);
        int first = "{\"key\":\"a\"}\n".length();
        for (int end = first + 1; end < whole.length; end++) {
            Files.write(file, Arrays.copyOf(whole, end));

            try (Journal<String> journal = open(file)) {
                assertThat(journal.recovery()).isEqualTo(new Journal.Recovery(1, 0, end - first, 0));
                assertThat(journal.recovery().wasTorn()).isTrue();
                assertThat(journal.pending(List.of("a", "b"))).containsExactly("b");
                succeed(journal, "b");
            }
            assertThat(log.at(Level.WARNING))
                    .hasSize(end - first)
                    .last()
                    .isEqualTo("the journal " + file + " was not written to its end: " + (end - first)
                            + " bytes of it and 0 of its failures were cut off; entries left: 1");
            assertThat(lines(file)).containsExactly("{\"key\":\"a\"}", "{\"key\":\"b\"}");
        }
    }

    @Test
    void so_is_the_first_line_if_it_is_the_last() throws IOException {
        byte[] whole = "{\"key\":\"ab\",\"value\":1}\n".getBytes(UTF_8);
        for (int end = 1; end < whole.length; end++) {
            Files.write(file, Arrays.copyOf(whole, end));

            try (Journal<String> journal = open(file)) {
                assertThat(journal.recovery()).isEqualTo(new Journal.Recovery(0, 0, end, 0));
            }
            assertThat(file).isEmptyFile();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"key\":\"a\",\"error\":\"the file of failures\"}\n",
                "{\"key\":\"user-42\", \"email\":\"a@b\"}\n",
                "{\"key\":\"a\",\"value\":1}\r\n",
                "{\"key\":\"a\"} \n",
                "\n"
            })
    void a_last_line_that_was_written_to_its_end_is_never_cut_off(String whole) throws IOException {
        for (String before : List.of("", "{\"key\":\"first\"}\n")) {
            Files.writeString(file, before + whole);

            assertThatThrownBy(() -> open(file))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining(before.isEmpty() ? " is none: its first line is " : "line 2 of ")
                    .hasMessageEndingWith(". Nothing was changed");
            assertThat(Files.readString(file)).isEqualTo(before + whole);
        }
    }

    @Test
    void a_tail_of_zeros_is_cut_off() throws IOException {
        for (String torn :
                List.of("\0", "\0".repeat(5_000), "{\"key\":\"b\0\0\0", "{\"key\":\"b\",\"value\":\"\0\0\"}\n")) {
            Files.writeString(file, "{\"key\":\"a\"}\n" + torn);

            try (Journal<String> journal = open(file)) {
                assertThat(journal.recovery()).isEqualTo(new Journal.Recovery(1, 0, torn.length(), 0));
            }
            assertThat(read(file)).isEqualTo("{\"key\":\"a\"}\n");
        }
        Files.writeString(file, "\0".repeat(100_000));
        try (Journal<String> journal = open(file)) {
            assertThat(journal.recovery()).isEqualTo(new Journal.Recovery(0, 0, 100_000, 0));
        }
    }

    @Test
    void a_whole_file_says_nothing_in_the_log() {
        write(file, "a");

        open(file).close();

        assertThat(log.at(Level.WARNING)).isEmpty();
    }

    @Test
    void a_torn_failure_is_cut_off_too() throws IOException {
        try (Journal<String> journal = open(file)) {
            fail(journal, "a", new IOException("boom"));
        }
        Files.writeString(failuresOf(file), "{\"key\":\"b\",\"err", StandardOpenOption.APPEND);

        try (Journal<String> journal = open(file)) {
            assertThat(journal.recovery()).isEqualTo(new Journal.Recovery(0, 1, 0, 15));
            assertThat(journal.recovery().wasTorn()).isTrue();
            assertThat(journal.failures()).containsExactly(entry("a", "java.io.IOException: boom"));
        }
        assertThat(log.at(Level.WARNING))
                .containsExactly(
                        "the journal " + file
                                + " was not written to its end: 0 bytes of it and 15 of its failures were cut off; entries left: 0");
        assertThat(lines(failuresOf(file))).hasSize(1);
    }

    // What is refused.

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "{}",
                "{\"key\":\"b\"",
                "{\"key\":\"b\"}}",
                "{\"key\":\"b\"} ",
                "{\"key\":\"b\"}\r",
                "{ \"key\":\"b\"}",
                "{\"key\":b}",
                "{\"key\":\"b\\x\"}",
                "{\"key\":\"b\\u00g0\"}",
                "{\"key\":\"b\\u00\"}",
                "{\"key\":\"b\\\"}",
                "{\"key\":\"b\tc\"}",
                "{\"key\":\"b\",\"valu\":1}",
                "{\"key\":\"b\",\"value\":1",
                "{\"key\":\"b\",\"value\":\0}",
                "{\"key\":\"b\",\"value\"}"
            })
    void a_damaged_line_with_others_after_it_is_refused_and_nothing_is_changed(String damaged) throws IOException {
        String all = "{\"key\":\"a\"}\n" + damaged + "\n{\"key\":\"c\"}\n{\"key\":\"d";
        Files.writeString(file, all);

        assertThatThrownBy(() -> open(file))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + file + ": line 2 of the journal " + file + " is damaged: "
                        + Line.quoted(damaged) + ". Nothing was changed");
        assertThat(read(file)).isEqualTo(all);

        Files.writeString(file, "{\"key\":\"a\"}\n");
        write(file, "b");
    }

    @Test
    void bytes_that_are_no_text_are_refused() throws IOException {
        byte[] bytes = "{\"key\":\"?\"}\n{\"key\":\"c\"}\n".getBytes(UTF_8);
        bytes[8] = (byte) 0xff;
        Files.write(file, bytes);

        assertThatThrownBy(() -> open(file)).hasMessageContaining("line 1 of the journal");

        bytes = "{\"key\":\"c\",\"value\":?}\n".getBytes(UTF_8);
        bytes[19] = (byte) 0xff;
        Files.write(file, bytes);
        try (Journal<String> journal = open(file)) {
            assertThatThrownBy(() -> Journals.values(journal).known("c"))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessage("cannot read the value of the key \"c\" from the journal " + file + ": it is no UTF-8");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"name,price", "name,price\n", "{\"id\":1}\n", "x\n"})
    void a_file_of_something_else_is_left_as_it_is(String content) throws IOException {
        Files.writeString(file, content);

        assertThatThrownBy(() -> open(file))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + file + ": the journal " + file + " is none: its first line is "
                        + Line.quoted(content.strip()) + ". Nothing was changed");

        assertThat(read(file)).isEqualTo(content);
    }

    @Test
    void what_can_hold_no_lines_is_refused_with_what_it_is_and_nothing_is_made() throws Exception {
        Path folder = Files.createDirectory(dir.resolve("folder"));
        Path dangling = Files.createSymbolicLink(dir.resolve("dangling"), dir.resolve("gone"));
        String other = " is no regular file, but a pipe, a device or a socket";
        Map<Path, String> wrong = new LinkedHashMap<>();
        wrong.put(folder, "it is a directory");
        wrong.put(Path.of("/"), "it is a directory");
        wrong.put(dangling, "it is a link to " + dir.resolve("gone") + ", which is not there");
        wrong.put(dir.resolve("none").resolve("a.log"), "there is no directory " + dir.resolve("none"));
        wrong.put(file.resolve("a.log"), file + " is no directory");
        write(file, "a");
        for (Path device : List.of(Path.of("/dev/null"), Path.of("/dev/full"), pipe("fifo"))) {
            if (Files.exists(device)) { // not on all systems
                wrong.put(device, "it" + other);
            }
        }
        List<Path> before = inside(dir);

        wrong.forEach((path, why) -> assertThatThrownBy(() -> open(path))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + path + ": " + why));
        assertThat(inside(dir)).isEqualTo(before);
    }

    @Test
    void so_is_what_stands_in_the_place_of_the_files_beside_it() throws Exception {
        Path real = dir.toRealPath();
        Path first = real.resolve("first.log");
        Path second = real.resolve("second.log");
        Files.createDirectory(real.resolve("first.log.failed"));
        Files.createSymbolicLink(real.resolve("second.log.lock"), real.resolve("gone"));

        assertThatThrownBy(() -> open(first))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + first + ": its file of failures, " + first
                        + ".failed, is a directory");
        assertThatThrownBy(() -> open(second))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + second + ": its lock file, " + second + ".lock, is a link to "
                        + real.resolve("gone") + ", which is not there");
        assertThat(first).doesNotExist();
        assertThat(second).doesNotExist();
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    void a_file_or_a_directory_that_must_not_be_written_is_said_to_be_so() throws Exception {
        write(file, "a");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
        Path folder = Files.createDirectory(dir.resolve("folder"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-xr-xr-x"));
        assumeFalse(Files.isWritable(file), "the superuser may write anything");

        assertThatThrownBy(() -> open(file))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + file + ": it must not be written to");
        Path inside = folder.toRealPath().resolve("a.log");
        assertThatThrownBy(() -> open(inside))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + inside + ": " + inside + ": permission denied");
    }

    /** One that the system has made, if it can. */
    private Path pipe(String name) throws Exception {
        Path pipe = dir.resolve(name);
        try {
            new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
        } catch (IOException e) {
            // there is no such program
        }
        return pipe;
    }

    private static List<Path> inside(Path dir) throws IOException {
        try (Stream<Path> all = Files.walk(dir)) {
            return all.sorted().toList();
        }
    }

    @Test
    void damaged_failures_are_refused_too() throws IOException {
        write(file, "a");
        Files.writeString(failuresOf(file), "x\n{\"key\":\"b\"}\n");

        assertThatThrownBy(() -> open(file))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("cannot open the journal " + file + ": line 1 of the file of failures " + failuresOf(file)
                        + " is damaged: \"x\". Nothing was changed");
        Files.delete(failuresOf(file));
        write(file, "b");
    }

    @Test
    void a_file_that_has_become_shorter_is_no_value() throws IOException {
        try (Journal<String> journal = open(file)) {
            Journals.values(journal).record("a", new Outcome.Success<>("value"));
            Files.writeString(file, "{");

            assertThatThrownBy(() -> Journals.values(journal).known("a"))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessage("cannot read the value of the key \"a\" from the journal " + file
                            + ": the file has become shorter");
        }
    }
}
