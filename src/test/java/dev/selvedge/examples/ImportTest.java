package dev.selvedge.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The example as a process of its own, ended by Ctrl-C. */
@Timeout(120)
@EnabledOnOs({OS.LINUX, OS.MAC})
class ImportTest {

    @Test
    void what_was_written_before_ctrl_c_is_in_the_file(@TempDir Path dir) throws Exception {
        Path file = dir.resolve("items");
        try (ChildJvm child = ChildJvm.start(List.of(), Import.class, file.toString())) {
            child.await("writing");
            child.signal("INT");

            assertThat(child.exitCode()).isEqualTo(130);
            assertThat(child.lines()).containsExactly("writing");
        }
        List<String> written = Files.readAllLines(file);
        assertThat(written)
                .hasSizeBetween(3, 999)
                .isEqualTo(IntStream.rangeClosed(1, written.size())
                        .mapToObj(i -> "item " + i)
                        .toList());
    }
}
