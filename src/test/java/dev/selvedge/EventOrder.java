package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that keeps what it is told, and checks that the order is one that was promised. */
final class EventOrder implements ScopeListener {

    private final List<Told> told = new CopyOnWriteArrayList<>();

    /** What was told, where, and on which thread. */
    record Told(ScopeEvent event, Where where, Thread thread) {

        String kind() {
            return event.getClass().getSimpleName();
        }
    }

    @Override
    public void on(ScopeEvent event, Where where) {
        told.add(new Told(event, where, Thread.currentThread()));
    }

    List<Told> told() {
        return List.copyOf(told);
    }

    List<String> kinds() {
        return told.stream().map(Told::kind).toList();
    }

    /** Fails if the order of what has been told is none of those that a reader may rely on. All scopes must have ended. */
    void check() {
        Map<ScopeId, List<Told>> scopes = new LinkedHashMap<>();
        for (Told t : told) {
            scopes.computeIfAbsent(t.where.scope(), id -> new ArrayList<>()).add(t);
        }
        scopes.forEach((id, all) -> checkScope(all));
        for (ScopeId id : scopes.keySet()) {
            if (id.parent() != null) {
                checkWithin(scopes.get(id), id.parentFork(), scopes.get(id.parent()));
            }
        }
    }

    private static void checkScope(List<Told> all) {
        List<String> kinds = all.stream().map(Told::kind).toList();
        assertThat(kinds.get(0)).isEqualTo("ScopeOpened");
        assertThat(kinds.get(kinds.size() - 1)).isEqualTo("ScopeClosed");
        assertThat(kinds.stream().filter(k -> k.equals("ScopeOpened") || k.equals("ScopeClosed")))
                .hasSize(2);
        if (kinds.contains("DeadlineSet")) {
            assertThat(kinds.indexOf("DeadlineSet")).isEqualTo(1);
        }
        assertThat(kinds.stream().filter("ScopeCancelled"::equals).count()).isLessThanOrEqualTo(1);
        if (kinds.contains("DeadlinePassed")) {
            assertThat(kinds).containsSubsequence("DeadlinePassed", "ScopeCancelled");
        }
        Map<Long, List<Told>> forks = new LinkedHashMap<>();
        CancelReason why = null;
        for (Told t : all) {
            if (t.event instanceof ScopeEvent.ScopeCancelled cancelled) {
                why = cancelled.reason();
            } else if (t.where.fork() != 0) {
                forks.computeIfAbsent(t.where.fork(), n -> new ArrayList<>()).add(t);
            }
            if (t.event instanceof ScopeEvent.ForkEnded(String s, String f, Outcome.Cancelled<?>(CancelReason reason))
                    && all.stream()
                            .anyMatch(o -> o.event instanceof ScopeEvent.ScopeCancelled c
                                    && c.reason().equals(reason))) {
                assertThat(why).as(s + " " + f + " in " + kinds).isEqualTo(reason);
            }
        }
        forks.values().forEach(EventOrder::checkFork);
    }

    private static void checkFork(List<Told> all) {
        List<String> life = all.stream()
                .map(Told::kind)
                .filter(k -> k.equals("ForkCreated") || k.equals("ForkStarted") || k.equals("ForkEnded"))
                .toList();
        assertThat(life).isIn(List.of("ForkCreated", "ForkStarted", "ForkEnded"), List.of("ForkCreated", "ForkEnded"));
        assertThat(all.get(0).kind()).isEqualTo("ForkCreated");
        List<String> kinds = all.stream().map(Told::kind).toList();
        assertThat(kinds.indexOf("HedgeStarted")).as("%s", kinds).isIn(-1, 1);
        List<String> own = all.stream()
                .map(Told::kind)
                .filter(k -> !k.equals("ValueDiscarded") && !k.equals("StragglerFound"))
                .toList();
        assertThat(own.get(own.size() - 1)).isEqualTo("ForkEnded");
    }

    /** The scope inside opens and closes within what it is in. */
    private void checkWithin(List<Told> inner, long fork, List<Told> outer) {
        int first = told.indexOf(inner.get(0));
        int last = told.indexOf(inner.get(inner.size() - 1));
        String begin = fork == 0 ? "ScopeOpened" : "ForkStarted";
        String end = fork == 0 ? "ScopeClosed" : "ForkEnded";
        for (Told t : outer) {
            if (t.where.fork() == fork && t.kind().equals(begin)) {
                assertThat(told.indexOf(t)).isLessThan(first);
            } else if (t.where.fork() == fork && t.kind().equals(end)) {
                assertThat(told.indexOf(t)).isGreaterThan(last);
            }
        }
    }
}
