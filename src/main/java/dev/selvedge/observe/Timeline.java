package dev.selvedge.observe;

import dev.selvedge.Outcome;
import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeListener;
import dev.selvedge.Selvedge;
import dev.selvedge.time.TimeSource;
import java.lang.ref.WeakReference;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A listener that keeps what happens, and draws it: each scope with its forks as bars over time, attempts and the waits between them, who
 * was cancelled because of whom, deadlines, and how all ended.
 *
 * {@snippet class="dev.selvedge.examples.TimelineExamples" region="picture"}
 *
 * <p>It may be given to any number of scopes, and be asked at any time, also while they are open; then what runs is drawn up to the
 * present moment. All of them go by one clock, that of the first it hears: scopes of another clock are left out, and counted, since
 * their times cannot be compared. On a virtual clock a picture is the same in each run.
 *
 * <p>What it is told it only notes, so that it holds up nobody: 1,000,000 events at the most, about 100 bytes each; any more are counted.
 * Values of tasks are not kept. It is no replacement for the log: an error that nobody can see otherwise is logged as well, unless
 * another listener is told of it.
 *
 * <p>Names and messages are shown as text, whatever they hold: shortened, and without characters that cannot be seen.
 *
 * <p>Safe for use by several threads.
 *
 * @since 0.1
 */
public final class Timeline implements ScopeListener {

    private static final int MOST = 1_000_000;

    private final Queue<Noted> noted = new ConcurrentLinkedQueue<>();
    private final AtomicLong heard = new AtomicLong();
    private final int most;

    private Timeline(int most) {
        this.most = most;
    }

    /**
     * A timeline that has heard of nothing yet.
     *
     * @return a new one
     */
    public static Timeline create() {
        return new Timeline(MOST);
    }

    static Timeline ofAtMost(int events) {
        return new Timeline(events);
    }

    /** Notes an event. */
    @Override
    public void on(ScopeEvent event, Where where) {
        if (heard.incrementAndGet() <= most) {
            boolean opened = event instanceof ScopeEvent.ScopeOpened;
            boolean begins = opened || event instanceof ScopeEvent.ForkStarted;
            noted.add(new Noted(
                    withoutValue(event),
                    where,
                    begins ? new WeakReference<>(Thread.currentThread()) : null,
                    opened ? Selvedge.deadline().clock() : null));
        }
    }

    private static ScopeEvent withoutValue(ScopeEvent event) {
        return switch (event) {
            case ScopeEvent.ForkEnded(var scope, var fork, Outcome.Success<?> s)
            when s.value() != null ->
                new ScopeEvent.ForkEnded(scope, fork, new Outcome.Success<@Nullable Object>(null));
            case ScopeEvent.ValueDiscarded(var scope, var fork, var value) ->
                new ScopeEvent.ValueDiscarded(scope, fork, null);
            default -> event;
        };
    }

    /**
     * Whether it replaces the log.
     *
     * @return false: nobody may ever look at it
     */
    @Override
    public boolean replacesLog() {
        return false;
    }

    /**
     * A picture: a drawing in SVG that needs nothing else. It is as wide as the place it is put into, and its writing stays legible; it is
     * light or dark as the reader has it, and tells outcomes by shapes as well as by colours. Of very many forks in one scope the cause of
     * the cancellation, the first ten that failed, and a few others, are drawn; of the rest, how many ran at each time, and how many ended
     * in which way.
     *
     * @return the document
     */
    public String svg() {
        return new SvgPicture(run()).document();
    }

    /**
     * A page with the picture: in HTML that needs no network, to be zoomed, with texts under the pointer, and a filter by the names of
     * scopes.
     *
     * @return the document
     */
    public String html() {
        return HtmlPage.of(run());
    }

    /**
     * A tree for terminals, a line for each scope and each fork. Of one that has not ended it says since when it runs, and, if it is
     * blocked, where: the innermost calls of its thread at this moment.
     *
     * @return lines, each with a line feed at its end; empty if nothing was heard of
     */
    public String text() {
        return new TextTree(run()).lines();
    }

    /**
     * The same for a viewer of traces, such as Perfetto: a document in JSON, in the trace event format of Chrome. Scopes are its processes,
     * forks its threads.
     *
     * @return the document
     */
    public String chromeTrace() {
        return new ChromeTrace(run()).document();
    }

    Run run() {
        TimeSource time = noted.stream()
                .map(Noted::clock)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        long lost = Math.max(0, heard.get() - most);
        return new RunBuilder().build(noted, time == null ? null : time.nanoTime(), lost);
    }
}
