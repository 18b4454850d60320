package dev.selvedge;

import java.util.List;
import java.util.Map;

/**
 * A process has exited with another status than zero, and the code that asked for its result wanted zero.
 *
 * <p>The message names the command, the status, and what the process wrote to its stderr at last. A command may hold
 * secrets: those belong into the environment of a process or its stdin, which no message shows.
 *
 * @see ChildProcess.Result#orThrow()
 * @since 0.1
 */
public final class ProcessFailedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private static final int SIGNALLED = 128;
    private static final int SIGNALS = 64;
    private static final int SHOWN = 1_000;

    private static final Map<Integer, String> NAMES = Map.of(
            1, "SIGHUP", 2, "SIGINT", 3, "SIGQUIT", 6, "SIGABRT", 9, "SIGKILL", 11, "SIGSEGV", 13, "SIGPIPE", 15,
            "SIGTERM");

    /** What was started; an unmodifiable list that serializes. */
    @SuppressWarnings("serial")
    private final List<String> command;

    /** Not zero. */
    private final int status;

    /** The end of what it wrote to stderr. */
    private final String errorOutput;

    ProcessFailedException(List<String> command, int status, String errorOutput) {
        super(message(command, status, errorOutput.strip()));
        this.command = command;
        this.status = status;
        this.errorOutput = errorOutput;
    }

    private static String message(List<String> command, int status, String err) {
        String shown = err.length() <= SHOWN ? err : "..." + err.substring(err.length() - SHOWN);
        return Words.process(command) + " failed with exit status " + status + signal(status)
                + (shown.isEmpty() ? "" : ": " + shown);
    }

    private static String signal(int status) {
        int signal = status - SIGNALLED;
        if (signal < 1 || signal > SIGNALS) {
            return "";
        }
        String name = NAMES.get(signal);
        return " (by convention: killed by signal " + signal + (name == null ? "" : ", " + name) + ")";
    }

    /**
     * What was started.
     *
     * @return the program and its arguments; unmodifiable
     */
    public List<String> command() {
        return command;
    }

    /**
     * The exit status. One above 128 means by convention that signal {@code status - 128} has killed the process.
     *
     * @return any number but zero
     */
    public int status() {
        return status;
    }

    /**
     * What the process wrote to its stderr at last, as {@link ChildProcess.Result#err()} has it.
     *
     * @return the end of it; empty if there was nothing, or it went elsewhere
     */
    public String errorOutput() {
        return errorOutput;
    }
}
