package dev.selvedge.policy;

/** Where the errors of a user's functions go, since they must not change what becomes of a call. */
final class Faults {

    private static final System.Logger LOG = System.getLogger("dev.selvedge.policy");

    /** How deep a chain of causes is looked into: it may be a ring. */
    private static final int CHAIN = 20;

    private Faults() {}

    /** An interrupt that a user's function has met and not answered stays pending: it was meant for the call. */
    static void report(String what, Throwable error) {
        if (isInterrupt(error)) {
            Thread.currentThread().interrupt();
        }
        try {
            LOG.log(System.Logger.Level.WARNING, what, error);
        } catch (Throwable hopeless) {
            // the log itself is broken
        }
    }

    private static boolean isInterrupt(Throwable error) {
        Throwable t = error;
        for (int i = 0; i < CHAIN && t != null; i++) {
            if (t instanceof InterruptedException) {
                return true;
            }
            t = t.getCause();
        }
        return false;
    }
}
