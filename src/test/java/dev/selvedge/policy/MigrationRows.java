package dev.selvedge.policy;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rows of a guide to migration: those that the tables of a page show, and those that a test runs, in their order.
 *
 * <p>In a test, a line {@code // theirs: name} or {@code // ours: name} begins the code of one side of a row, and the next such
 * line, or {@code // end}, ends it. In a page, the code of a side is what stands between backquotes in its cell. Line breaks,
 * the names of packages, a {@code var theirs =} or {@code return} at the beginning and a semicolon at the end do not count.
 */
final class MigrationRows {

    private static final Pattern MARK = Pattern.compile("\\s*// (?:(theirs|ours): (\\S+)|end)");
    private static final Pattern HEAD = Pattern.compile("\\| their call \\| ours \\| difference \\|");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern BETWEEN_CELLS = Pattern.compile(" \\| |^\\| | \\|$");
    private static final Pattern PACKAGE =
            Pattern.compile("\\b(dev\\.failsafe|io\\.github\\.resilience4j\\.\\w+)\\.(?=[A-Z])");

    private MigrationRows() {}

    /**
     * One row.
     *
     * @param theirs code of the other library; empty where it has none
     * @param ours code with this one
     */
    record Row(String theirs, String ours) {}

    /** Those that the tables of a page show. */
    static List<Row> shownIn(String page) {
        List<Row> rows = new ArrayList<>();
        boolean inTable = false;
        for (String line : lines(page)) {
            boolean isHead = HEAD.matcher(line).matches();
            inTable = isHead || (inTable && line.startsWith("|"));
            if (inTable && !isHead && !line.startsWith("|---")) {
                String[] cells = BETWEEN_CELLS.split(line, -1);
                rows.add(new Row(codeIn(cells[1]), codeIn(cells[2])));
            }
        }
        return rows;
    }

    private static String codeIn(String cell) {
        Matcher code = CODE.matcher(cell);
        return code.find() ? code.group(1).replace("\\|", "|") : "";
    }

    /** Those that a test runs. */
    static List<Row> runBy(Class<?> test) {
        Map<String, Map<String, StringBuilder>> rows = new LinkedHashMap<>();
        StringBuilder open = null;
        for (String line : lines("src/test/java/" + test.getName().replace('.', '/') + ".java")) {
            Matcher mark = MARK.matcher(line);
            if (!mark.matches()) {
                if (open != null) {
                    open.append(line).append('\n');
                }
            } else if (mark.group(1) == null) {
                open = null;
            } else {
                open = new StringBuilder();
                StringBuilder before = rows.computeIfAbsent(mark.group(2), name -> new LinkedHashMap<>())
                        .put(mark.group(1), open);
                if (before != null) {
                    throw new IllegalStateException("twice: " + line.strip());
                }
            }
        }
        StringBuilder none = new StringBuilder();
        return rows.values().stream()
                .map(sides -> new Row(
                        asShown(sides.getOrDefault("theirs", none).toString()),
                        asShown(sides.getOrDefault("ours", none).toString())))
                .toList();
    }

    private static String asShown(String code) {
        String line = code.strip().replaceAll("\\s+", " ").replaceAll(" (?=\\.)|(?<=\\() | (?=\\))", "");
        return PACKAGE.matcher(line)
                .replaceAll("")
                .replaceFirst("^(var (theirs|ours) =|return) ", "")
                .replaceFirst(";$", "");
    }

    private static List<String> lines(String file) {
        Path path = Path.of(file);
        assumeTrue(Files.exists(path), "not in the directory of the project");
        try {
            return Files.readAllLines(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
