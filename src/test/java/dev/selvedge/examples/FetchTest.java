package dev.selvedge.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class FetchTest {

    private static final byte[] LOOPBACK = {127, 0, 0, 1};
    private static final String TIME = "^ *\\d+ ms  ";

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger requests = new AtomicInteger();
    private final CountDownLatch end = new CountDownLatch(1);
    private HttpServer server;

    @BeforeEach
    void start_a_server() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), 0), 0);
        server.setExecutor(threads);
        serve("/one", 200, "1");
        serve("/three", 200, "333");
        serve("/empty", 200, "");
        serve("/missing", 404, "not here");
        server.createContext("/hangs", exchange -> {
            requests.incrementAndGet();
            try (exchange) {
                end.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        });
        server.createContext("/hangs-in-its-body", exchange -> {
            requests.incrementAndGet();
            try (exchange) {
                exchange.sendResponseHeaders(200, 0);
                exchange.getResponseBody().write('.');
                exchange.getResponseBody().flush();
                end.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        });
        server.start();
    }

    @AfterEach
    void stop_the_server() {
        end.countDown();
        server.stop(0);
        threads.close();
    }

    @Test
    void each_url_has_a_line_and_all_good_is_exit_code_0() {
        int code = fetch(url("/one"), url("/three"), url("/empty"));

        assertThat(code).isZero();
        assertThat(outLines()).hasSize(4);
        assertThat(lineOf("/one")).matches(TIME + url("/one") + " +200, 1 byte");
        assertThat(lineOf("/three")).matches(TIME + url("/three") + " +200, 3 bytes");
        assertThat(lineOf("/empty")).matches(TIME + url("/empty") + " +200, 0 bytes");
        assertThat(outLines().getLast())
                .matches(TIME + "in all: 3 fetched, 0 failed, 0 cut off \\(deadline: 10000 ms\\)");
        assertThat(err.toString(UTF_8)).isEmpty();
    }

    @Test
    void what_fails_and_what_hangs_have_their_lines_beside_what_was_fetched() throws IOException {
        String unreachable = "http://127.0.0.1:" + closedPort() + "/";
        assertThat(fetch(url("/one"))).isZero(); // the client's classes are loaded: three seconds are long from here on
        out.reset();
        long start = System.nanoTime();

        int code = fetch(
                "--deadline",
                "8s",
                url("/one"),
                url("/hangs"),
                url("/three"),
                unreachable,
                url("/missing"),
                url("/hangs-in-its-body"));

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(3));
        assertThat(code).isEqualTo(1);
        assertThat(outLines()).hasSize(7);
        assertThat(lineOf("/one")).matches(TIME + url("/one") + " +200, 1 byte");
        assertThat(lineOf("/three")).matches(TIME + url("/three") + " +200, 3 bytes");
        assertThat(lineOf("/missing")).matches(TIME + url("/missing") + " +404, 8 bytes, counts as failed");
        assertThat(lineOf(unreachable)).matches(TIME + unreachable + " +failed: ConnectException.*");
        assertThat(lineOf("/hangs")).matches(TIME + url("/hangs") + " +cut off by the deadline");
        assertThat(lineOf("/hangs-in-its-body"))
                .matches(TIME + url("/hangs-in-its-body") + " +cut off by the deadline");
        assertThat(outLines().subList(4, 6)).allMatch(line -> line.endsWith("cut off by the deadline"));
        assertThat(outLines().getLast())
                .matches(TIME + "in all: 2 fetched, 2 failed, 2 cut off \\(deadline: 8000 ms\\)");
        assertThat(err.toString(UTF_8)).isEmpty();
    }

    @Test
    void a_url_that_is_given_twice_is_fetched_twice() {
        int code = fetch("--", url("/one"), url("/one"));

        assertThat(code).isZero();
        assertThat(requests).hasValue(2);
        assertThat(outLines()).hasSize(3);
    }

    @Test
    void a_status_of_400_or_more_is_exit_code_1() {
        int code = fetch(url("/one"), url("/missing"));

        assertThat(code).isEqualTo(1);
        assertThat(outLines().getLast()).contains("1 fetched, 1 failed, 0 cut off");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ftp://127.0.0.1/      | "ftp://127.0.0.1/" is not a URL of http or https
        127.0.0.1             | "127.0.0.1" is not a URL of http or https
        http://a b/           | "http://a b/" is not a URL: Illegal character in authority
        http:///path          | "http:///path" is not a URL: it names no host
        http://localhost:70000| "http://localhost:70000" is not a URL: there is no port 70000
        --fast                | there is no option --fast
        -d                    | there is no option -d
        --deadline            | --deadline needs a time after it, such as 5s
        """)
    void a_bad_argument_is_named_and_nothing_is_fetched(String argument, String message) {
        int code = fetch(url("/one"), argument);

        assertThatItWasRefused(code, message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"5", "s", "-5s", "1.5s", "5 s", "5h", "1234567s", ""})
    void a_bad_time_is_named_and_nothing_is_fetched(String time) {
        int code = fetch("--deadline", time, url("/one"));

        assertThatItWasRefused(code, "--deadline needs a time such as 500ms, 5s or 2min: \"" + time + "\" is none");
    }

    @Test
    void a_deadline_of_no_time_is_refused() {
        int code = fetch("--deadline", "0s", url("/one"));

        assertThatItWasRefused(code, "--deadline needs more than no time: \"0s\"");
    }

    @Test
    void a_deadline_without_a_url_is_refused() {
        int code = fetch("--deadline", "5s");

        assertThatItWasRefused(code, "--deadline needs a URL to fetch, and there is none");
    }

    @Test
    void what_follows_two_dashes_is_a_url() {
        int code = fetch("--", "--help");

        assertThatItWasRefused(code, "\"--help\" is not a URL of http or https");
    }

    @ParameterizedTest
    @CsvSource({
        "picture.svg,  <svg xmlns=",
        "picture.HTML, <!doctype html>",
        "picture.json, '{\"displayTimeUnit\"'",
        "picture.txt,  fetch  ",
    })
    void what_was_done_is_drawn_into_a_file(String name, String beginning, @TempDir Path folder) throws IOException {
        Path file = folder.resolve(name);

        int code = fetch("--timeline", file.toString(), url("/one"), url("/missing"));

        assertThat(code).isEqualTo(1);
        assertThat(Files.readString(file)).startsWith(beginning).contains("fork-1", "fork-2");
        assertThat(err.toString(UTF_8)).isEmpty();
    }

    @Test
    void a_picture_that_cannot_be_written_is_said_and_fails(@TempDir Path folder) {
        int code = fetch("--timeline", folder.resolve("none/picture.svg").toString(), url("/one"));

        assertThat(code).isEqualTo(1);
        assertThat(outLines()).hasSize(2); // the work was done
        assertThat(err.toString(UTF_8)).startsWith("fetch: the timeline cannot be written: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"picture", "picture.png", "/", ".svg "})
    void a_picture_of_no_known_form_is_refused_before_anything_is_fetched(String file) {
        int code = fetch("--timeline", file, url("/one"));

        assertThat(code).isEqualTo(2);
        assertThat(requests).hasValue(0);
        assertThat(err.toString(UTF_8))
                .contains("--timeline needs a file that ends with .svg, .html, .json or .txt: \"" + file + "\"");
    }

    @Test
    void help_is_the_usage_and_nothing_is_fetched() {
        int code = fetch(url("/one"), "--help");

        assertThat(code).isZero();
        assertThat(out.toString(UTF_8)).isEqualTo(Arguments.USAGE);
        assertThat(err.toString(UTF_8)).isEmpty();
        assertThat(requests).hasValue(0);
    }

    @Test
    void without_urls_there_are_five_parts() {
        int code = fetch();

        assertThat(code).isZero();
        assertThatItIsTheTour(outLines());
        assertThat(err.toString(UTF_8)).isEmpty();
    }

    @Test
    void as_a_process_it_ends_by_itself() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dstdout.encoding=UTF-8",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "dev.selvedge.examples.Fetch")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            List<String> lines = new String(process.getInputStream().readAllBytes(), UTF_8)
                    .lines()
                    .toList();

            assertThat(process.waitFor()).isZero();
            assertThatItIsTheTour(lines);
        } finally {
            process.destroyForcibly();
        }
    }

    private static void assertThatItIsTheTour(List<String> lines) {
        String failure = "the scope \"product\" failed: \"price\" threw java.io.IOException: /price answered 500";
        assertThat(lines.stream().filter(line -> line.matches("\\d\\. .*")))
                .containsExactly(
                        "1. Gather: three answers of three types, at the same time",
                        "2. Failure: the first one cancels the others",
                        "3. Deadline: what came in time stays",
                        "4. Race: the fastest of three mirrors",
                        "5. Policies: a retry waits as asked, a circuit breaker gives a rest");
        assertThat(lines.stream().filter(line -> line.matches("   took:  \\d+ ms")))
                .hasSize(6);
        assertThat(lines)
                .contains("   got:   Basket[customer=Ada, items=3, total=12.50]", "   threw: " + failure)
                .anyMatch(line -> line.startsWith("   got:   /traffic: cut off: "))
                .containsSubsequence( // whatever the machine's pace; PolicyTourTest has all lines
                        "   retry: attempt 1 failed: /rates answered 503; the next in 1000 ms (RETRY_AFTER)",
                        "   retry: attempt 2 failed: /rates answered 503; the next in 1000 ms (RETRY_AFTER)",
                        "   got:   1.08",
                        "   state: CLOSED -> OPEN",
                        "   state: OPEN -> HALF_OPEN",
                        "   state: HALF_OPEN -> CLOSED",
                        "   got:   1.08");
    }

    private void assertThatItWasRefused(int code, String message) {
        String newLine = System.lineSeparator();
        assertThat(code).isEqualTo(2);
        assertThat(err.toString(UTF_8)).isEqualTo("fetch: " + message + newLine + newLine + Arguments.USAGE);
        assertThat(out.toString(UTF_8)).isEmpty();
        assertThat(requests).hasValue(0);
    }

    private int fetch(String... args) {
        return Fetch.run(List.of(args), new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
    }

    private List<String> outLines() {
        return out.toString(UTF_8).lines().toList();
    }

    /** The one line of a URL, given as a whole or by its path on the server. */
    private String lineOf(String url) {
        String whole = url.startsWith("/") ? url(url) : url;
        List<String> lines =
                outLines().stream().filter(line -> line.contains(whole + " ")).toList();
        assertThat(lines).hasSize(1);
        return lines.getFirst();
    }

    private String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    private void serve(String path, int status, String text) {
        byte[] body = text.getBytes(UTF_8);
        server.createContext(path, exchange -> {
            requests.incrementAndGet();
            try (exchange) {
                exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
                exchange.getResponseBody().write(body);
            }
        });
    }

    /** A port at which nobody listens: it was free a moment ago. */
    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByAddress(LOOPBACK))) {
            return socket.getLocalPort();
        }
    }
}
