package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.examples.DocExamples;
import dev.selvedge.examples.ReadmeExamples;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of README and docs do what the text around them says. */
@Timeout(30)
class DocExamplesTest {

    @Test
    void the_readme_shows_a_page_without_waiting_for_a_slow_service() {
        assertThat(ReadmeExamples.pageWithSlowPrices()).isEqualTo(Duration.ofMillis(200));
    }

    @Test
    void the_strict_page_of_the_readme_fails_with_the_exception_of_the_service() {
        IOException down = new IOException("down");
        ReadmeExamples shop = new ReadmeExamples(
                id -> new ReadmeExamples.User("Ada"),
                id -> {
                    throw down;
                },
                id -> ReadmeExamples.Price.UNKNOWN);

        assertThat(failureOf(() -> shop.strictPage(1))).isSameAs(down);
        assertThat(failureOf(() -> shop.page(1)))
                .isInstanceOf(ScopeFailedException.class)
                .hasCause(down);
    }

    @Test
    void the_examples_of_one_task_answer_success_and_failure() throws Exception {
        assertThat(DocExamples.fallback(DocExamplesTest::echo, "a")).isEqualTo("a");
        assertThat(DocExamples.fallback(DocExamplesTest::broken, "a")).isEqualTo("unknown");
        assertThat(DocExamples.attempt(DocExamplesTest::echo, "a")).isEqualTo("a");
        assertThat(DocExamples.attempt(DocExamplesTest::broken, "a")).isEqualTo("failed: java.io.IOException: no a");
        assertThat(onAVirtualClock(() -> DocExamples.attempt(DocExamplesTest::slow, "a")))
                .isEqualTo("cut off: the scope \"load\" exceeded its deadline of 2 s (after 2 s)");
        assertThat(DocExamples.withLease(DocExamplesTest::echo)).isEqualTo("work");
        assertThat(DocExamples.checkpoint(new int[] {1, 2, 3})).isEqualTo(6);
        assertThat(DocExamples.clientTimeout(URI.create("http://localhost/")).timeout())
                .contains(Duration.ofSeconds(10));
    }

    @Test
    void the_examples_of_many_tasks_give_what_the_text_says() throws Exception {
        assertThat(DocExamples.gather(DocExamplesTest::echo)).containsExactly("a", "b");
        assertThat(DocExamples.race(DocExamplesTest::broken, DocExamplesTest::echo, "a"))
                .isEqualTo("a");
        assertThat(DocExamples.map(DocExamplesTest::echo, List.of("a", "b"))).containsExactly("a", "b");
        assertThat(DocExamples.outcomes(DocExamplesTest::onlyShort, List.of("a", "long", "b")))
                .containsExactly("a", "b", "missing: [long]");
        assertThat(onAVirtualClock(
                        () -> DocExamples.chainOfOutcomes(key -> key.equals("title") ? key : slow("advert"))))
                .isEqualTo("title");
        assertThat(DocExamples.rethrow(DocExamplesTest::echo)).isEqualTo("ab");
        assertThat(failureOf(() -> DocExamples.rethrow(DocExamplesTest::broken)))
                .isInstanceOf(IOException.class)
                .hasMessage("no a");
        assertThat(DocExamples.handle(Selvedge.scope(), DocExamplesTest::broken, List.of("a")))
                .isEqualTo("1 failed, first java.io.IOException: no a");
        assertThat(onAVirtualClock(() -> DocExamples.handle(
                        Selvedge.scope().deadline(Duration.ofSeconds(1)), DocExamplesTest::slow, List.of("a", "b"))))
                .isEqualTo("too slow: [fork-1, fork-2]");
    }

    @Test
    void the_examples_of_live_scopes_give_what_the_text_says() throws Exception {
        assertThat(DocExamples.live(DocExamplesTest::echo)).isEqualTo("cache");
        assertThat(DocExamples.isolated(DocExamplesTest::onlyShort, List.of("a", "long")))
                .containsExactly("a", "long failed");
        assertThat(onAVirtualClock(() -> DocExamples.lateJoin(key -> key.equals("text") ? key : slow(key))))
                .isEqualTo("text");
        List<String> trail = new ArrayList<>();
        DocExamples.Session session = new DocExamples.Session() {
            @Override
            public String ask(String question) {
                return question + "?";
            }

            @Override
            public void close() {
                trail.add("closed");
            }
        };
        assertThat(DocExamples.resources(session)).containsExactly("who?", "why?");
        assertThat(trail).containsExactly("closed");
        onAVirtualClock(() -> {
            DocExamples.listener(DocExamplesTest::echo, trail::add);
            return null;
        });
        assertThat(trail).containsExactly("closed", "a", "sync took PT0S");
    }

    @Test
    void a_task_that_answers_the_interrupt_keeps_what_it_has_done() {
        Queue<String> jobs = new ArrayDeque<>(List.of("a", "b", "c"));

        int done = onAVirtualClock(() -> Selvedge.scope()
                .deadline(Duration.ofSeconds(3))
                .call(() -> DocExamples.drain(jobs, job -> sleepAsPlainCodeDoes(Duration.ofSeconds(2)))));

        assertThat(done).isEqualTo(1);
        assertThat(jobs).containsExactly("c");
    }

    @Test
    void the_examples_of_virtual_time_take_no_time() throws Exception {
        assertThat(DocExamples.jumping()).isEqualTo(Duration.ofSeconds(100));
        assertThat(DocExamples.manual()).containsExactly(false, true);

        DocExamples.Gate gate = new DocExamples.Gate();
        VirtualClock clock = VirtualClock.jumping();
        List<String> passed = Selvedge.scope().clock(clock).call(s -> {
            Fork<String> waits = s.fork(() -> {
                gate.pass();
                return "passed at " + clock.elapsed();
            });
            Selvedge.sleep(Duration.ofSeconds(7));
            gate.open();
            gate.pass();
            return s.gather(List.of(waits));
        });
        assertThat(passed).containsExactly("passed at PT7S");
    }

    private static String echo(String key) {
        return key;
    }

    private static String broken(String key) throws IOException {
        throw new IOException("no " + key);
    }

    private static String onlyShort(String key) throws IOException {
        return key.length() > 1 ? broken(key) : key;
    }

    private static String slow(String key) {
        Selvedge.sleep(Duration.ofMinutes(1));
        return key;
    }

    /** Where plain code sees an {@code InterruptedException}. */
    private static void sleepAsPlainCodeDoes(Duration d) throws InterruptedException {
        boolean unused = Selvedge.deadline()
                .clock()
                .waiter()
                .await(Selvedge.deadline().clock().after(d));
    }

    private static <T, X extends Exception> T onAVirtualClock(Task<T, X> task) throws X {
        return Selvedge.scope().clock(VirtualClock.jumping()).call(task);
    }

    private static Throwable failureOf(Task<?, ?> task) {
        try {
            return new AssertionError("no failure, but " + task.call());
        } catch (Exception e) {
            return e;
        }
    }
}
