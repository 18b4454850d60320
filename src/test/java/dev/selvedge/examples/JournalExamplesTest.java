package dev.selvedge.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.Log;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.batch.Journal;
import dev.selvedge.examples.JournalExamples.Item;
import dev.selvedge.examples.JournalExamples.Page;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the page about the journal says of its examples. */
@Timeout(30)
class JournalExamplesTest {

    private static final List<Item> ITEMS = List.of(new Item("a"), new Item("b"), new Item("c"));

    @TempDir
    Path dir;

    private Path file;

    @BeforeEach
    void place() {
        file = dir.resolve("done.log");
    }

    @Test
    void an_import_does_the_rest_in_its_second_run() {
        AtomicInteger loaded = new AtomicInteger();

        assertThat(JournalExamples.importAll(file, ITEMS.subList(0, 2), key -> key + loaded.incrementAndGet()))
                .isEqualTo(2);
        assertThat(JournalExamples.importAll(file, ITEMS, key -> key + loaded.incrementAndGet()))
                .isEqualTo(1);

        assertThat(loaded).hasValue(3);
    }

    @Test
    void a_crawl_gives_the_pages_of_both_runs() throws IOException {
        List<String> urls = List.of("a", "b");
        assertThat(JournalExamples.crawl(file, urls.subList(0, 1), url -> new Page("\"" + url + "\"\n", 1)))
                .hasSize(1);

        assertThat(JournalExamples.crawl(file, urls, url -> new Page(url, 2)))
                .containsExactly(new Page("\"a\"\n", 1), new Page("b", 2));

        assertThat(Files.readString(file)).isEqualTo("""
                {"key":"a","value":{"title":"\\"a\\"\\n","links":1}}
                {"key":"b","value":{"title":"b","links":2}}
                """);
    }

    @Test
    void a_report_says_how_it_stands() throws IOException {
        assertThatThrownBy(() -> JournalExamples.importAll(file, ITEMS.subList(0, 1), key -> {
                    throw new FileNotFoundException(key);
                }))
                .isInstanceOf(ScopeFailedException.class);
        try (Journal<Item> journal = JournalExamples.quick(file)) {
            assertThat(journal.size()).isZero();
        }
        Files.writeString(file, "{\"key\":\"b\"}\n{\"key\":", StandardOpenOption.APPEND);
        List<String> log = new ArrayList<>();

        try (Log warnings = Log.of("dev.selvedge")) {
            JournalExamples.report(file, ITEMS, log::add);
            assertThat(warnings.thrown()).hasSize(1);
        }

        assertThat(log)
                .containsExactly(
                        "7 bytes of a line that was not written to its end were cut off",
                        "1 done, of 3",
                        "a failed: java.io.FileNotFoundException: a");
    }
}
