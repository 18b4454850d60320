package dev.selvedge;

/** Throws what the compiler does not know about: a task's own exception passes through the engine unwrapped. */
final class Sneaky {

    private Sneaky() {}

    /** Throws {@code t}; declared to return so that callers can write {@code throw Sneaky.sneak(t)}. */
    static RuntimeException sneak(Throwable t) {
        throw Sneaky.<RuntimeException>as(t);
    }

    /** An exception to throw; an error is thrown at once. */
    static Exception asException(Throwable t) {
        if (t instanceof Exception e) {
            return e;
        }
        throw Sneaky.<RuntimeException>as(t);
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> X as(Throwable t) throws X {
        throw (X) t;
    }
}
