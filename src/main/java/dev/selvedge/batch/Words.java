package dev.selvedge.batch;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;

/** What messages have in common. */
final class Words {

    /** So much of a key or an item is shown. */
    static final int LONGEST = 80;

    private Words() {}

    static String quoted(String text) {
        boolean isLong = text.length() > LONGEST;
        String quoted = Line.quoted(isLong ? text.substring(0, LONGEST) : text);
        return shown(quoted) + (isLong ? "…" : "");
    }

    /** A line may hold these as they are; a message must not be broken by them. */
    private static String shown(String quoted) {
        if (!breaksLines(quoted)) {
            return quoted;
        }
        StringBuilder s = new StringBuilder(quoted.length() + LONGEST);
        quoted.chars().forEach(c -> s.append(breaksLines(c) ? String.format("\\u%04x", c) : Character.toString(c)));
        return s.toString();
    }

    /** Whether a text is more than a part of one line: it has a line break, or what a terminal may take for a command. */
    static boolean breaksLines(String text) {
        return text.chars().anyMatch(Words::breaksLines);
    }

    private static boolean breaksLines(int c) {
        int type = Character.getType(c);
        return type == Character.CONTROL || type == Character.LINE_SEPARATOR || type == Character.PARAGRAPH_SEPARATOR;
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
        return switch (e) {
            case AccessDeniedException denied -> message + ": permission denied";
            case NoSuchFileException none -> message + ": there is no such file";
            case FileSystemException other when other.getReason() == null -> e.toString();
            default -> message == null ? e.toString() : message;
        };
    }
}
