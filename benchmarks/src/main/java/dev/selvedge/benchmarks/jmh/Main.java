package dev.selvedge.benchmarks.jmh;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.selvedge.benchmarks.paired.Machine;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs the suites of JMH.
 *
 * <p>JMH crosses all parameters with all benchmarks. Here some make no sense together or would take hours, so each suite is cut
 * into cells without those, JMH runs cell by cell, and a suite's results come into one file again.
 */
public final class Main {

    private static final String USAGE = """
            usage: [SETTING] [OPTION of JMH]... [REGEXP]...

            SETTING
              full    all sizes, in several JVMs: takes hours (default)
              quick   fewer sizes and shorter: under five minutes for all suites
              once    each benchmark once, in this JVM, to see that it runs: keeps no results

            Each suite's results go to target/results/SUITE.json, and take the place of what was there; -rff FILE puts all into one
            file instead, as JSON or as -rf says. Options of JMH go before what a setting says. -l lists the benchmarks, -h says what JMH knows.
            """;

    private static final Path RESULTS = Path.of("target", "results");

    /** Where JMH itself writes, again and again. */
    private static final Path OF_ONE_CELL = Path.of("target", "jmh-cell");

    private final Setting setting;
    private final CommandLineOptions asked;
    private final String commandLine;
    private final String date = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    private final List<RunResult> all = new ArrayList<>();

    private Main(Setting setting, CommandLineOptions asked, String commandLine) {
        this.setting = setting;
        this.asked = asked;
        this.commandLine = commandLine;
    }

    /** Takes a setting, if it is another than {@code full}, and options of JMH. */
    public static void main(String[] args) throws IOException, RunnerException {
        Optional<Setting> setting = args.length == 0 ? Optional.empty() : Setting.named(args[0]);
        String[] rest = Arrays.copyOfRange(args, setting.isPresent() ? 1 : 0, args.length);
        CommandLineOptions asked;
        try {
            asked = new CommandLineOptions(rest);
        } catch (CommandLineOptionException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        if (args.length == 0) {
            System.err.println(USAGE);
            System.exit(2);
        } else if (asked.shouldHelp()) {
            System.out.println(USAGE);
            asked.showHelp();
        } else if (asked.shouldList()
                || asked.shouldListWithParams()
                || asked.shouldListProfilers()
                || asked.shouldListResultFormats()) {
            org.openjdk.jmh.Main.main(rest);
        } else {
            System.exit(new Main(setting.orElse(Setting.FULL), asked, told(args)).run() ? 0 : 1);
        }
    }

    /** A command line as others can use it: without paths of this machine. */
    private static String told(String... args) {
        return Stream.of(args)
                .map(arg -> arg.contains(File.separator) ? "FILE" : arg)
                .collect(Collectors.joining(" "));
    }

    /** Whether all that was to be run has given a result. */
    private boolean run() throws IOException, RunnerException {
        int wanted = 0;
        for (Suite suite : Suite.ALL) {
            List<RunResult> results = new ArrayList<>();
            for (Suite.Cell cell : suite.cells(setting, asked)) {
                wanted += cell.contestants().size();
                results.addAll(new Runner(options(suite, cell)).run());
                // After each cell: what has been measured in hours is kept if the next one breaks.
                keep(suite, results);
            }
            all.addAll(results);
        }
        if (wanted == 0) {
            System.err.println("no benchmark fits " + commandLine);
            return false;
        }
        System.out.println();
        ResultFormatFactory.getInstance(ResultFormatType.TEXT, System.out).writeOut(all);
        if (asked.getResult().hasValue()) {
            write(Path.of(asked.getResult().get()), asked.getResultFormat().orElse(ResultFormatType.JSON), all);
        }
        if (all.size() < wanted) {
            System.err.printf("%d of %d benchmarks gave no result%n", wanted - all.size(), wanted);
        }
        return all.size() == wanted;
    }

    private Options options(Suite suite, Suite.Cell cell) {
        ChainedOptionsBuilder options = new OptionsBuilder().parent(asked);
        // What was asked for stays included, so all else of it is excluded.
        options.exclude(cell.contestants().stream()
                .map(Pattern::quote)
                .collect(Collectors.joining("|", "^(?!(", ")$)")));
        cell.params().forEach((name, value) -> {
            if (name.equals(Suite.THREADS)) {
                options.threads(Integer.parseInt(value));
            } else {
                options.param(name, value);
            }
        });
        if (setting != Setting.ONCE
                && asked.getProfilers().stream().noneMatch(p -> p.getKlass().equals("gc"))) {
            options.addProfiler(GCProfiler.class);
        }
        options.addProfiler(Counted.class);
        setting.apply(options, asked, suite.isSingleShot());
        if (asked.getResult().hasValue() || asked.getResultFormat().hasValue()) {
            options.result(OF_ONE_CELL.toString());
        }
        return options.build();
    }

    private void keep(Suite suite, List<RunResult> results) throws IOException {
        if (setting == Setting.ONCE || asked.getResult().hasValue()) {
            return;
        }
        Files.createDirectories(RESULTS);
        String name = suite.name().toLowerCase(Locale.ROOT);
        write(RESULTS.resolve(name + ".json"), ResultFormatType.JSON, results);
        new ObjectMapper()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .writeValue(RESULTS.resolve(name + ".run.json").toFile(), new Run(date, Machine.here(), commandLine));
    }

    private static void write(Path file, ResultFormatType format, List<RunResult> results) throws IOException {
        try (PrintStream out = new PrintStream(Files.newOutputStream(file), false, StandardCharsets.UTF_8)) {
            ResultFormatFactory.getInstance(format, out).writeOut(results);
        }
    }

    /** What JMH does not tell of a run. */
    private record Run(String date, Machine machine, String commandLine) {}
}
