package dev.selvedge.batch;

import dev.selvedge.Progress;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A line now and then: for files, pipes and logs. */
final class Lines implements Display {

    private final String prefix;
    private final Duration every;
    private final Consumer<? super String> to;

    /** How long the call had taken when the latest line was written. */
    private @Nullable Duration written;

    Lines(String name, Duration every, Consumer<? super String> to) {
        this.prefix = name.isEmpty() ? "" : name + ": ";
        this.every = every;
        this.to = to;
    }

    @Override
    public void show(Progress p, boolean last) {
        if (last || written == null || p.elapsed().minus(written).compareTo(every) >= 0) {
            written = p.elapsed();
            to.accept(prefix + p);
        }
    }

    @Override
    public void abandon() {}
}
