package dev.selvedge;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/** Prints at the end how much virtual time the tests took, and how much real time. */
public final class SuiteTime implements TestExecutionListener {

    private static final LongAdder VIRTUAL_SECONDS = new LongAdder();

    /** Tests of the extension run tests of their own meanwhile. */
    private static final AtomicInteger RUNNING = new AtomicInteger();

    private long began;

    /** A test's clock has come so far. */
    static void add(Duration virtual) {
        VIRTUAL_SECONDS.add(virtual.toSeconds());
    }

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        RUNNING.incrementAndGet();
        began = System.nanoTime();
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        long virtual = VIRTUAL_SECONDS.sum();
        if (RUNNING.decrementAndGet() == 0 && virtual > 0) {
            long real = Math.max(1, (System.nanoTime() - began) / 1_000_000_000);
            System.out.println("virtual time: " + virtual + " s (" + virtual / 3600 + " h), real time: " + real + " s: "
                    + virtual / real + " times as much");
        }
    }
}
