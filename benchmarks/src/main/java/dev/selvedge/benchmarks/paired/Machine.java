package dev.selvedge.benchmarks.paired;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Where it was measured.
 *
 * @param os the operating system and its version
 * @param cpu the processor's model, or its architecture where the model cannot be read
 * @param processors how many of them
 * @param jdk the runtime and its vendor
 */
public record Machine(String os, String cpu, int processors, String jdk) {

    /** This one. */
    public static Machine here() {
        return new Machine(
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                processor(),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.runtime.version") + ", " + System.getProperty("java.vendor"));
    }

    /** The feature release of the JDK. */
    public int release() {
        return Runtime.Version.parse(jdk.substring(0, jdk.indexOf(','))).feature();
    }

    private static String processor() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(l -> l.startsWith("model name"))
                    .findFirst()
                    .map(l -> l.substring(l.indexOf(':') + 1).strip())
                    .orElseGet(Machine::architecture);
        } catch (IOException e) {
            return architecture(); // not a Linux
        }
    }

    private static String architecture() {
        return System.getProperty("os.arch");
    }

    @Override
    public String toString() {
        return "JDK " + jdk + "; " + processors + " x " + cpu + "; " + os;
    }
}
