package dev.selvedge.batch;

import static dev.selvedge.Progress.UNKNOWN;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.selvedge.Progress;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a bar writes, told of made-up snapshots. */
@Timeout(30)
class ProgressBarTest {

    private static final String DRAW = "\r\u001b[K\u001b[?7l";
    private static final String WRAP = "\u001b[?7h";

    private final List<String> lines = new ArrayList<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    // Lines.

    @Test
    void the_first_line_comes_at_once_the_next_after_ten_seconds_the_last_always() {
        ProgressBar bar = ProgressBar.lines(lines::add).named("grading");

        for (int second = 0; second <= 25; second++) {
            bar.accept(at(second, 26, second));
        }
        bar.accept(at(26, 26, 26));

        assertThat(lines)
                .containsExactly(
                        "grading: 0 of 26 (0 %)",
                        "grading: 10 of 26 (38 %), 1.0/s, 16 s left",
                        "grading: 20 of 26 (76 %), 1.0/s, 6 s left",
                        "grading: 26 of 26 (100 %), 1.0/s");
    }

    @Test
    void how_often_can_be_set_and_zero_is_each_time() {
        ProgressBar minutes = ProgressBar.lines(lines::add).every(ofMinutes(1));
        ProgressBar each = ProgressBar.lines(lines::add).every(ZERO);

        for (int second = 5; second <= 125; second += 30) {
            minutes.accept(at(second, UNKNOWN, 3));
        }
        assertThat(lines).containsExactly("3, 36/min", "3, 2.8/min", "3, 1.4/min");
        lines.clear();
        each.accept(at(1, UNKNOWN, 1));
        each.accept(at(1, UNKNOWN, 1));

        assertThat(lines).hasSize(2);
    }

    @Test
    void a_call_that_is_over_says_so_though_not_all_have_ended() {
        ProgressBar bar = ProgressBar.lines(lines::add);

        bar.accept(at(1, 10, 1));
        bar.accept(at(2, 10, 2));
        bar.accept(over(3, 10, 3, 7));

        assertThat(lines)
                .containsExactly("1 of 10 (10 %), 1.0/s, 9 s left", "10 of 10 (100 %), 7 cancelled, 1.0/s, took 3 s");
    }

    @Test
    void a_call_over_nothing_has_one_line() {
        ProgressBar bar = ProgressBar.lines(lines::add);

        bar.accept(over(0, 0, 0, 0));

        assertThat(lines).containsExactly("0 of 0, took 0 ns");
    }

    @Test
    void when_all_have_ended_the_end_of_the_call_is_no_news() {
        ProgressBar bar = ProgressBar.lines(lines::add);

        bar.accept(at(2, 2, 2));
        bar.accept(at(3, 2, 2));
        bar.accept(over(4, 2, 2, 0));
        assertThat(lines).containsExactly("2 of 2 (100 %), 1.0/s");
        bar.accept(over(4, 2, 2, 0));

        assertThat(lines).as("another call of the same numbers").hasSize(2);
    }

    @Test
    void one_bar_serves_one_call_after_the_other() {
        ProgressBar bar = ProgressBar.lines(lines::add);

        bar.accept(at(8, UNKNOWN, 4));
        bar.accept(over(9, UNKNOWN, 5, 0));
        bar.accept(at(10, UNKNOWN, 6));
        bar.accept(at(11, UNKNOWN, 7));
        bar.accept(at(1, UNKNOWN, 1));
        bar.accept(at(2, UNKNOWN, 2));
        bar.accept(at(2, 50, 2));

        assertThat(lines)
                .containsExactly(
                        "4, 30/min", "5, 33/min, took 9 s", "6, 36/min", "1, 1.0/s", "2 of 50 (4 %), 1.0/s, 48 s left");
    }

    @Test
    void what_the_receiver_of_a_line_throws_leaves_and_the_next_line_comes() {
        ProgressBar bar = ProgressBar.lines(line -> {
            lines.add(line);
            throw new IllegalStateException(line);
        });

        assertThatThrownBy(() -> bar.accept(at(1, UNKNOWN, 1))).hasMessage("1, 1.0/s");
        assertThatThrownBy(() -> bar.accept(at(12, UNKNOWN, 12))).hasMessage("12, 1.0/s");
    }

    @Test
    void a_name_and_an_interval_make_another_bar() {
        ProgressBar plain = ProgressBar.lines(lines::add);
        ProgressBar named = plain.named("a").every(ZERO).named("b");

        plain.accept(at(1, UNKNOWN, 1));
        named.accept(at(1, UNKNOWN, 1));
        named.accept(at(1, UNKNOWN, 1));
        plain.accept(at(1, UNKNOWN, 1));

        assertThat(lines).containsExactly("1, 1.0/s", "b: 1, 1.0/s", "b: 1, 1.0/s");
    }

    // On a terminal.

    @Test
    void a_bar_fills_up_in_one_line_and_ends_it_when_all_have_ended() {
        ProgressBar bar = onTerminal(80, true, StandardCharsets.US_ASCII).named("grading");

        bar.accept(at(0, 200, 0));
        bar.accept(new Progress(200, 66, 47, 3, 0, 0, 0, ofSeconds(10), false));
        bar.accept(new Progress(200, 200, 197, 3, 0, 0, 0, ofSeconds(40), false));
        bar.accept(new Progress(200, 200, 197, 3, 0, 0, 0, ofSeconds(40), true));

        List<String> drawn = drawn();
        assertThat(drawn).hasSize(3);
        assertThat(drawn.get(0)).startsWith(DRAW + "grading   0% [").contains("] ", "0/200 (", " / ?)");
        assertThat(drawn.get(1))
                .startsWith(DRAW + "grading  25% [")
                .contains("= ", "50/200 (", " / 0:00:30) 5.0/s, 3 failed");
        assertThat(drawn.get(2))
                .startsWith(DRAW + "grading 100% [")
                .contains("=]", "200/200 (", " / 0:00:00) 5.0/s, 3 failed" + WRAP + "\n");
        assertThat(text()).containsOnlyOnce("\n").endsWith("\n").doesNotContain("\u001b[3");
        assertThat(drawn).allSatisfy(d -> assertThat(visible(d)).hasSize(79));
    }

    @Test
    void a_job_that_is_cut_off_leaves_the_terminal_on_a_fresh_line() {
        ProgressBar bar = onTerminal(80, false, StandardCharsets.UTF_8);

        bar.accept(at(1, 200, 1));
        bar.accept(over(2, 200, 1, 3));

        assertThat(text()).containsOnlyOnce("\n").endsWith(WRAP + "\n");
        assertThat(drawn().get(1)).contains("  2% |", "4/200");
    }

    @Test
    void without_a_total_there_is_a_counter_and_no_percentage() {
        ProgressBar bar = onTerminal(80, true, StandardCharsets.UTF_8).named("lines");

        bar.accept(at(1, UNKNOWN, 7));
        bar.accept(over(2, UNKNOWN, 9, 0));

        assertThat(text())
                .isEqualTo(DRAW + "lines: 7, 7.0/s" + WRAP + DRAW + "lines: 9, 4.5/s, took 2 s" + WRAP + "\n");
    }

    @Test
    void no_items_have_a_line_too() {
        onTerminal(80, true, StandardCharsets.UTF_8).accept(over(0, 0, 0, 0));

        assertThat(text()).isEqualTo(DRAW + "0 of 0, took 0 ns" + WRAP + "\n");
    }

    @Test
    void colours_and_blocks_are_for_terminals_that_want_and_know_them() {
        onTerminal(80, true, StandardCharsets.UTF_8).accept(over(1, 2, 2, 0));
        assertThat(text()).contains("\u001b[33m│█", "█│\u001b[0m");
        bytes.reset();
        onTerminal(80, false, StandardCharsets.UTF_8).accept(over(1, 2, 2, 0));
        assertThat(text()).contains("|█", "█|").doesNotContain("\u001b[33m");
        bytes.reset();
        onTerminal(80, true, StandardCharsets.ISO_8859_1).accept(over(1, 2, 2, 0));

        assertThat(text()).contains("[=", "=]").doesNotContain("\u001b[33m", "?/");
    }

    @Test
    void another_call_in_the_middle_begins_on_a_fresh_line() {
        ProgressBar bar = onTerminal(80, true, StandardCharsets.UTF_8);

        bar.accept(at(5, 200, 5));
        bar.accept(at(1, 100, 1));
        bar.accept(at(0, 100, 0));

        assertThat(text().split("\n", -1)).hasSize(3).allMatch(s -> s.startsWith(DRAW));
    }

    @Test
    void numbers_that_go_back_or_beyond_the_total_are_drawn_as_well_as_can_be() {
        TerminalLine.Picture picture = new LibraryBar("x", at(0, 10, 5), terminal(80, false, StandardCharsets.UTF_8));

        assertThat(picture.of(at(1, 10, 8))).contains("80%", "8/10");
        assertThat(picture.of(at(1, 10, 3))).contains("30%", "3/10");
        assertThat(picture.of(at(1, 10, 30))).contains("100%", "10/10");
        assertThat(picture.of(at(1, Long.MAX_VALUE, Long.MAX_VALUE))).contains("100%");
    }

    @Test
    void a_terminal_with_no_room_has_what_fits() {
        ProgressBar bar = onTerminal(12, false, StandardCharsets.UTF_8).named("a name longer than that");

        bar.accept(at(1, 200, 100));

        assertThat(visible(text())).hasSizeLessThan(12).startsWith("a name");
    }

    @Test
    void a_name_is_a_part_of_one_line() {
        Map.of(
                        "a\nb",
                        "a\\nb",
                        "a\r",
                        "a\\r",
                        "\u001b[2J",
                        "\\u001b[2J",
                        "a\u0085",
                        "a\\u0085",
                        "a\u2028b",
                        "a\\u2028b")
                .forEach((name, shown) -> assertThatThrownBy(
                                () -> ProgressBar.auto().named(name))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("name must be one line, without control characters: \"" + shown + "\""));
        assertThat(ProgressBar.auto().named("größer \ud83d\ude00, 1/2")).isNotNull();
    }

    @Test
    void whoever_is_told_draws_and_nobody_else() throws Exception {
        List<Thread> drew = new ArrayList<>();
        Terminal terminal = terminal(80, false, StandardCharsets.UTF_8);
        ProgressBar bar = ProgressBar.looking((name, every, first) -> {
            LibraryBar picture = new LibraryBar(name, first, terminal);
            return new TerminalLine(stream(terminal), p -> {
                drew.add(Thread.currentThread());
                return picture.of(p);
            });
        });

        for (int i = 1; i <= 100; i++) {
            bar.accept(at(i, 100, i));
        }

        assertThat(drew).hasSize(100).containsOnly(Thread.currentThread());
        assertThat(drawn()).hasSize(100);
    }

    @Test
    void an_interrupt_stays_and_keeps_nothing_from_being_drawn() {
        ProgressBar bar = onTerminal(80, true, StandardCharsets.UTF_8);

        Thread.currentThread().interrupt();
        bar.accept(at(1, 2, 1));
        bar.accept(over(2, 2, 1, 1));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(text()).endsWith("\n");
    }

    private ProgressBar onTerminal(int columns, boolean colours, Charset charset) {
        Terminal terminal = terminal(columns, colours, charset);
        return ProgressBar.looking(
                (name, every, first) -> new TerminalLine(stream(terminal), new LibraryBar(name, first, terminal)));
    }

    private static Terminal terminal(int columns, boolean colours, Charset charset) {
        return new Terminal(columns, colours, charset);
    }

    private PrintStream stream(Terminal terminal) {
        return new PrintStream(bytes, false, terminal.charset());
    }

    private String text() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private List<String> drawn() {
        return List.of(text().split("(?=\r)"));
    }

    private static String visible(String drawn) {
        return drawn.replaceAll("\u001b\\[\\??\\d*[a-zA-Z]|[\r\n]", "");
    }

    private static Progress at(int second, long total, long succeeded) {
        return new Progress(total, succeeded, succeeded, 0, 0, 0, 0, ofSeconds(second), false);
    }

    private static Progress over(int second, long total, long succeeded, long cancelled) {
        return new Progress(total, succeeded + cancelled, succeeded, 0, cancelled, 0, 0, ofSeconds(second), true);
    }
}
