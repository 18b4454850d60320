package dev.selvedge;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.time.VirtualClock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What scopes have that have no block around them. Each test runs in a class loader, and so with defaults, of its own. */
@Timeout(60)
class DefaultsTest {

    @TempDir
    Path services;

    @Test
    void what_is_set_is_what_outermost_scopes_have_and_blocks_inside_inherit() throws Exception {
        assertThat(inside(SetOnce.class))
                .isEqualTo(List.of(
                        "opened outer", "opened inner", "closed inner", "closed outer", "opened next", "closed next"));
    }

    /** A listener. */
    static final class SetOnce implements Callable<Object> {
        @Override
        public Object call() {
            List<String> told = new CopyOnWriteArrayList<>();
            Selvedge.defaults(Selvedge.scope().listener(openedAndClosed(told)));
            Selvedge.scope("outer").run(s -> {
                Fork<?> unused = s.fork(() -> Selvedge.scope("inner").run(inner -> {}));
            });
            Selvedge.scope("next").run(s -> {});
            return told;
        }
    }

    @Test
    void a_scope_s_own_listener_is_told_too() throws Exception {
        assertThat(inside(Both.class)).isEqualTo(List.of("opened page", "closed page", "opened page", "closed page"));
    }

    /** A listener beside that of the process. */
    static final class Both implements Callable<Object> {
        @Override
        public Object call() {
            List<String> first = new CopyOnWriteArrayList<>();
            List<String> own = new CopyOnWriteArrayList<>();
            Selvedge.defaults(Selvedge.scope().listener(openedAndClosed(first)));
            Selvedge.scope("page").listener(openedAndClosed(own)).run(s -> {});
            first.addAll(own);
            return first;
        }
    }

    @Test
    void a_clock_a_propagator_and_a_sink_can_be_set() throws Exception {
        assertThat(inside(Everything.class))
                .isEqualTo(List.of("ann", "discarded b", "elapsed PT1H", "own clock PT0S", "outside any block PT3H"));
    }

    /** All that defaults can have. */
    static final class Everything implements Callable<Object> {
        @Override
        public Object call() {
            List<Object> told = new CopyOnWriteArrayList<>();
            VirtualClock clock = VirtualClock.jumping();
            ThreadLocal<String> user = new ThreadLocal<>();
            Selvedge.defaults(Selvedge.scope()
                    .clock(clock)
                    .propagate(user::get, v -> {
                        user.set(v);
                        return user::remove;
                    })
                    .onDiscard(v -> told.add("discarded " + v)));
            user.set("ann");
            told.addAll(Selvedge.scope().gather(user::get));
            String unused = Selvedge.scope().race(() -> shielded("a"), () -> shielded("b"));
            Selvedge.scope().run(() -> Selvedge.sleep(ofSeconds(3_599)));
            told.add("elapsed " + clock.elapsed());
            VirtualClock own = VirtualClock.jumping();
            Selvedge.scope().clock(own).run(() -> told.add("own clock " + own.elapsed()));
            Selvedge.sleep(ofHours(2));
            told.add("outside any block " + clock.elapsed());
            return told;
        }

        private static String shielded(String value) {
            Selvedge.shielded(() -> Selvedge.sleep(ofSeconds(1)));
            return value;
        }
    }

    @Test
    void they_are_set_once() throws Exception {
        assertThat(inside(SetTwice.class))
                .isEqualTo(List.of(
                        "IllegalStateException: the defaults of this process are given once, and were by"
                                + " Selvedge.defaults",
                        "opened page",
                        "closed page"));
    }

    /** The second time nothing is changed. */
    static final class SetTwice implements Callable<Object> {
        @Override
        public Object call() {
            List<String> told = new CopyOnWriteArrayList<>();
            Selvedge.defaults(Selvedge.scope().listener(openedAndClosed(told)));
            told.add(thrownBy(() -> Selvedge.defaults(Selvedge.scope().listener(e -> told.add("wrong")))));
            Selvedge.scope("page").run(s -> {});
            return told;
        }
    }

    @Test
    void what_no_default_can_be_is_refused_and_changes_nothing() throws Exception {
        String has =
                "IllegalArgumentException: defaults have a clock, listeners, propagators, onDiscard and stragglersAfter, and"
                        + " nothing else; this has ";
        assertThat(inside(Bad.class))
                .isEqualTo(List.of(
                        has + "the name \"page\"",
                        has + "a deadline",
                        has + "a deadline",
                        has + "isolated()",
                        has + "threads(...)",
                        "NullPointerException: spec",
                        "opened page",
                        "closed page"));
    }

    /** Then a good one. */
    static final class Bad implements Callable<Object> {
        @Override
        public Object call() {
            List<String> told = new CopyOnWriteArrayList<>();
            ScopeSpec plain = Selvedge.scope().listener(e -> told.add("wrong"));
            for (ScopeSpec bad : List.of(
                    plain.named("page"),
                    plain.deadline(ofSeconds(1)),
                    plain.deadline(dev.selvedge.time.TimeSource.system().after(ofSeconds(1))),
                    plain.isolated(),
                    plain.threads(Thread.ofVirtual().factory()))) {
                told.add(thrownBy(() -> Selvedge.defaults(bad)));
            }
            told.add(thrownBy(() -> Selvedge.defaults(null)));
            Selvedge.defaults(Selvedge.scope().listener(openedAndClosed(told)));
            Selvedge.scope("page").run(s -> {});
            return told;
        }
    }

    @Test
    void scopes_that_are_open_go_on_as_they_are() throws Exception {
        assertThat(inside(SetLate.class)).isEqualTo(List.of("opened next", "closed next"));
    }

    /** After a scope was opened, and in one. */
    static final class SetLate implements Callable<Object> {
        @Override
        public Object call() {
            List<String> told = new CopyOnWriteArrayList<>();
            Selvedge.scope("before").run(s -> {});
            Selvedge.scope("open").run(s -> {
                Selvedge.defaults(Selvedge.scope().listener(openedAndClosed(told)));
                Selvedge.scope("inside").run(inside -> {});
                Fork<?> unused = s.fork(() -> Selvedge.scope("fork").run(inside -> {}));
            });
            Selvedge.scope("next").run(s -> {});
            return told;
        }
    }

    @Test
    void a_provider_is_found() throws Exception {
        provide(First.class);

        assertThat(inside(Open.class)).isEqualTo(List.of("first asked", "first", "first"));
    }

    /** Two scopes. */
    static final class Open implements Callable<Object> {
        @Override
        public Object call() {
            Selvedge.scope().run(s -> {});
            Selvedge.scope().run(s -> {});
            return TOLD;
        }
    }

    @Test
    void several_add_up_and_nothing_can_be_set_any_more() throws Exception {
        provide(First.class, Second.class);

        assertThat(inside(OpenThenSet.class))
                .isEqualTo(List.of(
                        "first asked",
                        "second asked",
                        "second",
                        "first",
                        "on the second's clock true",
                        "IllegalStateException: the defaults of this process are given once, and were by "
                                + First.class.getName() + " and " + Second.class.getName()));
    }

    /** A scope, then a setting. */
    static final class OpenThenSet implements Callable<Object> {
        @Override
        public Object call() {
            Selvedge.scope().run(s -> {
                TOLD.add("on the second's clock " + (Selvedge.deadline().clock() == Second.CLOCK));
            });
            TOLD.add(thrownBy(() -> Selvedge.defaults(Selvedge.scope())));
            return List.of(TOLD.get(0), TOLD.get(1), TOLD.get(2), TOLD.get(3), TOLD.get(4), TOLD.get(5));
        }
    }

    @Test
    void what_is_set_before_comes_instead_of_providers() throws Exception {
        provide(First.class);

        assertThat(inside(SetThenOpen.class)).isEqualTo(List.of("opened page", "closed page"));
    }

    /** A setting, then a scope. */
    static final class SetThenOpen implements Callable<Object> {
        @Override
        public Object call() {
            Selvedge.defaults(Selvedge.scope().listener(openedAndClosed(TOLD)));
            Selvedge.scope("page").run(s -> {});
            return TOLD;
        }
    }

    @Test
    void a_provider_that_throws_is_seen_by_each_scope_and_leaves_nothing_behind() throws Exception {
        provide(Broken.class);

        assertThat(inside(OpenInVain.class))
                .isEqualTo(List.of(
                        "IllegalStateException: broken provider",
                        "IllegalStateException: broken provider",
                        "no ledger true",
                        "opened page",
                        "closed page"));
    }

    /** Two scopes that cannot be opened; then a setting helps. */
    static final class OpenInVain implements Callable<Object> {
        @Override
        public Object call() {
            TOLD.add(thrownBy(() -> Selvedge.scope().run(s -> TOLD.add("wrong"))));
            TOLD.add(thrownBy(() -> Selvedge.scope().call(() -> TOLD.add("wrong"))));
            TOLD.add("no ledger " + (Here.ledger() == null));
            Selvedge.defaults(Selvedge.scope().listener(openedAndClosed(TOLD)));
            Selvedge.scope("page").run(s -> {});
            return TOLD;
        }
    }

    @Test
    void so_is_one_that_gives_what_no_default_can_be() throws Exception {
        provide(Named.class);

        assertThat(inside(OpenOnce.class))
                .isEqualTo(
                        "IllegalArgumentException: defaults have a clock, listeners, propagators, onDiscard and stragglersAfter, and"
                                + " nothing else; this has the name \"provided\"");
    }

    @Test
    void or_null() throws Exception {
        provide(Empty.class);

        assertThat(inside(OpenOnce.class)).isEqualTo("NullPointerException: the defaults of " + Empty.class.getName());
    }

    /** One scope. */
    static final class OpenOnce implements Callable<Object> {
        @Override
        public Object call() {
            return thrownBy(() -> Selvedge.scope().run(s -> {}));
        }
    }

    @Test
    void a_scope_that_a_provider_opens_has_no_defaults() throws Exception {
        provide(Nesting.class);

        assertThat(inside(Open.class)).isEqualTo(List.of("inside 1", "nesting", "nesting"));
    }

    // Providers, found where a test says so.

    static final List<String> TOLD = new CopyOnWriteArrayList<>();

    /** A listener. */
    public static final class First implements ScopeDefaults {
        @Override
        public ScopeSpec defaults() {
            TOLD.add("first asked");
            return Selvedge.scope().clock(VirtualClock.jumping()).listener(opened("first"));
        }
    }

    /** A listener and a clock. */
    public static final class Second implements ScopeDefaults {

        static final VirtualClock CLOCK = VirtualClock.jumping();

        @Override
        public ScopeSpec defaults() {
            TOLD.add("second asked");
            return Selvedge.scope().clock(CLOCK).listener(opened("second"));
        }
    }

    /** One that throws. */
    public static final class Broken implements ScopeDefaults {
        @Override
        public ScopeSpec defaults() {
            throw new IllegalStateException("broken provider");
        }
    }

    /** One that gives nothing. */
    public static final class Empty implements ScopeDefaults {
        @Override
        @SuppressWarnings("NullAway") // that is its fault
        public ScopeSpec defaults() {
            return null;
        }
    }

    /** One that gives a name. */
    public static final class Named implements ScopeDefaults {
        @Override
        public ScopeSpec defaults() {
            return Selvedge.scope("provided");
        }
    }

    /** One that uses a scope to find out. */
    public static final class Nesting implements ScopeDefaults {
        @Override
        public ScopeSpec defaults() {
            TOLD.add("inside " + Selvedge.scope().gather(() -> 1).get(0));
            return Selvedge.scope().listener(opened("nesting"));
        }
    }

    private static Consumer<ScopeEvent> opened(String who) {
        return e -> {
            if (e instanceof ScopeEvent.ScopeOpened) {
                TOLD.add(who);
            }
        };
    }

    static Consumer<ScopeEvent> openedAndClosed(List<String> told) {
        return e -> {
            if (e instanceof ScopeEvent.ScopeOpened) {
                told.add("opened " + e.scope());
            } else if (e instanceof ScopeEvent.ScopeClosed) {
                told.add("closed " + e.scope());
            }
        };
    }

    static String thrownBy(Runnable action) {
        try {
            action.run();
            return "nothing";
        } catch (Throwable e) {
            return e.getClass().getSimpleName() + ": " + e.getMessage();
        }
    }

    private void provide(Class<?>... providers) throws Exception {
        Path file = services.resolve("META-INF/services/" + ScopeDefaults.class.getName());
        Files.createDirectories(file.getParent());
        List<String> names = new ArrayList<>();
        for (Class<?> p : providers) {
            names.add(p.getName());
        }
        Files.write(file, names);
    }

    private Object inside(Class<? extends Callable<Object>> program) throws Exception {
        return NeverUsed.run(program, services);
    }
}
