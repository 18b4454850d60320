package dev.selvedge.policy;

/**
 * The bulkhead had no free slot within the time that the call may wait: nothing was run. It has no stack trace.
 *
 * @since 0.1
 */
public final class BulkheadFullException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** How many slots it has. */
    private final int slots;

    BulkheadFullException(String message, int slots) {
        super(message, null, false, false);
        this.slots = slots;
    }

    /**
     * How many slots the bulkhead has.
     *
     * @return all, free or not
     */
    public int slots() {
        return slots;
    }
}
