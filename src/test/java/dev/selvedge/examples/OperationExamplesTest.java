package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.selvedge.DeadlineExceededException;
import dev.selvedge.Outcome;
import dev.selvedge.Selvedge;
import dev.selvedge.examples.DocExamples.Session;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.VirtualTime;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The examples of operations do what the text around them says. */
@Timeout(30)
@ExtendWith(VirtualTime.class)
class OperationExamplesTest {

    private final List<String> log = Collections.synchronizedList(new ArrayList<>());

    @Test
    void two_of_three_replicas_are_enough(VirtualClock clock) {
        List<String> agreed = scope().clock(clock)
                .call(() -> OperationExamples.quorum(key -> "a", OperationExamplesTest::broken, key -> key, "x"));

        assertThat(agreed).containsExactly("a", "x");
    }

    @Test
    void a_check_that_fails_is_an_outcome_beside_the_others() {
        assertThat(OperationExamples.outcomes(List.of(() -> "up", () -> broken("disk"))))
                .satisfiesExactly(
                        up -> assertThat(up).isEqualTo(new Outcome.Success<>("up")),
                        disk -> assertThat(disk).isInstanceOf(Outcome.Failure.class));
    }

    @Test
    void what_runs_in_the_background_ends_with_the_forks(VirtualClock clock) throws IOException {
        String report = scope().clock(clock).call(() -> OperationExamples.daemon(this::slowly, log::add));

        assertThat(report).isEqualTo("headbody");
        assertThat(log).containsExactly("lease at 0", "still working", "lease at 10", "still working");
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(12));
    }

    private String slowly(String key) {
        if (key.equals("lease")) {
            log.add("lease at " + Selvedge.deadline().clock().nanoTime() / 1_000_000_000);
            return key;
        }
        return slept(key, 12);
    }

    @Test
    void a_query_is_cancelled_when_the_deadline_passes(VirtualClock clock) {
        CountDownLatch cancelled = new CountDownLatch(1);
        Connection db = connection(cancelled);

        assertThatThrownBy(() -> scope().clock(clock).call(() -> OperationExamples.query(db)))
                .isInstanceOf(SQLException.class)
                .hasMessage("canceled");
        assertThat(log).containsExactly("cancel", "close");
    }

    private Connection connection(CountDownLatch cancelled) {
        PreparedStatement statement = proxy(PreparedStatement.class, name -> switch (name) {
            case "executeUpdate" -> {
                // like a driver: no interrupt ends it
                Selvedge.deadline().clock().external(() -> awaitUninterruptibly(cancelled));
                throw new SQLException("canceled");
            }
            case "cancel" -> {
                log.add(name);
                cancelled.countDown();
                yield null;
            }
            default -> {
                log.add(name);
                yield null;
            }
        });
        return proxy(Connection.class, name -> statement);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            Thread.onSpinWait();
        }
    }

    private interface Answer {
        Object to(String method) throws Exception;
    }

    private static <T> T proxy(Class<T> type, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (p, method, args) -> answer.to(method.getName())));
    }

    @Test
    void a_server_stops_accepting_when_it_is_cancelled() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> scope("program").deadline(ofSeconds(1)).run(s -> {
                        s.fork(() -> OperationExamples.serve(server, client -> log.add("served")));
                        try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
                            assertThat(client.isConnected()).isTrue();
                        }
                    }))
                    .isInstanceOf(DeadlineExceededException.class);

            assertThat(log).containsExactly("served");
            assertThat(server.isClosed()).isTrue();
        }
    }

    @Test
    void an_asynchronous_client_is_awaited() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("hi".getBytes(java.nio.charset.StandardCharsets.UTF_8));
            exchange.close();
        });
        server.start();
        try {
            URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
            HttpRequest request = HttpRequest.newBuilder(uri).build();

            assertThat(OperationExamples.await(HttpClient.newHttpClient(), request))
                    .isEqualTo("hi");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void forks_serve_as_futures() throws Exception {
        assertThat(OperationExamples.future(key -> key)).isEqualTo("ab");
    }

    @Test
    void the_session_that_came_second_is_closed(VirtualClock clock) {
        AtomicInteger closed = new AtomicInteger();
        Session near = session(closed);
        Session far = session(closed);

        Session first = scope().clock(clock)
                .call(() -> OperationExamples.discard(
                        () -> {
                            Selvedge.sleep(ofSeconds(1));
                            return near;
                        },
                        () -> Selvedge.shielded(() -> {
                            Selvedge.sleep(ofSeconds(2)); // connected too late to be cut off
                            return far;
                        })));

        assertThat(first).isSameAs(near);
        assertThat(closed).hasValue(1);
    }

    private static Session session(AtomicInteger closed) {
        return new Session() {
            @Override
            public String ask(String question) {
                return question;
            }

            @Override
            public void close() {
                closed.incrementAndGet();
            }
        };
    }

    @Test
    void forks_run_on_threads_of_the_factory() {
        assertThat(OperationExamples.threads(
                        key -> key + " on " + Thread.currentThread().getName(), List.of("a", "b")))
                .satisfiesExactly(
                        a -> assertThat(a).matches("a on native-[01]"),
                        b -> assertThat(b).matches("b on native-[01]")); // one thread may do both
    }

    @Test
    void a_child_process_ends_in_its_own_time(VirtualClock clock) throws IOException {
        int exit = scope().clock(clock).call(() -> OperationExamples.external(new ProcessBuilder("sleep", "0.1")));

        assertThat(exit).isZero();
        assertThat(clock.elapsed()).isLessThan(ofSeconds(20));
    }

    @Test
    void a_clock_with_a_longer_watchdog_serves_for_a_child_too(VirtualClock clock) throws IOException {
        assertThat(OperationExamples.patient(clock, new ProcessBuilder("true"))).isZero();
    }

    @Test
    void a_thread_that_takes_part_keeps_the_clock_between_its_scopes(VirtualClock clock) {
        OperationExamples.poll(clock, 3, () -> {
            log.add("polled at " + clock.elapsed());
            Selvedge.sleep(ofSeconds(1));
        });

        assertThat(log).containsExactly("polled at PT0S", "polled at PT1S", "polled at PT2S");
    }

    @Test
    void an_inner_block_that_is_late_is_answered_and_one_around_it_is_not(VirtualClock clock) throws IOException {
        String price = scope("page").clock(clock).call(() -> OperationExamples.price(key -> slept(key, 40), "x"));

        assertThat(price).isEqualTo("unknown");
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(30));
        assertThatThrownBy(() -> scope("page")
                        .clock(clock)
                        .deadline(ofSeconds(10))
                        .call(() -> OperationExamples.price(key -> slept(key, 40), "x")))
                .isInstanceOfSatisfying(
                        DeadlineExceededException.class,
                        e -> assertThat(e.name()).isEqualTo("page"));
        assertThat(clock.elapsed()).isEqualTo(ofSeconds(40));
    }

    private static String slept(String key, int seconds) {
        Selvedge.sleep(ofSeconds(seconds));
        return key;
    }

    private static String broken(String key) throws IOException {
        throw new IOException("no " + key);
    }
}
