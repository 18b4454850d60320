package dev.selvedge.examples;

import dev.selvedge.examples.Options.BadArgument;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the command line asks {@link Fetch} for.
 *
 * @param urls what to fetch; none: the tour
 * @param deadline the time for all of them together
 * @param picture the file for a picture of what is done; null for none
 * @param help whether only the usage is wanted
 */
record Arguments(
        List<URI> urls, Duration deadline, @Nullable Picture picture, boolean help) {

    static final String USAGE = """
        usage: fetch [--deadline TIME] [--timeline FILE] [--] URL...
               fetch [--timeline FILE]

        Fetches all URLs at the same time, and prints a line for each as it comes in and a summary.
        Without URLs it shows what scopes and policies do, with back ends of its own on 127.0.0.1.

          --deadline TIME  the time for all together: 500ms, 5s, 2min (10s if not given)
          --timeline FILE  draws what was done: a picture (.svg), a page (.html), a tree (.txt),
                           or a trace for viewers such as Perfetto (.json)
          --help           prints this text
          --               what follows are URLs

        A response is a response, whatever its status; but a status of 400 or more counts as a failure.

        exit code: 0  all were fetched
                   1  some failed or were cut off, or the picture cannot be written
                   2  an argument is bad; nothing was fetched
        """;

    private static final Duration DEFAULT_DEADLINE = Duration.ofSeconds(10);
    private static final int LAST_PORT = 65_535;

    /** All arguments are looked at before anything is fetched. */
    static Arguments parse(List<String> args) throws BadArgument {
        List<URI> urls = new ArrayList<>();
        Duration deadline = null;
        Picture picture = null;
        boolean onlyUrls = false;
        Options options = new Options(args);
        while (options.hasNext()) {
            String arg = options.next();
            if (onlyUrls || !arg.startsWith("-")) {
                urls.add(url(arg));
                continue;
            }
            switch (arg) {
                case "--" -> onlyUrls = true;
                case "--deadline" -> deadline = options.time(arg);
                case "--timeline" -> picture = Picture.in(options.file(arg));
                case "--help" -> {
                    return new Arguments(List.of(), DEFAULT_DEADLINE, null, true);
                }
                default -> throw new BadArgument("there is no option " + arg);
            }
        }
        if (deadline != null && urls.isEmpty()) {
            throw new BadArgument("--deadline needs a URL to fetch, and there is none");
        }
        return new Arguments(List.copyOf(urls), deadline == null ? DEFAULT_DEADLINE : deadline, picture, false);
    }

    static URI url(String text) throws BadArgument {
        URI url;
        try {
            url = new URI(text);
        } catch (URISyntaxException e) {
            throw new BadArgument("\"" + text + "\" is not a URL: " + e.getReason());
        }
        String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
        if (!scheme.equals("http") && !scheme.equals("https")) {
            throw new BadArgument("\"" + text + "\" is not a URL of http or https");
        }
        if (url.getHost() == null) {
            throw new BadArgument("\"" + text + "\" is not a URL: it names no host");
        }
        if (url.getPort() > LAST_PORT) {
            throw new BadArgument("\"" + text + "\" is not a URL: there is no port " + url.getPort());
        }
        return url;
    }
}
