package dev.selvedge.benchmarks.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Which bars are met. */
final class BarsSection {

    /** One more than elsewhere: many figures are near their bars. */
    private static final int DIGITS = 4;

    private BarsSection() {}

    static void add(Page page, Charts charts, Results results) throws IOException {
        List<Bar> bars = Bars.of(results);
        long measured = bars.stream().filter(b -> b.measured().isPresent()).count();
        long met = bars.stream().filter(Bar::isMet).count();
        page.add("""
                ## The bars

                What the design demands, on JDK 25. %d of %d bars were measured, %d of these are met. Behind a figure stand the least
                and the greatest of the JVMs (the paired runner) or the ends of the interval (JMH). "Within the spread" says that they
                lie on both sides of the bar: then one run more may turn the verdict.
                """.formatted(measured, bars.size(), met));
        List<List<String>> rows = new ArrayList<>();
        List<Charts.Point> points = new ArrayList<>();
        for (int i = 0; i < bars.size(); i++) {
            Bar bar = bars.get(i);
            int place = i + 1;
            rows.add(List.of(
                    String.valueOf(place),
                    bar.work(),
                    bar.what(),
                    bar.demanded(),
                    bar.measured().map(f -> f.shown(DIGITS)).orElse("–"),
                    bar.verdict()));
            bar.ofLimit()
                    .filter(f -> f.low() > 0 && Double.isFinite(f.high()))
                    .ifPresent(f -> points.add(new Charts.Point(place, String.valueOf(place), f)));
        }
        page.table(List.of("", "work", "measured", "bar", "figure", "verdict"), rows);
        if (!points.isEmpty()) {
            List<Charts.Point> line = points.stream()
                    .map(p -> new Charts.Point(p.x(), p.category(), Figure.exactly(1)))
                    .toList();
            page.add("Each as a part of its bar, by the number in the table: below 1 it is met.");
            page.image(
                    "Each figure as a part of its bar",
                    charts.points(
                            "bars",
                            "How far from the bars",
                            "number in the table",
                            "figure / bar (below 1: met)",
                            List.of(new Charts.Series("measured", 0, points), new Charts.Series("bar", 1, line))));
        }
    }
}
