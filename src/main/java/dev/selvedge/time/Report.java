package dev.selvedge.time;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What is written about those who take part in a clock that does not go on. */
final class Report {

    private static final int FRAMES = 8;
    private static final int EVENTS = 10;

    private static final List<String> INSIDE = Stream.of(
                    Waiter.class, VirtualWaiter.class, VirtualClock.class, Participant.class, Turns.class)
            .map(Class::getName)
            .toList();

    private Report() {}

    /** Each participant, what it does or waits for, and where; and what is scheduled. Under the clock's lock. */
    static String of(Turns turns) {
        StringBuilder text = new StringBuilder();
        for (Participant p : turns.participants()) {
            text.append("\n  \"").append(p).append("\" ").append(doing(p, turns.running()));
            text.append(stack(p.thread()));
        }
        List<Turns.Event> pending = turns.pending();
        for (Turns.Event e : pending.subList(0, Math.min(EVENTS, pending.size()))) {
            text.append("\n  due at ")
                    .append(seconds(Duration.ofNanos(e.due())))
                    .append(": ")
                    .append(e.name());
        }
        if (pending.size() > EVENTS) {
            text.append("\n  and ").append(pending.size() - EVENTS).append(" more");
        }
        return text.toString();
    }

    private static String doing(Participant p, @Nullable Participant running) {
        VirtualWaiter waiter = p.waitsOn();
        if (waiter != null) {
            return "waits for " + waiter.purpose();
        }
        if (p.thread() == null) {
            return "has not begun";
        }
        if (p == running) {
            return "runs";
        }
        return p.isParked() ? "is blocked outside the library" : "waits for its turn, or works outside the library";
    }

    /** Where a thread is, a line each frame: from the code that called the library, or the JDK, to wait. */
    static String stack(@Nullable Thread thread) {
        if (thread == null) {
            return "";
        }
        StackTraceElement[] frames = thread.getStackTrace();
        int from = 0;
        while (from < frames.length - 1 && isInside(frames[from].getClassName())) {
            from++;
        }
        from = Math.max(0, from - 1); // the call that waits
        int to = Math.min(frames.length, from + FRAMES);
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append("\n      at ").append(frames[i]);
        }
        if (to < frames.length) {
            text.append("\n      ... ").append(frames.length - to).append(" more");
        }
        return text.toString();
    }

    private static boolean isInside(String type) {
        return type.startsWith("java.")
                || type.startsWith("jdk.")
                || type.startsWith("sun.")
                || INSIDE.stream().anyMatch(type::equals);
    }

    /** {@code 2.5 s}. */
    static String seconds(Duration d) {
        return BigDecimal.valueOf(VirtualClock.nanos(d), 9).stripTrailingZeros().toPlainString() + " s";
    }
}
