package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.ChildProcess;
import dev.selvedge.Scope;
import dev.selvedge.Selvedge;
import dev.selvedge.Task;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A command that is run for one line and another, by many threads. */
final class Command implements Task.Of<String, Void, Failed> {

    private static final String LINE = "{}";
    private static final Redirect NOTHING = Redirect.from(new File("/dev/null"));

    /** How the JDK ends its message if the system has refused to run a program. */
    private static final Pattern REFUSED = Pattern.compile("error[:=] ?(\\d+),? \\(?([^()]*)\\)?\\s*$");

    private static final int NO_SUCH_FILE = 2;
    private static final int NOT_PERMITTED = 13;

    private static final int BROKEN_PIPE = 13;

    private final List<String> words;
    private final boolean inherit;
    private final int attempts;
    private final Printer printer;
    private final Shells shells;

    /** The command that was looked up last: mostly there is only one. */
    private volatile String runnable;

    Command(EachArguments asked, Printer printer, Shells shells) {
        List<String> all = new ArrayList<>(asked.command());
        if (all.stream().noneMatch(word -> word.contains(LINE))) {
            all.add(LINE);
        }
        this.words = List.copyOf(all);
        this.inherit = asked.inherit();
        this.attempts = asked.attempts();
        this.printer = printer;
        this.shells = shells;
    }

    /**
     * Runs it once. When this has come back or thrown, nothing of it runs any more, and what it has written is printed; and
     * so is the failure, if it was the last attempt.
     */
    @Override
    public Void call(String line) throws Failed, InterruptedException {
        List<String> command = new ArrayList<>(words.size());
        for (String word : words) {
            command.add(word.replace(LINE, line));
        }
        if (inherit) {
            runInherited(command, line);
        } else {
            runCaptured(command, line);
        }
        return null;
    }

    private void runInherited(List<String> command, String line) throws Failed {
        try {
            int status = scope().call(s -> start(s, command).waitFor());
            if (status == Failed.SIGNAL + BROKEN_PIPE) {
                throw Hopeless.unread();
            }
            ensureDone(status);
        } catch (Failed e) {
            if (e.isLast()) {
                printer.say(line, e.getMessage());
            }
            throw e;
        }
    }

    private ChildProcess start(Scope s, List<String> command) throws Failed {
        try {
            return s.process(new ProcessBuilder(command)
                    .redirectInput(NOTHING) // else it would eat the lines
                    .redirectOutput(Redirect.INHERIT)
                    .redirectError(Redirect.INHERIT));
        } catch (IOException e) {
            throw refused(command.get(0), e);
        }
    }

    // @start region="captured"
    private void runCaptured(List<String> command, String line) throws Failed, InterruptedException {
        Capture out = printer.ofOutput();
        Capture err = printer.ofErrors();
        try {
            ensureDone(run(command, out, err));
        } catch (Failed e) {
            if (e.isLast()) {
                printer.print(out, err, line, e.getMessage());
            }
            throw e;
        } finally {
            printer.print(out, err); // also if it was cut off: nothing of it runs any more
        }
    }
    // @end

    private int run(List<String> command, Capture out, Capture err) throws Failed, InterruptedException {
        if (command.stream().anyMatch(word -> word.indexOf('\0') >= 0)) {
            throw failed("not started: a zero byte cannot be handed over");
        }
        ensureRunnable(command.get(0));
        try {
            return shells.run(command, out, err);
        } catch (IOException e) {
            throw failed(e.getMessage());
        }
    }

    private void ensureRunnable(String name) {
        if (!name.equals(runnable)) {
            Program.ensureRunnable(name);
            runnable = name;
        }
    }

    /** A command that is not there is there for no line; but one line may be too long for the system. */
    private Failed refused(String name, IOException e) {
        String message = String.valueOf(e.getMessage());
        Matcher parts = REFUSED.matcher(message);
        if (!parts.find()) {
            return failed("not started: " + message);
        }
        String why = parts.group(2);
        return switch (Integer.parseInt(parts.group(1))) {
            case NO_SUCH_FILE -> throw Hopeless.notFound(name);
            case NOT_PERMITTED -> throw Hopeless.cannotBeRun(name, why);
            default -> failed("not started: " + why);
        };
    }

    private void ensureDone(int status) throws Failed {
        if (status != 0) {
            throw failed(Failed.status(status));
        }
    }

    private Failed failed(String how) {
        int attempt = Selvedge.attempt().number();
        return new Failed(how, attempt, attempt >= attempts);
    }
}
