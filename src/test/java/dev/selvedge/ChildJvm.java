package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * A program in a process of its own, to which signals can be sent. It is started by {@link ProcessBuilder}: one that a
 * shell starts in the background ignores SIGINT.
 */
public final class ChildJvm implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 40;

    /** Whoever runs the tests may ignore signals, as below nohup; and what is ignored is inherited. */
    private static final List<String> HEEDING_SIGNALS = List.of("env", "--default-signal=INT,HUP,TERM");

    private static final boolean CAN_HEED = canHeed();

    private final Process process;
    private final BufferedReader out;
    private final List<String> lines = new ArrayList<>();
    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final Thread errorReader;

    private ChildJvm(List<String> command) throws IOException {
        process = new ProcessBuilder(command).start();
        CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .execute(this::close); // whoever reads goes on
        out = reader(process.getInputStream());
        errorReader = Thread.ofVirtual().start(this::readErrors);
    }

    /** The program with the library and the tests on its class path, as users start theirs. */
    public static ChildJvm start(List<String> flags, Class<?> program, String... args) throws Exception {
        List<String> command = new ArrayList<>(heedingSignals());
        command.addAll(command(flags, program, args));
        return new ChildJvm(command);
    }

    /** What to put before a command that must not ignore signals. */
    public static List<String> heedingSignals() {
        return CAN_HEED ? HEEDING_SIGNALS : List.of();
    }

    /** Not all systems have such an env. */
    private static boolean canHeed() {
        List<String> nothing = new ArrayList<>(HEEDING_SIGNALS);
        nothing.add("true");
        try {
            return new ProcessBuilder(nothing).start().waitFor() == 0;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    /** The same, started in the background by a shell that is not interactive; the first line is {@code pid} and its number. */
    static ChildJvm inBackground(Class<?> program, String... args) throws Exception {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "\"$@\" & echo pid $!; wait $!", "sh"));
        command.addAll(command(List.of(), program, args));
        return new ChildJvm(command);
    }

    private static List<String> command(List<String> flags, Class<?> program, String... args) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(flags);
        command.addAll(List.of("-cp", pathOf(ScopeSpec.class) + File.pathSeparator + pathOf(program)));
        command.add(program.getName());
        command.addAll(List.of(args));
        return command;
    }

    private static String pathOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
    }

    private static BufferedReader reader(InputStream in) {
        return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    }

    private void readErrors() {
        try (BufferedReader err = reader(process.getErrorStream())) {
            err.lines().forEach(errors::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads what it prints, up to this line. */
    public void await(String line) throws IOException {
        String next;
        do {
            next = out.readLine();
            assertThat(next)
                    .as("after %s and %s, instead of %s", lines, errors, line)
                    .isNotNull();
            lines.add(next);
        } while (!next.equals(line));
    }

    /** Reads one line. */
    String line() throws IOException {
        return out.readLine();
    }

    public void signal(String name) throws Exception {
        signal(name, process.pid());
    }

    /** The same, for one that may have ended by itself. */
    public void signalUnlessOver(String name) throws Exception {
        if (new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .start()
                        .waitFor()
                != 0) {
            process.waitFor();
        }
    }

    static void signal(String name, long pid) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Gives it so much time; whether it has ended by then. */
    public boolean exitsWithin(Duration time) throws InterruptedException {
        return process.waitFor(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Waits for its end. */
    public int exitCode() throws Exception {
        out.lines().forEach(lines::add);
        errorReader.join();
        return process.waitFor();
    }

    /** What it has printed. */
    public List<String> lines() {
        return lines;
    }

    String errors() {
        return String.join("\n", errors);
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
