package dev.selvedge.batch;

import dev.selvedge.Progress;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import me.tongfei.progressbar.DefaultProgressBarRenderer;
import me.tongfei.progressbar.ProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarStyle;
import me.tongfei.progressbar.ProgressState;
import org.jspecify.annotations.Nullable;

/**
 * The bar of the library me.tongfei:progressbar. No other class touches that library: whoever makes one of these without it
 * gets a {@link LinkageError}.
 *
 * <p>The library only paints. Its own way to the terminal is not taken, for three reasons. It asks jline for the width,
 * which takes Ctrl-C away from the JVM as long as the bar is there: shutdown hooks, and what they cancel, would not run. It
 * draws from a thread of its own, which sees numbers of two moments. And the close of its bar waits for that thread, and
 * swallows an interrupt that comes meanwhile.
 */
final class LibraryBar implements TerminalLine.Picture {

    private final String name;
    private final Canvas canvas;
    private final me.tongfei.progressbar.ProgressBar bar;

    /** Also draws the first picture, so that whatever is missing is missed here. */
    LibraryBar(String name, Progress first, Terminal terminal) {
        this.name = name;
        this.canvas = new Canvas(first, terminal);
        this.bar = me.tongfei.progressbar.ProgressBar.builder()
                .setTaskName(name)
                .setInitialMax(first.total())
                .startsFrom(0, first.elapsed())
                .setUpdateIntervalMillis(Integer.MAX_VALUE)
                .continuousUpdate()
                .setRenderer(canvas)
                .setConsumer(canvas)
                .build();
        String unused = of(first);
    }

    /** Without a total, or without items, there is no bar to fill: then the numbers alone. */
    @Override
    public String of(Progress p) {
        if (p.total() <= 0) {
            return name.isEmpty() ? p.toString() : name + ": " + p;
        }
        canvas.now = p;
        canvas.painter = Thread.currentThread();
        try {
            bar.stepTo(Math.min(p.ended(), p.total())).refresh();
        } finally {
            canvas.painter = null;
        }
        return canvas.text;
    }

    /** Paints with our numbers, and keeps the text. */
    private static final class Canvas extends DefaultProgressBarRenderer implements ProgressBarConsumer {

        private final int columns;
        private Progress now;
        private String text = "";

        /** Who is painting; null → nobody. Read by the library's thread too. */
        private volatile @Nullable Thread painter;

        Canvas(Progress first, Terminal terminal) {
            super(styleOn(terminal), "", 1, true, null, null, true, state -> Optional.empty());
            this.columns = terminal.columns();
            this.now = first;
        }

        private static ProgressBarStyle styleOn(Terminal terminal) {
            if (!terminal.unicode()) {
                return ProgressBarStyle.ASCII;
            }
            return terminal.colours() ? ProgressBarStyle.COLORFUL_UNICODE_BLOCK : ProgressBarStyle.UNICODE_BLOCK;
        }

        /** The library's thread comes once for each bar: an exception is how a periodic task is ended for good. */
        @Override
        public String render(ProgressState state, int maxLength) {
            if (Thread.currentThread() != painter) {
                throw new CancellationException("whoever is told of the progress draws it");
            }
            return super.render(state, maxLength);
        }

        @Override
        protected String etaString(ProgressState state) {
            return now.timeLeft()
                    .map(left -> String.format(
                            Locale.ROOT, "%d:%02d:%02d", left.toHours(), left.toMinutesPart(), left.toSecondsPart()))
                    .orElse("?");
        }

        @Override
        protected String speed(ProgressState state) {
            String failed = now.failed() > 0 ? now.failed() + " failed" : "";
            String rate = now.rateInWords();
            return rate.isEmpty() || failed.isEmpty() ? rate + failed : rate + ", " + failed;
        }

        @Override
        public int getMaxRenderedLength() {
            return columns - 1; // a full line would leave the cursor nowhere
        }

        @Override
        public void accept(String painted) {
            text = painted;
        }

        @Override
        public void close() {}
    }
}
