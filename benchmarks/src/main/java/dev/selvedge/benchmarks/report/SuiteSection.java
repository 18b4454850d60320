package dev.selvedge.benchmarks.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What JMH found, a suite: charts, times and ratios. */
final class SuiteSection {

    /** So many lines are told apart in one chart; more are drawn in two. */
    private static final int LINES = 8;

    private final Page page;
    private final Charts charts;
    private final String suite;
    private final List<Measurement> all;
    private final List<String> contestants;

    private SuiteSection(Page page, Charts charts, String suite, List<Measurement> all) {
        this.page = page;
        this.charts = charts;
        this.suite = suite;
        this.all = all;
        contestants = all.stream().map(Measurement::contestant).distinct().toList();
    }

    /** A chapter on a suite; without results it says so. */
    static void add(Page page, Charts charts, Results results, String suite, String about) throws IOException {
        page.add("## " + suite);
        page.add(about);
        List<Measurement> all = results.suite(suite);
        if (all.isEmpty()) {
            page.add("Not measured: there is no result of this suite.");
            return;
        }
        new SuiteSection(page, charts, suite, all).add();
    }

    private void add() throws IOException {
        boolean sized = groups().values().stream()
                .anyMatch(g -> g.stream().map(Measurement::n).distinct().count() > 1);
        if (!sized) {
            overview();
            counted();
        }
        for (Map.Entry<String, List<Measurement>> group : groups().entrySet()) {
            String name = group.getKey();
            if (!name.isEmpty()) {
                page.add("### " + suite + ": " + name);
            }
            if (sized) {
                overSizes(name, group.getValue());
            }
            tables(group.getValue());
        }
    }

    /** What has the same parameters and unit, by what the heading shows. */
    private SortedMap<String, List<Measurement>> groups() {
        return all.stream()
                .collect(Collectors.groupingBy(
                        m -> told(m.params()) + unitUnlessAlone(m), TreeMap::new, Collectors.toList()));
    }

    private String unitUnlessAlone(Measurement m) {
        boolean alone = all.stream().map(Measurement::unit).distinct().count() == 1;
        return alone ? "" : " [" + m.unit() + "]";
    }

    private static String told(SortedMap<String, String> params) {
        return params.entrySet().stream()
                .map(e -> e.getKey() + " = " + e.getValue())
                .collect(Collectors.joining(", "));
    }

    // Charts.

    private void overSizes(String group, List<Measurement> measured) throws IOException {
        if (contestantsOf(measured).size() <= LINES) {
            lines(group, "", measured, m -> true);
        } else {
            lines(group, ": pools", measured, m -> isOurs(m) || m.kind() == Kind.POOL || m.kind() == Kind.STREAM);
            lines(group, ": threads", measured, m -> m.kind() != Kind.POOL && m.kind() != Kind.STREAM);
        }
    }

    private static boolean isOurs(Measurement m) {
        return m.kind() == Kind.SELVEDGE;
    }

    private void lines(String group, String part, List<Measurement> measured, Predicate<Measurement> wanted)
            throws IOException {
        Unit unit = Unit.of(measured);
        List<Charts.Series> series = series(measured.stream().filter(wanted).toList(), unit);
        if (series.isEmpty()) {
            return;
        }
        String title = suite + (group.isEmpty() ? "" : ", " + group) + part;
        page.image(title, charts.lines(file(group + part), title, "n", unit.name + ", of one of n", series));
    }

    /** All that was measured in one chart; in one for each number of threads where there are several. */
    private void overview() throws IOException {
        Map<String, List<Measurement>> parts = all.stream()
                .collect(Collectors.groupingBy(
                        m -> Optional.ofNullable(m.params().get(Measurement.THREADS))
                                        .map(n -> ", " + Measurement.THREADS + " = " + n)
                                        .orElse("")
                                + unitUnlessAlone(m),
                        TreeMap::new,
                        Collectors.toList()));
        for (Map.Entry<String, List<Measurement>> part : parts.entrySet()) {
            Unit unit = Unit.of(part.getValue());
            points(
                    part.getKey(),
                    unit.name,
                    part.getValue().stream()
                            .map(m -> new Charts.Point(0, label(m), unit.each(m)))
                            .toList());
        }
    }

    /** What benchmarks count beside their scores. */
    private void counted() throws IOException {
        SortedMap<String, List<Charts.Point>> byUnit = new TreeMap<>();
        for (Measurement m : all) {
            m.others()
                    .forEach((name, metric) -> byUnit.computeIfAbsent(metric.unit(), u -> new ArrayList<>())
                            .add(new Charts.Point(0, label(m) + ": " + name, metric.figure())));
        }
        for (Map.Entry<String, List<Charts.Point>> counted : byUnit.entrySet()) {
            points(", counted in " + counted.getKey(), counted.getKey(), counted.getValue());
        }
    }

    /** The axis is logarithmic: what is nothing has no place there. */
    private void points(String part, String unit, List<Charts.Point> points) throws IOException {
        List<Charts.Point> drawn =
                points.stream().filter(p -> p.figure().value() > 0).toList();
        if (drawn.isEmpty()) {
            return;
        }
        String title = suite + part;
        page.image(
                title,
                charts.points(
                        file(part), title, "", unit, List.of(new Charts.Series("JMH, with its error", 0, drawn))));
    }

    private static String label(Measurement m) {
        String params = m.params().entrySet().stream()
                .filter(p -> !p.getKey().equals(Measurement.THREADS))
                .map(Map.Entry::getValue)
                .collect(Collectors.joining(", "));
        return params.isEmpty() ? m.contestant() : m.contestant() + " (" + params + ")";
    }

    private List<Charts.Series> series(List<Measurement> measured, Unit unit) {
        List<Charts.Series> series = new ArrayList<>();
        for (String contestant : contestantsOf(measured)) {
            List<Charts.Point> points = measured.stream()
                    .filter(m -> m.contestant().equals(contestant) && m.figure().value() > 0)
                    .sorted(Comparator.comparingLong(Measurement::n))
                    .map(m -> new Charts.Point(m.n(), "", unit.each(m)))
                    .toList();
            if (!points.isEmpty()) {
                series.add(new Charts.Series(contestant, contestants.indexOf(contestant), points));
            }
        }
        return series;
    }

    private static Collection<String> contestantsOf(List<Measurement> measured) {
        return measured.stream().map(Measurement::contestant).distinct().toList();
    }

    private String file(String rest) {
        return (suite + " " + rest)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^a-z0-9]+", "-")
                .replaceAll("^-|-$", "");
    }

    /**
     * What is shown of measurements: figures of one of the n, in one unit for all.
     *
     * @param name the unit
     * @param size how much of JMH's unit it is
     */
    private record Unit(String name, double size) {

        /** The one that the middle of them is read best in. */
        static Unit of(List<Measurement> measured) {
            if (!measured.getFirst().isTime()) {
                return new Unit(measured.getFirst().unit(), 1);
            }
            double middle = Figure.of(measured.stream()
                            .mapToDouble(m -> m.figure().value() / m.n())
                            .toArray())
                    .value();
            return middle < 1e3 ? new Unit("ns", 1) : middle < 1e6 ? new Unit("µs", 1e3) : new Unit("ms", 1e6);
        }

        Figure each(Measurement m) {
            return m.figure().dividedBy(m.n()).dividedBy(size);
        }
    }

    // Tables.

    private void tables(List<Measurement> measured) {
        SortedSet<Long> sizes = measured.stream().map(Measurement::n).collect(Collectors.toCollection(TreeSet::new));
        Unit unit = Unit.of(measured);
        table(
                unit.name + (sizes.last() > 1 ? " of one of n" : ""),
                measured,
                sizes,
                m -> Optional.of(unit.each(m).toString()));
        table("× raw scope", measured, sizes, m -> ratio(m, best(measured, m.n(), Kind.RAW)));
        table(
                "× best pool",
                measured.stream().filter(SuiteSection::isOurs).toList(),
                sizes,
                m -> best(measured, m.n(), Kind.POOL)
                        .flatMap(pool -> ratio(m, Optional.of(pool)).map(r -> r + " " + pool.contestant())));
        measured.stream()
                .flatMap(m -> m.others().keySet().stream())
                .distinct()
                .sorted()
                .forEach(name -> other(measured, sizes, name));
        table(
                sizes.last() > 1 ? "bytes of one of n" : "bytes",
                measured,
                sizes,
                m -> m.bytes().isPresent()
                        ? Optional.of(Numbers.shown(m.bytes().getAsDouble() / m.n()))
                        : Optional.empty());
    }

    /** What a benchmark counts beside its score. */
    private void other(List<Measurement> measured, SortedSet<Long> sizes, String name) {
        String unit = measured.stream()
                .flatMap(m -> Optional.ofNullable(m.others().get(name)).stream())
                .findFirst()
                .orElseThrow()
                .unit();
        table(
                name + ", " + unit,
                measured,
                sizes,
                m -> Optional.ofNullable(m.others().get(name))
                        .map(metric -> metric.figure().toString()));
    }

    /** A row for each contestant, a column for each size; none if no cell has anything. */
    private void table(
            String what,
            List<Measurement> measured,
            SortedSet<Long> sizes,
            Function<Measurement, Optional<String>> cell) {
        List<String> head = new ArrayList<>(List.of(what));
        sizes.forEach(n -> head.add(sizes.size() == 1 && n == 1 ? "" : "n = " + Numbers.whole(n)));
        boolean any = false;
        List<List<String>> rows = new ArrayList<>();
        for (String contestant : contestantsOf(measured)) {
            List<String> row = new ArrayList<>(List.of(contestant));
            for (long n : sizes) {
                Optional<String> text = measured.stream()
                        .filter(m -> m.contestant().equals(contestant) && m.n() == n)
                        .findFirst()
                        .flatMap(cell);
                any |= text.isPresent();
                row.add(text.orElse("–"));
            }
            rows.add(row);
        }
        if (any) {
            page.table(head, rows);
        }
    }

    static Optional<Measurement> best(List<Measurement> measured, long n, Kind kind) {
        return measured.stream()
                .filter(m -> m.n() == n && m.kind() == kind)
                .min(Comparator.comparingDouble(m -> m.figure().value()));
    }

    private static Optional<String> ratio(Measurement m, Optional<Measurement> other) {
        return other.map(o -> m == o ? "1" : m.figure().over(o.figure()).toString());
    }
}
