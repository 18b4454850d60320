package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.selvedge.time.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What a test of behaviour works with: a virtual clock, scopes on it, and a trail of what happened when. After each test no
 * thread of a scope is alive, the interrupt flag is clear, and the thread has no ledger.
 *
 * <p>Use it as {@code @RegisterExtension final Lab lab = new Lab();}
 */
final class Lab implements Consumer<ScopeEvent>, AfterEachCallback {

    private final VirtualClock clock = VirtualClock.jumping();
    private final List<ScopeEvent> events = new CopyOnWriteArrayList<>();
    private final List<String> trail = new CopyOnWriteArrayList<>();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    VirtualClock clock() {
        return clock;
    }

    /** A scope on the virtual clock, watched. */
    ScopeSpec scope() {
        return Selvedge.scope().clock(clock).listener(this);
    }

    ScopeSpec scope(String name) {
        return scope().named(name);
    }

    /** A scope in real time, watched. */
    ScopeSpec realScope() {
        return Selvedge.scope().listener(this);
    }

    /** Adds a line to the trail: the time, and what happened. */
    void note(String what) {
        trail.add(seconds(clock.elapsed()) + " " + what);
    }

    /** Sleeps on the clock, and notes whether it was cut off. */
    void sleep(String who, Duration d) {
        try {
            Selvedge.sleep(d);
            note(who + " slept");
        } catch (ScopeCancelledException e) {
            note(who + " cut off");
            throw e;
        }
    }

    /** {@code "1.5s fork-1 slept"}, in the order in which it happened. */
    List<String> trail() {
        return List.copyOf(trail);
    }

    List<ScopeEvent> events() {
        return List.copyOf(events);
    }

    <E extends ScopeEvent> List<E> events(Class<E> kind) {
        List<E> found = new ArrayList<>();
        for (ScopeEvent e : events) {
            if (kind.isInstance(e)) {
                found.add(kind.cast(e));
            }
        }
        return Collections.unmodifiableList(found);
    }

    /** What was reported as unhandled. */
    List<Throwable> unhandled() {
        List<Throwable> errors = new ArrayList<>();
        for (ScopeEvent.Unhandled e : events(ScopeEvent.Unhandled.class)) {
            errors.add(e.error());
        }
        return errors;
    }

    /** The virtual time. */
    Duration now() {
        return clock.elapsed();
    }

    /** Has the end of the test see to it that this thread has ended too. */
    void watch(Thread thread) {
        threads.add(thread);
    }

    @Override
    public void accept(ScopeEvent event) {
        events.add(event);
        if (event instanceof ScopeEvent.ForkStarted) {
            threads.add(Thread.currentThread());
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        end();
    }

    /** What is checked after a test; for tests that make their labs themselves. */
    void end() {
        boolean flag = Thread.interrupted();
        SuiteTime.add(clock.elapsed());
        assertThat(threads).as("threads of scopes that have ended").noneMatch(Thread::isAlive);
        assertThat(flag).as("the interrupt flag is left set").isFalse();
        assertThat(Here.ledger()).as("the thread's ledger is left behind").isNull();
    }

    private static String seconds(Duration d) {
        String s = new java.math.BigDecimal(d.toNanos())
                .movePointLeft(9)
                .stripTrailingZeros()
                .toPlainString();
        return s + "s";
    }
}
