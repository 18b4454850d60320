package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What holds the threads: the JDK's scopes on every release that is known, plain threads elsewhere. */
@Timeout(60)
@Tag("real")
class ContainerTest {

    private static final ThreadFactory VIRTUAL = Thread.ofVirtual().factory();

    @Test
    void the_jdk_s_scopes_are_in_use_without_a_flag() {
        assertThat(System.getProperty(Container.PROPERTY) != null || Container.isStructured())
                .isTrue();
    }

    @Test
    void plain_threads_are_joined() throws Exception {
        Container threads = new Container.Threads();
        List<Thread> ran = new ArrayList<>();
        Object herd = threads.open("herd", VIRTUAL);
        for (int i = 0; i < 1_000; i++) {
            threads.fork(herd, () -> {
                synchronized (ran) {
                    return ran.add(Thread.currentThread());
                }
            });
        }

        threads.join(herd);
        threads.close(herd);

        assertThat(ran).hasSize(1_000).noneMatch(Thread::isAlive);
    }

    @Test
    void closing_plain_threads_waits_whatever_interrupts_come() throws Exception {
        Container threads = new Container.Threads();
        CountDownLatch goOn = new CountDownLatch(1);
        Object herd = threads.open(null, VIRTUAL);
        threads.fork(herd, () -> {
            goOn.await();
            return 1;
        });
        Thread owner = Thread.currentThread();
        threads.fork(herd, () -> {
            owner.interrupt();
            goOn.countDown();
            return 1;
        });

        threads.close(herd);

        assertThat(Thread.interrupted()).isTrue();
    }

    /** The tests of behaviour, once more in a JVM that is told to use plain threads. */
    @Test
    void scopes_behave_the_same_on_plain_threads() throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-D" + Container.PROPERTY + "=threads",
                "-cp",
                System.getProperty("java.class.path"),
                PlainThreads.class.getName()));

        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(said).isZero();
        assertThat(said).contains("structured: false").endsWith("all as expected" + System.lineSeparator());
    }

    /** Runs in a JVM of its own. */
    static final class PlainThreads {
        private PlainThreads() {}

        public static void main(String[] args) throws IOException {
            System.out.println("structured: " + Container.isStructured());
            assertThat(Selvedge.scope("outer")
                            .deadline(java.time.Duration.ofHours(1))
                            .gather(
                                    () -> Selvedge.deadline().isNever(),
                                    () -> Selvedge.scope("inner")
                                            .gather(() -> Selvedge.deadline().isNever())
                                            .get(0)))
                    .containsExactly(false, false);
            try {
                List<Integer> unused = Selvedge.scope().gather(Blocks::untilInterrupted, () -> {
                    throw new IllegalStateException("boom");
                });
            } catch (ScopeFailedException e) {
                System.out.println(e.getMessage());
            }
            try {
                Selvedge.scope().deadline(java.time.Duration.ofMillis(20)).run(s -> {
                    Fork<Integer> f = s.fork(Blocks::untilInterrupted);
                    int unused = f.join();
                });
            } catch (DeadlineExceededException e) {
                assertThat(e.unfinished()).containsExactly("fork-1");
                System.out.println("all as expected");
            }
        }
    }
}
