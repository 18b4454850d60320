package dev.selvedge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What nobody asked for is not kept: millions of items in a process with little memory. */
@Timeout(300)
@Tag("real")
class BulkMemoryTest {

    private static final int MILLIONS = 10_000_000;

    /** Runs in a process of its own. */
    static final class Main {

        private Main() {}

        public static void main(String[] args) {
            LongAdder sum = new LongAdder();
            Iterable<Integer> items = () -> IntStream.range(0, MILLIONS).iterator();
            Selvedge.scope().concurrency(4).forEach(items, i -> sum.add(i));
            System.out.println(sum.sum());
        }
    }

    @Test
    void ten_million_items_of_an_iterator_need_no_more_than_64_megabytes() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName())
                .redirectErrorStream(true)
                .start();

        String printed = new String(child.getInputStream().readAllBytes(), UTF_8);

        assertThat(printed.strip()).isEqualTo("49999995000000");
        assertThat(child.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(child.exitValue()).isZero();
    }
}
