package dev.selvedge.benchmarks.jmh;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.TimeValue;

/** How thoroughly the suites are run. What the command line itself says goes before. */
enum Setting {
    /** As the annotations say. */
    FULL {
        @Override
        void apply(ChainedOptionsBuilder options, Options asked, boolean singleShot) {
            // nothing
        }
    },
    /** All of it in a few minutes. */
    QUICK {
        @Override
        void apply(ChainedOptionsBuilder options, Options asked, boolean singleShot) {
            if (!asked.getForkCount().hasValue()) {
                options.forks(1);
            }
            int iterations = singleShot ? 1 : 3;
            if (!asked.getWarmupIterations().hasValue()) {
                options.warmupIterations(iterations);
            }
            if (!asked.getWarmupTime().hasValue()) {
                options.warmupTime(SHORT);
            }
            if (!asked.getMeasurementIterations().hasValue()) {
                options.measurementIterations(iterations);
            }
            if (!asked.getMeasurementTime().hasValue()) {
                options.measurementTime(SHORT);
            }
        }
    },
    /** Each benchmark one time, in this JVM: shows that it runs, and nothing of how fast. */
    ONCE {
        @Override
        void apply(ChainedOptionsBuilder options, Options asked, boolean singleShot) {
            options.mode(Mode.SingleShotTime)
                    .forks(0)
                    .warmupIterations(0)
                    .measurementIterations(1)
                    .timeout(HANGING)
                    .shouldFailOnError(true);
        }
    };

    private static final TimeValue SHORT = TimeValue.milliseconds(200);
    private static final TimeValue HANGING = TimeValue.seconds(60);

    abstract void apply(ChainedOptionsBuilder options, Options asked, boolean singleShot);

    /** The setting that a word of the command line means. */
    static Optional<Setting> named(String word) {
        return Stream.of(values()).filter(s -> s.toString().equals(word)).findFirst();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
