package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The rules of the house that no compiler keeps: read from the sources. */
@Timeout(30)
class HouseTest {

    private static final Path MAIN = Path.of("src/main/java");

    /** Whatever reads a clock, sleeps, parks, or waits on a synchroniser of the JDK. */
    private static final Pattern TIME = Pattern.compile(
            "\\bnanoTime\\(\\)|currentTimeMillis|Instant\\.now|Clock\\.system"
                    + "|Thread\\.sleep|LockSupport|\\bpark(Nanos|Until)?\\(|\\.join\\(\\)|\\.wait\\("
                    + "|CountDownLatch|CyclicBarrier|Semaphore|BlockingQueue|SynchronousQueue|Exchanger|Phaser|Condition\\b"
                    + "|\\bfuture\\.(get|join)\\(|\\bFutureTask|ScheduledExecutor|ScheduledThreadPool|TimeUnit\\.\\w+\\.sleep|\\bsynchronized\\b");

    /** Reading the seam, or joining a fork: what the rest of the library is allowed to do. */
    private static final Pattern THROUGH_THE_SEAM = Pattern.compile(
            "(\\btime|clock\\(\\)|where\\(\\)|timeWithin\\(outer\\))\\.nanoTime\\(\\)|\\b(fork|first)\\.join\\(\\)");

    private static List<Path> sources;

    @BeforeAll
    static void read() throws IOException {
        try (Stream<Path> walk = Files.walk(MAIN)) {
            sources = walk.filter(p -> p.toString().endsWith(".java")).sorted().toList();
        }
        assertThat(sources).hasSizeGreaterThan(20);
    }

    @Test
    @Lesson({36, 49, 65})
    void only_the_seam_of_time_reads_a_clock_or_waits() throws IOException {
        List<String> found = new ArrayList<>();

        for (Path p : sources) {
            if (!packageOf(p).equals("dev.selvedge.time")) {
                String code = THROUGH_THE_SEAM.matcher(code(p)).replaceAll("");
                TIME.matcher(code).results().forEach(m -> found.add(p.getFileName() + ": " + m.group()));
            }
        }

        assertThat(found).isEmpty();
    }

    @Test
    void one_file_binds_the_structured_task_scope_and_one_the_scoped_value() throws IOException {
        assertThat(filesWith("StructuredTaskScope")).containsExactly("Container.java");
        assertThat(filesWith("\"java.lang.ScopedValue|ScopedValue\\.|ScopedValue<"))
                .containsExactly("Inherited.java");
    }

    @Test
    void one_file_handles_signals_and_one_ends_the_process() throws IOException {
        assertThat(filesWith("sun\\.misc")).containsExactly("Signals.java");
        assertThat(filesWith("Runtime\\.getRuntime|System\\.exit")).containsExactly("Jvm.java");
    }

    /** It never interrupts. Users get one from a fork and, as the JDK has it, from a process, and give one to {@code await}: that is all. */
    @Test
    @Lesson(75)
    void nothing_is_built_on_completable_futures() throws IOException {
        assertThat(filesWith("CompletableFuture"))
                .containsExactly("Arrival.java", "ChildProcess.java", "Fork.java", "LiveFork.java");
    }

    @Test
    void packages_depend_only_on_those_above_them() throws IOException {
        List<String> order = List.of(
                "dev.selvedge.time",
                "dev.selvedge.policy",
                "dev.selvedge",
                "dev.selvedge.batch",
                "dev.selvedge.observe");
        Pattern reference = Pattern.compile("\\bdev\\.selvedge(\\.[a-z]+)?(?=[.;][A-Z]|;|\\.\\*)");
        List<String> found = new ArrayList<>();

        for (Path p : sources) {
            int here = order.indexOf(packageOf(p));
            if (here >= 0) {
                Matcher m = reference.matcher(code(p).replaceFirst("package [^;]+;", ""));
                while (m.find()) {
                    if (order.indexOf(m.group()) > here) {
                        found.add(p + " sees " + m.group());
                    }
                }
            }
        }

        assertThat(sources.stream().map(HouseTest::packageOf).filter(p -> !p.isEmpty()))
                .as("every package has its place")
                .isSubsetOf(order);
        assertThat(found).isEmpty();
    }

    @Test
    void no_type_is_named_after_nothing() {
        assertThat(sources)
                .noneMatch(p ->
                        p.getFileName().toString().matches(".*(Utils?|Helper|Manager|Base|Impl)\\.java|Abstract.*"));
        assertThat(sources.stream().map(HouseTest::packageOf))
                .noneMatch(p -> p.matches(".*\\.(internal|impl|util|spi)\\b.*"));
    }

    @Test
    void files_stay_short() throws IOException {
        List<String> long_ = new ArrayList<>();

        for (Path p : sources) {
            long lines = code(p).lines().filter(l -> !l.isBlank()).count();
            if (lines > 400) {
                long_.add(p.getFileName() + ": " + lines + " lines of code");
            }
        }

        assertThat(long_).isEmpty();
    }

    private static List<String> filesWith(String pattern) throws IOException {
        Pattern p = Pattern.compile(pattern);
        List<String> found = new ArrayList<>();
        for (Path source : sources) {
            if (p.matcher(code(source)).find()) {
                found.add(source.getFileName().toString());
            }
        }
        return found;
    }

    /** The source without comments. */
    private static String code(Path p) throws IOException {
        return Files.readString(p).replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("//[^\n]*", "");
    }

    private static String packageOf(Path p) {
        Path parent = MAIN.relativize(p).getParent();
        return parent == null ? "" : parent.toString().replace(p.getFileSystem().getSeparator(), ".");
    }
}
