package dev.selvedge;

import static dev.selvedge.time.Alarms.alarm;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.selvedge.time.Alarm;
import dev.selvedge.time.Participant;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import dev.selvedge.time.Waiter;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every public method × null, zero, negative, huge, the wrong thread, too late: a clear error at the call, and nothing begun. */
@Timeout(60)
class MisuseOfOperationsTest {

    private static final Duration HUGE = ofSeconds(Long.MAX_VALUE);

    @RegisterExtension
    final Lab lab = new Lab();

    private final AtomicInteger ran = new AtomicInteger();
    private final Callable<String> task = () -> "ran " + ran.incrementAndGet();

    /** A call with one null in it, and the name of the parameter that has it. */
    private record Null(String method, String parameter, Task.Void<Exception> call) {}

    @TestFactory
    Stream<DynamicTest> a_null_is_refused_by_the_name_of_its_parameter() {
        return nulls(lab.scope()).stream()
                .map(n -> dynamicTest(n.method + " " + n.parameter, () -> {
                    assertThatThrownBy(n.call::run)
                            .isInstanceOf(NullPointerException.class)
                            .hasMessage(n.parameter);
                    assertThat(ran).hasValue(0);
                    assertThat(lab.clock().pending()).isEmpty();
                }));
    }

    private static Null step(String method, String parameter, Callable<ScopeSpec> call) {
        return new Null(method, parameter, () -> {
            ScopeSpec unused = call.call();
        });
    }

    private List<Null> nulls(ScopeSpec spec) {
        List<Null> n = new ArrayList<>();
        n.add(new Null("quorum", "tasks", () -> spec.quorum(1, (Callable<String>[]) null)));
        n.add(new Null("quorum", "tasks", () -> spec.quorum(1, (List<Callable<String>>) null)));
        n.add(new Null("quorum", "tasks[1]", () -> spec.quorum(1, task, null)));
        n.add(new Null("outcomes", "tasks", () -> spec.outcomes((List<Callable<String>>) null)));
        n.add(step("propagate", "capture", () -> spec.propagate(null, v -> () -> {})));
        n.add(step("propagate", "install", () -> spec.propagate(() -> "x", null)));
        n.add(step("onDiscard", "sink", () -> spec.onDiscard(null)));
        n.add(step("stragglersAfter", "grace", () -> spec.stragglersAfter(null)));
        n.add(step("threads", "factory", () -> spec.threads(null)));
        n.add(new Null("await", "stage", () -> Selvedge.await((CompletionStage<String>) null)));
        n.add(new Null("defaults", "spec", () -> Selvedge.defaults(null)));
        n.add(new Null("daemon", "task", () -> spec.run(s -> s.daemon(null))));
        n.add(new Null("every", "period", () -> spec.run(s -> s.every(null, () -> {}))));
        n.add(new Null("every", "action", () -> spec.run(s -> s.every(ofSeconds(1), null))));
        n.add(new Null("onCancel", "action", () -> spec.run(s -> s.onCancel(null))));
        n.add(new Null("process", "command", () -> spec.run(s -> s.process(null))));
        n.add(new Null("process", "command", () -> spec.run(s -> s.process(null, ofSeconds(1)))));
        n.add(new Null("process", "grace", () -> spec.run(s -> s.process(new ProcessBuilder("true"), null))));
        VirtualClock clock = lab.clock();
        n.add(new Null("withGrace", "grace", () -> clock.withGrace(null)));
        n.add(new Null("withWatchdog", "patience", () -> clock.withWatchdog(null)));
        n.add(new Null("advance", "by", () -> clock.advance(null)));
        n.add(new Null("enter", "name", () -> clock.enter(null)));
        n.add(new Null("enroll", "name", () -> clock.enroll(null)));
        for (TimeSource time : List.of(clock, TimeSource.system())) {
            n.add(new Null("waiter", "what", () -> time.waiter(null)));
            n.add(new Null("external", "work", () -> time.external((TimeSource.Work<String, Exception>) null)));
            n.add(new Null("external", "work", () -> time.external((TimeSource.VoidWork<Exception>) null)));
            n.add(new Null("interrupt", "thread", () -> time.interrupt(null)));
            n.add(new Null("isInterrupted", "thread", () -> time.isInterrupted(null)));
            n.add(new Null("set", "alarm", () -> time.set(null, time.never())));
            n.add(new Null("set", "due", () -> time.set(silent(), null)));
            n.add(new Null("after", "d", () -> time.after(null)));
            n.add(new Null("await", "until", () -> time.waiter().await(null)));
            n.add(new Null("earlier", "other", () -> time.never().earlier(null)));
        }
        return n;
    }

    private static Alarm silent() {
        return alarm(() -> {
            throw new AssertionError("never set");
        });
    }

    @Test
    void numbers_out_of_range_are_named_with_their_value() {
        for (int n : new int[] {0, -1, 3, Integer.MAX_VALUE}) {
            assertThatThrownBy(() -> lab.scope().quorum(n, task, task))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("n must be from 1 to the number of tasks, which is 2: " + n);
        }
        assertThatThrownBy(() -> lab.scope().quorum(1, List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("n must be from 1 to the number of tasks, which is 0: 1");
        assertThat(ran).hasValue(0);
    }

    @Test
    void durations_out_of_range_are_named_with_their_value() {
        VirtualClock clock = lab.clock();
        lab.scope().run(s -> {
            for (Duration d : List.of(Duration.ZERO, ofNanos(-1), ofSeconds(Long.MIN_VALUE))) {
                assertThatThrownBy(() -> s.every(d, ran::incrementAndGet))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("period must be positive: " + d);
                assertThatThrownBy(() -> clock.withWatchdog(d))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("patience must be positive: " + d);
            }
        });
        assertThatThrownBy(() -> clock.withGrace(ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("grace must not be negative: PT-0.000000001S");
        assertThatThrownBy(() -> clock.advance(ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("time does not go back: by must not be negative: PT-0.000000001S");
        assertThat(ran).hasValue(0);
        assertThat(lab.now()).isZero();
    }

    @Test
    void what_is_huge_saturates() {
        VirtualClock patient = VirtualClock.jumping().withGrace(Duration.ZERO).withWatchdog(HUGE);
        scopeOn(patient).run(s -> {
            s.every(HUGE, ran::incrementAndGet);
            Selvedge.sleep(ofSeconds(1));
        });
        assertThat(patient.elapsed()).isEqualTo(ofSeconds(1));
        assertThat(scopeOn(VirtualClock.jumping().withGrace(HUGE)).call(() -> "value"))
                .isEqualTo("value");

        VirtualClock manual = VirtualClock.manual();
        manual.advance(HUGE);
        assertThat(manual.elapsed()).isEqualTo(ofNanos(Long.MAX_VALUE - 1));
    }

    private static ScopeSpec scopeOn(VirtualClock clock) {
        return Selvedge.scope().clock(clock);
    }

    @Test
    void only_the_owner_may_use_what_is_the_owners() {
        Map<String, Throwable> refused = new TreeMap<>();

        lab.scope("page").run(s -> {
            Fork<?> fork = s.fork("other", () -> {
                refused.put("daemon", catchThrowable(() -> s.daemon(ran::incrementAndGet)));
                refused.put("every", catchThrowable(() -> s.every(ofSeconds(1), ran::incrementAndGet)));
                refused.put("onCancel", catchThrowable(() -> s.onCancel(ran::incrementAndGet)));
                refused.put("process", catchThrowable(() -> s.process(new ProcessBuilder("true"))));
            });
            fork.join();
        });

        assertThat(refused)
                .hasSize(4)
                .allSatisfy((what, e) -> assertThat(e)
                        .isInstanceOf(WrongThreadException.class)
                        .hasMessageStartingWith("only the thread that opened the scope \"page\" can "));
        assertThat(ran).hasValue(0);
    }

    @Test
    void after_the_body_it_is_too_late() {
        Scope[] kept = new Scope[1];
        Fork<?>[] fork = new Fork<?>[1];
        lab.scope("page").run(s -> {
            kept[0] = s;
            fork[0] = s.fork(() -> "value");
        });

        for (Task.Void<Exception> late : List.<Task.Void<Exception>>of(
                () -> kept[0].daemon(ran::incrementAndGet),
                () -> kept[0].every(ofSeconds(1), ran::incrementAndGet),
                () -> kept[0].onCancel(ran::incrementAndGet),
                () -> kept[0].process(new ProcessBuilder("true")))) {
            assertThatThrownBy(late::run)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageEndingWith("the scope \"page\": its body has ended");
        }
        assertThat(ran).hasValue(0);
        assertThat(fork[0].toCompletableFuture().isDone()).isTrue();
    }

    @Test
    void after_a_cancel_daemons_do_not_run_and_actions_run_at_once() {
        assertThatThrownBy(() -> lab.scope().run(s -> {
                    s.cancel("stop");
                    s.daemon(ran::incrementAndGet);
                    s.every(ofSeconds(1), ran::incrementAndGet);
                    s.onCancel(() -> lab.note("action"));
                    Selvedge.checkpoint();
                }))
                .isInstanceOf(ScopeCancelledException.class);

        assertThat(ran).hasValue(0);
        assertThat(lab.trail()).containsExactly("0s action");
    }

    @Test
    void a_waiter_serves_one_wait_of_its_own_thread() throws Exception {
        for (TimeSource time : List.of(VirtualClock.jumping(), TimeSource.system())) {
            Waiter served = time.waiter("once");
            assertThat(served.await(time.after(Duration.ZERO))).isFalse();
            assertThatThrownBy(() -> served.await(time.never()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("a waiter serves for one wait, and this one has served");
            Throwable[] refused = new Throwable[1];
            Waiter mine = time.waiter();
            Thread other = Thread.ofVirtual().start(() -> refused[0] = catchThrowable(() -> mine.await(time.never())));
            other.join();
            assertThat(refused[0]).isInstanceOf(IllegalStateException.class).hasMessageContaining("was used by");
        }
        assertThatThrownBy(() -> Waiter.awaitEnd(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("thread");
    }

    @Test
    void the_defaults_of_a_process_are_only_what_is_inherited() {
        Map<ScopeSpec, String> bad = Map.of(
                Selvedge.scope("x"), "the name \"x\"",
                Selvedge.scope().deadline(ofSeconds(1)), "a deadline",
                Selvedge.scope().isolated(), "isolated()",
                Selvedge.scope().threads(Thread.ofVirtual().factory()), "threads(...)");

        bad.forEach((spec, what) -> assertThatThrownBy(() -> Selvedge.defaults(spec))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "defaults have a clock, listeners, propagators, onDiscard and stragglersAfter, and nothing else; this has "
                                + what));
    }

    /** The table above, and those of the other tests of misuse, know every public method: a new one has to be added. */
    @Test
    void every_public_method_has_its_misuse_tested_or_a_reason_not_to() {
        Set<String> known = new TreeSet<>(Set.of(
                // here
                "ScopeSpec.quorum",
                "ScopeSpec.outcomes",
                "ScopeSpec.propagate",
                "ScopeSpec.onDiscard",
                "ScopeSpec.stragglersAfter",
                "ScopeSpec.threads",
                "Selvedge.await",
                "Selvedge.defaults",
                "Scope.daemon",
                "Scope.every",
                "Scope.onCancel",
                "Scope.process",
                "Fork.toCompletableFuture",
                "VirtualClock.withGrace",
                "VirtualClock.withWatchdog",
                "VirtualClock.advance",
                "VirtualClock.enter",
                "VirtualClock.enroll",
                "VirtualClock.waiter",
                "VirtualClock.external",
                "VirtualClock.interrupt",
                "VirtualClock.isInterrupted",
                "VirtualClock.set",
                "VirtualClock.after",
                // by the older tests of misuse
                "ScopeSpec.named",
                "ScopeSpec.deadline",
                "ScopeSpec.isolated",
                "ScopeSpec.clock",
                "ScopeSpec.listener",
                "ScopeSpec.call",
                "ScopeSpec.attempt",
                "ScopeSpec.run",
                "ScopeSpec.fork",
                "ScopeSpec.gather",
                "ScopeSpec.race",
                "ScopeSpec.map",
                "Selvedge.scope",
                "Selvedge.timeLeft",
                "Selvedge.sleep",
                "Selvedge.shielded",
                "Scope.fork",
                "Scope.gather",
                "Scope.use",
                "Scope.cancel",
                "Fork.join",
                "Fork.outcome",
                "Fork.cancel"));
        // by the tests of long jobs
        known.addAll(Set.of(
                "ScopeSpec.concurrency",
                "ScopeSpec.errorBudget",
                "ScopeSpec.maxFailures",
                "ScopeSpec.progress",
                "ScopeSpec.threadPerItem",
                "ScopeSpec.forEach",
                "ScopeSpec.eachCompleted"));
        // without arguments, of any thread, at any time
        known.addAll(Set.of(
                "Selvedge.deadline",
                "Selvedge.attempt",
                "Selvedge.checkpoint",
                "Scope.name",
                "Scope.isCancelled",
                "Fork.name",
                "Fork.isDone",
                "VirtualClock.jumping",
                "VirtualClock.manual",
                "VirtualClock.runCurrent",
                "VirtualClock.advanceUntilIdle",
                "VirtualClock.elapsed",
                "VirtualClock.now",
                "VirtualClock.pending",
                "VirtualClock.nanoTime",
                "VirtualClock.never"));
        // the engine's own part of the seam
        known.addAll(Set.of("VirtualClock.holdDuring", "VirtualClock.standingStill"));

        Set<String> missing = new TreeSet<>();
        for (Class<?> type : List.of(ScopeSpec.class, Selvedge.class, Scope.class, Fork.class, VirtualClock.class)) {
            for (Method m : type.getDeclaredMethods()) {
                boolean own = Modifier.isPublic(m.getModifiers())
                        && !m.isSynthetic()
                        && !m.getName().equals("toString");
                String name = type.getSimpleName() + "." + m.getName();
                if (own && !known.contains(name)) {
                    missing.add(name);
                }
            }
        }

        assertThat(missing).isEmpty();
    }

    @Test
    void a_participant_that_is_withdrawn_leaves_nothing_behind() {
        VirtualClock clock = lab.clock();
        Participant p = clock.enroll("never started");

        p.withdraw();

        lab.scope().run(() -> Selvedge.sleep(ofSeconds(1)));
        assertThat(lab.now()).isEqualTo(ofSeconds(1));
    }
}
