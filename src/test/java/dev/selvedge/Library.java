package dev.selvedge;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The compiled classes of the library, be they in a folder or in the jar. */
final class Library {

    private Library() {}

    /** Reads in the folder that holds the packages. */
    static void read(Task.VoidOf<Path, Exception> reading) throws Exception {
        Path place = place();
        if (Files.isDirectory(place)) {
            reading.run(place);
            return;
        }
        try (FileSystem jar = FileSystems.newFileSystem(place)) {
            reading.run(jar.getPath("/"));
        }
    }

    /** The names of all classes, nested ones too. */
    static List<String> classNames() throws Exception {
        List<String> names = new ArrayList<>();
        read(root -> names.addAll(classNames(root)));
        return names;
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
