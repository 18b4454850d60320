package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.opentelemetry.context.Context;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.MDC;

/** Programs of users, which must compile against the library, without a warning, for good. */
@Timeout(120)
class UserProgramsTest {

    private static final Path PROGRAMS = Path.of("src/test/programs/users");

    @TempDir
    Path out;

    @TestFactory
    Stream<DynamicTest> each_program_compiles_without_a_warning() throws IOException {
        return programs().stream()
                .map(p -> dynamicTest(p, () -> assertThat(complaintsAbout(p)).isEmpty()));
    }

    @Test
    void there_are_thirty_two_programs() throws IOException {
        assertThat(programs()).hasSize(32);
    }

    private static String jarOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    private static List<String> programs() throws IOException {
        try (Stream<Path> files = Files.list(PROGRAMS)) {
            return files.map(p -> p.getFileName().toString())
                    .filter(n -> n.startsWith("U"))
                    .map(n -> n.substring(0, n.length() - ".java".length()))
                    .sorted()
                    .toList();
        }
    }

    /** As a user compiles it: with the library, and what the program itself is about, on the class path; a warning is an error. */
    private String complaintsAbout(String program) throws Exception {
        JavaCompiler compiler =
                Optional.ofNullable(ToolProvider.getSystemJavaCompiler()).orElseThrow();
        List<String> options = new ArrayList<>(List.of("--release", "21", "-Xlint:all,-try", "-Werror"));
        String path = jarOf(ScopeSpec.class);
        if (program.equals("U27_Propagate")) {
            path = String.join(File.pathSeparator, path, jarOf(MDC.class), jarOf(Context.class));
        }
        options.addAll(List.of("-cp", path, "-d", out.toString()));
        StringWriter complaints = new StringWriter();
        try (var files = compiler.getStandardFileManager(null, null, null)) {
            Set<Path> programs =
                    new LinkedHashSet<>(List.of(PROGRAMS.resolve("Shop.java"), PROGRAMS.resolve(program + ".java")));
            if (program.equals("U19_VirtualClock")) {
                programs.add(PROGRAMS.resolve("U01_Handler.java")); // the code it tests
            }
            var sources = files.getJavaFileObjectsFromPaths(programs);
            boolean unused = compiler.getTask(complaints, files, null, options, null, sources)
                    .call();
        }
        return complaints.toString();
    }
}
