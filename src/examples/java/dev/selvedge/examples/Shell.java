package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.ChildProcess;
import dev.selvedge.Scope;
import dev.selvedge.ScopeCancelledException;
import dev.selvedge.Selvedge;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A shell that starts one command after the other, and so does it in half the time that the JDK takes. Of one thread at a
 * time.
 *
 * <p>It reads commands from its standard input. After each it writes a mark to both streams, by which their reader knows
 * where the output of the command ends.
 */
final class Shell {

    private static final long FIRST_PAUSE = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(5);

    /** What it has to say itself goes nowhere; standard error is 3. */
    private static final String BEGIN = "exec 3>&2 2>/dev/null\n";

    /**
     * A process of its own becomes the command; on standard input it would find the next commands. Where a command has left
     * a stream as one that does not block, and that is full, the mark cannot be written: better no shell than none that is
     * waited for.
     */
    private static final String RUN =
            "(exec%s </dev/null 2>&3 3>&-)\necho MARK$? && echo MARK >&3 || exit\n".replace("MARK", Capture.MARK);

    private final Scope scope;
    private final ChildProcess process;
    private final CountDownLatch dismissed = new CountDownLatch(1);
    private final CountDownLatch ended;
    private boolean isNew = true;
    private boolean isClean = true;

    private Shell(Scope scope, ChildProcess process, CountDownLatch ended) {
        this.scope = scope;
        this.process = process;
        this.ended = ended;
    }

    // @start region="live"
    /** Starts one for whoever wants it, and comes back when it has ended, with all that it has started. */
    static void live(CompletableFuture<Shell> wanted) throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        try {
            scope("shell").run(s -> {
                Shell shell = new Shell(s, s.process(new ProcessBuilder("/bin/sh")), ended);
                if (wanted.complete(shell)) {
                    shell.dismissed.await(); // and not its exit, which closes what is still to be read
                    shell.process.waitFor();
                }
            });
        } catch (IOException e) {
            wanted.completeExceptionally(e);
        } catch (ScopeCancelledException e) {
            // by end(), or all is to end
        } finally {
            ended.countDown();
        }
    }

    /** Ends it, and what it runs: asked, given a grace, killed. */
    void end() throws InterruptedException {
        scope.cancel("not wanted any more");
        Selvedge.shielded(() -> ended.await());
    }

    /** It ends by itself, since there is nothing more to be read. */
    void dismiss() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // it has ended already
        }
        dismissed.countDown();
    }
    // @end

    /** Whether it can run another command: it lives, and nothing that a command has left behind writes. */
    boolean isFit() throws IOException {
        return isClean
                && process.isAlive()
                && process.getInputStream().available() == 0
                && process.getErrorStream().available() == 0;
    }

    /** Runs a command, and gives its status. If this throws, it may be still running. */
    int run(List<String> command, Capture out, Capture err) throws IOException, InterruptedException {
        send(command);
        for (long pause = FIRST_PAUSE; out.isOpen() || err.isOpen(); ) {
            boolean alive = process.isAlive(); // asked first: all that it wrote is there then
            boolean outHas = out.take(process.getInputStream());
            boolean errHas = err.take(process.getErrorStream());
            if (outHas || errHas) {
                pause = FIRST_PAUSE;
            } else if (alive) {
                boolean unused = process.waitFor(pause, TimeUnit.NANOSECONDS);
                pause = Math.min(2 * pause, LONGEST_PAUSE);
            } else {
                throw new IOException("its shell has ended: " + Failed.status(process.waitFor()));
            }
        }
        isClean = out.isClean() && err.isClean();
        return out.status();
    }

    private void send(List<String> command) throws IOException {
        StringBuilder words = new StringBuilder();
        for (String word : command) {
            words.append(" '").append(word.replace("'", "'\\''")).append('\'');
        }
        String text = (isNew ? BEGIN : "") + RUN.formatted(words);
        isNew = false;
        OutputStream in = process.getOutputStream();
        in.write(text.getBytes(InputItems.CHARSET));
        in.flush();
    }
}
