package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A native image keeps only what it is told to keep: whatever the library looks up by name stands in the metadata of the
 * jar. What ServiceLoader finds by a class constant needs no entry.
 */
@Timeout(30)
class NativeImageTest {

    private static final Path MAIN = Path.of("src/main/java");
    private static final String METADATA = "META-INF/native-image/dev.selvedge/selvedge/reachability-metadata.json";
    private static final String SCOPE = "java.util.concurrent.StructuredTaskScope";

    /** The ways to open the JDK's scope: JDK 21 to 24, 25, 26 and later. A release has one of them. */
    private static final Set<String> OPENERS = Set.of(
            SCOPE + "#<init>(java.lang.String, java.util.concurrent.ThreadFactory)",
            SCOPE + "#open(" + SCOPE + "$Joiner, java.util.function.Function)",
            SCOPE + "#open(" + SCOPE + "$Joiner, java.util.function.UnaryOperator)");

    /** Where the JDK's scope is a class, it has neither. */
    private static final Set<String> SINCE_IT_IS_AN_INTERFACE = Set.of(SCOPE + "$Joiner", SCOPE + "$Configuration");

    @Test
    void whatever_is_looked_up_by_name_is_listed_and_nothing_else() throws IOException {
        List<String> listed = listed();
        Set<String> lookedUp = new TreeSet<>();
        List<String> notUnderstood = new ArrayList<>();

        for (Path p : sources()) {
            Lookups lookups = Lookups.in(topOf(p), Files.readString(p));
            notUnderstood.addAll(lookups.notUnderstood());
            lookedUp.addAll(lookups.entries());
            lookups.choices().forEach(c -> lookedUp.addAll(c.among(listed)));
        }

        assertThat(notUnderstood)
                .as("lookups of a pattern that the test does not know")
                .isEmpty();
        assertThat(listed).containsExactlyInAnyOrderElementsOf(lookedUp);
    }

    /** What lies beside the classes. */
    @Test
    void each_resource_is_listed_and_there() throws IOException {
        List<String> listed = new ArrayList<>();
        metadata().get("resources").forEach(r -> listed.add(r.required("glob").asText()));
        Set<String> read = new TreeSet<>();
        Pattern name = Pattern.compile("getResourceAsStream\\(\"([^\"]+)\"\\)");

        for (Path p : sources()) {
            assertThat(Files.readString(p))
                    .as(topOf(p))
                    .doesNotContainPattern("getResource(?!AsStream\\(\"\\w+\\.\\w+\"\\))");
            String folder = topOf(p).replaceAll("\\.\\w+$", "").replace('.', '/');
            name.matcher(Files.readString(p)).results().forEach(m -> read.add(folder + "/" + m.group(1)));
        }

        assertThat(listed)
                .containsExactlyElementsOf(read)
                .allSatisfy(file -> assertThat(NativeImageTest.class.getResource("/" + file))
                        .isNotNull());
    }

    @Test
    void what_is_listed_exists_here_in_one_of_the_shapes() throws IOException {
        List<String> listed = listed();
        boolean isInterface = Lookups.classNamed(SCOPE).map(Class::isInterface).orElseThrow();

        List<String> missing = listed.stream()
                .filter(e -> !OPENERS.contains(e))
                .filter(e -> isInterface || !SINCE_IT_IS_AN_INTERFACE.contains(typeOf(e)))
                .filter(e -> !exists(e))
                .toList();

        assertThat(missing).isEmpty();
        assertThat(listed).containsAll(OPENERS);
        assertThat(OPENERS.stream().filter(NativeImageTest::exists)).hasSize(1);
    }

    @Test
    void a_lookup_in_a_new_place_is_read() {
        Lookups lookups = Lookups.in("dev.selvedge.Frame", """
                // MethodHandles.lookup().findVirtual(Gone.class, "gone", MethodType.methodType(void.class));
                String slashes = "https://"; Class<?> list = Class.forName("java.util.List");
                lookup.findVirtual(list, "add", MethodType.methodType(boolean.class, int.class, Object.class));
                lookup.findStatic(
                        list, "of", MethodType.methodType(list, Object[].class));
                lookup.findVarHandle(Limit.class, "reason", CancelReason.class);
                """);

        assertThat(lookups.notUnderstood()).isEmpty();
        assertThat(lookups.entries())
                .containsExactlyInAnyOrder(
                        "java.util.List",
                        "java.util.List#add(int, java.lang.Object)",
                        "java.util.List#of(java.lang.Object[])",
                        "dev.selvedge.Frame$Limit",
                        "dev.selvedge.Frame$Limit#reason");
    }

    @Test
    void a_lookup_of_an_unknown_pattern_is_not_skipped() {
        List<String> unknown = List.of(
                "Class.forName(name);",
                "Class.forName(\"a.B\", false, loader);",
                "names.map(Class::forName);",
                "lookup.findVirtual(somewhere, \"m\", MethodType.methodType(void.class));",
                "lookup.findVirtual(Frame.class, name, MethodType.methodType(void.class));",
                "lookup.findVirtual(Frame.class, \"m\", type);",
                "lookup.findVirtual(Frame.class, \"m\", MethodType.methodType(void.class, Nowhere.class));",
                "lookup.findSpecial(Frame.class, \"m\", MethodType.methodType(void.class), Frame.class);",
                "lookup\n    .findGetter(Frame.class, \"state\", int.class);",
                "for (Method m : Frame.class.getMethods()) {}",
                "Frame.class.getDeclaredField(\"state\");",
                "loader.loadClass(\"a.B\");",
                "AtomicIntegerFieldUpdater.newUpdater(Frame.class, \"state\");",
                "Class<?> a = Class.forName(\"java.util.List\"); Class<?> a = Class.forName(\"java.util.Map\");"
                        + " lookup.findVirtual(a, \"size\", MethodType.methodType(int.class));");

        assertThat(unknown)
                .allSatisfy(code -> assertThat(
                                Lookups.in("dev.selvedge.Frame", code).notUnderstood())
                        .hasSize(1));
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> walk = Files.walk(MAIN)) {
            return walk.filter(p -> p.toString().endsWith(".java")).sorted().toList();
        }
    }

    private static String topOf(Path p) {
        String file = MAIN.relativize(p).toString();
        return file.substring(0, file.length() - ".java".length())
                .replace(p.getFileSystem().getSeparator(), ".");
    }

    /**
     * Each as {@code type}, {@code type#field}, {@code type#method(parameters)} or {@code proxy of type}; what is listed
     * twice comes twice.
     */
    private static List<String> listed() throws IOException {
        List<String> listed = new ArrayList<>();
        JsonNode metadata = metadata();
        assertThat(metadata.fieldNames()).toIterable().containsExactly("reflection", "resources");
        for (JsonNode entry : metadata.get("reflection")) {
            assertThat(entry.fieldNames()).toIterable().isSubsetOf("type", "methods", "fields");
            JsonNode proxy = entry.required("type").path("proxy");
            if (proxy.isArray()) {
                listed.add("proxy of " + proxy.required(0).asText());
                continue;
            }
            String type = entry.required("type").asText();
            listed.add(type);
            for (JsonNode m : entry.path("methods")) {
                List<String> parameters = new ArrayList<>();
                m.required("parameterTypes").forEach(t -> parameters.add(t.asText()));
                listed.add(type + "#" + m.required("name").asText() + "(" + String.join(", ", parameters) + ")");
            }
            entry.path("fields")
                    .forEach(f -> listed.add(type + "#" + f.required("name").asText()));
        }
        return listed;
    }

    private static JsonNode metadata() throws IOException {
        try (InputStream in = NativeImageTest.class.getClassLoader().getResourceAsStream(METADATA)) {
            return new ObjectMapper().readTree(Objects.requireNonNull(in, METADATA));
        }
    }

    private static String typeOf(String entry) {
        return entry.replaceFirst("#.*", "");
    }

    private static boolean exists(String entry) {
        if (entry.startsWith("proxy of ")) {
            return Lookups.classNamed(entry.substring("proxy of ".length()))
                    .filter(Class::isInterface)
                    .isPresent();
        }
        return Lookups.classNamed(typeOf(entry))
                .filter(type -> entry.equals(type.getName()) || members(type).anyMatch(entry::equals))
                .isPresent();
    }

    private static Stream<String> members(Class<?> type) {
        Stream<String> fields = Stream.of(type.getDeclaredFields()).map(f -> "#" + f.getName());
        Stream<String> methods = Stream.of(type.getDeclaredMethods())
                .map(m -> "#" + m.getName() + Lookups.parameters(m.getParameterTypes()));
        Stream<String> constructors = Stream.of(type.getDeclaredConstructors())
                .map(c -> "#<init>" + Lookups.parameters(c.getParameterTypes()));
        return Stream.of(fields, methods, constructors).flatMap(s -> s).map(m -> type.getName() + m);
    }
}
