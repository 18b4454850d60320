package dev.selvedge.batch;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;

/**
 * Where the three files of a journal are. All are looked at before one is made or opened: the system would say little of
 * what is wrong with them, and a pipe or a device would take lines and keep none.
 *
 * @param journal its file, which exists by now; the same path however one gets there: by a link, or from another directory
 * @param failures the file beside it, which the first failure makes
 * @param lock the file that keeps others away
 */
record Place(Path journal, Path failures, Path lock) {

    static Place of(Path file) throws IOException {
        Path directory = file.toAbsolutePath().getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            throw new IOException(
                    Files.exists(directory) ? directory + " is no directory" : "there is no directory " + directory);
        }
        boolean isThere = look(file, "it");
        Path real = isThere ? file.toRealPath() : inRealDirectory(file);
        Place place = new Place(real, beside(real, ".failed"), beside(real, ".lock"));
        look(place.failures, "its file of failures, " + place.failures + ",");
        look(place.lock, "its lock file, " + place.lock + ",");
        if (!isThere) {
            make(real);
        }
        return place;
    }

    /** Whether a file is there, and then one that lines can be kept in. */
    private static boolean look(Path file, String what) throws IOException {
        BasicFileAttributes found;
        try {
            found = Files.readAttributes(file, BasicFileAttributes.class);
        } catch (NoSuchFileException e) {
            if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                throw new IOException(
                        what + " is a link to " + Files.readSymbolicLink(file) + ", which is not there", e);
            }
            return false;
        }
        if (found.isDirectory()) {
            throw new IOException(what + " is a directory");
        }
        if (!found.isRegularFile()) {
            throw new IOException(what + " is no regular file, but a pipe, a device or a socket");
        }
        if (!Files.isReadable(file)) {
            throw new IOException(what + " must not be read");
        }
        if (!Files.isWritable(file)) {
            throw new IOException(what + " must not be written to");
        }
        return true;
    }

    private static Path inRealDirectory(Path file) throws IOException {
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent(), "directory");
        return directory.toRealPath().resolve(nameOf(file));
    }

    /** Somebody else may have made it just before. */
    private static void make(Path file) throws IOException {
        try {
            Files.createFile(file);
        } catch (FileAlreadyExistsException e) {
            // then it is there
        }
    }

    private static Path beside(Path file, String ending) {
        return file.resolveSibling(nameOf(file) + ending);
    }

    private static Path nameOf(Path file) {
        return Objects.requireNonNull(file.getFileName(), "file"); // the root is a directory, and so is an empty path
    }
}
