package dev.selvedge.policy;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A response of a status that means failure, as an exception, so that a {@link Retry} or a {@link CircuitBreaker} sees it.
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="status"}
 *
 * <p>A retry waits at least as long as the response's {@code Retry-After} says.
 *
 * @since 0.1
 */
public final class HttpResponseException extends IOException {

    private static final long serialVersionUID = 1;

    private static final int FAILURE = 400;

    /** The status of the response. */
    private final int status;

    private final transient @Nullable HttpResponse<?> response;

    private HttpResponseException(HttpResponse<?> response) {
        super("status " + response.statusCode() + " of " + response.request().method() + " " + response.uri());
        this.status = response.statusCode();
        this.response = response;
    }

    /**
     * The response, if its status means success.
     *
     * @param <T> the type of its body
     * @param response what an {@code HttpClient} has given
     * @return the same response, if its status is below 400
     * @throws HttpResponseException if its status is 400 or above
     */
    public static <T> HttpResponse<T> check(HttpResponse<T> response) throws HttpResponseException {
        if (Objects.requireNonNull(response, "response").statusCode() >= FAILURE) {
            throw new HttpResponseException(response);
        }
        return response;
    }

    /**
     * The status.
     *
     * @return 400 or above
     */
    public int status() {
        return status;
    }

    /**
     * The whole response.
     *
     * @return the response; empty after serialization
     */
    public Optional<HttpResponse<?>> response() {
        return Optional.ofNullable(response);
    }

    /**
     * A header of the response.
     *
     * @param name its name, in any case
     * @return its first value; empty if there is none, and after serialization
     */
    public Optional<String> header(String name) {
        Objects.requireNonNull(name, "name");
        return response == null ? Optional.empty() : response.headers().firstValue(name);
    }
}
