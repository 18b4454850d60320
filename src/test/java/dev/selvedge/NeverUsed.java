package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Where the library was never used before: in a class loader of its own, and so without anything that tests have left. */
final class NeverUsed {

    private NeverUsed() {}

    /** Runs a program there, with more folders to find services in, and gives what it gives. */
    static Object run(Class<? extends Callable<Object>> program, Path... services) throws Exception {
        List<URL> path = new ArrayList<>(List.of(location(Selvedge.class), location(program)));
        for (Path folder : services) {
            path.add(folder.toUri().toURL());
        }
        try (URLClassLoader fresh =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Class<?> type = fresh.loadClass(program.getName());
            assertThat(type).isNotSameAs(program);
            var constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            return ((Callable<?>) constructor.newInstance()).call();
        }
    }

    private static URL location(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }
}
