package dev.selvedge.benchmarks.paired;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * What is told of a run: a table for people, and all of it for programs.
 *
 * @param suite its name
 * @param date when it began, in UTC
 * @param machine where it ran
 * @param commandLine what was asked
 * @param jvmArgs the arguments of the measuring JVMs
 * @param carriers carrier threads of virtual threads, or "all": one for each processor
 * @param owner the kind of thread that did the work
 * @param jvms how many JVMs measured each size
 * @param rounds that counted, in each
 * @param roundMillis how long each contender worked in a round
 * @param jvmArgs the arguments of the measuring JVMs
 * @param sizes the figures
 */
public record Report(
        String suite,
        String date,
        Machine machine,
        String commandLine,
        String carriers,
        String owner,
        int jvms,
        int rounds,
        int roundMillis,
        List<String> jvmArgs,
        List<Size> sizes) {

    private static final String COLUMNS = "%-24s %12s %7s %16s %14s %16s %10s %12s %7s%n"
            .formatted("", "us/call", "ratio", "quartiles", "best quarters", "JVMs", "cpu", "bytes/call", "ratio");

    /**
     * The figures of work of one size.
     *
     * @param n the size
     * @param medians each contender, over all JVMs; the baseline first
     * @param byJvm the same of each JVM
     * @param raw all that was measured, by JVM
     */
    public record Size(int n, List<Summary> medians, List<List<Summary>> byJvm, List<List<Measured>> raw) {

        static Size of(int n, List<List<Measured>> raw) {
            List<List<Summary>> byJvm = raw.stream().map(Summary::inOneJvm).toList();
            return new Size(n, Summary.over(byJvm), byJvm, raw);
        }
    }

    String table() {
        StringBuilder out = new StringBuilder(machine + "\n");
        for (Size size : sizes) {
            out.append(heading(size)).append(COLUMNS);
            size.medians.forEach(s -> out.append(row(s)));
        }
        return out.append('\n').toString();
    }

    private String heading(Size size) {
        return String.format(
                Locale.ROOT,
                "%n%s, n = %,d; carriers: %s, owner: %s; medians of %d JVMs with %d rounds of %d ms; ratios to %s%n%n",
                suite,
                size.n,
                carriers,
                owner,
                jvms,
                rounds,
                roundMillis,
                size.medians.getFirst().contender());
    }

    private static String row(Summary s) {
        return String.format(
                Locale.ROOT,
                "%-24s %,12.2f %7.3f %7.3f .. %5.3f %14.3f %7.3f .. %5.3f %10.3f %,12.0f %7.3f%n",
                s.contender(),
                s.nanosPerCall() / 1e3,
                s.ratio(),
                s.ratioLowerQuartile(),
                s.ratioUpperQuartile(),
                s.ratioOfBestQuarters(),
                s.lowestRatio(),
                s.highestRatio(),
                s.cpuRatio(),
                s.bytesPerCall(),
                s.bytesRatio());
    }

    /** Writes all of it as JSON; gives the file. */
    Path write(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), this);
        return file;
    }
}
