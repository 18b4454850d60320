package dev.selvedge.time;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.selvedge.Log;
import dev.selvedge.Selvedge;
import dev.selvedge.time.VirtualTime.Manual;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The extension, in small test classes that are run by hand. */
@Timeout(60)
class VirtualTimeTest {

    private static final String BY_HAND = "dev.selvedge.by-hand";

    private static final String LEFT = "java.lang.AssertionError: the test left something behind:"
            + " what takes part has to end, what is due to be stopped";

    /** What the small classes have seen; they run one at a time. */
    private static final List<Object> SEEN = Collections.synchronizedList(new ArrayList<>());

    private static final List<Thread> LEAKED = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    @AfterEach
    void forget() {
        SEEN.clear();
        LEAKED.clear();
    }

    @Test
    void each_test_has_a_clock_of_its_own_which_its_before_and_after_share() {
        assertThat(run(Shares.class)).containsExactly("first(VirtualClock) ok", "second(VirtualClock) ok");

        assertThat(SEEN).hasSize(6);
        assertThat(SEEN.subList(0, 3)).allSatisfy(clock -> assertThat(clock).isSameAs(SEEN.get(0)));
        assertThat(SEEN.subList(3, 6)).allSatisfy(clock -> assertThat(clock).isSameAs(SEEN.get(3)));
        assertThat(SEEN.get(0)).isNotSameAs(SEEN.get(3));
    }

    @Test
    void the_clock_jumps() {
        assertThat(run(Jumps.class)).containsExactly("jumps(VirtualClock) ok");

        assertThat(SEEN).containsExactly(ofHours(1));
    }

    @Test
    void a_manual_one_is_moved_by_hand_and_stands_beside_the_other() {
        assertThat(run(ByHand.class)).containsExactly("moves(VirtualClock, VirtualClock, VirtualClock) ok");

        assertThat(SEEN).containsExactly(ofSeconds(3), Duration.ZERO, true, false);
    }

    @Test
    void each_repetition_has_a_clock_of_its_own() {
        assertThat(run(Repeats.class)).hasSize(3).allMatch(line -> line.endsWith(" ok"));

        assertThat(SEEN).hasSize(3).doesNotHaveDuplicates();
    }

    @Test
    void a_nested_test_has_a_clock_too() {
        assertThat(run(Outer.class)).containsExactly("inner(VirtualClock) ok");

        assertThat(SEEN).hasSize(2);
        assertThat(SEEN.get(0)).isSameAs(SEEN.get(1));
    }

    @Test
    void what_runs_before_all_tests_gets_no_clock_since_the_tests_would_share_it() {
        assertThat(run(BeforeAllTests.class))
                .singleElement()
                .asString()
                .contains("ParameterResolutionException: a VirtualClock belongs to one test");

        assertThat(SEEN).isEmpty();
    }

    @Test
    void a_constructor_gets_no_clock_since_the_tests_would_share_it() {
        assertThat(run(InConstructor.class))
                .hasSize(2)
                .allMatch(line -> line.contains("a VirtualClock belongs to one test"));

        assertThat(SEEN).isEmpty();
    }

    @Test
    void a_test_that_needs_no_clock_gets_none() {
        assertThat(run(NoClock.class)).containsExactly("plain() ok");
    }

    @Test
    void a_thread_that_is_left_behind_fails_the_test_by_name_and_is_let_go() throws Exception {
        assertThat(run(LeaksThread.class))
                .singleElement()
                .asString()
                .startsWith("leaks(VirtualClock) " + LEFT
                        + "\n on a virtual clock at 0 s:\n  \"left behind\" waits for what never comes\n      at ");

        LEAKED.get(0).join();
        assertThat(SEEN).singleElement().isInstanceOf(StuckClockError.class);
        assertThat((Throwable) SEEN.get(0))
                .hasMessageStartingWith("the test of a virtual clock at 0 s is over\n  \"left behind\" waits for"
                        + " what never comes\n");
    }

    @Test
    void forks_and_timers_that_are_left_behind_are_named_each() throws Exception {
        assertThat(run(LeaksScope.class).stream().map(VirtualTimeTest::withoutStacks))
                .containsExactly("leaks(VirtualClock) " + LEFT + "\n on a virtual clock at 0 s:"
                        + "\n  \"job\" waits for the fork \"poller\""
                        + "\n  \"poller\" waits for a sleep of 5 s"
                        + "\n  due at 5 s: poller: a sleep of 5 s"
                        + "\n  due at 60 s: the deadline of the scope \"job\"");
        LEAKED.get(0).join();
        assertThat(SEEN).singleElement().isInstanceOf(StuckClockError.class);
    }

    @Test
    void an_alarm_that_is_left_behind_fails_the_test() {
        assertThat(run(LeaksAlarm.class))
                .containsExactly(
                        "leaks(VirtualClock) " + LEFT + "\n on a virtual clock at 0 s:\n  due at 1.5 s: my alarm");
    }

    @Test
    void what_is_left_on_a_clock_that_was_made_from_it_is_told() {
        assertThat(run(LeaksOnMade.class))
                .containsExactly("leaks(VirtualClock) " + LEFT + "\n on a virtual clock at 0 s:\n  due at 1 s: my alarm"
                        + "\n on a virtual clock at 0 s:\n  due at 2 s: my alarm");
    }

    @Test
    void a_clock_that_was_asked_for_and_not_used_is_told_in_the_log() {
        try (Log log = Log.of("dev.selvedge.time")) {
            assertThat(run(Forgets.class)).containsExactly("forgets(VirtualClock) ok");

            assertThat(log.at(Level.WARNING))
                    .containsExactly("nothing happened on the clock that the test forgets(VirtualClock) has asked for:"
                            + " put scope().clock(clock) around the code under test");
        }
    }

    @Test
    void a_clock_of_which_only_one_made_from_it_was_used_was_used() {
        try (Log log = Log.of("dev.selvedge.time")) {
            assertThat(run(UsesMade.class)).containsExactly("uses(VirtualClock) ok");

            assertThat(log.at(Level.WARNING)).isEmpty();
        }
    }

    @Test
    void what_is_left_on_both_clocks_is_told() {
        assertThat(run(LeaksOnBoth.class))
                .containsExactly("leaks(VirtualClock, VirtualClock) " + LEFT
                        + "\n on a virtual clock at 0 s:\n  due at 1 s: my alarm"
                        + "\n on a virtual clock at 0 s:\n  due at 2 s: my alarm");
    }

    @Test
    void a_test_that_fails_and_leaves_something_tells_of_both() {
        assertThat(run(FailsAndLeaks.class))
                .containsExactly("leaks(VirtualClock) java.lang.AssertionError: my own failure" + " + " + LEFT
                        + "\n on a virtual clock at 0 s:\n  due at 1 s: my alarm");
    }

    /** Each test, and how it ended. */
    private static List<String> run(Class<?> tests) {
        List<String> results = new ArrayList<>();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(tests))
                .configurationParameter(BY_HAND, "true")
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "false")
                .build();
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest() || result.getThrowable().isPresent()) {
                    results.add(test.getLegacyReportingName() + " "
                            + result.getThrowable().map(VirtualTimeTest::told).orElse("ok"));
                }
            }

            @Override
            public void executionSkipped(TestIdentifier test, String reason) {
                results.add(test.getLegacyReportingName() + " skipped: " + reason);
            }
        });
        return results;
    }

    private static String withoutStacks(String report) {
        return report.lines().filter(line -> !line.startsWith("      ")).collect(Collectors.joining("\n"));
    }

    private static String told(Throwable t) {
        StringBuilder text = new StringBuilder(t.toString());
        for (Throwable s : t.getSuppressed()) {
            if (s instanceof AssertionError) { // not the stack trace that JUnit may add
                text.append(" + ").append(s);
            }
        }
        return text.toString();
    }

    /** Keeps the small classes from being run but by hand, whatever finds them. */
    static final class OnlyByHand implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return context.getConfigurationParameter(BY_HAND).isPresent()
                    ? ConditionEvaluationResult.enabled("by hand")
                    : ConditionEvaluationResult.disabled("runs only by hand");
        }
    }

    private static Alarm alarm() {
        return new Alarm() {
            @Override
            protected void ring() {}

            @Override
            public String toString() {
                return "my alarm";
            }
        };
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    @TestMethodOrder(MethodOrderer.MethodName.class)
    static class Shares {
        @BeforeEach
        void before(VirtualClock clock) {
            SEEN.add(clock);
        }

        @AfterEach
        void after(VirtualClock clock) {
            SEEN.add(clock);
        }

        @Test
        void first(VirtualClock clock) {
            SEEN.add(clock);
        }

        @Test
        void second(VirtualClock clock) {
            SEEN.add(clock);
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class Jumps {
        @Test
        void jumps(VirtualClock clock) {
            scope().clock(clock).run(() -> Selvedge.sleep(ofHours(1)));
            SEEN.add(clock.elapsed());
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class ByHand {
        @Test
        void moves(@Manual VirtualClock manual, VirtualClock jumping, @Manual VirtualClock again) {
            manual.advance(ofSeconds(3));
            SEEN.add(manual.elapsed());
            SEEN.add(jumping.elapsed());
            SEEN.add(manual == again);
            SEEN.add(manual == jumping);
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class Repeats {
        @RepeatedTest(3)
        void repeats(VirtualClock clock) {
            SEEN.add(clock);
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class Outer {
        @BeforeEach
        void before(VirtualClock clock) {
            SEEN.add(clock);
        }

        @Nested
        class Inner {
            @Test
            void inner(VirtualClock clock) {
                SEEN.add(clock);
            }
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class BeforeAllTests {
        @BeforeAll
        static void before(VirtualClock clock) {
            SEEN.add(clock);
        }

        @Test
        void test(VirtualClock clock) {
            SEEN.add(clock);
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class InConstructor {
        InConstructor(VirtualClock clock) {
            SEEN.add(clock);
        }

        @Test
        void first() {}

        @Test
        void second() {}
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class NoClock {
        @Test
        void plain() {}
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class LeaksThread {
        @Test
        void leaks(VirtualClock clock) {
            Participant left = clock.enroll("left behind");
            LEAKED.add(Thread.ofVirtual().start(() -> {
                left.begin();
                try {
                    clock.waiter("what never comes").await(clock.never());
                } catch (Throwable t) {
                    SEEN.add(t);
                } finally {
                    left.end();
                }
            }));
            clock.runCurrent();
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class LeaksScope {
        @Test
        void leaks(@Manual VirtualClock clock) throws InterruptedException {
            CountDownLatch begun = new CountDownLatch(1);
            LEAKED.add(Thread.ofVirtual().start(() -> {
                try {
                    scope("job").clock(clock).deadline(ofSeconds(60)).run(s -> {
                        s.fork("poller", () -> Selvedge.sleep(ofSeconds(5)));
                        begun.countDown();
                    });
                } catch (Throwable t) {
                    SEEN.add(t);
                }
            }));
            begun.await();
            clock.runCurrent();
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class LeaksOnMade {
        @Test
        void leaks(VirtualClock clock) {
            clock.set(alarm(), clock.after(ofSeconds(1)));
            VirtualClock made = clock.withGrace(Duration.ZERO).withWatchdog(ofSeconds(3));
            made.set(alarm(), made.after(ofSeconds(2)));
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class Forgets {
        @Test
        void forgets(VirtualClock clock) {
            scope().run(() -> {});
            SEEN.add(clock.elapsed());
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class UsesMade {
        @Test
        void uses(VirtualClock clock) {
            scope().clock(clock.withWatchdog(ofSeconds(3))).run(() -> Selvedge.sleep(ofHours(1)));
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class LeaksAlarm {
        @Test
        void leaks(VirtualClock clock) {
            clock.set(alarm(), clock.after(Duration.ofMillis(1_500)));
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class LeaksOnBoth {
        @Test
        void leaks(VirtualClock jumping, @Manual VirtualClock manual) {
            manual.set(alarm(), manual.after(ofSeconds(2)));
            jumping.set(alarm(), jumping.after(ofSeconds(1)));
        }
    }

    @ExtendWith({OnlyByHand.class, VirtualTime.class})
    static class FailsAndLeaks {
        @Test
        void leaks(VirtualClock clock) {
            clock.set(alarm(), clock.after(ofSeconds(1)));
            throw new AssertionError("my own failure");
        }
    }
}
