package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** README and docs: every block of Java is a region of a source that compiles, and every link leads somewhere. */
@Timeout(30)
class DocsTest {

    @Test
    void every_java_block_is_the_region_that_it_names() {
        Docs docs = new Docs(projectRoot());

        assertThat(docs.pages()).contains(docs.root().resolve("README.md"));
        assertThat(docs.problemsOfBlocks()).isEmpty();
    }

    @Test
    void every_relative_link_leads_to_a_file_and_every_anchor_to_a_heading() {
        assertThat(new Docs(projectRoot()).problemsOfLinks()).isEmpty();
    }

    // What the check finds.

    @Test
    void a_block_that_is_the_region_passes(@TempDir Path dir) {
        Docs docs =
                docsWith(dir, "<!-- snippet: p/Shown.java#sum -->", "```java", "int a = 1;", "    int b = a;", "```");

        assertThat(docs.problemsOfBlocks()).isEmpty();
    }

    @Test
    void a_block_without_a_comment_is_a_problem(@TempDir Path dir) {
        Docs docs = docsWith(dir, "Text.", "", "```java", "int a = 1;", "```");

        assertThat(docs.problemsOfBlocks())
                .containsExactly("README.md:3: a Java block needs a snippet comment above it");
    }

    @Test
    void a_comment_parted_from_its_block_by_text_does_not_count(@TempDir Path dir) {
        Docs docs = docsWith(dir, "<!-- snippet: p/Shown.java#sum -->", "Text.", "```java", "int a = 1;", "```");

        assertThat(docs.problemsOfBlocks())
                .containsExactly("README.md:3: a Java block needs a snippet comment above it");
    }

    @Test
    void a_block_that_says_why_it_cannot_be_compiled_passes(@TempDir Path dir) {
        Docs docs = docsWith(dir, "<!-- not compiled: needs a preview -->", "```java", "anything", "```");

        assertThat(docs.problemsOfBlocks()).isEmpty();
    }

    @Test
    void a_block_that_differs_from_its_region_is_a_problem(@TempDir Path dir) {
        Docs docs = docsWith(dir, "<!-- snippet: p/Shown.java#sum -->", "```java", "int a = 2;", "```");

        assertThat(docs.problemsOfBlocks())
                .containsExactly("README.md:2: differs from p/Shown.java#sum, which is\nint a = 1;\n    int b = a;");
    }

    @Test
    void a_region_or_a_file_that_does_not_exist_is_a_problem(@TempDir Path dir) {
        Docs docs = docsWith(
                dir,
                "<!-- snippet: p/Shown.java#other -->",
                "```java",
                "```",
                "<!-- snippet: p/Hidden.java#sum -->",
                "```java",
                "```");

        assertThat(docs.problemsOfBlocks())
                .containsExactly(
                        "README.md:2: there is no p/Shown.java#other", "README.md:5: there is no p/Hidden.java#sum");
    }

    @Test
    void a_fence_that_is_never_closed_is_a_problem(@TempDir Path dir) {
        Docs docs = docsWith(dir, "<!-- not compiled: no end -->", "```java", "anything");

        assertThat(docs.problemsOfBlocks()).containsExactly("README.md:2: the fence is not closed");
    }

    @Test
    void links_to_missing_files_and_headings_are_problems(@TempDir Path dir) {
        Docs docs = docsWith(
                dir,
                "# One `two` three",
                "# One two three",
                "[a](#one-two-three) [b](#one-two-three-1) [c](https://example.org/x) [d](src/examples)",
                "[e](#four) [f](missing.md) [g](README.md#one-two-three-2) `[h](code.md)`",
                "```",
                "# Four",
                "[i](code.md)",
                "```");

        assertThat(docs.problemsOfLinks())
                .containsExactly(
                        "README.md:4: no heading for #four",
                        "README.md:4: no file missing.md",
                        "README.md:4: no heading for README.md#one-two-three-2");
    }

    private static Docs docsWith(Path dir, String... readme) {
        try {
            Files.write(dir.resolve("README.md"), List.of(readme));
            Path source = dir.resolve("src/examples/java/p/Shown.java");
            Files.createDirectories(source.getParent());
            Files.write(
                    source,
                    List.of(
                            "class Shown {",
                            "    // @start region=\"outer\"",
                            "    // @start region=\"sum\"",
                            "    int a = 1;",
                            "        int b = a;",
                            "    // @end",
                            "    // @end",
                            "}"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Docs(dir);
    }

    /** The directory of the project, also from a directory below it. Away from any project the test is skipped. */
    private static Path projectRoot() {
        Path root = Path.of("").toAbsolutePath();
        while (root != null && !Files.exists(root.resolve("pom.xml"))) {
            root = root.getParent();
        }
        assumeTrue(root != null, "no pom.xml here or above: not in the project");
        assertThat(root.resolve("README.md")).exists();
        return root;
    }
}
