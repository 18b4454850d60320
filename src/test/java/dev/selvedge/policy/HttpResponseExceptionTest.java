package dev.selvedge.policy;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.policy.Retry.Again;
import dev.selvedge.policy.Retry.DelaySource;
import dev.selvedge.policy.Retry.GiveUp;
import dev.selvedge.policy.Retry.Reason;
import dev.selvedge.time.Deadline;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A status that means failure, as an exception. */
@Timeout(30)
class HttpResponseExceptionTest {

    @ParameterizedTest
    @ValueSource(ints = {200, 204, 301, 304, 399})
    void a_success_passes_as_it_is(int status) throws HttpResponseException {
        HttpResponse<String> response = Responses.of(status);

        assertThat(HttpResponseException.check(response)).isSameAs(response);
    }

    @Test
    void a_failure_carries_its_response() {
        HttpResponseException failure = Responses.failure(503, "Retry-After", "7");

        assertThat(failure).hasMessage("status 503 of GET http://localhost/items/7");
        assertThat(failure.status()).isEqualTo(503);
        assertThat(failure.response().orElseThrow().body()).isEqualTo("body");
        assertThat(failure.header("retry-after")).contains("7");
        assertThat(failure.header("other")).isEmpty();
    }

    @Test
    void without_its_response_it_can_be_sent_elsewhere() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(Responses.failure(503, "Retry-After", "7"));

        HttpResponseException copy = (HttpResponseException)
                new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();

        assertThat(copy.status()).isEqualTo(503);
        assertThat(copy.response()).isEmpty();
        assertThat(copy.header("Retry-After")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {408, 425, 429, 500, 502, 503, 504})
    void these_may_pass(int status) {
        assertThat(Retry.isTransient(Responses.failure(status))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 403, 404, 409, 410, 422, 501, 505, 599})
    void these_stay(int status) {
        assertThat(Retry.isTransient(Responses.failure(status))).isFalse();
    }

    @Test
    void a_retry_waits_as_long_as_its_header_says_without_being_told() {
        Retry plain = Retry.DEFAULT.withoutJitter();
        HttpResponseException busy = Responses.failure(503, "Retry-After", "7");

        assertThat(plain.decide(1, busy, ZERO, Deadline.never()))
                .isEqualTo(new Again(ofSeconds(7), DelaySource.RETRY_AFTER));
        assertThat(plain.decide(1, busy, ZERO, Deadline.after(ofSeconds(7))))
                .isEqualTo(new GiveUp(Reason.RETRY_AFTER, null));
    }
}
