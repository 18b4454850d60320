package dev.selvedge.examples;

import java.nio.file.Files;
import java.nio.file.Path;

/** A command, before a shell is asked to run it. */
final class Program {

    /** If there is no PATH. */
    private static final String USUAL = "/usr/bin:/bin";

    private Program() {}

    /**
     * Looks for it as a shell does: where its name says, if there is a slash in that; else in the directories of PATH.
     *
     * @throws Hopeless if there is none, or none that may be run
     */
    static void ensureRunnable(String name) {
        boolean isThere = false;
        for (String directory : directories(name)) {
            Path file = Path.of(directory).resolve(name);
            if (Files.isExecutable(file) && !Files.isDirectory(file)) {
                return;
            }
            isThere |= Files.exists(file);
        }
        throw isThere ? Hopeless.cannotBeRun(name, "Permission denied") : Hopeless.notFound(name);
    }

    private static String[] directories(String name) {
        String path = System.getenv("PATH");
        return name.contains("/") ? new String[] {""} : (path == null ? USUAL : path).split(":", -1);
    }
}
