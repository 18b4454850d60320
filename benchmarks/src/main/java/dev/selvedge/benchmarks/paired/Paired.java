package dev.selvedge.benchmarks.paired;

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
        new Paired(options).run(Options.told(List.of(args)));
    }

    private void run(String commandLine) throws IOException, InterruptedException {
        String date = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        List<Report.Size> sizes = new ArrayList<>();
        Machine machine = null;
        for (int n : options.sizes()) {
            List<JvmResult> jvms = inJvms(n);
            machine = jvms.getFirst().machine();
            sizes.add(size(n, jvms));
        }
        Report report = new Report(
                options.suite().name(),
                date,
                machine,
                commandLine,
                options.carriers() == 0 ? "all" : String.valueOf(options.carriers()),
                options.owner().toString(),
                options.jvms(),
                options.rounds(),
                options.roundMillis(),
                options.allJvmArgs(),
                sizes);
        System.out.print(report.table());
        System.out.println("raw data: " + report.write(file(machine)));
    }

    /** The figures of one size, and no more. */
    static Report.Size measure(Options options, int n) throws IOException, InterruptedException {
        return size(n, new Paired(options).inJvms(n));
    }

    private static Report.Size size(int n, List<JvmResult> jvms) {
        return Report.Size.of(n, jvms.stream().map(JvmResult::contenders).toList());
    }

    private List<JvmResult> inJvms(int n) throws IOException, InterruptedException {
        List<JvmResult> jvms = new ArrayList<>();
        for (int i = 1; i <= options.jvms(); i++) {
            System.err.printf("%s, n = %,d: JVM %d of %d%n", options.suite().name(), n, i, options.jvms());
            jvms.add(measureInOwnJvm(n));
        }
        return jvms;
    }

    private Path file(Machine machine) {
        return options.json() != null
                ? options.json()
                : Path.of("target", "results", options.fileName(machine) + ".json");
    }

    private JvmResult measureInOwnJvm(int n) throws IOException, InterruptedException {
        Path file = Files.createTempFile("paired", ".json");
        try {
            Process jvm = new ProcessBuilder(command(file, n)).inheritIO().start();
            int exit = jvm.waitFor();
            if (exit != 0) {
                throw new IllegalStateException("the JVM that measures ended with exit code " + exit);
            }
            return JSON.readValue(file.toFile(), JvmResult.class);
        } finally {
            Files.delete(file);
        }
    }

    private List<String> command(Path file, int n) {
        return Stream.of(
                        List.of(options.java().resolve("bin").resolve("java").toString()),
                        options.allJvmArgs(),
                        List.of("-classpath", System.getProperty("java.class.path"), MeasuringJvm.class.getName()),
                        List.of(file.toString()),
                        options.forOneJvm(n))
                .flatMap(List::stream)
                .toList();
    }
}
