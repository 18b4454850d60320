package dev.selvedge.policy;

import dev.selvedge.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The state of a policy, which starts fresh when the policy is handed another clock than before. */
final class PerClock<S> {

    private static final VarHandle KEPT;

    static {
        try {
            KEPT = MethodHandles.lookup().findVarHandle(PerClock.class, "kept", Kept.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Function<TimeSource, S> fresh;

    /** null → that of the first clock → that of another one, by anyone. */
    private volatile @Nullable Kept<S> kept;

    PerClock(Function<TimeSource, S> fresh) {
        this.fresh = fresh;
    }

    S on(TimeSource time) {
        Kept<S> k = kept;
        return k != null && k.time == time ? k.state : replaced(k, time);
    }

    /** The state there is, or a fresh one on the system's time. */
    S latest() {
        Kept<S> k = kept;
        return k == null ? on(TimeSource.system()) : k.state;
    }

    private S replaced(@Nullable Kept<S> before, TimeSource time) {
        Kept<S> made = new Kept<>(time, fresh.apply(time));
        return KEPT.compareAndSet(this, before, made) ? made.state : on(time);
    }

    private record Kept<S>(TimeSource time, S state) {}
}
