package dev.selvedge.examples;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A server on 127.0.0.1 that answers everything with one status. */
final class Answers implements AutoCloseable {

    private static final byte[] LOOPBACK = {127, 0, 0, 1};

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicInteger requests = new AtomicInteger();

    Answers(int status) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try (exchange) {
                requests.incrementAndGet();
                exchange.sendResponseHeaders(status, -1);
            }
        });
        server.start();
    }

    String uri() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    }

    int requests() {
        return requests.get();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        threads.close();
    }
}
