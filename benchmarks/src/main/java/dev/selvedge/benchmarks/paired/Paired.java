package dev.selvedge.benchmarks.paired;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The paired runner: contenders in turn inside one JVM, several JVMs, medians of ratios.
 *
 * <p>One JVM's times differ from the next one's by far more than the few per cent that are to be judged, and a shared machine
 * adds its noise. Both hit contenders that run side by side alike, so their ratio stays.
 */
final class Paired {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Options options;

    private Paired(Options options) {
        this.options = options;
    }

    /** See {@link Options#USAGE}. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Options options;
        try {
            options = Options.parse(List.of(args));
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n\n" + Options.USAGE);
            System.exit(2);
            return;
        }
        new Paired(options).run(String.join(" ", args));
    }

    private void run(String commandLine) throws IOException, InterruptedException {
        String date = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        List<Report.Size> sizes = new ArrayList<>();
        for (int n : options.sizes()) {
            List<List<Measured>> jvms = new ArrayList<>();
            for (int i = 1; i <= options.jvms(); i++) {
                System.err.printf("%s, n = %,d: JVM %d of %d%n", options.suite().name(), n, i, options.jvms());
                jvms.add(measureInOwnJvm(n));
            }
            sizes.add(new Report.Size(n, Summary.of(jvms), jvms));
        }
        Report report =
                new Report(options.suite().name(), date, Machine.here(), commandLine, options.allJvmArgs(), sizes);
        System.out.print(report.table(options));
        System.out.println("raw data: " + report.write(file(date)));
    }

    private Path file(String date) {
        return options.json() != null
                ? options.json()
                : Path.of("target", "paired", options.suite().name() + "-" + date.replace(":", "") + ".json");
    }

    private List<Measured> measureInOwnJvm(int n) throws IOException, InterruptedException {
        Path file = Files.createTempFile("paired", ".json");
        try {
            Process jvm = new ProcessBuilder(command(file, n)).inheritIO().start();
            int exit = jvm.waitFor();
            if (exit != 0) {
                throw new IllegalStateException("the JVM that measures ended with exit code " + exit);
            }
            return JSON.readValue(file.toFile(), new TypeReference<>() {});
        } finally {
            Files.delete(file);
        }
    }

    private List<String> command(Path file, int n) {
        return Stream.of(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "--enable-preview"),
                        options.allJvmArgs(),
                        List.of("-classpath", System.getProperty("java.class.path"), MeasuringJvm.class.getName()),
                        List.of(file.toString()),
                        options.forOneJvm(n))
                .flatMap(List::stream)
                .toList();
    }
}
