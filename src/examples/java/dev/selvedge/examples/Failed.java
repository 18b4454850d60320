package dev.selvedge.examples;

/** A command has failed for a line, in one of its attempts. */
final class Failed extends Exception {

    private static final long serialVersionUID = 1;

    /** With this and a number, a status tells which signal has ended the command. */
    static final int SIGNAL = 128;

    private static final int LAST_SIGNAL = 64;

    private final boolean isLast;

    Failed(String how, int attempt, boolean isLast) {
        super(inWords(how, attempt), null, false, false);
        this.isLast = isLast;
    }

    /** Whether there can be no further attempt. */
    boolean isLast() {
        return isLast;
    }

    static String inWords(String how, int attempts) {
        return attempts == 1 ? how : how + ", after " + attempts + " attempts";
    }

    static String status(int status) {
        boolean isSignal = status > SIGNAL && status <= SIGNAL + LAST_SIGNAL;
        return "status " + status + (isSignal ? ", as of signal " + (status - SIGNAL) : "");
    }
}
