package dev.selvedge.observe;

import dev.selvedge.observe.Span.Cut;
import dev.selvedge.observe.Span.How;
import dev.selvedge.observe.Span.Kind;
import dev.selvedge.observe.Span.Mark;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A run as a drawing. Times are percentages of its width, and heights are pixels: so it is as wide as its place, and its writing is of
 * one size. Each name has a line of its own above its bar: none meets another.
 */
final class SvgPicture {

    /** So many rows at the most; what is more is counted. */
    private static final int ROWS = 400;

    /** So many arrows from one cause, and so many segments of one bar. */
    private static final int ARROWS = 40;

    private static final int SEGMENTS = 120;
    private static final int BUCKETS = 96;

    private static final int AXIS = 24;
    private static final int LINE = 14;
    private static final int BAR = 10;
    private static final int THIN = 4;
    private static final int GAP = 6;
    private static final int BAND = 26;

    /** Where the time begins and how much of the width it takes, in percent. */
    private static final double LEFT = 2;

    private static final double WIDTH = 94;

    private static final int NAME = 22;
    private static final int WORDS = 70;

    private final Run run;
    private final int[] rows = {ROWS};

    SvgPicture(Run run) {
        this.run = run;
    }

    String document() {
        StringBuilder body = new StringBuilder();
        Folding roots = Folding.of(run.roots(), 0, rows[0]);
        int y = AXIS;
        for (Span root : roots.shown()) {
            StringBuilder drawn = new StringBuilder();
            int bottom = scope(drawn, root, y);
            body.append("<g class=\"root\" data-top=\"%s\" data-bottom=\"%s\">\n".formatted(y, bottom + GAP))
                    .append(drawn)
                    .append("</g>\n");
            y = bottom + GAP;
        }
        y = band(body, roots, y);
        int bottom = y;
        StringBuilder legend = new StringBuilder();
        int height = legend(legend, bottom);
        return """
                <svg xmlns="http://www.w3.org/2000/svg" class="timeline" width="100%%" height="%s" role="img" aria-label="%s">
                <style>%s</style>
                %s""".formatted(height, label(), SvgStyle.CSS, SvgStyle.SHAPES)
                + "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
                + axis(bottom)
                + body
                + "<g class=\"legend\" data-top=\"" + bottom + "\">\n" + legend + "</g>\n</svg>\n";
    }

    private String label() {
        long scopes = run.all().filter(s -> s.kind() == Kind.SCOPE).count();
        long forks = run.all().filter(s -> s.kind() == Kind.FORK).count();
        return "A timeline of " + Shown.count(scopes) + (scopes == 1 ? " scope" : " scopes") + " with "
                + Shown.count(forks) + (forks == 1 ? " fork" : " forks") + " in " + Shown.time(run.length());
    }

    // Across.

    private double at(long moment) {
        double part = run.length() == 0 ? 0 : (double) (moment - run.begin()) / run.length();
        return LEFT + WIDTH * Math.clamp(part, 0, 1);
    }

    private String x(long moment) {
        return percent(at(moment));
    }

    private String width(long from, long to) {
        return percent(Math.max(0.12, at(to) - at(from)));
    }

    private static String percent(double p) {
        return String.format(Locale.ROOT, "%.2f%%", p);
    }

    private String axis(int bottom) {
        StringBuilder s = new StringBuilder("<g class=\"axis\">\n");
        long step = Ticks.step(run.length());
        for (long t = 0; t <= run.length(); t += step) {
            String x = x(run.begin() + t);
            boolean last = at(run.begin() + t) > 90;
            s.append("<line x1=\"%s\" y1=\"18\" x2=\"%s\" y2=\"%s\"/>".formatted(x, x, bottom))
                    .append("<text x=\"%s\" y=\"13\" text-anchor=\"%s\">%s</text>\n"
                            .formatted(x, t == 0 ? "start" : last ? "end" : "middle", t == 0 ? "0" : Shown.time(t)));
        }
        return s.append("</g>\n").toString();
    }

    // Down.

    /** Draws a scope and all within it; where it ends. */
    private int scope(StringBuilder out, Span s, int top) {
        rows[0]--;
        StringBuilder in = new StringBuilder();
        int y = top + GAP / 2 + LINE;
        label(in, s, y, s.limit() < 0 ? "" : " of " + Shown.time(s.limit()));
        y += GAP;
        bar(in, s, y, THIN);
        Map<Long, Integer> places = new HashMap<>();
        int own = y + THIN / 2;
        places.put(0L, own);
        y += THIN + GAP;
        if (s.inner().stream().anyMatch(SvgPicture::isSegment)) {
            segments(in, s, y);
            y += BAR + GAP;
        }
        Cut cut = s.cut();
        Folding folding = Folding.of(s.inner(), cut == null ? 0 : cut.cause(), rows[0]);
        for (Span inner : folding.shown()) {
            y = inner.kind() == Kind.SCOPE ? scope(in, inner, y) + GAP : fork(in, inner, y, places);
        }
        y = band(in, folding, y);
        marks(in, s, own);
        StringBuilder behind = new StringBuilder();
        deadline(behind, s, top, y);
        if (cut != null) {
            arrows(behind, cut, folding.shown(), own, places);
        }
        out.append("<g class=\"scope\" %s data-name=\"%s\">\n".formatted(data(s), Shown.marked(s.name(), NAME * 4)))
                .append(title(s))
                .append("<rect class=\"frame\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"3\"/>\n"
                        .formatted(
                                percent(at(s.start()) - 0.6), top, percent(at(s.end()) - at(s.start()) + 1.2), y - top))
                .append(behind)
                .append(in)
                .append("</g>\n");
        return y;
    }

    private int fork(StringBuilder out, Span f, int top, Map<Long, Integer> places) {
        rows[0]--;
        int y = top + LINE - 2;
        out.append("<g class=\"fork\" %s>\n".formatted(data(f))).append(title(f));
        label(out, f, y, "");
        y += GAP - 1;
        boolean divided = f.inner().stream().anyMatch(SvgPicture::isSegment);
        bar(out, f, y, BAR, divided ? " divided" : "");
        out.append("</g>\n");
        if (divided) {
            segments(out, f, y);
        }
        places.put(f.fork(), y + BAR / 2);
        marks(out, f, y + BAR / 2);
        y += BAR + GAP;
        Folding inner = Folding.of(f.inner(), 0, rows[0]);
        for (Span s : inner.shown()) {
            y = scope(out, s, y) + GAP;
        }
        return band(out, inner, y);
    }

    private static boolean isSegment(Span s) {
        return s.kind() != Kind.FORK && s.kind() != Kind.SCOPE;
    }

    private void label(StringBuilder out, Span s, int y, String more) {
        boolean left = at(s.start()) <= 50;
        String words = s.words();
        out.append(
                "<text class=\"%s\" x=\"%s\" y=\"%s\" text-anchor=\"%s\"><tspan class=\"name\">%s</tspan> %s%s%s</text>\n"
                        .formatted(
                                s.kind().word(),
                                left ? x(s.start()) : x(s.end()),
                                y,
                                left ? "start" : "end",
                                Shown.marked(s.name(), NAME),
                                Shown.time(s.length()),
                                more,
                                words == null
                                        ? ""
                                        : "<tspan class=\"wide\"> · " + Shown.marked(words, WORDS) + "</tspan>"));
    }

    private void bar(StringBuilder out, Span s, int y, int height) {
        bar(out, s, y, height, "");
    }

    private void bar(StringBuilder out, Span s, int y, int height, String more) {
        out.append("<rect class=\"bar %s%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"1\"/>"
                        .formatted(s.how().word, more, x(s.start()), y, width(s.start(), s.end()), height))
                .append("<use href=\"#%s\" class=\"sign %s-sign\" x=\"%s\" y=\"%s\" transform=\"translate(7)\"/>\n"
                        .formatted(s.how().word, s.how().word, x(s.end()), y + height / 2));
    }

    /** Attempts and waits, one within the other where they are. */
    private void segments(StringBuilder out, Span task, int y) {
        List<Span> all = task.inner().stream()
                .filter(SvgPicture::isSegment)
                .flatMap(Span::all)
                .filter(SvgPicture::isSegment)
                .toList();
        for (int i = 0; i < all.size(); i++) {
            if (i < SEGMENTS / 2 || i >= all.size() - SEGMENTS / 2) {
                segment(out, all.get(i), y);
            }
        }
    }

    private void segment(StringBuilder out, Span s, int y) {
        boolean thin = s.kind() == Kind.BACK_OFF;
        out.append("<g class=\"segment\" %s>%s".formatted(data(s), title(s)))
                .append("<rect class=\"%s %s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/></g>\n"
                        .formatted(
                                s.kind().word(),
                                s.how().word,
                                x(s.start()),
                                thin ? y + BAR / 2 - 1 : y,
                                width(s.start(), s.end()),
                                thin ? 2 : BAR));
    }

    private void marks(StringBuilder out, Span s, int y) {
        for (Mark m : s.marks().subList(0, Math.min(SEGMENTS, s.marks().size()))) {
            out.append(
                    "<g class=\"mark\" data-kind=\"mark\" data-at=\"%s\"><title>%s at %s</title><use href=\"#mark\" class=\"sign\" x=\"%s\" y=\"%s\"/></g>\n"
                            .formatted(
                                    m.at() - run.begin(),
                                    Shown.marked(m.words(), Shown.WHOLE),
                                    Shown.time(m.at() - run.begin()),
                                    x(m.at()),
                                    y));
        }
    }

    private void deadline(StringBuilder out, Span s, int top, int bottom) {
        if (s.limit() >= 0 && s.limit() <= run.end() - s.start()) {
            String x = x(s.start() + s.limit());
            out.append(
                    "<line class=\"deadline\" data-kind=\"deadline\" data-scope=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"><title>the deadline of %s, after %s</title></line>\n"
                            .formatted(
                                    s.scope(), x, top, x, bottom, Shown.marked(s.name(), NAME), Shown.time(s.limit())));
        }
    }

    /** From the cause of a cancellation to each of those it cut off. */
    private void arrows(StringBuilder out, Cut cut, List<Span> forks, int own, Map<Long, Integer> places) {
        Integer cause = places.get(cut.cause());
        int from = cause == null ? own : cause;
        String title = "<title>" + Shown.marked(cut.kind() + ": " + cut.message(), Shown.WHOLE) + "</title>";
        forks.stream()
                .filter(f -> f.kind() == Kind.FORK && f.how() == How.CANCELLED && f.end() >= cut.at())
                .limit(ARROWS)
                .forEach(f -> out.append(
                        "<line class=\"cancel\" data-kind=\"cancel\" data-scope=\"%s\" data-cause=\"%s\" data-fork=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\">%s</line>\n"
                                .formatted(
                                        f.scope(),
                                        cut.cause(),
                                        f.fork(),
                                        x(cut.at()),
                                        from,
                                        x(f.end()),
                                        edge(from, places.getOrDefault(f.fork(), own)),
                                        title)));
    }

    /** Where an arrow meets the bar at a place. */
    private static int edge(int from, int place) {
        return from < place ? place - BAR / 2 - 1 : place + BAR / 2 + 1;
    }

    // What is folded.

    /** How many of those that are not drawn ran at each time; where it ends. */
    private int band(StringBuilder out, Folding folding, int top) {
        List<Span> rest = folding.rest();
        if (rest.isEmpty()) {
            return top;
        }
        long from = rest.stream().mapToLong(Span::start).min().orElseThrow();
        long to = rest.stream().mapToLong(Span::end).max().orElseThrow();
        int[] running = Ticks.running(rest, from, to, BUCKETS);
        int most = 1;
        for (int n : running) {
            most = Math.max(most, n);
        }
        String words = folding.words();
        boolean left = at(from) <= 50;
        out.append(
                        "<g class=\"band\" data-kind=\"band\" data-count=\"%s\"><title>%s; at the most %s at the same time</title>\n"
                                .formatted(rest.size(), words, Shown.count(most)))
                .append("<text x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>\n"
                        .formatted(left ? x(from) : x(to), top + LINE - 2, left ? "start" : "end", words));
        int bottom = top + LINE + BAND;
        for (int i = 0; i < running.length; i++) {
            if (running[i] > 0) {
                int height = Math.max(1, (int) Math.round((double) BAND * running[i] / most));
                long begin = from + (long) ((double) (to - from) * i / running.length);
                long end = from + (long) ((double) (to - from) * (i + 1) / running.length);
                out.append("<rect class=\"many\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>"
                        .formatted(x(begin), bottom - height, width(begin, end), height));
            }
        }
        out.append("</g>\n");
        return bottom + GAP;
    }

    // What is said of each.

    private String data(Span s) {
        return "data-kind=\"%s\" data-scope=\"%s\" data-fork=\"%s\" data-attempt=\"%s\" data-start=\"%s\" data-end=\"%s\" data-how=\"%s\""
                .formatted(
                        s.kind().word(),
                        s.scope(),
                        s.fork(),
                        s.attempt(),
                        s.start() - run.begin(),
                        s.end() - run.begin(),
                        s.how().word);
    }

    private String title(Span s) {
        String what =
                s.kind() == Kind.ATTEMPT ? "attempt " + s.attempt() : s.kind().word();
        String ended = s.how() == How.OVER ? "" : ", " + s.how().word;
        String words = s.words() == null ? "" : ": " + s.words();
        return "<title>" + what + " " + Shown.marked(s.name(), Shown.WHOLE) + ", " + Shown.time(s.start() - run.begin())
                + " to "
                + Shown.time(s.end() - run.begin()) + ", " + Shown.time(s.length()) + ended
                + Shown.marked(words, Shown.WHOLE) + "</title>\n";
    }

    private int legend(StringBuilder out, int top) {
        int y = top + LINE;
        String[] places = {"2.00%", "27.00%", "52.00%", "77.00%"};
        How[] ends = {How.SUCCEEDED, How.FAILED, How.CANCELLED, How.OPEN};
        for (int i = 0; i < ends.length; i++) {
            String how = ends[i].word;
            key(
                    out,
                    places[i],
                    y,
                    "<rect class=\"bar %s\" x=\"%s\" y=\"%s\" width=\"14\" height=\"%s\"/>"
                                    .formatted(how, places[i], y - BAR, BAR)
                            + "<use href=\"#%s\" class=\"sign %s-sign\" x=\"%s\" y=\"%s\" transform=\"translate(21)\"/>"
                                    .formatted(how, how, places[i], y - BAR / 2),
                    how);
        }
        y += LINE + 4;
        key(
                out,
                places[0],
                y,
                "<line class=\"cancel\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>"
                        .formatted(places[0], y - BAR - 1, places[0], y + 1),
                "cause");
        key(
                out,
                places[1],
                y,
                "<line class=\"deadline\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>"
                        .formatted(places[1], y - BAR - 1, places[1], y + 1),
                "deadline");
        key(
                out,
                places[2],
                y,
                "<rect class=\"back-off\" x=\"%s\" y=\"%s\" width=\"14\" height=\"2\"/>"
                        .formatted(places[2], y - BAR / 2 - 1),
                "back-off");
        key(
                out,
                places[3],
                y,
                "<rect class=\"wait\" x=\"%s\" y=\"%s\" width=\"14\" height=\"%s\"/>"
                        .formatted(places[3], y - BAR, BAR),
                "waits");
        if (!run.missing().isEmpty()) {
            y += LINE + 4;
            out.append("<text x=\"2%\" y=\"" + y + "\">" + run.missing() + "</text>\n");
        }
        return y + GAP + 2;
    }

    private static void key(StringBuilder out, String x, int y, String shape, String words) {
        out.append(shape).append("<text x=\"%s\" y=\"%s\" dx=\"30\">%s</text>\n".formatted(x, y, words));
    }
}
