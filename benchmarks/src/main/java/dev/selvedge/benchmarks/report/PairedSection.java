package dev.selvedge.benchmarks.report;

import dev.selvedge.benchmarks.paired.Report;
import dev.selvedge.benchmarks.paired.Summary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** What the paired runner found. */
final class PairedSection {

    private static final Comparator<Report> ORDER = Comparator.comparing(Report::suite)
            .thenComparing(r -> r.machine().release())
            .thenComparing(Report::carriers)
            .thenComparing(Report::owner)
            .thenComparing(Report::date);

    private PairedSection() {}

    static void add(Page page, Results results) {
        page.add("## In turn inside one JVM");
        if (results.paired().isEmpty()) {
            page.add("Not measured: there is no result of the paired runner.");
            return;
        }
        page.add("""
                Ratios to the first row of each table, in the same round; smaller is better. "Quartiles": half of the rounds lie between.
                "JVMs": the least and the greatest median of a JVM. "Best pool" is the fastest of the pools of the same table, by its
                median.
                """);
        List<Report> runs = results.paired().stream().sorted(ORDER).toList();
        for (Report run : runs) {
            for (Report.Size size : run.sizes()) {
                page.add("### %s of %s: JDK %d, carriers: %s, owner: %s"
                        .formatted(
                                run.suite(),
                                Numbers.whole(size.n()),
                                run.machine().release(),
                                run.carriers(),
                                run.owner()));
                table(page, size);
            }
        }
        releases(page, runs);
    }

    private static void table(Page page, Report.Size size) {
        Optional<String> pool = Bars.best(size, Kind.POOL);
        List<String> head =
                new ArrayList<>(List.of("", "µs", "ratio", "quartiles", "JVMs", "cpu", "bytes", "bytes ratio"));
        pool.ifPresent(name -> head.add("× best pool (" + name + ")"));
        List<List<String>> rows = new ArrayList<>();
        for (Summary s : size.medians()) {
            List<String> row = new ArrayList<>(List.of(
                    s.contender(),
                    Numbers.shown(s.nanosPerCall() / 1e3),
                    Numbers.shown(s.ratio()),
                    span(s.ratioLowerQuartile(), s.ratioUpperQuartile()),
                    span(s.lowestRatio(), s.highestRatio()),
                    Numbers.shown(s.cpuRatio()),
                    Numbers.shown(s.bytesPerCall()),
                    Numbers.shown(s.bytesRatio())));
            pool.ifPresent(name -> row.add(
                    Bars.over(size, s.contender(), pool).map(Figure::toString).orElse("–")));
            rows.add(row);
        }
        page.table(head, rows);
    }

    private static String span(double low, double high) {
        return Numbers.shown(low) + " to " + Numbers.shown(high);
    }

    /** The same question, asked on several releases. */
    private static void releases(Page page, List<Report> runs) {
        Map<List<String>, Map<Integer, String>> rows = new LinkedHashMap<>();
        TreeSet<Integer> releases = new TreeSet<>();
        for (Report run : runs) {
            for (Report.Size size : run.sizes()) {
                for (Summary s : size.medians().subList(1, size.medians().size())) {
                    List<String> key = List.of(
                            run.suite() + " of " + Numbers.whole(size.n()), run.carriers(), run.owner(), s.contender());
                    Figure ratio = new Figure(s.ratio(), s.lowestRatio(), s.highestRatio());
                    rows.computeIfAbsent(key, k -> new LinkedHashMap<>())
                            .put(run.machine().release(), ratio.toString());
                }
            }
        }
        rows.values().removeIf(byRelease -> byRelease.size() < 2);
        rows.values().forEach(byRelease -> releases.addAll(byRelease.keySet()));
        page.add("### On other releases of Java");
        if (rows.isEmpty()) {
            page.add("Not measured: all results are of one release.");
            return;
        }
        page.add("""
                The ratio to the baseline on the same release: to the raw scope of each, whose shape differs between them. In brackets the
                least and the greatest JVM. What a release does not have, or was not measured on it, has a dash.
                """);
        List<String> head = new ArrayList<>(List.of("suite", "carriers", "owner", "contender"));
        releases.forEach(r -> head.add("JDK " + r));
        page.table(
                head,
                rows.entrySet().stream()
                        .map(e -> {
                            List<String> row = new ArrayList<>(e.getKey());
                            releases.forEach(r -> row.add(e.getValue().getOrDefault(r, "–")));
                            return row;
                        })
                        .toList());
    }
}
