package dev.selvedge.examples;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * A server on 127.0.0.1 that grades papers, and is not always well: each 20th answer is that it is busy, for a while it is
 * down, and some papers it cannot read.
 */
final class GradingService implements AutoCloseable {

    private static final int BUSY_EACH = 20;
    private static final int DOWN_FROM = 1_500;
    private static final int UNREADABLE_EACH = 1_000;
    private static final int GRADES = 15;

    private static final int OK = 200;
    private static final int UNREADABLE = 422;
    private static final int UNAVAILABLE = 503;

    private final Loopback server = new Loopback();
    private final URI uri;
    private final long downNanos;
    private final IntConsumer graded;

    private final AtomicInteger requests = new AtomicInteger();

    /** When it went down; 0 as long as it has not. */
    private volatile long downSince;

    /**
     * Starts it.
     *
     * @param down how long it is down, once, after 1,500 requests
     * @param graded is told of each paper that is graded, before the answer goes out; on any thread
     */
    GradingService(Duration down, IntConsumer graded) throws IOException {
        this.downNanos = down.toNanos();
        this.graded = graded;
        uri = server.serve("/grade/", this::answer);
    }

    /** What the number of a paper is to be put behind. */
    URI uri() {
        return uri;
    }

    /** What it says of a paper, when it is well. */
    static int grade(int paper) {
        return paper % GRADES + 1;
    }

    static boolean isReadable(int paper) {
        return paper % UNREADABLE_EACH != 0;
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        int paper = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
        int n = requests.incrementAndGet();
        if (isDown(n)) {
            Loopback.answer(exchange, UNAVAILABLE, "down");
        } else if (n % BUSY_EACH == 0) {
            Loopback.answer(exchange, UNAVAILABLE, "busy");
        } else if (!isReadable(paper)) {
            Loopback.answer(exchange, UNREADABLE, "unreadable");
        } else {
            graded.accept(paper);
            Loopback.answer(exchange, OK, Integer.toString(grade(paper)));
        }
    }

    private boolean isDown(int request) {
        if (request == DOWN_FROM) {
            downSince = System.nanoTime();
        }
        long since = downSince;
        return since != 0 && System.nanoTime() - since < downNanos;
    }

    @Override
    public void close() {
        server.close();
    }
}
