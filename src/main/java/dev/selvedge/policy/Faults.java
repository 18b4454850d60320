package dev.selvedge.policy;

/** Where the errors of a user's functions go, since they must not change what becomes of a call. */
final class Faults {

    private static final System.Logger LOG = System.getLogger("dev.selvedge.policy");

    private Faults() {}

    static void report(String what, Throwable error) {
        try {
            LOG.log(System.Logger.Level.WARNING, what, error);
        } catch (Throwable hopeless) {
            // the log itself is broken
        }
    }
}
