package dev.selvedge.batch;

import dev.selvedge.Progress;

/** Where people see how far one call is. */
sealed interface Display permits Lines, TerminalLine {

    /** Shows it, or leaves it out; {@code last} is never left out, and nothing is shown after it. */
    void show(Progress p, boolean last);

    /** There will be no last one. */
    void abandon();
}
