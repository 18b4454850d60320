package dev.selvedge;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** How names and lists read in messages. */
final class Words {

    private static final int NAMES_SHOWN = 10;

    private static final int COMMAND_SHOWN = 200;

    private Words() {}

    /** {@code the process "git diff"}; of a long command, the beginning. */
    static String process(List<String> command) {
        String words = String.join(" ", command);
        String shown = words.length() <= COMMAND_SHOWN ? words : words.substring(0, COMMAND_SHOWN) + "...";
        return "the process \"" + shown + "\"";
    }

    /** {@code the scope "page"}, or {@code the scope} if it has no name. */
    static String scope(@Nullable String name) {
        return name == null ? "the scope" : "the scope \"" + name + "\"";
    }

    /** A few names, and how many more there are. */
    static String names(List<String> names) {
        if (names.size() <= NAMES_SHOWN) {
            return String.join(", ", names);
        }
        return String.join(", ", names.subList(0, NAMES_SHOWN)) + " and " + (names.size() - NAMES_SHOWN) + " more";
    }
}
