package dev.selvedge;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The compiled classes of the library, be they in a folder or in the jar. */
public final class Library {

    private Library() {}

    /** The names of all classes, nested ones too. */
    public static List<String> classNames() throws Exception {
        Path place = place();
        if (Files.isDirectory(place)) {
            return classNames(place);
        }
        try (FileSystem jar = FileSystems.newFileSystem(place)) {
            return classNames(jar.getPath("/"));
        }
    }

    private static List<String> classNames(Path root) throws IOException {
        try (Stream<Path> walk = Files.walk(root.resolve("dev"))) {
            return walk.map(file -> root.relativize(file).toString().replace('\\', '/'))
                    .filter(name -> name.endsWith(".class") && !name.endsWith("package-info.class"))
                    .map(name ->
                            name.substring(0, name.length() - ".class".length()).replace('/', '.'))
                    .sorted()
                    .toList();
        }
    }

    private static Path place() throws URISyntaxException {
        return Path.of(
                Scope.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
