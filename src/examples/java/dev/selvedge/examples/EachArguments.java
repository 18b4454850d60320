package dev.selvedge.examples;

import dev.selvedge.examples.Options.BadArgument;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What the command line asks {@link Each} for.
 *
 * @param command the command, with {@code {}} for the line
 * @param file where the lines are; null for standard input
 * @param endsWithZero whether an item ends with a zero byte, rather than with its line
 * @param concurrency how many commands run at the same time
 * @param deadline the time for all of them together; null for no limit
 * @param timeout the time for one attempt; null for no limit
 * @param attempts how often a command is tried that fails
 * @param maxFailures how many lines may fail; null for any number
 * @param journal where it is kept what is done; null for nowhere
 * @param progress whether it is shown how far it is
 * @param inherit whether the commands write to our own output, as they go
 * @param help whether only the usage is wanted
 */
record EachArguments(
        List<String> command,
        Path file,
        boolean endsWithZero,
        int concurrency,
        Duration deadline,
        Duration timeout,
        int attempts,
        Integer maxFailures,
        Path journal,
        boolean progress,
        boolean inherit,
        boolean help) {

    static final String USAGE = """
        usage: each [OPTION...] [--] COMMAND [ARG...]

        Runs a command for each line of standard input, many at the same time. {} in COMMAND and in each ARG stands for
        the line; if it is nowhere, the line is the last argument. A line is one argument, whatever is in it: no shell
        reads it. For one, hand the line over to it: each -- sh -c 'gzip < "$1" > "$1.gz"' _
        Empty lines are skipped. Lines are read as commands are begun. Commands have nothing on their standard input.

          --file FILE        reads the lines from this file
          --null             items end with a zero byte, not with the line: find -print0 | each --null ...
          --concurrency N    so many commands at the same time (as many as there are processors, if not given)
          --deadline TIME    the time for all together: 500ms, 5s, 2min; what runs then is ended
          --timeout TIME     the time for one attempt of one command; then that is ended, and has failed
          --attempts N       a command that fails is run again, after a while, so many times in all (1 if not given)
          --max-failures N   gives up when more than N lines have failed; what runs then is ended
          --journal FILE     keeps in this file which lines are done: a later call does not run those again. A line whose
                             command was interrupted is run again. A line that is there twice is run once. What failed is
                             in FILE.failed
          --progress         shows on standard error how far it is; with --file, the file is read as a whole before
          --inherit          commands write as they go, and their lines may mix, as under xargs; they start more slowly
          --help             prints this text

        What a command writes is printed when it ends, so that lines of two commands do not mix. If it is more than a
        megabyte, it is printed in pieces, each of whole lines.
        A command that is to be ended is asked to (SIGTERM), with all that it has started, and killed 5 seconds later.

        exit code: 0    each command ended with status 0
                   1    some failed or were not run: the deadline, --max-failures, or nobody reads what is printed
                   2    an argument is bad, or the lines cannot be read, or the journal cannot be opened or written
                   126  the command cannot be run
                   127  there is no such command
                   130  ended by SIGINT (Ctrl-C)
                   143  ended by SIGTERM
        """;

    /** All arguments are looked at before anything is run. */
    static EachArguments parse(List<String> args) throws BadArgument {
        List<String> command = List.of();
        Path file = null;
        boolean endsWithZero = false;
        int concurrency = Runtime.getRuntime().availableProcessors();
        Duration deadline = null;
        Duration timeout = null;
        int attempts = 1;
        Integer maxFailures = null;
        Path journal = null;
        boolean progress = false;
        boolean inherit = false;
        boolean help = false;
        Options options = new Options(args);
        while (command.isEmpty() && !help && options.hasNext()) {
            String arg = options.next();
            switch (arg) {
                case "--file" -> file = options.file(arg);
                case "--null" -> endsWithZero = true;
                case "--concurrency" -> concurrency = options.number(arg, 1);
                case "--deadline" -> deadline = options.time(arg);
                case "--timeout" -> timeout = options.time(arg);
                case "--attempts" -> attempts = options.number(arg, 1);
                case "--max-failures" -> maxFailures = options.number(arg, 0);
                case "--journal" -> journal = options.file(arg);
                case "--progress" -> progress = true;
                case "--inherit" -> inherit = true;
                case "--help" -> help = true;
                case "--" -> command = command(options.rest());
                default -> {
                    if (arg.startsWith("-")) {
                        throw new BadArgument("there is no option " + arg);
                    }
                    command = command(options.fromHere());
                }
            }
        }
        if (command.isEmpty() && !help) {
            throw new BadArgument("there is no command to run");
        }
        return new EachArguments(
                command,
                file,
                endsWithZero,
                concurrency,
                deadline,
                timeout,
                attempts,
                maxFailures,
                journal,
                progress,
                inherit,
                help);
    }

    private static List<String> command(List<String> words) throws BadArgument {
        if (words.isEmpty()) {
            throw new BadArgument("-- needs a command after it");
        }
        if (words.get(0).isEmpty()) {
            throw new BadArgument("the command has no name: \"\"");
        }
        return words;
    }
}
