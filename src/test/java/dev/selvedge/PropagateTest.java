package dev.selvedge;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What a thread knows, carried into forks. */
@Timeout(60)
class PropagateTest {

    private static final ThreadLocal<String> USER = new ThreadLocal<>();

    @RegisterExtension
    final Lab lab = new Lab();

    @AfterEach
    void clear() {
        USER.remove();
    }

    @Test
    void the_value_of_the_calling_thread_is_in_place_in_every_fork_of_every_terminal_method() {
        USER.set("ann");
        ScopeSpec scope = carrying(lab.scope());
        Callable<String> user = USER::get;
        List<String> seen = new CopyOnWriteArrayList<>();

        seen.addAll(scope.gather(user, user));
        seen.add(scope.race(user));
        seen.addAll(scope.quorum(1, user));
        seen.addAll(scope.map(List.of(1, 2), i -> USER.get()));
        scope.outcomes(List.of(user)).forEach(o -> seen.add(((Outcome.Success<String>) o).value()));
        seen.add(scope.fork(user).fork(user).gather((a, b) -> a + b));
        seen.add(scope.call(s -> s.fork(user).join()));

        assertThat(seen).containsExactly("ann", "ann", "ann", "ann", "ann", "ann", "ann", "annann", "ann");
        assertThat(USER.get()).isEqualTo("ann");
    }

    @Test
    void without_a_propagator_nothing_is_carried() {
        USER.set("ann");
        Callable<String> user = USER::get;

        assertThat(lab.scope().gather(user)).containsExactly((String) null);
    }

    @Test
    void the_value_is_captured_once_per_terminal_call() {
        AtomicInteger captured = new AtomicInteger();
        ScopeSpec scope = lab.scope().propagate(captured::incrementAndGet, v -> () -> {});

        scope.gather(() -> 1, () -> 2, () -> 3);
        int afterGather = captured.get();
        scope.outcomes(List.of(1, 2), i -> i);
        int afterOutcomes = captured.get();
        scope.call(() -> 1);

        assertThat(List.of(afterGather, afterOutcomes, captured.get())).containsExactly(1, 2, 2);
    }

    @Test
    void in_a_live_scope_it_is_captured_once_per_fork() {
        Callable<String> user = USER::get;

        List<String> seen = carrying(lab.scope()).call(s -> {
            USER.set("ann");
            Fork<String> first = s.fork(user);
            USER.set("bob");
            Fork<String> second = s.fork(user);
            return s.gather(List.of(first, second));
        });

        assertThat(seen).containsExactly("ann", "bob");
    }

    @Test
    void it_is_captured_when_forked_not_when_the_fork_runs() {
        String seen = carrying(lab.scope()).call(s -> {
            USER.set("ann");
            Fork<String> fork = s.fork(() -> {
                Selvedge.sleep(ofSeconds(2));
                return USER.get();
            });
            USER.set("bob");
            Selvedge.sleep(ofSeconds(1));
            return fork.join();
        });

        assertThat(seen).isEqualTo("ann");
    }

    @Test
    void daemons_periodic_actions_and_those_on_cancel_have_it_too() {
        List<String> seen = new CopyOnWriteArrayList<>();
        USER.set("ann");

        assertThatThrownBy(() -> carrying(lab.scope()).run(s -> {
                    s.daemon(() -> seen.add("daemon " + USER.get()));
                    s.every(ofSeconds(2), () -> seen.add("every " + USER.get()));
                    s.onCancel(() -> seen.add("cancel " + USER.get()));
                    USER.set("bob");
                    s.onCancel(() -> seen.add("cancel " + USER.get()));
                    Selvedge.sleep(ofSeconds(5));
                    assertThat(s.cancel("enough")).isTrue();
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(seen).containsExactly("daemon ann", "every ann", "every ann", "cancel bob", "cancel ann");
    }

    @Test
    void blocks_inside_inherit_it() {
        USER.set("ann");
        Callable<String> user = USER::get;

        List<List<String>> nested = carrying(lab.scope("outer"))
                .gather(() -> lab.scope("inner")
                        .gather(() -> lab.scope("innermost").gather(user).get(0)));
        List<String> onTheSameThread =
                carrying(lab.scope("outer")).call(() -> lab.scope("inner").gather(user));

        assertThat(nested).containsExactly(List.of("ann"));
        assertThat(onTheSameThread).containsExactly("ann");
    }

    @Test
    void a_value_that_a_fork_changes_is_what_its_own_forks_get() {
        USER.set("ann");
        Callable<String> user = USER::get;

        List<String> seen = carrying(lab.scope()).map(List.of("bob", "eve"), name -> {
            USER.set(name);
            return lab.scope().gather(user).get(0);
        });

        assertThat(seen).containsExactly("bob", "eve");
    }

    @Test
    void several_are_installed_in_the_order_given_and_closed_in_reverse() {
        List<Integer> unused = lab.scope("outer")
                .propagate(noting("a"), noting("a", null))
                .call(() -> lab.scope("inner")
                        .propagate(noting("b"), noting("b", null))
                        .propagate(noting("c"), noting("c", null))
                        .gather(() -> {
                            lab.note("task");
                            return 1;
                        }));

        assertThat(lab.trail())
                .containsExactly(
                        "0s capture a",
                        "0s capture b",
                        "0s capture c",
                        "0s install a",
                        "0s install b",
                        "0s install c",
                        "0s task",
                        "0s close c",
                        "0s close b",
                        "0s close a");
    }

    @Test
    void one_that_is_given_twice_is_installed_once() {
        Supplier<String> capture = noting("a");
        Function<String, AutoCloseable> install = noting("a", null);
        ScopeSpec scope = lab.scope().propagate(capture, install).propagate(capture, install);

        List<Integer> unused = scope.call(() -> scope.gather(() -> 1));

        assertThat(lab.trail()).containsExactly("0s capture a", "0s install a", "0s close a");
    }

    @Test
    void it_is_closed_after_a_task_that_fails_or_is_cut_off() {
        IOException boom = new IOException("boom");

        assertThatThrownBy(() -> lab.scope()
                        .propagate(noting("a"), noting("a", null))
                        .gather(
                                () -> {
                                    Selvedge.sleep(ofSeconds(1));
                                    throw boom;
                                },
                                () -> {
                                    lab.sleep("second", ofSeconds(9));
                                    return 1;
                                }))
                .hasCause(boom);

        assertThat(lab.trail())
                .containsExactly(
                        "0s capture a",
                        "0s install a",
                        "0s install a",
                        "1s close a",
                        "1s second cut off",
                        "1s close a");
    }

    @Test
    void a_capture_that_throws_leaves_as_it_is_and_nothing_is_started() {
        IllegalStateException broken = new IllegalStateException("broken");
        ScopeSpec scope = lab.scope()
                .propagate(
                        () -> {
                            throw broken;
                        },
                        v -> () -> {});

        assertThat(catchThrowable(() -> scope.gather(() -> 1, () -> 2))).isSameAs(broken);
        assertThat(catchThrowable(() -> scope.race(() -> 1))).isSameAs(broken);
        assertThat(catchThrowable(() -> scope.outcomes(List.of(1), i -> i))).isSameAs(broken);

        assertThat(lab.events(ScopeEvent.ForkCreated.class)).isEmpty();
        assertThat(lab.unhandled()).isEmpty();
        assertThat(broken).hasNoSuppressedExceptions();
    }

    @Test
    void in_a_live_scope_fork_throws_it_and_the_scope_goes_on() {
        IllegalStateException broken = new IllegalStateException("broken");
        AtomicInteger captures = new AtomicInteger();

        int value = lab.scope()
                .propagate(
                        () -> {
                            if (captures.incrementAndGet() != 2) {
                                throw broken;
                            }
                            return 1;
                        },
                        v -> () -> {})
                .call(s -> {
                    assertThat(catchThrowable(() -> s.fork(() -> 1))).isSameAs(broken);
                    Fork<Integer> second = s.fork(() -> 2);
                    assertThat(catchThrowable(() -> s.daemon(() -> {}))).isSameAs(broken);
                    assertThat(catchThrowable(() -> s.onCancel(() -> {}))).isSameAs(broken);
                    return second.join();
                });

        assertThat(value).isEqualTo(2);
        assertThat(lab.events(ScopeEvent.ForkCreated.class)).hasSize(1);
    }

    @Test
    void an_install_that_throws_makes_the_task_fail_with_that() {
        IOException broken = new IOException("broken");

        assertThatThrownBy(() -> lab.scope("page")
                        .propagate(noting("a"), noting("a", null))
                        .propagate(() -> 1, v -> {
                            throw Sneaky.sneak(broken);
                        })
                        .gather(() -> {
                            lab.note("task");
                            return 1;
                        }))
                .isInstanceOf(ScopeFailedException.class)
                .hasMessage("the scope \"page\" failed: \"fork-1\" threw java.io.IOException: broken")
                .hasCause(broken);

        assertThat(lab.trail()).containsExactly("0s capture a", "0s install a", "0s close a");
    }

    @Test
    void an_install_that_gives_null_makes_the_task_fail() {
        assertThatThrownBy(() -> lab.scope().propagate(() -> 1, v -> null).gather(() -> 1))
                .isInstanceOf(ScopeFailedException.class)
                .cause()
                .isInstanceOf(NullPointerException.class)
                .hasMessage("a propagator's install gave null");
    }

    @Test
    void a_close_that_throws_is_reported_and_the_value_given() {
        IOException broken = new IOException("broken");
        Error own = new AssertionError("own");

        List<Integer> all = lab.scope("page")
                .propagate(() -> 1, v -> () -> {
                    throw broken;
                })
                .propagate(() -> 1, v -> () -> {
                    throw own;
                })
                .gather(() -> 1);

        assertThat(all).containsExactly(1);
        assertThat(lab.events(ScopeEvent.Unhandled.class))
                .containsExactly(new ScopeEvent.Unhandled("page", own), new ScopeEvent.Unhandled("page", broken));
    }

    @Test
    void null_is_carried_like_any_other_value() {
        List<String> installed = new CopyOnWriteArrayList<>();

        List<Integer> all = lab.scope()
                .propagate(USER::get, v -> {
                    installed.add("installed " + v);
                    return () -> {};
                })
                .gather(() -> 1, () -> 2);

        assertThat(all).containsExactly(1, 2);
        assertThat(installed).containsExactly("installed null", "installed null");
    }

    @Test
    void nulls_for_its_functions_are_refused() {
        assertThatThrownBy(() -> lab.scope().propagate(null, v -> () -> {}))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("capture");
        assertThatThrownBy(() -> lab.scope().propagate(() -> 1, null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("install");
    }

    @Test
    void a_fork_that_never_runs_installs_nothing() {
        assertThatThrownBy(() -> lab.scope()
                        .propagate(noting("a"), noting("a", null))
                        .run(s -> {
                            assertThat(s.cancel("enough")).isTrue();
                            Fork<Integer> unused = s.fork(() -> 1);
                            Selvedge.checkpoint();
                        }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(lab.trail()).isEmpty();
    }

    @Test
    void scoped_values_are_inherited_by_forks_where_the_jdk_has_them(@TempDir Path dir) throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 25, "scoped values are final from JDK 25 on");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Assumptions.assumeTrue(compiler != null, "a JDK");
        Path source = dir.resolve("Scoped.java");
        Files.writeString(source, """
                import dev.selvedge.Selvedge;
                import java.util.ArrayList;
                import java.util.List;
                import java.util.concurrent.Callable;

                public class Scoped implements Callable<List<String>> {
                    static final ScopedValue<String> USER = ScopedValue.newInstance();

                    public List<String> call() throws Exception {
                        List<String> seen = new ArrayList<>();
                        ScopedValue.where(USER, "ann").run(() -> {
                            seen.addAll(Selvedge.scope().map(List.of("a", "b"), k -> k + USER.get()));
                            seen.addAll(Selvedge.scope().map(List.of("bob", "eve"), k ->
                                ScopedValue.where(USER, k).call(() ->
                                    Selvedge.scope().gather(() -> USER.get() + Selvedge.deadline().isNever()).get(0)
                                    + Selvedge.scope().call(() -> USER.get()))));
                            seen.addAll(Selvedge.scope().gather(USER::get));
                            seen.add(Selvedge.scope().call(s -> s.fork(USER::get).join()));
                        });
                        seen.addAll(Selvedge.scope().gather(() -> "" + USER.isBound()));
                        return seen;
                    }
                }
                """);
        String path = Path.of(location(Selvedge.class).toURI()).toString();

        int failed = compiler.run(
                null,
                null,
                null,
                "-cp",
                path + java.io.File.pathSeparator + System.getProperty("java.class.path"),
                "-proc:none",
                "-d",
                dir.toString(),
                source.toString());
        assertThat(failed).isZero();
        List<?> seen;
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {dir.toUri().toURL()}, Selvedge.class.getClassLoader())) {
            seen = (List<?>)
                    ((Callable<?>) loader.loadClass("Scoped").getConstructor().newInstance()).call();
        }

        assertThat(seen).isEqualTo(List.of("aann", "bann", "bobtruebob", "evetrueeve", "ann", "ann", "false"));
    }

    private static URL location(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    private static ScopeSpec carrying(ScopeSpec scope) {
        return scope.propagate(USER::get, v -> {
            USER.set(v);
            return USER::remove;
        });
    }

    private Supplier<String> noting(String name) {
        return () -> {
            lab.note("capture " + name);
            return name;
        };
    }

    private Function<String, AutoCloseable> noting(String name, Exception atClose) {
        return v -> {
            assertThat(v).isEqualTo(name);
            lab.note("install " + name);
            return () -> {
                lab.note("close " + name);
                if (atClose != null) {
                    throw atClose;
                }
            };
        };
    }
}
