package dev.selvedge.observe;

import dev.selvedge.observe.Span.Cut;
import dev.selvedge.observe.Span.How;
import dev.selvedge.observe.Span.Kind;
import dev.selvedge.observe.Span.Mark;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/** A run as a tree of lines. */
final class TextTree {

    private static final int ROWS = 400;
    private static final int NAME = 60;
    private static final int WORDS = 160;

    /** So many calls of a thread that is blocked: the innermost one, and then those of the user. */
    private static final int CALLS = 3;

    private final Run run;
    private final StringBuilder out = new StringBuilder();
    private final int[] rows = {ROWS};

    TextTree(Run run) {
        this.run = run;
    }

    String lines() {
        Folding roots = Folding.of(run.roots(), 0, ROWS);
        roots.shown().forEach(root -> add(root, "", ""));
        if (!roots.rest().isEmpty()) {
            line("", roots.words());
        }
        if (!run.missing().isEmpty()) {
            line("", run.missing());
        }
        return out.toString();
    }

    /**
     * Adds a span and all within.
     *
     * @param first what its own line begins with
     * @param next what those after it do
     */
    private void add(Span s, String first, String next) {
        rows[0]--;
        line(first, words(s));
        List<String> lines = new ArrayList<>();
        Cut cut = s.cut();
        if (cut != null) {
            lines.add("! asked to stop after " + Shown.time(cut.at() - s.start()) + ": "
                    + Shown.text(cut.message(), WORDS));
        }
        for (Mark m : s.marks()) {
            lines.add("* after " + Shown.time(m.at() - s.start()) + ": " + Shown.text(m.words(), WORDS));
        }
        lines.addAll(calls(s));
        Folding folding = Folding.of(s.inner(), cut == null ? 0 : cut.cause(), rows[0]);
        List<Span> shown = new ArrayList<>();
        for (Span inner : s.inner()) {
            boolean segment = inner.kind() != Kind.FORK && inner.kind() != Kind.SCOPE;
            if (segment || folding.shown().stream().anyMatch(f -> f == inner)) {
                shown.add(inner);
            }
        }
        boolean more = !folding.rest().isEmpty();
        String bar = shown.isEmpty() && !more ? "   " : "│  ";
        lines.forEach(l -> line(next + bar, l));
        for (int i = 0; i < shown.size(); i++) {
            boolean last = i == shown.size() - 1 && !more;
            add(shown.get(i), next + (last ? "└─ " : "├─ "), next + (last ? "   " : "│  "));
        }
        if (more) {
            line(next + "└─ ", folding.words());
        }
    }

    private void line(String before, String words) {
        out.append(before).append(words).append('\n');
    }

    private static String words(Span s) {
        String name = s.kind() == Kind.ATTEMPT ? "attempt " + s.attempt() : Shown.text(s.name(), NAME);
        String limit = s.limit() < 0 ? "" : " of " + Shown.time(s.limit());
        String words = s.words() == null ? "" : ": " + Shown.text(s.words(), WORDS);
        return switch (s.how()) {
            case OVER -> name + "  " + Shown.time(s.length()) + words;
            case OPEN -> name + "  runs for " + Shown.time(s.length()) + limit;
            default -> name + "  " + Shown.time(s.length()) + limit + "  " + s.how().sign + " " + s.how().word + words;
        };
    }

    /** Where the thread of something that has not ended is, unless that is said further in. */
    private static List<String> calls(Span s) {
        boolean within = s.all().anyMatch(i -> i != s && i.how() == How.OPEN && i.thread() != null);
        WeakReference<Thread> reference = s.thread();
        Thread thread = s.how() != How.OPEN || within || reference == null ? null : reference.get();
        List<String> calls = new ArrayList<>();
        if (thread != null) {
            StackTraceElement[] stack = thread.getStackTrace();
            for (int i = 0; i < stack.length && calls.size() < CALLS; i++) {
                if (i == 0 || !isMachinery(stack[i].getClassName())) {
                    calls.add("at " + Shown.text(stack[i].toString(), WORDS));
                }
            }
        }
        return calls;
    }

    private static boolean isMachinery(String className) {
        return className.startsWith("java.")
                || className.startsWith("jdk.")
                || className.startsWith("sun.")
                || className.matches("dev\\.selvedge\\.(time\\.|policy\\.|batch\\.)?[A-Z]\\w*(\\$\\w+)?");
    }
}
