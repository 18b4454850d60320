package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.Scope;
import dev.selvedge.Selvedge;
import java.io.IOException;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Shells that run commands for many threads, each in the hands of one at a time. There are as many as are needed at the
 * same time.
 */
final class Shells implements AutoCloseable {

    private final Deque<Shell> idle = new ConcurrentLinkedDeque<>();
    private final AtomicReference<Wish> last;

    /** The keeper's. Not the first one for good: that would hold all that come after it. */
    private Wish served = new Wish();

    private Shells() {
        this.last = new AtomicReference<>(served);
    }

    // @start region="keeper"
    /** Shells that end with a scope. Only its owner can fork in a scope: so one fork is the owner of one for shells. */
    static Shells in(Scope s) {
        Shells shells = new Shells();
        s.fork("shells", () -> scope("shells").run(shells::keep));
        return shells;
    }

    private void keep(Scope s) throws Exception {
        for (Wish wish = next(); wish != null; wish = next()) {
            CompletableFuture<Shell> wanted = wish.shell;
            s.fork(() -> Shell.live(wanted));
        }
    }

    /** Waits until somebody wishes for a shell; null at the end. */
    private Wish next() throws Exception {
        Wish next = Selvedge.await(served.next);
        served = next;
        return next;
    }
    // @end

    // @start region="run"
    /** Runs a command to its end. If that is cut off, the command is ended, and so is its shell. */
    int run(List<String> command, Capture out, Capture err) throws IOException, InterruptedException {
        Shell shell = take();
        boolean fit = false;
        try {
            int status = shell.run(command, out, err);
            fit = shell.isFit();
            return status;
        } finally {
            if (fit) {
                idle.push(shell);
            } else {
                shell.end();
            }
        }
    }
    // @end

    private Shell take() throws IOException, InterruptedException {
        for (Shell shell = idle.poll(); shell != null; shell = idle.poll()) {
            if (shell.isFit()) {
                return shell;
            }
            shell.end();
        }
        return started();
    }

    private Shell started() throws IOException {
        Wish wish = new Wish();
        last.getAndSet(wish).next.complete(wish);
        try {
            return Selvedge.await(wish.shell);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** No thread has a shell any more. */
    @Override
    public void close() {
        idle.forEach(Shell::dismiss);
        last.get().next.complete(null);
    }

    /**
     * That somebody needs one more. Each knows the next one, so that they are a queue.
     *
     * @param shell what is wished for
     * @param next who comes after this one; null at the end
     */
    private record Wish(CompletableFuture<Shell> shell, CompletableFuture<Wish> next) {

        Wish() {
            this(new CompletableFuture<>(), new CompletableFuture<>());
        }
    }
}
