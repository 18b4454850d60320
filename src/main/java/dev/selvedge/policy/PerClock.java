package dev.selvedge.policy;

import dev.selvedge.time.TimeSource;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The state of a policy, which starts fresh when the policy is handed another clock than before. */
final class PerClock<S> {

    private final Function<TimeSource, S> fresh;

    private final AtomicReference<@Nullable Kept<S>> kept = new AtomicReference<>();

    PerClock(Function<TimeSource, S> fresh) {
        this.fresh = fresh;
    }

    S on(TimeSource time) {
        Kept<S> k = kept.get();
        return k != null && k.time == time ? k.state : replaced(k, time);
    }

    /** The state there is, or a fresh one on the system's time. */
    S latest() {
        Kept<S> k = kept.get();
        return k == null ? on(TimeSource.system()) : k.state;
    }

    private S replaced(@Nullable Kept<S> before, TimeSource time) {
        Kept<S> made = new Kept<>(time, fresh.apply(time));
        return kept.compareAndSet(before, made) ? made.state : on(time);
    }

    private record Kept<S>(TimeSource time, S state) {}
}
