package dev.selvedge.policy;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/** Responses of HTTP without a server. */
public final class Responses {

    private Responses() {}

    /** One with such a status, and a header or none. */
    public static HttpResponse<String> of(int status, String... header) {
        return new Fake(
                status,
                header.length == 0
                        ? HttpHeaders.of(Map.of(), (n, v) -> true)
                        : HttpHeaders.of(Map.of(header[0], List.of(header[1])), (n, v) -> true));
    }

    static HttpResponseException failure(int status, String... header) {
        try {
            HttpResponse<String> unused = HttpResponseException.check(of(status, header));
        } catch (HttpResponseException e) {
            return e;
        }
        throw new AssertionError(status + " is no failure");
    }

    private record Fake(int statusCode, HttpHeaders headers) implements HttpResponse<String> {

        @Override
        public HttpRequest request() {
            return HttpRequest.newBuilder(uri()).build();
        }

        @Override
        public Optional<HttpResponse<String>> previousResponse() {
            return Optional.empty();
        }

        @Override
        public String body() {
            return "body";
        }

        @Override
        public Optional<SSLSession> sslSession() {
            return Optional.empty();
        }

        @Override
        public URI uri() {
            return URI.create("http://localhost/items/7");
        }

        @Override
        public HttpClient.Version version() {
            return HttpClient.Version.HTTP_1_1;
        }
    }
}
