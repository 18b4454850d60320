package dev.selvedge.benchmarks.report;

import dev.selvedge.benchmarks.paired.Report;
import dev.selvedge.benchmarks.paired.Summary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Where something else is faster, by how much, and why. Every sentence is one that these data bear out, or is not there. */
final class WinnersSection {

    /** Whose numbers can say that one is faster, and not only that it was so this time. */
    private static final double NOISE = 1.02;

    /** What each suite of the paired runner is about. */
    private static final Map<String, String> OURS =
            Map.of("gather", "scope().gather", "map", "scope().map", "map-limited", "concurrency(64).map");

    private final Set<Kind> faster = EnumSet.noneOf(Kind.class);

    private boolean poolsOverGather;

    private WinnersSection() {}

    static void add(Page page, Results results) {
        page.add("## Where pools win and why");
        new WinnersSection().addTo(page, results);
    }

    private void addTo(Page page, Results results) {
        List<List<Measurement>> cells = cells(results.suite("FanOut"));
        List<Report> runs = results.paired().stream()
                .filter(r -> OURS.containsKey(r.suite()))
                .sorted(Comparator.comparing(Report::suite)
                        .thenComparing(r -> r.machine().release())
                        .thenComparing(Report::carriers)
                        .thenComparing(Report::owner))
                .toList();
        if (cells.isEmpty() && runs.isEmpty()) {
            page.add("Not measured: there is no result of `FanOut`, nor of `gather` or `map` of the paired runner.");
            return;
        }
        if (!cells.isEmpty()) {
            fanOut(page, cells);
        }
        List<String> sentences = new ArrayList<>();
        runs.forEach(run -> run.sizes().forEach(size -> paired(sentences, run, size)));
        if (!sentences.isEmpty()) {
            page.add("""
                    In turn inside one JVM, where in all JVMs it was so; "faster: X 3 times" is "needs a third of the time":
                    """);
            page.add(String.join("\n", sentences));
        }
        reasons(page);
    }

    /** What did the same work of the same size. */
    private static List<List<Measurement>> cells(List<Measurement> fanOut) {
        Map<List<Object>, List<Measurement>> cells = new LinkedHashMap<>();
        fanOut.stream()
                .filter(m -> m.isTime())
                .forEach(m -> cells.computeIfAbsent(List.of(m.params(), m.n()), k -> new ArrayList<>())
                        .add(m));
        cells.values().removeIf(cell -> cell.stream().noneMatch(m -> m.kind() == Kind.SELVEDGE));
        return List.copyOf(cells.values());
    }

    private void fanOut(Page page, List<List<Measurement>> cells) {
        List<List<String>> rows = new ArrayList<>();
        int overGather = 0;
        int overAll = 0;
        int anything = 0;
        for (List<Measurement> cell : cells) {
            Measurement ours = fastest(cell, Set.of(Kind.SELVEDGE)).orElseThrow();
            Optional<Measurement> gather =
                    cell.stream().filter(m -> m.contestant().equals("gather")).findFirst();
            Optional<Measurement> pool = fastest(cell, Set.of(Kind.POOL));
            Optional<Measurement> other = fastest(cell, EnumSet.complementOf(EnumSet.of(Kind.SELVEDGE)));
            boolean gatherLost =
                    gather.flatMap(g -> pool.filter(p -> isFaster(p, g))).isPresent();
            boolean allLost = pool.filter(p -> isFaster(p, ours)).isPresent();
            boolean lost = other.filter(o -> isFaster(o, ours)).isPresent();
            overGather += gatherLost ? 1 : 0;
            overAll += allLost ? 1 : 0;
            anything += lost ? 1 : 0;
            poolsOverGather |= gatherLost;
            if (allLost) {
                faster.add(Kind.POOL);
            }
            if (lost) {
                faster.add(other.orElseThrow().kind());
            }
            if (gatherLost || lost) {
                rows.add(List.of(
                        String.join(", ", ours.params().values()),
                        Numbers.whole(ours.n()),
                        pool.map(Measurement::contestant).orElse("–"),
                        over(gather, pool),
                        ours.contestant(),
                        over(Optional.of(ours), pool),
                        other.map(Measurement::contestant).orElse("–"),
                        over(Optional.of(ours), other)));
            }
        }
        page.add("""
                In `FanOut`, of %d combinations of a task and a size, a pool is faster than `gather`, which makes a thread for each task, in %d,
                a pool is faster than everything of this library in %d, and anything at all is in %d. Faster is what needs less than 1/%s
                of the time, with intervals that do not meet.
                """.formatted(cells.size(), overGather, overAll, anything, Numbers.shown(NOISE)));
        if (!rows.isEmpty()) {
            page.add("Where that is so, in times of what is named before:");
            page.table(
                    List.of(
                            "task",
                            "n",
                            "best pool",
                            "gather × it",
                            "our best",
                            "that × best pool",
                            "fastest other",
                            "our best × it"),
                    rows);
        }
    }

    private static String over(Optional<Measurement> one, Optional<Measurement> other) {
        return one.flatMap(a -> other.map(b -> a.figure().over(b.figure()).toString()))
                .orElse("–");
    }

    private static Optional<Measurement> fastest(List<Measurement> cell, Set<Kind> kinds) {
        return cell.stream()
                .filter(m -> kinds.contains(m.kind()))
                .min(Comparator.comparingDouble(m -> m.figure().value()));
    }

    private static boolean isFaster(Measurement one, Measurement other) {
        return one.figure().value() * NOISE < other.figure().value()
                && one.figure().high() < other.figure().low();
    }

    private void paired(List<String> sentences, Report run, Report.Size size) {
        String ours = OURS.get(run.suite());
        List<String> winners = new ArrayList<>();
        List<String> losers = new ArrayList<>();
        for (Summary s : size.medians()) {
            if (s.contender().equals(ours)) {
                continue;
            }
            Optional<Figure> ratio = Bars.over(size, ours, Optional.of(s.contender()));
            ratio.filter(r -> r.low() > NOISE).ifPresent(r -> {
                winners.add(s.contender() + " " + Numbers.shown(r.value()) + " times");
                faster.add(Kind.of(s.contender()));
            });
            ratio.filter(r -> r.high() * NOISE < 1)
                    .ifPresent(r -> losers.add(s.contender() + " " + Numbers.shown(1 / r.value()) + " times"));
        }
        String where = "`%s`, %s no-ops, JDK %d, carriers: %s, owner: %s: "
                .formatted(ours, Numbers.whole(size.n()), run.machine().release(), run.carriers(), run.owner());
        String won = winners.isEmpty() ? "nothing is surely faster" : "faster: " + String.join(", ", winners);
        sentences.add("- " + where + won + (losers.isEmpty() ? "." : "; slower: " + String.join(", ", losers) + "."));
    }

    private void reasons(Page page) {
        Map<Kind, String> why = new LinkedHashMap<>();
        why.put(Kind.POOL, """
                - **Pools, against a call over items**: their threads run when the call comes. `map` starts its few virtual threads in each call, and
                  an owner that is a platform thread is parked until they end, and woken.""");
        why.put(Kind.STREAM, """
                - **A parallel stream** makes no object for an item: it cuts the range in a few parts and runs a loop in each. It has no
                  deadline, is not cancelled by the first failure, and is no place for anything that blocks.""");
        why.put(Kind.RAW, """
                - **The raw scope** keeps no account of a fork beyond its state: what a fork here costs more is who waits for whom, the reason for
                  its end, and a result that can be asked for at any time.""");
        why.put(Kind.VIRTUAL, """
                - **Virtual threads without a scope** are in no tree: nobody waits for them, ends them when one fails, or finds them in a thread
                  dump under the call that started them. On several carriers they also meet their owner at another place, which may be cheaper.""");
        why.put(Kind.OTHER, """
                - **Other libraries** and ways win in the rows that name them; why is not looked into here.""");
        why.keySet().retainAll(faster);
        List<String> sentences = new ArrayList<>(why.values());
        if (poolsOverGather) {
            sentences.addFirst("""
                    - **Pools, against a thread for each task**: their threads are there already. `gather` makes, starts and ends one for each
                      task, and where tasks do not block, more threads than processors bring nothing back.""");
        }
        if (sentences.isEmpty()) {
            page.add("In these data nothing else is surely faster, so there is no reason to give.");
            return;
        }
        page.add("Why:\n\n" + String.join("\n", sentences));
    }
}
