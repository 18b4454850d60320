package dev.selvedge.benchmarks.paired;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * A contender's figures: of each JVM, or the medians over all.
 *
 * @param contender its name
 * @param nanosPerCall the median of the rounds
 * @param ratio the median of the rounds' ratios to the baseline's time in the same round
 * @param ratioLowerQuartile a quarter of the rounds are below
 * @param ratioUpperQuartile a quarter of the rounds are above
 * @param ratioOfBestQuarters the lower quartile of the times, over that of the baseline: with least noise
 * @param lowestRatio the least ratio of a JVM
 * @param highestRatio the greatest ratio of a JVM
 * @param cpuRatio the median of the rounds' ratios of processor time: what other programs on the machine disturb least
 * @param bytesPerCall the median of the rounds
 * @param bytesRatio the median of the rounds' ratios to the baseline's bytes in the same round
 */
public record Summary(
        String contender,
        double nanosPerCall,
        double ratio,
        double ratioLowerQuartile,
        double ratioUpperQuartile,
        double ratioOfBestQuarters,
        double lowestRatio,
        double highestRatio,
        double cpuRatio,
        double bytesPerCall,
        double bytesRatio) {

    /** The figures of each contender in one JVM, from its raw data. */
    static List<Summary> inOneJvm(List<Measured> contenders) {
        return contenders.stream().map(c -> inOneJvm(c, contenders.getFirst())).toList();
    }

    /** The medians of each contender over JVMs. */
    static List<Summary> over(List<List<Summary>> jvms) {
        return IntStream.range(0, jvms.getFirst().size())
                .mapToObj(place ->
                        overJvms(jvms.stream().map(jvm -> jvm.get(place)).toList()))
                .toList();
    }

    private static Summary inOneJvm(Measured one, Measured baseline) {
        double[] times = one.nanosPerCall();
        double[] ratios = ratios(times, baseline.nanosPerCall());
        double ratio = quantile(ratios, 0.5);
        return new Summary(
                one.contender(),
                quantile(times, 0.5),
                ratio,
                quantile(ratios, 0.25),
                quantile(ratios, 0.75),
                quantile(times, 0.25) / quantile(baseline.nanosPerCall(), 0.25),
                ratio,
                ratio,
                quantile(ratios(one.cpuNanosPerCall(), baseline.cpuNanosPerCall()), 0.5),
                quantile(one.bytesPerCall(), 0.5),
                quantile(ratios(one.bytesPerCall(), baseline.bytesPerCall()), 0.5));
    }

    private static Summary overJvms(List<Summary> jvms) {
        return new Summary(
                jvms.getFirst().contender,
                median(jvms, Summary::nanosPerCall),
                median(jvms, Summary::ratio),
                median(jvms, Summary::ratioLowerQuartile),
                median(jvms, Summary::ratioUpperQuartile),
                median(jvms, Summary::ratioOfBestQuarters),
                quantile(figures(jvms, Summary::ratio), 0),
                quantile(figures(jvms, Summary::ratio), 1),
                median(jvms, Summary::cpuRatio),
                median(jvms, Summary::bytesPerCall),
                median(jvms, Summary::bytesRatio));
    }

    private static double median(List<Summary> jvms, ToDoubleFunction<Summary> figure) {
        return quantile(figures(jvms, figure), 0.5);
    }

    private static double[] figures(List<Summary> jvms, ToDoubleFunction<Summary> figure) {
        return jvms.stream().mapToDouble(figure).toArray();
    }

    private static double[] ratios(double[] values, double[] baseline) {
        return IntStream.range(0, values.length)
                .mapToDouble(i -> values[i] / baseline[i])
                .toArray();
    }

    /** With {@code q} of the values below it, between two values in proportion. */
    private static double quantile(double[] values, double q) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double place = q * (sorted.length - 1);
        int below = (int) place;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }
}
