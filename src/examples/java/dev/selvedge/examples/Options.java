package dev.selvedge.examples;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The words of a command line, one after the other, and how the values of options are read. */
final class Options {

    private static final Pattern TIME = Pattern.compile("([0-9]{1,6})(ms|s|min)");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,9}");

    private final List<String> words;
    private int next;

    Options(List<String> words) {
        this.words = List.copyOf(words);
    }

    boolean hasNext() {
        return next < words.size();
    }

    String next() {
        return words.get(next++);
    }

    /** What follows, from the word that was given last on. */
    List<String> fromHere() {
        return words.subList(next - 1, words.size());
    }

    /** What follows. */
    List<String> rest() {
        return words.subList(next, words.size());
    }

    /** The value of an option: a time that is not zero. */
    Duration time(String option) throws BadArgument {
        String text = value(option, "a time after it, such as 5s");
        Matcher parts = TIME.matcher(text);
        if (!parts.matches()) {
            throw new BadArgument(option + " needs a time such as 500ms, 5s or 2min: \"" + text + "\" is none");
        }
        Duration time = Duration.of(
                Long.parseLong(parts.group(1)),
                switch (parts.group(2)) {
                    case "ms" -> ChronoUnit.MILLIS;
                    case "s" -> ChronoUnit.SECONDS;
                    default -> ChronoUnit.MINUTES;
                });
        if (time.isZero()) {
            throw new BadArgument(option + " needs more than no time: \"" + text + "\"");
        }
        return time;
    }

    /** The value of an option: a whole number. */
    int number(String option, int least) throws BadArgument {
        String text = value(option, "a number after it");
        if (!NUMBER.matcher(text).matches()) {
            throw new BadArgument(option + " needs a whole number such as 8: \"" + text + "\" is none");
        }
        int number = Integer.parseInt(text);
        if (number < least) {
            throw new BadArgument(option + " needs at least " + least + ": \"" + text + "\"");
        }
        return number;
    }

    /** The value of an option: where a file is, or will be. */
    Path file(String option) throws BadArgument {
        String text = value(option, "a file after it");
        try {
            if (!text.isEmpty()) {
                return Path.of(text);
            }
        } catch (InvalidPathException e) {
            // said below
        }
        throw new BadArgument(option + " needs the path of a file: \"" + text + "\" is none");
    }

    /** The value of an option. */
    String value(String option, String what) throws BadArgument {
        if (!hasNext()) {
            throw new BadArgument(option + " needs " + what);
        }
        return next();
    }

    /** A time in the units in which it is given. */
    static String inWords(Duration time) {
        if (time.toMillisPart() > 0) {
            return time.toMillis() + " ms";
        }
        return time.toSecondsPart() > 0 ? time.toSeconds() + " s" : time.toMinutes() + " min";
    }

    /** An argument that cannot be meant. */
    static final class BadArgument extends Exception {

        private static final long serialVersionUID = 1;

        BadArgument(String message) {
            super(message);
        }
    }
}
