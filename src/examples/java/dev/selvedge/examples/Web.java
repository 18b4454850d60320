package dev.selvedge.examples;

import dev.selvedge.Selvedge;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/**
 * The JDK's HTTP client, asked in the blocking way: in a virtual thread that costs little, and an interrupt ends it.
 *
 * <p>It knows nothing of the scopes in which it is used, and is handed nothing by them; the time that is left is there for
 * the asking.
 */
final class Web implements AutoCloseable {

    /** The deadline is to be first: it says whose time was over. The client's own time-out is the net beneath. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    private final HttpClient http =
            HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();

    private final Duration atMost;

    /** A client that gives a request so much time, less if the deadline around it is nearer. */
    Web(Duration atMost) {
        this.atMost = atMost;
    }

    /** Any response, whatever its status. */
    HttpResponse<byte[]> get(URI url) throws IOException, InterruptedException {
        Duration timeout = Selvedge.timeLeft(atMost).plus(GRACE);
        return http.send(HttpRequest.newBuilder(url).timeout(timeout).build(), BodyHandlers.ofByteArray());
    }

    /** Nothing is under way any more when the scopes have ended: what is left of the client need not be waited for. */
    @Override
    public void close() {
        http.shutdownNow();
        http.close();
    }
}
