package dev.selvedge.batch;

import dev.selvedge.Progress;
import java.io.PrintStream;

/** One line of a terminal, drawn again and again; a new line is begun when the call is over. */
final class TerminalLine implements Display {

    private static final String FROM_THE_LEFT = "\r\u001b[K";

    /** Made narrower while the job runs, a terminal would break the line in two, and each drawing would scroll. */
    private static final String CUT_OFF = "\u001b[?7l";

    private static final String WRAP = "\u001b[?7h";

    private final PrintStream out;
    private final Picture picture;

    TerminalLine(PrintStream out, Picture picture) {
        this.out = out;
        this.picture = picture;
    }

    @Override
    public void show(Progress p, boolean last) {
        // In one piece, so that the output of others comes before or after it, and none of it is left out by a kill.
        out.print(FROM_THE_LEFT + CUT_OFF + picture.of(p) + WRAP + (last ? "\n" : ""));
        out.flush();
    }

    @Override
    public void abandon() {
        out.print("\n");
        out.flush();
    }

    /** What stands in the line. */
    interface Picture {
        String of(Progress p);
    }
}
