package dev.selvedge.observe;

import dev.selvedge.observe.Span.Cut;
import dev.selvedge.observe.Span.How;
import dev.selvedge.observe.Span.Kind;
import dev.selvedge.observe.Span.Mark;
import java.util.ArrayList;
import java.util.List;

/**
 * A run in the trace event format of Chrome: a process for each scope, in it a thread for its owner, of the number 0, and one for each
 * fork. Times are in microseconds from the beginning of the run.
 */
final class ChromeTrace {

    private static final int THOUSAND = 1000;

    private final Run run;
    private final List<String> events = new ArrayList<>();
    private int arrows;

    ChromeTrace(Run run) {
        this.run = run;
    }

    String document() {
        run.roots().forEach(this::add);
        return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + String.join(",\n", events) + "\n]}\n";
    }

    private void add(Span s) {
        if (s.kind() == Kind.SCOPE) {
            name("process_name", s.scope(), 0, s.name() + " #" + s.scope());
            name("thread_name", s.scope(), 0, "owner");
        } else if (s.kind() == Kind.FORK) {
            name("thread_name", s.scope(), s.fork(), s.name());
        }
        span(s);
        for (Mark m : s.marks()) {
            moment(s, m.at(), m.words());
        }
        if (s.cut() != null) {
            moment(s, s.cut().at(), "cancelled: " + s.cut().message());
            arrows(s, s.cut());
        }
        s.inner().forEach(this::add);
    }

    private void name(String what, long scope, long fork, String name) {
        events.add("{\"ph\":\"M\",\"name\":\"" + what + "\"," + in(scope, fork) + ",\"args\":{\"name\":" + quoted(name)
                + "}}");
    }

    private void span(Span s) {
        String name = s.kind() == Kind.ATTEMPT ? "attempt " + s.attempt() : s.name();
        events.add("{\"ph\":\"X\",\"cat\":\"" + s.kind().word() + "\",\"name\":" + quoted(name) + ","
                + in(s.scope(), s.fork()) + ",\"ts\":" + micros(s.start() - run.begin()) + ",\"dur\":"
                + micros(s.length()) + ",\"args\":{\"how\":\"" + s.how().word + "\",\"attempt\":" + s.attempt()
                + (s.words() == null ? "" : ",\"words\":" + quoted(s.words()))
                + (s.limit() < 0 ? "" : ",\"deadline\":" + quoted(Shown.time(s.limit()))) + "}}");
    }

    private void moment(Span s, long at, String words) {
        events.add("{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"moment\",\"name\":" + quoted(words) + ","
                + in(s.scope(), s.fork()) + ",\"ts\":" + micros(at - run.begin()) + "}");
    }

    private void arrows(Span scope, Cut cut) {
        scope.inner(Kind.FORK)
                .filter(f -> f.how() == How.CANCELLED && f.end() >= cut.at())
                .forEach(f -> {
                    arrows++;
                    arrow("s", scope.scope(), cut.cause(), cut.at(), "");
                    arrow("f", scope.scope(), f.fork(), f.end(), ",\"bp\":\"e\"");
                });
    }

    private void arrow(String phase, long scope, long fork, long at, String more) {
        events.add("{\"ph\":\"" + phase + "\",\"cat\":\"cancel\",\"name\":\"cancel\",\"id\":" + arrows + ","
                + in(scope, fork) + ",\"ts\":" + micros(at - run.begin()) + more + "}");
    }

    private static String in(long scope, long fork) {
        return "\"pid\":" + scope + ",\"tid\":" + fork;
    }

    private static String micros(long nanos) {
        String rest = String.valueOf(THOUSAND + nanos % THOUSAND).substring(1);
        return nanos / THOUSAND + "." + rest;
    }

    /** In JSON, also inside a page. */
    private static String quoted(String any) {
        StringBuilder s = new StringBuilder("\"");
        for (char c : Shown.text(any, Shown.WHOLE).toCharArray()) {
            switch (c) {
                case '"' -> s.append("\\\"");
                case '\\' -> s.append("\\\\");
                case '<' -> s.append("\\u003c");
                default -> s.append(c);
            }
        }
        return s.append('"').toString();
    }
}
