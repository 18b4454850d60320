package dev.selvedge.examples;

/** A command has failed for a line, in one of its attempts. */
final class Failed extends Exception {

    private static final long serialVersionUID = 1;

    private final int attempt;
    private final boolean isLast;

    Failed(String how, int attempt, boolean isLast) {
        super(how, null, false, false);
        this.attempt = attempt;
        this.isLast = isLast;
    }

    /** Whether there can be no further attempt. */
    boolean isLast() {
        return isLast;
    }

    /** As people are told, and the file of failures. */
    @Override
    public String toString() {
        return inWords(getMessage(), attempt);
    }

    static String inWords(String how, int attempts) {
        return attempts == 1 ? how : how + ", after " + attempts + " attempts";
    }
}
