package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.AttemptTimeoutException;
import dev.selvedge.DeadlineExceededException;
import dev.selvedge.ErrorBudgetExceededException;
import dev.selvedge.MainScope;
import dev.selvedge.Outcome;
import dev.selvedge.Scope;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeFailedException;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Task;
import dev.selvedge.batch.Journal;
import dev.selvedge.batch.ProgressBar;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a command for each line of a file or of standard input, many at the same time: {@code xargs -P} with a deadline,
 * further attempts, a journal, and an end that leaves nothing running.
 */
public final class Each {

    private static final int ALL_DONE = 0;
    private static final int SOME_NOT = 1;
    private static final int BAD = 2;

    private final EachArguments asked;
    private final Printer printer;

    // Counted by the owner.
    private long succeeded;
    private long failed;

    private Each(EachArguments asked, Printer printer) {
        this.asked = asked;
        this.printer = printer;
    }

    // @start region="main"
    /** Runs it, with the exit code that the usage promises. SIGINT and SIGTERM end what runs, and then the process. */
    public static void main(String[] args) {
        InputStream in = Channels.newInputStream(new FileInputStream(FileDescriptor.in).getChannel()); // interruptible
        int code = MainScope.of(scope("main")).call(s -> run(List.of(args), in, System.out, System.err));
        if (code != ALL_DONE) {
            System.exit(code);
        }
    }
    // @end

    static int run(List<String> args, InputStream in, PrintStream out, PrintStream err) {
        Printer printer = new Printer(out, err);
        EachArguments asked;
        try {
            asked = EachArguments.parse(args);
        } catch (Options.BadArgument e) {
            printer.say(e.getMessage());
            printer.say("for help: each --help");
            return BAD;
        }
        if (asked.help()) {
            out.print(EachArguments.USAGE);
            out.flush();
            return ALL_DONE;
        }
        return new Each(asked, printer).run(in);
    }

    private int run(InputStream in) {
        Path file = asked.file();
        try (InputStream from = file == null ? in : open(file)) {
            String name = file == null ? "standard input" : file.toString();
            InputItems items = new InputItems(name, from, asked.endsWithZero());
            return scope("each").listener(this::told).call(s -> run(items, s));
        } catch (ScopeFailedException e) {
            return ended(e);
        } catch (IOException e) {
            printer.say("cannot read " + file + ": " + e.getMessage());
        } catch (UncheckedIOException e) {
            printer.say(e.getMessage()); // the file is read before anything is run, or the journal is closed
        }
        return BAD;
    }

    private int run(InputItems items, Scope s) {
        try (Shells shells = Shells.in(s)) {
            Command command = new Command(asked, printer, shells);
            return asked.journal() == null ? runAll(() -> items, command) : runJournalled(() -> items, command);
        }
    }

    private static InputStream open(Path file) throws IOException {
        try {
            if (Files.isDirectory(file)) {
                throw new IOException("it is a directory");
            }
            return Channels.newInputStream(FileChannel.open(file)); // interruptible, if it is a pipe
        } catch (NoSuchFileException e) {
            throw new IOException("there is no such file", e);
        } catch (AccessDeniedException e) {
            throw new IOException("permission denied", e);
        }
    }

    // @start region="journal"
    private int runJournalled(Iterable<String> lines, Command command) {
        Journal<String> opened;
        try {
            opened = Journal.open(asked.journal(), line -> line);
        } catch (IllegalStateException | UncheckedIOException e) {
            printer.say(e.getMessage());
            return BAD;
        }
        try (Journal<String> journal = opened) {
            return runAll(journal.pending(lines), journal.recording(command));
        }
    }
    // @end

    private int runAll(Iterable<String> lines, Task.Of<String, Void, Failed> task) {
        try {
            Iterable<String> counted = asked.progress() && asked.file() != null ? all(lines) : lines;
            spec().eachCompleted(counted, new EachWork(task, printer), this::count);
            return failed == 0 ? ALL_DONE : notAll(failed + " of " + (succeeded + failed) + " failed");
        } catch (DeadlineExceededException e) {
            return notAll("the deadline of " + Options.inWords(asked.deadline()) + " has passed: " + counts());
        } catch (ErrorBudgetExceededException e) {
            return notAll("more than " + asked.maxFailures() + " have failed: " + counts());
        }
    }

    // @start region="spec"
    private ScopeSpec spec() {
        ScopeSpec spec = scope("lines").concurrency(asked.concurrency());
        if (asked.deadline() != null) {
            spec = spec.deadline(asked.deadline());
        }
        if (asked.timeout() != null) {
            spec = spec.timeout(asked.timeout());
        }
        if (asked.attempts() > 1) {
            spec = spec.retry(r -> r.attempts(asked.attempts()).on(Failed.class, AttemptTimeoutException.class));
        }
        if (asked.maxFailures() != null) {
            spec = spec.maxFailures(asked.maxFailures());
        }
        return asked.progress() ? spec.progress(ProgressBar.auto()) : spec;
    }
    // @end

    private static List<String> all(Iterable<String> lines) {
        List<String> all = new ArrayList<>();
        lines.forEach(all::add);
        return all;
    }

    private void count(String line, Outcome<Void> outcome) {
        switch (outcome) {
            case Outcome.Success<Void> s -> succeeded++;
            case Outcome.Failure<Void> f -> failed++;
            case Outcome.Cancelled<Void> c -> {} // there is an exception to come, which says why
        }
    }

    /** What else goes wrong: a process that had to be killed, for instance. */
    private void told(ScopeEvent event) {
        if (event instanceof ScopeEvent.Unhandled(String scope, Throwable error) && !isToldElsewhere(error)) {
            printer.say(String.valueOf(error.getMessage()));
        }
    }

    /** What ends the job may come to several threads at the same time. */
    private static boolean isToldElsewhere(Throwable error) {
        return error instanceof Hopeless || error instanceof UncheckedIOException || error instanceof Failed;
    }

    /** Something has ended the job that is no failure of a line. */
    private int ended(ScopeFailedException e) {
        String message = e.getCause().getMessage();
        int code = switch (e.getCause()) {
            case Hopeless h -> h.exitCode();
            case UncheckedIOException io -> BAD; // of the lines, or of the journal
            default -> throw e;
        };
        printer.say(message);
        return code;
    }

    private String counts() {
        return succeeded + " succeeded, " + failed + " failed, the others were cut off or not run";
    }

    private int notAll(String why) {
        printer.say(why);
        return SOME_NOT;
    }
}
