package dev.selvedge.examples;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.CircuitBreaker.State;
import dev.selvedge.policy.HttpResponseException;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.Deadline;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of policies do what the text around them says. */
@Timeout(30)
class PolicyExamplesTest {

    @Test
    void a_retry_is_a_value_that_says_what_it_would_do() {
        assertThat(PolicyExamples.PATIENT.decide(5, new IOException(), ZERO, Deadline.never()))
                .isEqualTo(new Retry.GiveUp(Retry.Reason.ATTEMPTS, null));
        assertThat(PolicyExamples.SPARING.decide(4, new IOException(), ZERO, Deadline.never()))
                .isInstanceOf(Retry.Again.class);
    }

    @Test
    void a_breaker_opens_and_refuses_and_its_cool_down_grows() throws IOException {
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> PolicyExamples.permit(PolicyExamples.DATABASE, PolicyExamplesTest::broken, "a"))
                    .isInstanceOf(IOException.class);
        }

        assertThat(PolicyExamples.DATABASE.state()).isEqualTo(State.OPEN);
        assertThat(PolicyExamples.refused(PolicyExamples.DATABASE, PolicyExamplesTest::broken, "a"))
                .startsWith("down, back in ");
        PolicyExamples.DATABASE.reset();
        assertThat(PolicyExamples.permit(PolicyExamples.DATABASE, key -> key, "a"))
                .isEqualTo("a");

        CircuitBreaker growing = PolicyExamples.growing();
        for (int i = 0; i < 5; i++) {
            growing.admit().failed();
        }
        assertThat(growing.remainingCoolDown()).isGreaterThan(ofMillis(1)).isLessThanOrEqualTo(ofSeconds(2));
    }

    @Test
    void limiter_bulkhead_and_breakers_by_host_pass_a_call() throws Exception {
        assertThat(PolicyExamples.limited(key -> key, "a")).isEqualTo("a");
        assertThat(PolicyExamples.guarded(key -> key, "b")).isEqualTo("b");
        assertThat(PolicyExamples.from("host", key -> key)).isEqualTo("host");
        assertThat(PolicyExamples.EIGHT_AT_A_TIME.free()).isEqualTo(8);
    }

    @Test
    void a_call_that_comes_too_early_is_told_by_how_much() throws InterruptedException {
        RateLimiter slow = RateLimiter.of(1, ofSeconds(10));
        assertThat(PolicyExamples.tooEarly(slow)).isZero();
        assertThat(PolicyExamples.tooEarly(slow)).isBetween(ofSeconds(1), ofSeconds(10));
    }

    @Test
    void a_status_of_failure_is_thrown() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(503, -1);
            exchange.close();
        });
        server.start();
        try {
            URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
            assertThatThrownBy(() -> PolicyExamples.status(
                            HttpClient.newHttpClient(),
                            HttpRequest.newBuilder(uri).build()))
                    .isInstanceOfSatisfying(
                            HttpResponseException.class,
                            e -> assertThat(e.status()).isEqualTo(503));
        } finally {
            server.stop(0);
        }
    }

    private static String broken(String key) throws IOException {
        throw new IOException("no " + key);
    }
}
