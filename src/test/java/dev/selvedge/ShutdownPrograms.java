package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Programs that {@link ShutdownTest} runs in processes of their own: the first argument says which. */
public final class ShutdownPrograms {

    private static final Duration PATIENT = ofHours(1);

    private static final CountDownLatch WORKING = new CountDownLatch(1);

    private ShutdownPrograms() {}

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "value" ->
                say("value "
                        + MainScope.of(scope("job"))
                                .call((Scope s) -> s.fork(() -> 7).join()));
            case "failing" ->
                MainScope.of(scope("job")).run(s -> {
                    throw new IllegalStateException("broken");
                });
            case "work" -> work();
            case "two" -> {
                MainScope.of(scope("first")).run(s -> say("first"));
                work();
            }
            case "after" -> {
                MainScope.of(scope("job")).run(s -> say("ended"));
                Runtime.getRuntime().addShutdownHook(new Thread(() -> say("hook")));
                say("ready");
                forever();
            }
            case "stubborn" -> stubborn();
            case "deaf" -> deaf();
            case "virtual" -> {
                Thread unused = Thread.ofVirtual().start(ShutdownPrograms::work);
                WORKING.await();
            }
            case "terminal" -> terminal();
            case "exit" -> exit(args[1]);
            default -> throw new IllegalArgumentException(args[0]);
        }
        say("main went on");
    }

    private static void work() {
        MainScope.of(scope("job")).grace(PATIENT).run(s -> {
            AutoCloseable unused = s.use(() -> say("resource closed"));
            begun(s, "fork", () -> say("fork cleaned"));
            try {
                say("ready");
                WORKING.countDown();
                new CountDownLatch(1).await();
            } finally {
                Fork<?> queued = s.fork(() -> say("queued fork ran"));
                say("body cleaned, " + ((Outcome.Cancelled<?>) queued.outcome()).reason());
            }
        });
    }

    /** A fork that waits to be cut off, and has begun. */
    private static void begun(Scope s, String name, Runnable cleanup) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        Fork<?> unused = s.fork(name, () -> {
            begun.countDown();
            try {
                Selvedge.sleep(PATIENT);
            } finally {
                cleanup.run();
            }
        });
        begun.await();
    }

    private static void stubborn() {
        MainScope.of(scope("job")).grace(PATIENT).run(s -> {
            try {
                say("ready");
                Selvedge.sleep(PATIENT);
            } finally {
                say("cleaning");
                forever();
            }
        });
    }

    /** Its process sends SIGINT to both, and most likely is the first to have it: a terminal has no order either. */
    private static void terminal() {
        String script = "kill -INT $PPID & kill -INT $$";
        MainScope.of(scope("job")).grace(PATIENT).run(s -> {
            Fork<?> command = s.fork("command", () -> {
                int status = scope().call(own ->
                        own.process(new ProcessBuilder("sh", "-c", script)).waitFor());
                say("failed with status " + status);
            });
            command.join();
        });
    }

    private static void deaf() {
        MainScope.of(scope("job")).grace(ofMillis(100)).run(s -> {
            Fork<?> deaf = s.fork("deaf", ShutdownPrograms::forever);
            say("ready");
            deaf.join();
        });
    }

    /** All with a grace that no test would wait for. */
    private static void exit(String where) {
        MainScope.of(scope("job")).grace(PATIENT).run(s -> {
            begun(s, "other", () -> say("other cleaned"));
            switch (where) {
                case "body" -> System.exit(3);
                case "fork" -> s.fork(() -> System.exit(3)).join();
                case "nested" ->
                    s.fork(() -> scope().run(inner -> {
                                begun(inner, "beside", () -> say("beside cleaned"));
                                inner.fork(() -> System.exit(3)).join();
                            }))
                            .join();
                case "around" ->
                    scope().run(inner -> {
                        begun(inner, "beside", () -> say("beside cleaned"));
                        System.exit(3);
                    });
                case "outside" -> new Thread(() -> System.exit(3)).start();
                case "cleanup" -> begun(s, "exiting", () -> System.exit(3));
                case "on-cancel" -> s.onCancel(() -> System.exit(3));
                default -> throw new IllegalArgumentException(where);
            }
            say("ready");
            Selvedge.sleep(PATIENT);
        });
    }

    /** Whatever interrupts come. */
    private static void forever() {
        CountDownLatch never = new CountDownLatch(1);
        while (true) {
            try {
                never.await();
            } catch (InterruptedException e) {
                // deaf
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
