package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The thread dump of the JDK shows scopes as a tree, with the names that were given. */
@Timeout(60)
@Tag("real")
class ThreadDumpTest {

    @TempDir
    Path folder;

    @Test
    void a_running_nested_scope_shows_names_parent_and_children() throws Exception {
        assumeTrue(Container.isStructured(), "plain threads have no tree");
        CountDownLatch running = new CountDownLatch(2);
        CountDownLatch done = new CountDownLatch(1);

        String json = scope("page").call(s -> {
            Fork<List<Integer>> unused =
                    s.fork("orders", () -> scope("shops").gather(() -> held(running, done), () -> held(running, done)));
            running.await();
            String dumped = dumpTo(folder.resolve("dump.json"));
            done.countDown();
            return dumped;
        });

        List<Box> boxes = boxesOf(json);
        Box page = named(boxes, "page");
        Box shops = named(boxes, "shops");
        assertThat(page.threads).containsExactly("page/orders");
        assertThat(shops.threads).containsExactlyInAnyOrder("shops/fork-1", "shops/fork-2");
        assertThat(shops.parent).isEqualTo(page.name);
        assertThat(shops.owner).isEqualTo(page.threadIds.get(0));
        assertThat(page.owner).isEqualTo(Long.toString(Thread.currentThread().threadId()));
    }

    private static int held(CountDownLatch running, CountDownLatch done) throws InterruptedException {
        running.countDown();
        done.await();
        return 1;
    }

    /** What {@code jcmd <pid> Thread.dump_to_file -format=json <file>} does. */
    private static String dumpTo(Path file) throws IOException {
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.JSON);
        return Files.readString(file).replace("\\/", "/");
    }

    private record Box(String name, String parent, String owner, List<String> threads, List<String> threadIds) {}

    private static Box named(List<Box> boxes, String name) {
        return boxes.stream()
                .filter(b -> b.name.startsWith(name + "/"))
                .findFirst()
                .orElseThrow();
    }

    private static List<Box> boxesOf(String json) {
        List<Box> boxes = new ArrayList<>();
        for (String part : json.split("\"container\":", -1)) {
            List<String> names = all(part, "\"name\":\\s*\"([^\"]*)\"");
            List<String> ids = all(part, "\"tid\":\\s*\"?(\\d+)\"?");
            List<String> first = all("\"container\":" + part, "\"container\":\\s*\"([^\"]*)\"");
            List<String> parent = all(part, "\"parent\":\\s*\"([^\"]*)\"");
            List<String> owner = all(part, "\"owner\":\\s*\"?(\\d+)\"?");
            boxes.add(new Box(
                    first.isEmpty() ? "" : first.get(0),
                    parent.isEmpty() ? "" : parent.get(0),
                    owner.isEmpty() ? "" : owner.get(0),
                    names,
                    ids));
        }
        return boxes;
    }

    private static List<String> all(String text, String pattern) {
        List<String> found = new ArrayList<>();
        Matcher m = Pattern.compile(pattern).matcher(text);
        while (m.find()) {
            found.add(m.group(1));
        }
        return found;
    }
}
