package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import dev.selvedge.DeadlineExceededException;
import dev.selvedge.Fork;
import dev.selvedge.Outcome;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.Task;
import dev.selvedge.examples.DocExamples.Session;
import dev.selvedge.examples.DocExamples.Store;
import dev.selvedge.time.Participant;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** An example for each operation that is more than a task, a fan-out or a fork. */
public final class OperationExamples {

    private OperationExamples() {}

    static List<String> quorum(Store a, Store b, Store c, String key) {
        // @start region="quorum"
        List<String> agreed =
                scope("read").deadline(ofSeconds(1)).quorum(2, () -> a.load(key), () -> b.load(key), () -> c.load(key));
        // @end
        return agreed;
    }

    static List<Outcome<String>> outcomes(List<Callable<String>> checks) {
        // @start region="outcomes-of-tasks"
        List<Outcome<String>> health = scope("health").deadline(ofSeconds(2)).outcomes(checks);
        // @end
        return health;
    }

    static String daemon(Store store, Consumer<String> log) throws IOException {
        // @start region="daemon"
        String report = scope("report").call(s -> {
            s.every(ofSeconds(5), () -> log.accept("still working"));
            s.daemon(() -> keepLeaseAlive(store));
            Fork<String> head = s.fork(() -> store.load("head"));
            Fork<String> body = s.fork(() -> store.load("body"));
            return head.join() + body.join();
        });
        // @end
        return report;
    }

    private static void keepLeaseAlive(Store store) throws IOException {
        while (true) {
            String unused = store.load("lease");
            Selvedge.sleep(ofSeconds(10));
        }
    }

    static int query(Connection db) throws SQLException {
        // @start region="on-cancel"
        int changed = scope("update").deadline(ofSeconds(2)).call(s -> {
            PreparedStatement statement = s.use(db.prepareStatement("update account set balance = 0"));
            s.onCancel(statement::cancel);
            return statement.executeUpdate();
        });
        // @end
        return changed;
    }

    static void serve(ServerSocket server, Consumer<Socket> handler) throws IOException {
        // @start region="accept"
        scope("server").isolated().run(s -> {
            s.onCancel(server::close);
            while (!s.isCancelled()) {
                Socket client = server.accept();
                Fork<?> unused = s.fork(() -> handler.accept(client));
            }
        });
        // @end
    }

    static String await(HttpClient http, HttpRequest request) throws Exception {
        // @start region="await"
        HttpResponse<String> answer = scope("ask")
                .deadline(ofSeconds(2))
                .call(() -> Selvedge.await(http.sendAsync(request, BodyHandlers.ofString())));
        // @end
        return answer.body();
    }

    static String future(Store store) throws Exception {
        // @start region="future"
        String both = scope("both").call(s -> {
            CompletableFuture<String> a = s.fork(() -> store.load("a")).toCompletableFuture();
            CompletableFuture<String> b = s.fork(() -> store.load("b")).toCompletableFuture();
            return Selvedge.await(a.thenCombine(b, String::concat));
        });
        // @end
        return both;
    }

    static Session discard(Callable<Session> near, Callable<Session> far) {
        // @start region="on-discard"
        Session first = scope("connect").onDiscard(OperationExamples::close).race(near, far);
        // @end
        return first;
    }

    // @start region="close"
    private static void close(Object value) {
        if (value instanceof Session session) {
            session.close();
        }
    }
    // @end

    static List<String> threads(Store store, List<String> keys) {
        // @start region="threads"
        ScopeSpec onPlatformThreads =
                scope("native").threads(Thread.ofPlatform().name("native-", 0).factory());
        List<String> values = onPlatformThreads.map(keys, store::load);
        // @end
        return values;
    }

    static int external(ProcessBuilder command) throws IOException {
        // @start region="external"
        int exit = scope("convert").deadline(ofSeconds(20)).call(() -> {
            Process process = command.start();
            TimeSource time = Selvedge.deadline().clock();
            return time.external(() -> process.waitFor());
        });
        // @end
        return exit;
    }

    static int patient(VirtualClock clock, ProcessBuilder command) throws IOException {
        // @start region="watchdog"
        VirtualClock patient = clock.withWatchdog(ofMinutes(2));
        int exit = scope("import").clock(patient).call(() -> command.start().waitFor());
        // @end
        return exit;
    }

    static void poll(VirtualClock clock, int times, Task.Void<RuntimeException> action) {
        // @start region="participant"
        Participant me = clock.enter("poller");
        try {
            for (int i = 0; i < times; i++) {
                scope("poll").clock(clock).run(action); // between the scopes, too, the time stands still
            }
        } finally {
            if (me != null) { // null: the thread takes part already
                me.end();
            }
        }
        // @end
    }

    static String price(Store shop, String key) throws IOException {
        // @start region="catch-inner"
        try {
            return scope("price").deadline(ofSeconds(30)).call(() -> shop.load(key));
        } catch (DeadlineExceededException late) { // of "price", and of no block around it
            return "unknown";
        }
        // @end
    }
}
