package dev.selvedge;

import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Shows how far a call over many items is to whoever asks, from any thread, at any time. Given to
 * {@link ScopeSpec#progress(ProgressMeter)}; thread-safe. It shows the call that began last.
 *
 * {@snippet class="dev.selvedge.examples.BatchExamples" region="meter"}
 *
 * @since 0.1
 */
public final class ProgressMeter {

    private static final Progress NOTHING_YET = new Progress(Progress.UNKNOWN, 0, 0, 0, 0, 0, 0, Duration.ZERO, false);

    /** Counts as long as the call runs; afterwards gives the last count. */
    private volatile @Nullable Supplier<Progress> counter;

    private ProgressMeter() {}

    /**
     * A meter that shows nothing yet.
     *
     * @return a new meter
     */
    public static ProgressMeter create() {
        return new ProgressMeter();
    }

    void shows(Supplier<Progress> of) {
        counter = of;
    }

    /**
     * How far the call is.
     *
     * @return the numbers of this moment; after the call has ended those of its end; before it has begun all are zero, and the
     *     total is unknown
     */
    public Progress now() {
        Supplier<Progress> current = counter;
        return current == null ? NOTHING_YET : current.get();
    }
}
