package dev.selvedge.observe;

import dev.selvedge.time.Deadline;
import java.time.Duration;
import java.util.Locale;

/** Names and messages as people can read them, wherever they come from. */
final class Shown {

    /** So much of any text is enough where it is shown whole. */
    static final int WHOLE = 600;

    private Shown() {}

    /**
     * Text without what would not be seen, or would change how what is around it is shown: control characters, those that change the
     * direction of writing, halves of characters. In the place of each there is the sign for such.
     *
     * @param most how many characters; the last one is an ellipsis where there are more
     */
    static String text(String any, int most) {
        StringBuilder shown = new StringBuilder();
        int n = 0;
        for (int i = 0; i < any.length(); ) {
            int c = any.codePointAt(i);
            i += Character.charCount(c);
            if (++n == most && i < any.length()) {
                return shown.append('…').toString();
            }
            shown.appendCodePoint(isSeen(c) ? c : '\uFFFD');
        }
        return shown.toString();
    }

    private static boolean isSeen(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }

    /** The same, for what is marked up. */
    static String marked(String any, int most) {
        return escaped(text(any, most));
    }

    private static String escaped(String text) {
        StringBuilder s = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '<' -> s.append("&lt;");
                case '>' -> s.append("&gt;");
                case '&' -> s.append("&amp;");
                case '"' -> s.append("&quot;");
                case '\'' -> s.append("&#39;");
                default -> s.append(c);
            }
        }
        return s.toString();
    }

    /** What was thrown, without the name of the package; of the library's own exceptions, which are sentences, those alone. */
    static String error(Throwable thrown) {
        String type = thrown.getClass().getSimpleName();
        try {
            String message = thrown.getMessage();
            boolean ours = thrown.getClass().getPackageName().startsWith("dev.selvedge");
            return message == null ? type : ours ? message : type + ": " + message;
        } catch (RuntimeException e) {
            return type; // it cannot even say what it is
        }
    }

    /** A time in four digits. */
    static String time(long nanos) {
        long unit = 1;
        while (nanos / unit >= 10_000) {
            unit *= 10;
        }
        return Deadline.inWords(Duration.ofNanos(nanos / unit * unit));
    }

    /** A number with its thousands set apart. */
    static String count(long n) {
        return String.format(Locale.ROOT, "%,d", n);
    }
}
