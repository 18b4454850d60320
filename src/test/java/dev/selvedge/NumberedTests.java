package dev.selvedge;

import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/** Which numbers of a list the tests bear, by an annotation. */
final class NumberedTests {

    private NumberedTests() {}

    static <A extends Annotation> Set<Integer> numbers(Class<A> annotation, Function<A, int[]> value) throws Exception {
        Set<Integer> numbers = new TreeSet<>();
        for (Class<?> type : testClasses()) {
            List<AnnotatedElement> numbered = new ArrayList<>(List.of(type.getDeclaredMethods()));
            numbered.add(type);
            for (AnnotatedElement test : numbered) {
                A a = test.getAnnotation(annotation);
                if (a != null) {
                    for (int n : value.apply(a)) {
                        numbers.add(n);
                    }
                }
            }
        }
        return numbers;
    }

    private static List<Class<?>> testClasses() throws Exception {
        URI here = NumberedTests.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI();
        Path root = Path.of(here);
        List<Class<?>> classes = new ArrayList<>();
        for (Path p : classFiles(root)) {
            String name =
                    root.relativize(p).toString().replace(p.getFileSystem().getSeparator(), ".");
            classes.add(Class.forName(name.substring(0, name.length() - ".class".length())));
        }
        return classes;
    }

    private static List<Path> classFiles(Path root) throws IOException {
        try (Stream<Path> walk = Files.walk(root)) {
            return walk.filter(p -> p.toString().endsWith("Test.class")).toList();
        }
    }
}
