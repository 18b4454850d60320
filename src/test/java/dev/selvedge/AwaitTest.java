package dev.selvedge;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Waiting for the result of an asynchronous client. */
@Timeout(60)
class AwaitTest {

    @RegisterExtension
    final Lab lab = new Lab();

    @Test
    void it_gives_the_value() throws Exception {
        CompletableFuture<String> stage = new CompletableFuture<>();

        String value = lab.scope().call(s -> {
            Fork<?> unused = s.fork(() -> {
                Selvedge.sleep(ofSeconds(2));
                assertThat(stage.complete("value")).isTrue();
            });
            return Selvedge.await(stage);
        });

        assertThat(value).isEqualTo("value");
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    void null_is_a_value() throws Exception {
        String value = lab.scope().call(() -> Selvedge.<String>await(CompletableFuture.completedFuture(null)));

        assertThat(value).isNull();
    }

    @Test
    void what_a_stage_fails_with_is_thrown_as_it_is() {
        IOException boom = new IOException("boom");
        CompletableFuture<String> stage = CompletableFuture.failedFuture(boom);
        CompletionStage<String> behind = stage.thenApply(v -> v + "!");

        assertThat(catchThrowable(() -> Selvedge.await(stage))).isSameAs(boom);
        assertThat(catchThrowable(() -> Selvedge.await(behind))).isSameAs(boom);
        assertThat(catchThrowable(() -> lab.scope().call(() -> Selvedge.await(behind))))
                .isSameAs(boom);
        assertThat(boom).hasNoSuppressedExceptions();
    }

    @Test
    void so_is_an_error() {
        Error own = new AssertionError("own");
        CompletionStage<String> stage =
                CompletableFuture.<String>failedFuture(own).thenApply(v -> v + "!");

        assertThat(catchThrowable(() -> lab.scope().call(() -> Selvedge.await(stage))))
                .isSameAs(own);
    }

    @Test
    void a_completion_exception_without_a_cause_is_thrown_as_it_is() {
        var bare = new CompletionException("bare", null);

        assertThat(catchThrowable(() -> Selvedge.await(CompletableFuture.failedFuture(bare))))
                .isSameAs(bare);
    }

    @Test
    void a_stage_that_somebody_else_has_cancelled_is_a_failure() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        assertThat(stage.cancel(false)).isTrue();

        assertThatThrownBy(() -> Selvedge.await(stage)).isInstanceOf(CancellationException.class);
        assertThatThrownBy(() -> lab.scope("page").gather(() -> Selvedge.await(stage)))
                .isInstanceOf(ScopeFailedException.class)
                .hasCauseInstanceOf(CancellationException.class);
    }

    @Test
    void a_null_stage_is_refused() {
        assertThatThrownBy(() -> Selvedge.await(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("stage");
    }

    @Test
    void a_deadline_cancels_the_stage() {
        CompletableFuture<String> stage = new CompletableFuture<>();

        assertThatThrownBy(() -> lab.scope("page").deadline(ofSeconds(2)).call(() -> Selvedge.await(stage)))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessage("the scope \"page\" exceeded its deadline of 2 s (after 2 s)");

        assertThat(stage).isCancelled();
        assertThat(lab.now()).isEqualTo(ofSeconds(2));
    }

    @Test
    void a_failing_sibling_cancels_the_stage() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        IOException boom = new IOException("boom");

        assertThatThrownBy(() -> lab.scope().gather(() -> Selvedge.await(stage), () -> {
                    Selvedge.sleep(ofSeconds(1));
                    throw boom;
                }))
                .isInstanceOf(ScopeFailedException.class)
                .hasCause(boom);

        assertThat(stage).isCancelled();
    }

    @Test
    void a_raw_interrupt_outside_any_scope_cancels_the_stage_and_the_flag_stays() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        Thread.currentThread().interrupt();

        var e = catchThrowableOfType(ScopeCancelledException.class, () -> Selvedge.await(stage));

        assertThat(e).hasCauseInstanceOf(InterruptedException.class);
        assertThat(e.reason().kind()).isEqualTo(CancelReason.Kind.INTERRUPT);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(stage).isCancelled();
    }

    @Test
    void a_stage_that_is_complete_gives_its_value_though_the_flag_is_set() throws Exception {
        Thread.currentThread().interrupt();

        String value = Selvedge.await(CompletableFuture.completedFuture("value"));

        assertThat(value).isEqualTo("value");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void one_that_has_failed_gives_its_failure_though_the_flag_is_set() {
        IOException boom = new IOException("boom");
        Thread.currentThread().interrupt();

        Throwable thrown = catchThrowable(() -> Selvedge.await(CompletableFuture.failedFuture(boom)));

        assertThat(thrown).isSameAs(boom);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void in_a_scope_that_is_cancelled_it_gives_the_value_of_a_complete_stage_and_the_next_wait_is_cut_off() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    assertThat(s.cancel("enough")).isTrue();
                    lab.note(Selvedge.await(CompletableFuture.completedFuture("value")));
                    lab.sleep("next", ofSeconds(1));
                }))
                .isInstanceOf(ScopeCancelledException.class)
                .hasMessage("enough");

        assertThat(lab.trail()).containsExactly("0s value", "0s next cut off");
    }

    @Test
    void a_value_that_arrives_late_is_discarded() {
        CompletableFuture<String> stage = new CompletableFuture<>();

        assertThatThrownBy(() ->
                        lab.scope().deadline(ofSeconds(2)).call(() -> Selvedge.await(stage.minimalCompletionStage())))
                .isInstanceOf(DeadlineExceededException.class);
        assertThat(stage).isNotDone();
        assertThat(stage.complete("late")).isTrue();

        assertThat(lab.events(ScopeEvent.ValueDiscarded.class))
                .containsExactly(new ScopeEvent.ValueDiscarded("scope", "a completion stage", "late"));
        assertThat(lab.unhandled()).isEmpty();
    }

    @Test
    void a_minimal_stage_gives_its_value() throws Exception {
        CompletableFuture<String> stage = CompletableFuture.completedFuture("value");

        assertThat(Selvedge.await(stage.minimalCompletionStage())).isEqualTo("value");
    }

    @Test
    void a_cancel_that_throws_is_reported() {
        IllegalStateException broken = new IllegalStateException("broken");
        CompletableFuture<String> stage = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                throw broken;
            }
        };

        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(2)).call(() -> Selvedge.await(stage)))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.unhandled()).containsExactly(broken);
    }

    @Test
    void under_a_shield_the_stage_is_not_cancelled() {
        CompletableFuture<String> stage = new CompletableFuture<>();

        assertThatThrownBy(() -> lab.scope().deadline(ofSeconds(2)).run(s -> {
                    Fork<?> unused = s.fork(() -> Selvedge.shielded(() -> {
                        Selvedge.sleep(ofSeconds(4));
                        assertThat(stage.complete("value")).isTrue();
                    }));
                    String value = Selvedge.shielded(() -> Selvedge.await(stage));
                    lab.note("has " + value);
                    lab.sleep("next", ofSeconds(1));
                }))
                .isInstanceOf(DeadlineExceededException.class);

        assertThat(lab.trail()).containsExactly("4s has value", "4s next cut off");
    }

    @Test
    @Tag("real")
    void a_value_and_a_cancel_at_the_same_moment_never_lose_the_value() {
        for (int round = 0; round < 500; round++) {
            CompletableFuture<String> stage = new CompletableFuture<>();
            Lab watch = new Lab();
            CountDownLatch together = new CountDownLatch(2);

            Outcome<String> outcome = watch.realScope()
                    .attempt(() -> watch.realScope().named("caller").call(s -> {
                        Thread completer = Thread.ofVirtual().start(() -> {
                            together.countDown();
                            awaitUninterruptibly(together);
                            boolean unused = stage.complete("value");
                        });
                        Thread canceller = Thread.ofVirtual().start(() -> {
                            together.countDown();
                            awaitUninterruptibly(together);
                            assertThat(s.cancel("enough")).isTrue();
                        });
                        try {
                            return Selvedge.await(stage);
                        } finally {
                            Selvedge.shielded(() -> {
                                completer.join();
                                canceller.join();
                            });
                        }
                    }));

            boolean got = outcome instanceof Outcome.Success<String>(String v) && v.equals("value");
            boolean discarded = !watch.events(ScopeEvent.ValueDiscarded.class).isEmpty();
            boolean cancelled = stage.isCancelled();
            assertThat(List.of(got, discarded, cancelled)).as("round " + round).containsOnlyOnce(true);
        }
    }

    @Test
    @Tag("real")
    void an_http_client_s_request_is_awaited_and_cancelled() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(task -> Thread.ofVirtual().start(task));
        server.createContext("/quick", exchange -> {
            byte[] body = "hello".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.createContext("/slow", exchange -> awaitUninterruptibly(never));
        server.start();
        String base = "http://127.0.0.1:" + server.getAddress().getPort();
        HttpClient client = HttpClient.newHttpClient();
        try {
            String body = lab.realScope()
                    .call(() -> Selvedge.await(client.sendAsync(request(base + "/quick"), BodyHandlers.ofString())))
                    .body();
            CompletableFuture<?> slow = client.sendAsync(request(base + "/slow"), BodyHandlers.ofString());
            Throwable late =
                    catchThrowable(() -> lab.realScope().deadline(ofMillis(50)).call(() -> Selvedge.await(slow)));

            assertThat(body).isEqualTo("hello");
            assertThat(late).isInstanceOf(DeadlineExceededException.class);
            assertThat(catchThrowable(slow::get)) // it completes a moment later, on the client's own thread
                    .isInstanceOfAny(CancellationException.class, ExecutionException.class);
        } finally {
            never.countDown();
            server.stop(0);
        }
    }

    private static HttpRequest request(String uri) {
        return HttpRequest.newBuilder(URI.create(uri)).build();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        boolean open = false;
        while (!open) {
            try {
                latch.await();
                open = true;
            } catch (InterruptedException e) {
                // goes on
            }
        }
    }
}
