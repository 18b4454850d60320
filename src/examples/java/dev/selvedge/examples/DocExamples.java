package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import dev.selvedge.DeadlineExceededException;
import dev.selvedge.Fork;
import dev.selvedge.Outcome;
import dev.selvedge.Outcomes;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.Task;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/** The examples of the reference, each a few lines that stand for themselves. */
public final class DocExamples {

    /** A service that may fail. */
    public interface Store {
        String load(String key) throws IOException;
    }

    /** Something that has to be closed. */
    public interface Session extends AutoCloseable {
        String ask(String question) throws IOException;

        @Override
        void close();
    }

    private DocExamples() {}

    // api.md

    static String timeoutBlock(HttpClient http, HttpRequest request) throws IOException {
        // @start region="call"
        String body = scope("fetch")
                .deadline(ofSeconds(2))
                .call(() -> http.send(request, BodyHandlers.ofString()).body());
        // @end
        return body;
    }

    public static List<String> spec(Store store, List<String> keys) throws IOException {
        // @start region="spec"
        ScopeSpec api = scope("api").deadline(ofSeconds(2));

        String one = api.call(() -> store.load("a"));
        List<String> many = api.named("many").map(keys, store::load);
        // @end
        List<String> all = new ArrayList<>(many);
        all.add(one);
        return List.copyOf(all);
    }

    public static String fallback(Store store, String key) {
        // @start region="fallback"
        String value = scope("load").deadline(ofSeconds(2)).call(() -> store.load(key), failure -> "unknown");
        // @end
        return value;
    }

    public static String attempt(Store store, String key) {
        // @start region="attempt"
        Outcome<String> outcome = scope("load").deadline(ofSeconds(2)).attempt(() -> store.load(key));
        String line = switch (outcome) {
            case Outcome.Success<String>(var value) -> value;
            case Outcome.Failure<String>(var error) -> "failed: " + error;
            case Outcome.Cancelled<String>(var reason) -> "cut off: " + reason.message();
        };
        // @end
        return line;
    }

    public static List<String> gather(Store store) {
        // @start region="gather"
        List<String> both = scope("both").gather(() -> store.load("a"), () -> store.load("b"));
        // @end
        return both;
    }

    public static String race(Store near, Store far, String key) {
        // @start region="race"
        String first = scope("fastest").race(() -> near.load(key), () -> far.load(key));
        // @end
        return first;
    }

    public static List<String> map(Store store, List<String> keys) {
        // @start region="map"
        List<String> values = scope("all").deadline(ofSeconds(5)).map(keys, store::load);
        // @end
        return values;
    }

    public static List<String> outcomes(Store store, List<String> keys) {
        // @start region="outcomes"
        Outcomes<String, String> all = scope("all").deadline(ofSeconds(5)).outcomes(keys, store::load);

        List<String> loaded = all.values();
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (!(all.get(i) instanceof Outcome.Success)) {
                missing.add(all.item(i));
            }
        }
        // @end
        List<String> report = new ArrayList<>(loaded);
        report.add("missing: " + missing);
        return List.copyOf(report);
    }

    public static String chainOfOutcomes(Store store) {
        // @start region="chain-outcomes"
        String line = scope("page")
                .deadline(ofMillis(500))
                .fork("title", () -> store.load("title"))
                .fork("advert", () -> store.load("advert"))
                .outcomes((title, advert) -> title.orElse("untitled") + advert.orElse(""));
        // @end
        return line;
    }

    public static String live(Store store) {
        // @start region="live"
        String answer = scope("search").deadline(ofSeconds(3)).call(s -> {
            Fork<String> index = s.fork("index", () -> store.load("index"));
            Fork<String> cache = s.fork("cache", () -> store.load("cache"));
            String hit = cache.join();
            return hit.isEmpty() ? index.join() : hit;
        });
        // @end
        return answer;
    }

    public static List<String> resources(Session session) {
        // @start region="use"
        List<String> answers = scope("questions").call(s -> {
            Session open = s.use(session);
            Fork<String> who = s.fork(() -> open.ask("who"));
            Fork<String> why = s.fork(() -> open.ask("why"));
            return s.gather(List.of(who, why));
        });
        // @end
        return answers;
    }

    public static String lateJoin(Store store) throws IOException {
        // @start region="join-late"
        String page = scope("page").call(s -> {
            Fork<String> advert = s.fork("advert", () -> store.load("advert"));
            String text = store.load("text");
            try {
                return text + advert.join(ofMillis(50));
            } catch (DeadlineExceededException late) {
                return text;
            }
        });
        // @end
        return page;
    }

    public static List<String> isolated(Store store, List<String> keys) {
        // @start region="isolated"
        List<String> loaded = scope("sync").isolated().call(s -> {
            List<Fork<String>> forks = new ArrayList<>();
            for (String key : keys) {
                forks.add(s.fork(key, () -> store.load(key)));
            }
            List<String> values = new ArrayList<>();
            for (Fork<String> fork : forks) {
                try {
                    values.add(fork.join());
                } catch (ScopeFailedException e) {
                    values.add(fork.name() + " failed");
                }
            }
            return values;
        });
        // @end
        return loaded;
    }

    public static HttpRequest clientTimeout(URI uri) {
        // @start region="time-left"
        HttpRequest request = HttpRequest.newBuilder(uri)
                .timeout(Selvedge.timeLeft(ofSeconds(10)))
                .build();
        // @end
        return request;
    }

    public static long checkpoint(int[] numbers) {
        // @start region="checkpoint"
        long sum = 0;
        for (int i = 0; i < numbers.length; i++) {
            if (i % 10_000 == 0) {
                Selvedge.checkpoint();
            }
            sum += numbers[i];
        }
        // @end
        return sum;
    }

    public static void listener(Store store, Consumer<String> log) throws IOException {
        // @start region="listener"
        ScopeSpec watched = scope("sync").listener(event -> {
            switch (event) {
                case ScopeEvent.Unhandled e -> log.accept(e.scope() + ": " + e.error());
                case ScopeEvent.ScopeClosed e -> log.accept(e.scope() + " took " + e.elapsed());
                default -> {}
            }
        });
        watched.run(() -> log.accept(store.load("a")));
        // @end
    }

    // exceptions.md

    public static String rethrow(Store store) throws IOException, SQLException {
        // @start region="rethrow"
        try {
            return scope("row")
                    .fork(() -> store.load("a"))
                    .fork(() -> query("b"))
                    .gather((a, b) -> a + b);
        } catch (ScopeFailedException e) {
            throw e.rethrow(IOException.class).rethrow(SQLException.class);
        }
        // @end
    }

    private static String query(String key) throws SQLException {
        if (key.isEmpty()) {
            throw new SQLException("no key");
        }
        return key;
    }

    public static String handle(ScopeSpec spec, Store store, List<String> keys) {
        // @start region="handle"
        try {
            return String.join(", ", spec.map(keys, store::load));
        } catch (ScopeFailedException e) {
            return e.failures().size() + " failed, first " + e.getCause();
        } catch (DeadlineExceededException e) {
            return "too slow: " + e.unfinished();
        } catch (ScopeCancelledException e) {
            throw e; // somebody wants us to stop: not ours to answer
        }
        // @end
    }

    // interruption.md

    public static String withLease(Store store) throws IOException {
        // @start region="shielded"
        String lease = store.load("lease");
        try {
            return store.load("work");
        } finally {
            String unused = Selvedge.shielded(() -> store.load("release " + lease));
        }
        // @end
    }

    public static int drain(Queue<String> jobs, Task.VoidOf<String, RuntimeException> work) {
        // @start region="good-task"
        int done = 0;
        while (!jobs.isEmpty()) {
            try {
                work.run(jobs.remove());
                done++;
            } catch (InterruptedException e) {
                return done; // what is done is worth having: it is the value of the task
            }
        }
        return done;
        // @end
    }

    // virtual-time.md

    public static Duration jumping() {
        // @start region="jumping"
        VirtualClock clock = VirtualClock.jumping();
        try {
            scope().clock(clock).deadline(ofSeconds(100)).run(() -> Selvedge.sleep(ofSeconds(200)));
        } catch (DeadlineExceededException e) {
            assert clock.elapsed().equals(ofSeconds(100));
        }
        // @end
        return clock.elapsed();
    }

    public static List<Boolean> manual() {
        List<Boolean> seen = new ArrayList<>();
        // @start region="manual"
        VirtualClock clock = VirtualClock.manual();
        scope().clock(clock).run(s -> {
            Fork<?> fork = s.fork(() -> Selvedge.sleep(ofSeconds(5)));

            clock.advance(ofSeconds(4));
            seen.add(fork.isDone()); // false

            clock.advance(ofSeconds(1));
            seen.add(fork.isDone()); // true: what is due at the very moment has happened
        });
        // @end
        return List.copyOf(seen);
    }

    // @start region="gate"
    /** Opened once; those who wait do so on the clock of the scope around them. */
    public static final class Gate {

        private final Queue<Waiter> waiters = new ConcurrentLinkedQueue<>();
        private volatile boolean open;

        public void pass() throws InterruptedException {
            TimeSource time = Selvedge.deadline().clock();
            Waiter me = time.waiter();
            waiters.add(me);
            if (!open) {
                me.await(time.never());
            }
        }

        public void open() {
            open = true;
            for (Waiter w = waiters.poll(); w != null; w = waiters.poll()) {
                w.wake();
            }
        }
    }
    // @end
}
