package dev.selvedge;

import static dev.selvedge.Selvedge.scope;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.RateLimiter;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * As long as nobody has a listener or a clock of his own, calls do not look for them; from the first one on they do. Elsewhere in
 * the tests there is always some.
 */
@Timeout(60)
class AllPlainTest {

    private static Object inside(Class<? extends Callable<Object>> program) throws Exception {
        return NeverUsed.run(program);
    }

    private static ScopeSpec guarded() {
        return scope("guarded")
                .retry(Retry.DEFAULT.immediately())
                .breaker(CircuitBreaker.of("b"))
                .rateLimit(RateLimiter.of(1_000_000, ofSeconds(1)));
    }

    @Test
    void it_is_known_after_the_first_call() throws Exception {
        assertThat(inside(Plain.class)).isEqualTo(List.of(false, "value", true, "value", "again 2", true));
    }

    /** Calls that pass, one of them with a retry, a deadline and forks around others. */
    static final class Plain implements Callable<Object> {
        @Override
        public Object call() throws IOException {
            List<Object> told = new ArrayList<>();
            told.add(Context.areAllPlain());
            told.add(guarded().<String, RuntimeException>call(() -> "value"));
            told.add(Context.areAllPlain());
            told.addAll(scope().deadline(ofSeconds(60))
                    .gather(() -> guarded().<String, RuntimeException>call(() -> "value")));
            AtomicBoolean first = new AtomicBoolean(true);
            told.add(guarded().call(() -> {
                if (first.getAndSet(false)) {
                    throw new IOException("no");
                }
                return "again " + Selvedge.attempt().number();
            }));
            told.add(Context.areAllPlain());
            return told;
        }
    }

    @Test
    void a_listener_around_hears_of_calls_though_there_was_none_before() throws Exception {
        assertThat(inside(Listening.class))
                .isEqualTo(List.of("opened around", "opened guarded", "closed guarded", "closed around"));
    }

    /** A call, then a listener and a call. */
    static final class Listening implements Callable<Object> {
        @Override
        public Object call() {
            List<String> told = new CopyOnWriteArrayList<>();
            guarded().run(() -> {});
            scope("around")
                    .listener(DefaultsTest.openedAndClosed(told))
                    .run(() -> guarded().run(() -> {}));
            return told;
        }
    }

    @Test
    void a_thread_that_calls_all_the_time_is_heard_once_there_is_a_listener() throws Exception {
        assertThat(inside(Calling.class)).isEqualTo(List.of("opened guarded"));
    }

    /** A thread that calls until it is heard. */
    static final class Calling implements Callable<Object> {
        @Override
        public Object call() throws InterruptedException {
            List<String> told = new CopyOnWriteArrayList<>();
            CountDownLatch calling = new CountDownLatch(20_000);
            ScopeSpec spec = guarded();
            Thread caller = Thread.ofPlatform().start(() -> {
                while (told.isEmpty()) {
                    spec.run(calling::countDown);
                }
            });
            calling.await();
            Selvedge.defaults(scope().listener(e -> {
                if (e instanceof ScopeEvent.ScopeOpened && told.isEmpty()) {
                    told.add("opened " + e.scope());
                }
            }));
            caller.join();
            return told;
        }
    }

    @Test
    void a_clock_around_is_what_policies_go_by_though_there_was_none_before() throws Exception {
        assertThat(inside(OnAClock.class)).isEqualTo(List.of("OPEN", "OPEN", "CLOSED", "PT10S"));
    }

    /** A breaker that has opened on the system's time, and is then used on a virtual one. */
    static final class OnAClock implements Callable<Object> {
        @Override
        public Object call() {
            List<Object> told = new ArrayList<>();
            VirtualClock clock = VirtualClock.jumping();
            CircuitBreaker breaker = CircuitBreaker.of("b", b -> b.failures(1));
            fail(breaker);
            told.add(breaker.state().toString());
            scope().clock(clock).run(() -> {
                fail(breaker);
                told.add(breaker.state().toString());
                Selvedge.sleep(ofSeconds(10));
                scope().breaker(breaker).run(() -> {});
                told.add(breaker.state().toString());
            });
            told.add(clock.elapsed().toString());
            return told;
        }

        private static void fail(CircuitBreaker breaker) {
            String unused = scope().breaker(breaker)
                    .call(
                            () -> {
                                throw new IOException("no");
                            },
                            e -> "none");
        }
    }
}
