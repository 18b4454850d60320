package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A native image knows only what it is told: whatever the library looks up by name stands in the metadata of the jar. What
 * ServiceLoader finds needs no entry.
 */
@Timeout(30)
class NativeImageTest {

    private static final String METADATA = "META-INF/native-image/dev.selvedge/selvedge/reachability-metadata.json";
    private static final Path MAIN = Path.of("src/main/java");
    private static final String SCOPE = "java.util.concurrent.StructuredTaskScope";

    /** Any lookup by name. */
    private static final Pattern LOOKUP = Pattern.compile(
            "\\bfind(Virtual|Static|Special|Constructor|VarHandle|StaticVarHandle|Getter|Setter)\\(|Class\\.forName\\("
                    + "|\\.getMethods\\(\\)|\\.getDeclared\\w+\\(|\\.getMethod\\(|\\.bind\\(");

    private static final Pattern MEMBER =
            Pattern.compile("(?:find(?:Virtual|Static|VarHandle)|\\.bind)\\(\\s*(\\w+)(\\.class)?,\\s*\"(\\w+)\"");
    private static final Pattern CONSTRUCTOR = Pattern.compile("findConstructor\\(\\s*(\\w+),");
    private static final Pattern TYPE =
            Pattern.compile("Class\\.forName\\(([^\"()]*(?:\\(\\))?[^\"()]*)\"?([\\w.$]*)\"?\\)");
    private static final Pattern METHODS = Pattern.compile("(\\w+)\\.getMethods\\(\\)");

    /** What the variables of the two files that bind the JDK stand for. */
    private static final Map<String, String> VARIABLES = Map.of(
            "Container.type",
            SCOPE,
            "Container.joiner",
            SCOPE + "$Joiner",
            "Container.configuration",
            SCOPE + "$Configuration",
            "Container.opening",
            "dev.selvedge.Container$Opening",
            "Inherited.type",
            "java.lang.ScopedValue",
            "Inherited.carrier",
            "java.lang.ScopedValue$Carrier");

    @Test
    void whatever_is_looked_up_by_name_is_listed_and_nothing_else() throws IOException {
        Set<String> lookedUp = new TreeSet<>();
        List<String> notUnderstood = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(MAIN)) {
            for (Path p : walk.filter(f -> f.toString().endsWith(".java") && !f.endsWith("module-info.java"))
                    .toList()) {
                String file = p.getFileName().toString().replace(".java", "");
                String code =
                        Files.readString(p).replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("//[^\n]*", "");
                Set<String> found = lookups(file, packageOf(p), code);
                lookedUp.addAll(found);
                long calls = LOOKUP.matcher(code).results().count();
                long known = Stream.of(MEMBER, CONSTRUCTOR, TYPE, METHODS)
                        .mapToLong(k -> k.matcher(code).results().count())
                        .sum();
                if (calls != known) {
                    notUnderstood.add(file + ": " + calls + " lookups, " + known + " understood");
                }
            }
        }

        assertThat(notUnderstood).isEmpty();
        assertThat(lookedUp).hasSizeGreaterThan(25);
        assertThat(listed()).containsExactlyInAnyOrderElementsOf(lookedUp);
    }

    private static Set<String> lookups(String file, String pack, String code) {
        Set<String> found = new TreeSet<>();
        MEMBER.matcher(code).results().forEach(m -> {
            String type = m.group(2) == null ? variable(file, m.group(1)) : ownType(file, pack, m.group(1));
            found.add(type + "#" + m.group(3));
        });
        CONSTRUCTOR.matcher(code).results().forEach(m -> found.add(variable(file, m.group(1)) + "#<init>"));
        METHODS.matcher(code).results().forEach(m -> {
            Matcher name =
                    Pattern.compile("getName\\(\\)\\.equals\\(\"(\\w+)\"\\)").matcher(code);
            assertThat(name.find()).isTrue();
            found.add(variable(file, m.group(1)) + "#" + name.group(1));
        });
        TYPE.matcher(code).results().forEach(m -> found.add(typeNamed(file, m.group(1), m.group(2))));
        return found;
    }

    /** A literal, or a nested type of the scope: {@code TYPE}, {@code TYPE + "$Subtask"}, {@code type.getName() + "$Joiner"}. */
    private static String typeNamed(String file, String before, String literal) {
        if (before.isBlank()) {
            return literal;
        }
        assertThat(file).isEqualTo("Container");
        return SCOPE + literal;
    }

    private static String variable(String file, String name) {
        return Objects.requireNonNull(VARIABLES.get(file + "." + name), file + "." + name);
    }

    private static String ownType(String file, String pack, String simple) {
        return pack + "." + (simple.equals(file) ? simple : file + "$" + simple);
    }

    private static String packageOf(Path p) {
        return MAIN.relativize(p)
                .getParent()
                .toString()
                .replace(p.getFileSystem().getSeparator(), ".");
    }

    private static Set<String> listed() throws IOException {
        Set<String> listed = new TreeSet<>();
        for (JsonNode type : metadata()) {
            String name = type.get("type").asText();
            if (Stream.of(SCOPE, "java.lang.ScopedValue").anyMatch(name::startsWith)) {
                listed.add(name);
            }
            type.path("methods")
                    .forEach(m -> listed.add(name + "#" + m.get("name").asText()));
            type.path("fields")
                    .forEach(f -> listed.add(name + "#" + f.get("name").asText()));
        }
        return listed;
    }

    @Test
    void what_is_listed_exists_here_in_one_of_its_shapes() throws Exception {
        for (JsonNode type : metadata()) {
            String name = type.get("type").asText();
            if (name.endsWith("$Joiner") || name.endsWith("$Configuration")) {
                continue; // not before JDK 25
            }
            Class<?> found = Class.forName(name);
            type.path("fields")
                    .forEach(f -> assertThat(Arrays.stream(found.getDeclaredFields()))
                            .as(name + "." + f)
                            .anyMatch(d -> d.getName().equals(f.get("name").asText())));
            type.path("methods").forEach(m -> {
                String method = m.get("name").asText();
                boolean ofAnotherShape = method.equals(found.isInterface() ? "<init>" : "open");
                assertThat(ofAnotherShape
                                || method.equals("<init>")
                                || Stream.concat(
                                                Arrays.stream(found.getMethods()),
                                                Arrays.stream(found.getDeclaredMethods()))
                                        .anyMatch(d -> d.getName().equals(method)))
                        .as(name + "." + method)
                        .isTrue();
            });
        }
    }

    private static JsonNode metadata() throws IOException {
        try (InputStream in = NativeImageTest.class.getClassLoader().getResourceAsStream(METADATA)) {
            return new ObjectMapper()
                    .readTree(Objects.requireNonNull(in, METADATA))
                    .get("reflection");
        }
    }
}
