package dev.selvedge;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The Markdown of a project, and what is wrong with it.
 *
 * <p>A block of Java must be, word for word, a region of a source under {@code src/examples/java} (the marks are those of
 * javadoc's snippets), which the comment above it names; or that comment says why the block cannot be compiled.
 *
 * @param root the directory with the README
 */
record Docs(Path root) {

    private static final Pattern FENCE = Pattern.compile("\\s*```+\\s*(\\S*).*");
    private static final Pattern SNIPPET = Pattern.compile("<!-- snippet: (\\S+)#(\\S+) -->");
    private static final Pattern NOT_COMPILED = Pattern.compile("<!-- not compiled: .+ -->");
    private static final Pattern REGION_START = Pattern.compile("\\s*// @start region=\"?([^\"\\s]+)\"?\\s*");
    private static final Pattern REGION_END = Pattern.compile("\\s*// @end.*");
    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("#{1,6} +(.*?)[ #]*");

    List<Path> pages() {
        List<Path> pages = new ArrayList<>(List.of(root.resolve("README.md")));
        Path docs = root.resolve("docs");
        if (Files.isDirectory(docs)) {
            try (Stream<Path> files = Files.walk(docs)) {
                files.filter(f -> f.toString().endsWith(".md")).sorted().forEach(pages::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return pages;
    }

    // Blocks.

    List<String> problemsOfBlocks() {
        List<String> problems = new ArrayList<>();
        for (Path page : pages()) {
            List<String> lines = lines(page);
            for (int i = 0; i < lines.size(); i++) {
                Matcher fence = FENCE.matcher(lines.get(i));
                if (!fence.matches()) {
                    continue;
                }
                int end = endOfFence(lines, i);
                String place = place(page, i);
                if (end < 0) {
                    problems.add(place + "the fence is not closed");
                    break;
                }
                if (fence.group(1).equals("java")) {
                    problemOf(lineAbove(lines, i), lines.subList(i + 1, end)).ifPresent(p -> problems.add(place + p));
                }
                i = end;
            }
        }
        return problems;
    }

    private Optional<String> problemOf(String above, List<String> block) {
        if (NOT_COMPILED.matcher(above).matches()) {
            return Optional.empty();
        }
        Matcher snippet = SNIPPET.matcher(above);
        if (!snippet.matches()) {
            return Optional.of("a Java block needs a snippet comment above it");
        }
        String name = snippet.group(1) + "#" + snippet.group(2);
        Optional<String> region = region(root.resolve("src/examples/java").resolve(snippet.group(1)), snippet.group(2));
        if (region.isEmpty()) {
            return Optional.of("there is no " + name);
        }
        return String.join("\n", block).equals(region.get())
                ? Optional.empty()
                : Optional.of("differs from " + name + ", which is\n" + region.get());
    }

    /** The text between the marks of a region, without the marks of others, moved to the left edge. */
    private static Optional<String> region(Path source, String name) {
        if (!Files.exists(source)) {
            return Optional.empty();
        }
        Deque<String> open = new ArrayDeque<>();
        List<String> text = new ArrayList<>();
        boolean found = false;
        for (String line : lines(source)) {
            Matcher start = REGION_START.matcher(line);
            if (start.matches()) {
                open.push(start.group(1));
                found |= start.group(1).equals(name);
            } else if (REGION_END.matcher(line).matches()) {
                open.pop();
            } else if (open.contains(name)) {
                text.add(line);
            }
        }
        return found ? Optional.of(String.join("\n", text).stripIndent()) : Optional.empty();
    }

    private static int endOfFence(List<String> lines, int start) {
        for (int i = start + 1; i < lines.size(); i++) {
            if (FENCE.matcher(lines.get(i)).matches()) {
                return i;
            }
        }
        return -1;
    }

    private static String lineAbove(List<String> lines, int i) {
        int above = i - 1;
        while (above >= 0 && lines.get(above).isBlank()) {
            above--;
        }
        return above < 0 ? "" : lines.get(above).strip();
    }

    // Links.

    List<String> problemsOfLinks() {
        List<String> problems = new ArrayList<>();
        for (Path page : pages()) {
            List<String> lines = prose(page);
            for (int i = 0; i < lines.size(); i++) {
                Matcher link = LINK.matcher(lines.get(i).replaceAll("`[^`]*`", ""));
                while (link.find()) {
                    String place = place(page, i);
                    problemOf(page, link.group(1)).ifPresent(p -> problems.add(place + p));
                }
            }
        }
        return problems;
    }

    private static Optional<String> problemOf(Path page, String target) {
        if (target.matches("[a-z]+:.*")) {
            return Optional.empty();
        }
        int hash = target.indexOf('#');
        String file = hash < 0 ? target : target.substring(0, hash);
        Path to = file.isEmpty() ? page : page.resolveSibling(file);
        if (!Files.exists(to)) {
            return Optional.of("no file " + target);
        }
        return hash < 0 || anchors(to).contains(target.substring(hash + 1))
                ? Optional.empty()
                : Optional.of("no heading for " + target);
    }

    /** The anchors that a Markdown viewer gives to the headings. */
    private static List<String> anchors(Path page) {
        Map<String, Integer> seen = new HashMap<>();
        List<String> anchors = new ArrayList<>();
        for (String line : prose(page)) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                String anchor = heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-');
                int before = seen.merge(anchor, 1, Integer::sum) - 1;
                anchors.add(before == 0 ? anchor : anchor + "-" + before);
            }
        }
        return anchors;
    }

    /** The lines of a page; those of fenced blocks are empty. */
    private static List<String> prose(Path page) {
        List<String> prose = new ArrayList<>();
        boolean inFence = false;
        for (String line : lines(page)) {
            boolean fence = FENCE.matcher(line).matches();
            inFence ^= fence;
            prose.add(fence || inFence ? "" : line);
        }
        return prose;
    }

    private String place(Path page, int line) {
        return root.relativize(page).toString().replace('\\', '/') + ":" + (line + 1) + ": ";
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
