package dev.selvedge.batch;

import dev.selvedge.Task;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** What the tests run in a process of its own. */
final class JournalChild {

    private JournalChild() {}

    /** {@code hold FILE}: opens a journal, says so, and keeps it until its input ends. {@code work FILE SYNC TOTAL}: does items. */
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        Path file = Path.of(args[1]);
        if (args[0].equals("hold")) {
            hold(file, out);
        } else {
            work(file, args[2].equals("every") ? Journal.Sync.EVERY : Journal.Sync.OS, Integer.parseInt(args[3]), out);
        }
    }

    private static void hold(Path file, PrintStream out) throws Exception {
        try (Journal<String> journal = Journal.open(file, Function.identity())) {
            out.println("open with " + journal.size());
            while (System.in.read() >= 0) {
                // Until the other end is closed.
            }
        } catch (IllegalStateException e) {
            out.println(e.getMessage());
        }
    }

    /** Does what is pending, in four threads, and prints the key of each item that was acknowledged. */
    private static void work(Path file, Journal.Sync sync, int total, PrintStream out) throws Exception {
        try (Journal<Integer> journal = Journal.open(file, i -> "key " + i, sync)) {
            Task.Recorded<Integer, Integer, RuntimeException> work =
                    Journals.steps(journal.recording(i -> i, i -> "" + i, Integer::valueOf));
            List<Thread> threads = IntStream.range(0, 4)
                    .mapToObj(t -> Thread.ofPlatform().start(() -> {
                        for (int i = t; i < total; i += 4) {
                            if (!journal.contains(i)) {
                                int unused = Journals.call(work, i);
                                out.println(i);
                            }
                        }
                    }))
                    .toList();
            for (Thread thread : threads) {
                thread.join();
            }
        }
        out.println("end");
    }
}
