package dev.selvedge.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ZERO;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.ChildJvm;
import dev.selvedge.batch.Journal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Of the rounds of kills one is run; with {@code -Dbatch.rounds=50} it is fifty. */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class BatchTest {

    private static final int PAPERS = 2_000;
    private static final int RATE = 4_000;
    private static final int ROUNDS = Integer.getInteger("batch.rounds", 1);

    /** After so many kills a round is left alone: its end is what counts. */
    private static final int MOST_KILLS = 6;

    private static final Pattern LINE = Pattern.compile("\\{\"key\":\"(\\d+)\",\"value\":(\\d+)}");
    private static final int SIGKILL = 137;
    private static final int SIGINT = 130;

    @TempDir
    private Path dir;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    /** How often each paper was graded, by a service that outlives those who ask it. */
    private final Map<Integer, Integer> graded = new ConcurrentHashMap<>();

    private Path journal() {
        return dir.resolve("grades.jsonl");
    }

    private int run(String... args) {
        try (PrintStream to = new PrintStream(out, true, UTF_8);
                PrintStream errors = new PrintStream(err, true, UTF_8)) {
            return Batch.run(List.of(args), to, errors);
        }
    }

    private GradingService service(Duration down) throws IOException {
        return new GradingService(down, paper -> graded.merge(paper, 1, Integer::sum));
    }

    @Test
    void all_papers_are_graded_and_none_twice() throws Exception {
        String[] args = {
            "--papers", "900", "--rate", "100000", "--journal", journal().toString()
        };

        assertThat(run(args)).isZero();
        assertThat(run(args)).isZero();

        assertThat(out.toString(UTF_8)).isEqualToNormalizingNewlines("""
                    900 of 900 papers are graded, 0 failed, 0 were not reached
                    the average grade is 8.00
                    900 papers are graded already, by an earlier run
                    900 of 900 papers are graded, 0 failed, 0 were not reached
                    the average grade is 8.00
                    """);
        assertThat(keys()).hasSize(900).doesNotHaveDuplicates();
    }

    @Test
    void a_service_that_is_down_for_a_while_costs_a_few_papers_and_the_next_start_grades_them() throws Exception {
        try (GradingService service = service(Duration.ofMillis(1_500))) {
            String[] args = {
                "--papers", "4999", "--rate", "4000", "--journal", journal().toString(), "--service", service.uri() + ""
            };

            assertThat(run(args)).isEqualTo(1);
            assertThat(err.toString(UTF_8))
                    .contains("the breaker goes from CLOSED to OPEN")
                    .contains("the breaker goes from HALF_OPEN to CLOSED");
            assertThat(out.toString(UTF_8))
                    .contains(" × status 503\n")
                    .contains("4 × status 422\n")
                    .contains(", 0 were not reached\n")
                    .contains("start it again to try those that are not graded");

            run(args);
            assertThat(out.toString(UTF_8)).contains("4995 of 4999 papers are graded, 4 failed, 0 were not reached");
            assertThat(graded)
                    .hasSize(4995)
                    .allSatisfy((paper, times) -> assertThat(times).isOne());
        }
    }

    @Test
    void a_service_that_grades_nothing_ends_the_job_by_its_error_budget() throws Exception {
        AtomicInteger requests = new AtomicInteger();
        try (Loopback server = new Loopback()) {
            URI never = server.serve("/", exchange -> {
                requests.incrementAndGet();
                Loopback.answer(exchange, 422, "");
            });

            assertThat(run(
                            "--papers",
                            "5000",
                            "--rate",
                            "100000",
                            "--journal",
                            journal().toString(),
                            "--service",
                            never.toString()))
                    .isEqualTo(1);

            assertThat(out.toString(UTF_8))
                    .contains("0 of 5000 papers are graded")
                    .contains("not reached: the error budget");
            assertThat(requests.get()).isBetween(200, 231);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                --papers             | --papers needs a number after it
                --papers 0           | --papers needs at least 1: "0"
                --papers many        | --papers needs a whole number such as 8: "many" is none
                --rate 100001        | --rate needs at most 100000: "100001"
                --journal            | --journal needs a file after it
                --service            | --service needs a URL after it
                --service ftp://x/   | "ftp://x/" is not a URL of http or https
                --service http://x/y | --service needs a / at the end: "http://x/y"
                --fast               | there is no option --fast
                paper                | what is "paper" for?
                """)
    void a_bad_argument_is_told_with_the_usage(String args, String message) {
        assertThat(run(args.split(" "))).isEqualTo(2);

        assertThat(out.size()).isZero();
        assertThat(err.toString(UTF_8)).startsWith("batch: " + message + "\n\nusage: batch ");
    }

    @Test
    void help_is_printed() {
        assertThat(run("--help")).isZero();

        assertThat(out.toString(UTF_8)).isEqualTo(BatchArguments.USAGE);
    }

    @Test
    void a_journal_that_cannot_be_opened_is_told_of() {
        assertThat(run("--journal", dir.resolve("none/grades.jsonl").toString()))
                .isEqualTo(2);

        assertThat(err.toString(UTF_8))
                .startsWith("batch: cannot open the journal ")
                .contains("there is no directory");
    }

    @Test
    void a_journal_that_another_run_has_is_told_of() {
        try (Journal<Integer> other = Journal.open(journal(), String::valueOf)) {
            assertThat(run("--journal", journal().toString())).isEqualTo(2);

            assertThat(err.toString(UTF_8)).startsWith("batch: " + other + " is in use in this process");
        }
    }

    @Test
    void rounds_of_kills_grade_each_paper_once() throws Exception {
        rounds("KILL", SIGKILL);
    }

    @Test
    void rounds_of_ctrl_c_grade_each_paper_once() throws Exception {
        rounds("INT", SIGINT);
    }

    private void rounds(String signal, int code) throws Exception {
        Random random = new Random();
        int kills = 0;
        int torn = 0;
        for (int round = 0; round < ROUNDS; round++) {
            for (String ending : List.of("", ".failed", ".lock")) {
                Files.deleteIfExists(Path.of(journal() + ending));
            }
            graded.clear();
            Round done = round(signal, code, random);
            kills += done.kills();
            torn += done.torn();
        }
        assertThat(kills).isPositive();
        System.out.println(ROUNDS + " rounds, " + kills + " times SIG" + signal + ", " + torn + " torn lines");
    }

    /** Starts the job and stops it at random moments, until it is left alone; what it was told is done is never done again. */
    private Round round(String signal, int code, Random random) throws Exception {
        int kills = 0;
        int torn = 0;
        try (GradingService service = service(ZERO)) {
            while (true) {
                Set<Integer> acknowledged = new HashSet<>(keys());
                Map<Integer, Integer> before = Map.copyOf(graded);
                int exit;
                try (ChildJvm child = ChildJvm.start(
                        List.of(),
                        Batch.class,
                        "--papers",
                        "" + PAPERS,
                        "--rate",
                        "" + RATE,
                        "--journal",
                        "" + journal(),
                        "--service",
                        "" + service.uri())) {
                    if (kills < MOST_KILLS
                            && !child.exitsWithin(Duration.ofMillis(random.nextInt(200 + 300 * kills)))) {
                        child.signalUnlessOver(signal);
                    }
                    exit = child.exitCode();
                }
                assertThat(acknowledged)
                        .allSatisfy(paper -> assertThat(graded.get(paper)).isEqualTo(before.get(paper)));
                if (exit != code) {
                    assertThat(exit).isEqualTo(1); // two papers cannot be read
                    assertThat(keys())
                            .hasSize(PAPERS - 2)
                            .doesNotHaveDuplicates()
                            .containsExactlyInAnyOrderElementsOf(graded.keySet());
                    return new Round(kills, torn);
                }
                kills++;
                torn += endsTorn() ? 1 : 0;
            }
        }
    }

    private record Round(int kills, int torn) {}

    /** The papers of all whole lines, each with the right grade. */
    private List<Integer> keys() throws IOException {
        if (!Files.exists(journal())) {
            return List.of();
        }
        List<String> lines = new ArrayList<>(List.of(Files.readString(journal()).split("\n", -1)));
        Collections.reverse(lines);
        List<Integer> keys = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) { // the first of them is the torn one, or empty
            Matcher parts = LINE.matcher(line);
            assertThat(parts.matches()).as(line).isTrue();
            int paper = Integer.parseInt(parts.group(1));
            assertThat(Integer.parseInt(parts.group(2))).isEqualTo(GradingService.grade(paper));
            keys.add(paper);
        }
        return keys;
    }

    private boolean endsTorn() throws IOException {
        String text = Files.exists(journal()) ? Files.readString(journal()) : "";
        return !text.isEmpty() && !text.endsWith("\n");
    }
}
