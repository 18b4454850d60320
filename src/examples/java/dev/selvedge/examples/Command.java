package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.ChildProcess;
import dev.selvedge.Fork;
import dev.selvedge.Scope;
import dev.selvedge.ScopeFailedException;
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

    /** With this and a number, a status tells which signal has ended the command. */
    private static final int SIGNAL = 128;

    private static final int LAST_SIGNAL = 64;
    private static final int BROKEN_PIPE = 13;

    private final List<String> words;
    private final boolean inherit;
    private final int attempts;
    private final Printer printer;

    Command(EachArguments asked, Printer printer) {
        List<String> all = new ArrayList<>(asked.command());
        if (all.stream().noneMatch(word -> word.contains(LINE))) {
            all.add(LINE);
        }
        this.words = List.copyOf(all);
        this.inherit = asked.inherit();
        this.attempts = asked.attempts();
        this.printer = printer;
    }

    /**
     * Runs it once. When this has come back or thrown, nothing of it runs any more, and what it has written is printed; and
     * so is the failure, if it was the last attempt.
     */
    @Override
    public Void call(String line) throws Failed {
        if (inherit) {
            runInherited(line);
        } else {
            runCaptured(line);
        }
        return null;
    }

    private void runInherited(String line) throws Failed {
        try {
            int status = scope().call(s -> start(s, line).waitFor());
            if (status == SIGNAL + BROKEN_PIPE) {
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

    // @start region="captured"
    private void runCaptured(String line) throws Failed {
        Capture out = printer.ofOutput();
        Capture err = printer.ofErrors();
        try {
            int status = scope().call(s -> {
                ChildProcess process = start(s, line);
                Fork<?> errors = s.fork(() -> err.read(process.getErrorStream()));
                out.read(process.getInputStream());
                errors.join();
                return process.waitFor();
            });
            ensureDone(status);
        } catch (Failed e) {
            if (e.isLast()) {
                printer.print(out, err, line, e.getMessage());
            }
            throw e;
        } catch (ScopeFailedException e) {
            throw e.rethrow(Hopeless.class);
        } finally {
            printer.print(out, err); // also if it was cut off: nothing of it runs any more
        }
    }
    // @end

    private ChildProcess start(Scope s, String line) throws Failed {
        List<String> command = new ArrayList<>(words.size());
        for (String word : words) {
            command.add(word.replace(LINE, line));
        }
        ProcessBuilder builder = new ProcessBuilder(command).redirectInput(NOTHING); // else it would eat the lines
        if (inherit) {
            builder.redirectOutput(Redirect.INHERIT).redirectError(Redirect.INHERIT);
        }
        try {
            return s.process(builder);
        } catch (IOException e) {
            throw refused(command.get(0), e);
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
            boolean isSignal = status > SIGNAL && status <= SIGNAL + LAST_SIGNAL;
            throw failed("status " + status + (isSignal ? ", as of signal " + (status - SIGNAL) : ""));
        }
    }

    private Failed failed(String how) {
        int attempt = Selvedge.attempt().number();
        return new Failed(how, attempt, attempt >= attempts);
    }
}
