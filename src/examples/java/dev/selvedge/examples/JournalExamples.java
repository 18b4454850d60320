package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofSeconds;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.selvedge.batch.Journal;
import dev.selvedge.batch.Journal.Sync;
import dev.selvedge.examples.DocExamples.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Long jobs that are killed and go on. */
public final class JournalExamples {

    private JournalExamples() {}

    /**
     * What is imported.
     *
     * @param id tells it from the others
     */
    record Item(String id) {}

    // @start region="import"
    static int importAll(Path file, List<Item> items, Store store) {
        try (Journal<Item> journal = Journal.open(file, Item::id)) {
            return scope("import")
                    .map(journal.pending(items), journal.recording(item -> store.load(item.id())))
                    .size(); // how many were left to do
        }
    }
    // @end

    // @start region="values"
    record Page(String title, int links) {}

    interface Crawler {
        Page fetch(String url) throws IOException;
    }

    static List<Page> crawl(Path file, List<String> urls, Crawler crawler) {
        try (Journal<String> journal = Journal.open(file, url -> url)) {
            return scope("crawl")
                    .map(
                            urls, // all of them: what is done is read from the file
                            journal.recording(crawler::fetch, JournalExamples::toJson, JournalExamples::toPage));
        }
    }
    // @end

    // @start region="json"
    static final ObjectMapper JSON = new ObjectMapper();

    static String toJson(Page page) {
        try {
            return JSON.writeValueAsString(page); // one line, unless told otherwise
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Page toPage(String json) {
        try {
            return JSON.readValue(json, Page.class);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
    // @end

    // @start region="sync"
    static Journal<Item> quick(Path file) {
        return Journal.open(file, Item::id, Sync.interval(ofSeconds(1)));
    }
    // @end

    static void report(Path file, List<Item> items, Consumer<String> log) {
        // @start region="report"
        try (Journal<Item> journal = Journal.open(file, Item::id)) {
            if (journal.recovery().wasTorn()) {
                log.accept(journal.recovery().cut() + " bytes of a line that was not written to its end were cut off");
            }
            log.accept(journal.size() + " done, of " + items.size());
            journal.failures().forEach((key, error) -> log.accept(key + " failed: " + error));
        }
        // @end
    }
}
