package dev.selvedge.batch;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A terminal at the other end of standard error, on which a line can be drawn again.
 *
 * @param columns how wide it is
 * @param colours whether they are welcome
 * @param charset what it is written to in
 */
record Terminal(int columns, boolean colours, Charset charset) {

    private static final int USUAL = 80;

    /** Where the system has it, it tells what a descriptor is without a process being started. */
    private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");

    /** Prints rows and columns if standard error is a terminal: the console of Java knows of input and output alone. */
    private static final String QUESTION = "exec 3>&2 2>/dev/null; test -t 3 && { stty size <&3 || echo 0 0; }";

    private static final Pattern ANSWER = Pattern.compile("\\d+ (\\d{1,5})");

    /**
     * The terminal, if there is one.
     *
     * @param env the environment: {@code CI} and a {@code TERM} that is dumb or not set say that lines are not to be drawn
     *     again, {@code NO_COLOR} what it says
     * @return null if there is none
     */
    static @Nullable Terminal atStandardError(Map<String, String> env) {
        return of(env, Terminal::ask);
    }

    static @Nullable Terminal of(Map<String, String> env, Asking asking) {
        String term = env.getOrDefault("TERM", "");
        String ci = env.getOrDefault("CI", "");
        if (term.isEmpty() || term.equals("dumb") || !(ci.isEmpty() || ci.equals("false"))) {
            return null;
        }
        String answer;
        try {
            answer = asking.rowsAndColumns();
        } catch (IOException | UncheckedIOException | SecurityException | UnsupportedOperationException e) {
            return null; // no shell to ask, so not the kind of system where a bar is worth the trouble
        }
        Matcher size = ANSWER.matcher(answer == null ? "" : answer.strip());
        if (!size.matches()) {
            return null;
        }
        int columns = Integer.parseInt(size.group(1));
        boolean colours = env.getOrDefault("NO_COLOR", "").isEmpty();
        return new Terminal(columns < 10 ? USUAL : columns, colours, System.err.charset());
    }

    /** Its own stream: {@code System.err} may have been set to something that is no terminal. */
    PrintStream open() {
        return new PrintStream(new FileOutputStream(FileDescriptor.err), false, charset);
    }

    /** Whether blocks and lines can be written to it. */
    boolean unicode() {
        return charset.newEncoder().canEncode("█▏│");
    }

    private static @Nullable String ask() throws IOException {
        if (Files.isSymbolicLink(STANDARD_ERROR)
                && !Files.readSymbolicLink(STANDARD_ERROR).startsWith("/dev")) {
            return null;
        }
        Process shell = new ProcessBuilder("sh", "-c", QUESTION)
                .redirectInput(Redirect.from(new File("/dev/null")))
                .redirectError(Redirect.INHERIT)
                .start();
        try (BufferedReader answer = shell.inputReader()) {
            return answer.readLine();
        }
    }

    /** How the system is asked. */
    interface Asking {

        /** Rows and columns; null, or anything else, if there is no terminal. */
        @Nullable
        String rowsAndColumns() throws IOException;
    }
}
