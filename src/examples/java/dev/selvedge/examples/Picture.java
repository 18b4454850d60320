package dev.selvedge.examples;

import dev.selvedge.observe.Timeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * A file for a picture of what a program does.
 *
 * @param file where it is to be
 * @param form what is drawn there
 */
record Picture(Path file, Function<Timeline, String> form) {

    private static final Map<String, Function<Timeline, String>> FORMS = Map.of(
            "svg", Timeline::svg,
            "html", Timeline::html,
            "json", Timeline::chromeTrace,
            "txt", Timeline::text);

    /** The form follows from the end of the file's name. */
    static Picture in(Path file) throws Options.BadArgument {
        String name = String.valueOf(file.getFileName());
        int dot = name.lastIndexOf('.');
        String end = dot < 0 ? "" : name.substring(dot + 1).toLowerCase(Locale.ROOT);
        Function<Timeline, String> form = FORMS.get(end);
        if (form == null) {
            throw new Options.BadArgument(
                    "--timeline needs a file that ends with .svg, .html, .json or .txt: \"" + file + "\"");
        }
        return new Picture(file, form);
    }

    void draw(Timeline timeline) throws IOException {
        Files.writeString(file, form.apply(timeline));
    }
}
