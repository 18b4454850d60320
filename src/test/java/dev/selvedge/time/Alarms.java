package dev.selvedge.time;

/** Alarms for tests. */
public final class Alarms {

    private Alarms() {}

    /** An alarm that does so when it rings. */
    public static Alarm alarm(Runnable action) {
        return new Alarm() {
            @Override
            protected void ring() {
                action.run();
            }
        };
    }
}
