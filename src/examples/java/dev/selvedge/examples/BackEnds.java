package dev.selvedge.examples;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** The services that the {@link Tour} asks: a server on 127.0.0.1, at a port that the system chooses. */
final class BackEnds implements AutoCloseable {

    private static final Duration TRICKLE = Duration.ofMillis(20);

    private final Loopback server = new Loopback();

    BackEnds() throws IOException {}

    /** One that answers after a while. */
    URI answering(String path, Duration after, String text) {
        return at(path, after, exchange -> Loopback.answer(exchange, 200, text));
    }

    /** One that is broken, and says so after a while. */
    URI broken(String path, Duration after) {
        return at(path, after, exchange -> Loopback.answer(exchange, 500, "out of order"));
    }

    /** One that begins to answer and comes to no end until the client closes the connection. */
    URI hanging(String path) {
        return at(path, Duration.ZERO, exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try (OutputStream body = exchange.getResponseBody()) {
                while (true) { // until it cannot be written any more
                    body.write('.');
                    body.flush();
                    pause(TRICKLE);
                }
            }
        });
    }

    /** One that is well at first, and counts the requests that reach it. */
    Flaky flaky(String path, String text) {
        Flaky flaky = new Flaky(server.url(path), text);
        at(path, Duration.ZERO, flaky::answerTo);
        return flaky;
    }

    @Override
    public void close() {
        server.close();
    }

    private URI at(String path, Duration after, HttpHandler handler) {
        return server.serve(path, exchange -> {
            pause(after);
            handler.handle(exchange);
        });
    }

    /** Stands for the work of a back end. */
    private static void pause(Duration time) throws InterruptedIOException {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            throw new InterruptedIOException("the back end is closing");
        }
    }

    /** A back end with good days and bad ones. */
    static final class Flaky {

        private final URI url;
        private final String text;

        /** How many reached it, whatever it answered. */
        private final AtomicInteger requests = new AtomicInteger();

        /** How many it will still turn away as busy: counts down to 0. */
        private final AtomicInteger turnedAway = new AtomicInteger();

        private volatile Duration retryAfter = Duration.ZERO;
        private volatile boolean down;

        private Flaky(URI url, String text) {
            this.url = url;
            this.text = text;
        }

        URI url() {
            return url;
        }

        int requests() {
            return requests.get();
        }

        /** The next requests are turned away, and asked to come again after a while, in whole seconds. */
        void isBusy(int forRequests, Duration askedToWait) {
            retryAfter = askedToWait;
            turnedAway.set(forRequests);
        }

        void isDown() {
            down = true;
        }

        void isWell() {
            down = false;
        }

        private void answerTo(HttpExchange exchange) throws IOException {
            requests.incrementAndGet();
            if (down) {
                Loopback.answer(exchange, 500, "out of order");
            } else if (turnedAway.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                exchange.getResponseHeaders().set("Retry-After", Long.toString(retryAfter.toSeconds()));
                Loopback.answer(exchange, 503, "busy");
            } else {
                Loopback.answer(exchange, 200, text);
            }
        }
    }
}
