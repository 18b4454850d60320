package dev.selvedge.examples;

import dev.selvedge.examples.Options.BadArgument;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the command line asks {@link Batch} for.
 *
 * @param papers how many
 * @param rate requests a second
 * @param journal where it is kept what is done
 * @param service what the number of a paper is to be put behind; null for a service of its own
 * @param help whether only the usage is wanted
 */
record BatchArguments(
        int papers, int rate, Path journal, @Nullable URI service, boolean help) {

    static final String USAGE = """
        usage: batch [--papers N] [--rate N] [--journal FILE] [--service URL]

        Grades papers by a service that allows so many requests a second, and is not always well: it is busy
        now and then, is down for two seconds, and cannot read some of the papers.
        What is done is in a journal. Stop it with Ctrl-C, or kill it, and start it again: it does the rest.

          --papers N      how many, 1 to 1000000 (5000 if not given)
          --rate N        requests a second, 1 to 100000 (500 if not given)
          --journal FILE  what is done, a line for each paper (grades.jsonl if not given);
                          failures are in FILE.failed
          --service URL   such a service, with / at the end; the number of a paper is put behind it
                          (one of its own on 127.0.0.1 if not given)
          --help          prints this text

        exit code: 0    all papers are graded
                   1    some are not
                   2    an argument is bad, or the journal cannot be opened or written
                   130  stopped by Ctrl-C (143: by SIGTERM); what was graded is in the journal
        """;

    private static final int PAPERS = 5_000;
    private static final int MOST_PAPERS = 1_000_000;
    private static final int RATE = 500;
    private static final int HIGHEST_RATE = 100_000;
    private static final Path JOURNAL = Path.of("grades.jsonl");

    static BatchArguments parse(List<String> args) throws BadArgument {
        int papers = PAPERS;
        int rate = RATE;
        Path journal = JOURNAL;
        URI service = null;
        Options rest = new Options(args);
        while (rest.hasNext()) {
            String option = rest.next();
            switch (option) {
                case "--papers" -> papers = number(option, rest, MOST_PAPERS);
                case "--rate" -> rate = number(option, rest, HIGHEST_RATE);
                case "--journal" -> journal = rest.file(option);
                case "--service" -> service = service(rest.value(option, "a URL after it"));
                case "--help" -> {
                    return new BatchArguments(PAPERS, RATE, JOURNAL, null, true);
                }
                default ->
                    throw new BadArgument(
                            option.startsWith("-")
                                    ? "there is no option " + option
                                    : "what is \"" + option + "\" for?");
            }
        }
        return new BatchArguments(papers, rate, journal, service, false);
    }

    private static int number(String option, Options rest, int most) throws BadArgument {
        int number = rest.number(option, 1);
        if (number > most) {
            throw new BadArgument(option + " needs at most " + most + ": \"" + number + "\"");
        }
        return number;
    }

    private static URI service(String text) throws BadArgument {
        URI url = Arguments.url(text);
        if (!text.endsWith("/")) {
            throw new BadArgument("--service needs a / at the end: \"" + text + "\"");
        }
        return url;
    }
}
