package dev.selvedge.examples;

import dev.selvedge.AttemptTimeoutException;
import dev.selvedge.Outcome;
import dev.selvedge.Selvedge;
import dev.selvedge.Task;

// @start region="work"
/**
 * The work on one line. That it has failed is said by the thread that has done it, at once: the owner of the job may be
 * waiting for the next line.
 */
final class EachWork implements Task.Recorded<String, Void, Failed> {

    private final Task.Of<String, Void, Failed> task;
    private final Printer printer;

    /** How many there have been for the line that the thread works on. */
    private final ThreadLocal<Integer> attempts = new ThreadLocal<>();

    EachWork(Task.Of<String, Void, Failed> task, Printer printer) {
        this.task = task;
        this.printer = printer;
    }

    @Override
    public Outcome.Success<Void> known(String line) {
        return task instanceof Task.Recorded<String, Void, Failed> kept ? kept.known(line) : null;
    }

    @Override
    public Void work(String line) throws Failed, InterruptedException {
        attempts.set(Selvedge.attempt().number());
        return task instanceof Task.Recorded<String, Void, Failed> kept ? kept.work(line) : task.call(line);
    }

    /** After the last attempt. What is thrown here is the end of the job. */
    @Override
    public void record(String line, Outcome<Void> outcome) {
        if (outcome instanceof Outcome.Failure<Void>(Throwable error)) {
            say(line, error);
        }
        if (task instanceof Task.Recorded<String, Void, Failed> kept) {
            kept.record(line, outcome);
        }
    }

    private void say(String line, Throwable error) {
        switch (error) {
            case Hopeless h -> throw h;
            case Failed f when f.isLast() -> {} // said, together with what the command has written
            case AttemptTimeoutException e -> {
                String how = "did not end within " + Options.inWords(e.limit());
                printer.say(line, Failed.inWords(how, attempts.get()));
            }
            case Failed f -> printer.say(line, f.getMessage());
            default -> printer.say(line, error.toString());
        }
    }
}
// @end
