package dev.selvedge.benchmarks.jmh;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/** A web server in this JVM and a client to it, which has a bounded number of connections, as clients of users have. */
final class Loopback implements AutoCloseable {

    private static final int CONNECTIONS = 64;

    static {
        // Else the server's answer waits for the client's acknowledgement, up to 40 ms.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpServer server;
    private final HttpClient client =
            HttpClient.newBuilder().version(Version.HTTP_1_1).executor(threads).build();
    private final HttpRequest request;
    private final Semaphore connections = new Semaphore(CONNECTIONS);

    Loopback() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CONNECTIONS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/plain");
            exchange.sendResponseHeaders(200, 1);
            exchange.getResponseBody().write('1');
            exchange.close();
        });
        server.start();
        InetSocketAddress address = server.getAddress();
        request = HttpRequest.newBuilder(
                        URI.create("http://" + address.getAddress().getHostAddress() + ":" + address.getPort() + "/"))
                .build();
    }

    /** Gives the number that the server sends: 1. */
    int call() throws IOException, InterruptedException {
        connections.acquire();
        try {
            return Integer.parseInt(
                    client.send(request, BodyHandlers.ofString()).body());
        } finally {
            connections.release();
        }
    }

    @Override
    public void close() {
        client.close();
        server.stop(0);
        threads.close();
    }
}
