package dev.selvedge.benchmarks.paired;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the runner is asked.
 *
 * @param suite the contenders
 * @param sizes the sizes of work, each measured in JVMs of its own
 * @param jvms how many JVMs for each size
 * @param warmUp rounds that are not kept
 * @param rounds rounds that are
 * @param roundMillis how long a contender works in a round
 * @param carriers carrier threads of virtual threads; 0 leaves it to the JDK, which takes one for each processor
 * @param owner the kind of thread that does the work
 * @param jvmArgs further arguments of the JVMs
 * @param java the home of the JDK that measures
 * @param json where the raw data go; null for a file named by suite and time
 */
record Options(
        Suite suite,
        List<Integer> sizes,
        int jvms,
        int warmUp,
        int rounds,
        int roundMillis,
        int carriers,
        Owner owner,
        List<String> jvmArgs,
        Path java,
        Path json) {

    static final String USAGE = """
            usage: SUITE [OPTION]...

            suites:
            %s

            options:
              --n 10,1000               sizes of the work (default: the suite's)
              --jvms 5                  JVMs for each size; figures are medians over them
              --rounds 80               rounds that count, in each JVM
              --warm-up 100             rounds before them
              --round-ms 10             how long each contender works in a round
              --carriers 1|2|...|all    carrier threads (default: all, one for each processor)
              --owner platform|virtual  the thread that opens the scopes (default: virtual with one carrier, else platform)
              --jvm-arg ARG             a further argument of the JVMs; may come again
              --java HOME               the JDK that measures, 21 or later (default: the one that runs this)
              --json FILE               where the data go (default: target/results/paired-….json, named after suite and options)
            """.formatted(Suite.ALL.stream()
            .map(s -> "  %-24s  %s".formatted(s.name(), s.about()))
            .collect(Collectors.joining("\n")));

    /** The kind of thread that does the work. */
    enum Owner {
        PLATFORM,
        VIRTUAL;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The options of a command line.
     *
     * @throws IllegalArgumentException if they cannot be understood; the message says why
     */
    static Options parse(List<String> args) {
        Parser parser = new Parser();
        Deque<String> left = new ArrayDeque<>(args);
        while (!left.isEmpty()) {
            parser.take(left.remove(), left);
        }
        return parser.options();
    }

    /** A command line as others can use it: without what names files of this machine. */
    static String told(List<String> args) {
        List<String> told = new ArrayList<>();
        for (int i = 0; i < args.size(); i++) {
            switch (args.get(i)) {
                case "--json" -> i++;
                case "--java" -> {
                    told.add("--java HOME");
                    i++;
                }
                default -> told.add(args.get(i));
            }
        }
        return String.join(" ", told);
    }

    /** Names a run: the same for the same question, so a later answer takes the place of an earlier one. */
    String fileName(Machine machine) {
        return "paired-" + suite.name() + "-" + (carriers == 0 ? "all" : carriers) + "-" + owner + "-jdk"
                + machine.release();
    }

    /** The command line of a JVM that measures one size. */
    List<String> forOneJvm(int n) {
        return List.of(
                suite.name(),
                "--n",
                String.valueOf(n),
                "--warm-up",
                String.valueOf(warmUp),
                "--rounds",
                String.valueOf(rounds),
                "--round-ms",
                String.valueOf(roundMillis),
                "--owner",
                owner.toString());
    }

    /** The arguments of the JVM itself. */
    List<String> allJvmArgs() {
        List<String> all = new ArrayList<>();
        if (carriers > 0) {
            all.add("-Djdk.virtualThreadScheduler.parallelism=" + carriers);
            all.add("-Djdk.virtualThreadScheduler.maxPoolSize=" + carriers);
        }
        all.addAll(jvmArgs);
        return all;
    }

    /** The options as far as they have been read. */
    private static final class Parser {

        private Suite suite;
        private List<Integer> sizes = List.of();
        private int jvms = 5;
        private int warmUp = 100;
        private int rounds = 80;
        private int roundMillis = 10;
        private int carriers;
        private Owner owner;
        private final List<String> jvmArgs = new ArrayList<>();
        private Path java = Path.of(System.getProperty("java.home"));
        private Path json;

        void take(String arg, Deque<String> left) {
            switch (arg) {
                case "--n" ->
                    sizes = Stream.of(value(arg, left).split(","))
                            .map(n -> positive(arg, n))
                            .toList();
                case "--jvms" -> jvms = positive(arg, value(arg, left));
                case "--warm-up" -> warmUp = positive(arg, value(arg, left));
                case "--rounds" -> rounds = positive(arg, value(arg, left));
                case "--round-ms" -> roundMillis = positive(arg, value(arg, left));
                case "--carriers" -> {
                    String value = value(arg, left);
                    carriers = value.equals("all") ? 0 : positive(arg, value);
                }
                case "--owner" -> owner = owner(value(arg, left));
                case "--jvm-arg" -> jvmArgs.add(value(arg, left));
                case "--java" -> java = home(value(arg, left));
                case "--json" -> json = Path.of(value(arg, left));
                default -> suite(arg);
            }
        }

        private void suite(String arg) {
            if (arg.startsWith("-")) {
                throw new IllegalArgumentException("no such option: " + arg);
            }
            if (suite != null) {
                throw new IllegalArgumentException("one suite at a time: " + suite.name() + ", " + arg);
            }
            suite = Suite.named(arg).orElseThrow(() -> new IllegalArgumentException("no such suite: " + arg));
        }

        private static String value(String option, Deque<String> left) {
            if (left.isEmpty()) {
                throw new IllegalArgumentException(option + " needs a value");
            }
            return left.remove();
        }

        private static int positive(String option, String value) {
            int number;
            try {
                number = Integer.parseInt(value);
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(option + " must be a number: " + value, e);
            }
            if (number < 1) {
                throw new IllegalArgumentException(option + " must be at least 1: " + value);
            }
            return number;
        }

        private static Path home(String value) {
            Path home = Path.of(value);
            if (!Files.isExecutable(home.resolve("bin").resolve("java"))) {
                throw new IllegalArgumentException("--java must be the home of a JDK: no bin/java in " + value);
            }
            return home;
        }

        private static Owner owner(String value) {
            return Stream.of(Owner.values())
                    .filter(o -> o.toString().equals(value))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("--owner must be platform or virtual: " + value));
        }

        Options options() {
            if (suite == null) {
                throw new IllegalArgumentException("which suite?");
            }
            return new Options(
                    suite,
                    sizes.isEmpty() ? suite.sizes() : sizes,
                    jvms,
                    warmUp,
                    rounds,
                    roundMillis,
                    carriers,
                    owner != null ? owner : carriers == 1 ? Owner.VIRTUAL : Owner.PLATFORM,
                    List.copyOf(jvmArgs),
                    java,
                    json);
        }
    }
}
