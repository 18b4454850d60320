package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import dev.selvedge.ChildProcess;
import dev.selvedge.Fork;
import dev.selvedge.ProcessFailedException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Child processes that end with their scope. */
public final class ProcessExamples {

    private ProcessExamples() {}

    static String diff(File dir) throws IOException {
        // @start region="output"
        String diff = scope("diff").deadline(ofMinutes(1)).call(s -> {
            var git = s.process(new ProcessBuilder("git", "diff", "--stat").directory(dir));
            return git.output().orThrow().out();
        });
        // @end
        return diff;
    }

    static int status(ProcessBuilder command) throws IOException {
        // @start region="status"
        int status = scope().deadline(ofMinutes(1))
                .call(s -> s.process(command).output().status());
        // @end
        return status;
    }

    static String handled(ProcessBuilder command) throws IOException {
        // @start region="failed"
        try {
            return scope().call(s -> s.process(command).output().orThrow().out());
        } catch (ProcessFailedException e) {
            return e.command().get(0) + " gave " + e.status() + " and said: " + e.errorOutput();
        }
        // @end
    }

    static void follow(ProcessBuilder build, Consumer<String> log) throws IOException {
        // @start region="lines"
        scope("build")
                .deadline(ofMinutes(10))
                .run(s -> s.process(build).lines(log::accept).orThrow());
        // @end
    }

    static List<String> sorted(List<String> words) throws IOException {
        // @start region="stdin"
        String sorted = scope("sort").call(s -> {
            ChildProcess sort = s.process(new ProcessBuilder("sort"));
            Fork<?> writer = s.fork("write", () -> {
                try (Writer in = sort.outputWriter()) { // closing it tells the process that there is no more
                    for (String word : words) {
                        in.write(word + "\n");
                    }
                }
            });
            String out = sort.output().orThrow().out();
            writer.join();
            return out;
        });
        // @end
        return new ArrayList<>(sorted.lines().toList());
    }

    static String grace(ProcessBuilder server, ProcessBuilder client) throws IOException {
        // @start region="grace"
        String answer = scope("check").deadline(ofMinutes(1)).call(s -> {
            s.process(server.inheritIO(), ofSeconds(20)); // it has open transactions to end
            return s.process(client).output().orThrow().out();
        });
        // @end
        return answer;
    }

    static String stream(ProcessBuilder command) throws IOException {
        // @start region="stream"
        String text = scope().deadline(ofMinutes(1)).call(s -> {
            try (InputStream out = s.process(command).getInputStream()) {
                return new String(out.readAllBytes(), UTF_8);
            }
        });
        // @end
        return text;
    }
}
