package dev.selvedge.examples;

/** A command has failed for a line, in one of its attempts. */
final class Failed extends Exception {

    private static final long serialVersionUID = 1;

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
}
