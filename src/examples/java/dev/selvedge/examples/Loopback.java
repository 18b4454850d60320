package dev.selvedge.examples;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server on 127.0.0.1, at a port that the system chooses, with a virtual thread for each request. */
final class Loopback implements AutoCloseable {

    private static final byte[] ADDRESS = {127, 0, 0, 1};

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    Loopback() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(ADDRESS), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    /** Has requests answered whose path begins like this; gives where that is. */
    URI serve(String path, HttpHandler handler) {
        server.createContext(path, exchange -> {
            try (exchange) {
                handler.handle(exchange);
            }
        });
        return url(path);
    }

    URI url(String path) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
    }

    static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        threads.close();
    }
}
