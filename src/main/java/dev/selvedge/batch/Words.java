package dev.selvedge.batch;

import java.io.IOException;
import java.nio.file.FileSystemException;
import org.jspecify.annotations.Nullable;

/** What messages have in common. */
final class Words {

    /** So much of a key or an item is shown. */
    static final int LONGEST = 80;

    private Words() {}

    static String quoted(String text) {
        boolean isLong = text.length() > LONGEST;
        return Line.quoted(isLong ? text.substring(0, LONGEST) : text) + (isLong ? "…" : "");
    }

    /** An item for people, whatever its {@code toString} does. */
    static String of(@Nullable Object item) {
        String s;
        try {
            s = String.valueOf(item);
        } catch (RuntimeException e) {
            s = "of " + (item == null ? null : item.getClass());
        }
        return s.length() > LONGEST ? s.substring(0, LONGEST) + "…" : s;
    }

    /** Why a file could not be used. */
    static String why(IOException e) {
        String message = e.getMessage();
        return message == null || e instanceof FileSystemException ? e.toString() : message;
    }
}
