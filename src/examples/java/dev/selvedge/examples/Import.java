package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofSeconds;

import dev.selvedge.Fork;
import dev.selvedge.MainScope;
import dev.selvedge.Scope;
import dev.selvedge.Selvedge;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A job that writes as it goes, and keeps what it has written when Ctrl-C ends it. Its argument is the file to write. */
public final class Import {

    private static final int ITEMS = 1_000;
    private static final Duration PACE = Duration.ofMillis(20);

    private Import() {}

    // @start region="main"
    /** Ctrl-C, or a SIGTERM, stops the import; what it has written by then is in the file. */
    public static void main(String[] args) throws IOException {
        MainScope.of(scope("import")).grace(ofSeconds(5)).run(s -> {
            try (BufferedWriter out = Files.newBufferedWriter(Path.of(args[0]))) {
                importInto(out, s);
            }
        });
        System.out.println("done");
    }
    // @end

    private static void importInto(BufferedWriter out, Scope s) throws IOException {
        for (int i = 1; i <= ITEMS; i++) {
            int number = i;
            Fork<String> item = s.fork("item " + number, () -> {
                Selvedge.sleep(PACE);
                return "item " + number;
            });
            out.write(item.join());
            out.newLine();
            if (i == 3) {
                System.out.println("writing");
            }
        }
    }
}
