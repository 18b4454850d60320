package dev.selvedge.benchmarks.paired;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.ScopeListener;
import dev.selvedge.ScopeSpec;
import dev.selvedge.observe.JfrEvents;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import jdk.jfr.Recording;

/** What it costs {@code n} forks that do nothing to be listened to. */
final class EventCost implements Suite {

    private final String name;
    private final String about;
    /** Made only where it is measured: what a JVM has loaded changes what it measures. */
    private final Supplier<ScopeListener> listener;
    private final boolean recorded;

    private EventCost(String name, String about, Supplier<ScopeListener> listener, boolean recorded) {
        this.name = name;
        this.about = about;
        this.listener = listener;
        this.recorded = recorded;
    }

    static List<Suite> suites() {
        return List.of(
                new EventCost(
                        "events-off",
                        "gather of n no-ops, with the listener of the flight recorder while nothing is recorded",
                        JfrEvents::events,
                        false),
                new EventCost(
                        "events-recorded",
                        "the same while a recording runs, with the thresholds that the events have",
                        JfrEvents::events,
                        true),
                new EventCost("events-heard", "the same with a listener that does nothing", () -> (event, where) -> {}, false));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String about() {
        return about;
    }

    @Override
    public List<Integer> sizes() {
        return List.of(1_000);
    }

    @Override
    public List<Contender> contenders(int n) {
        if (recorded) {
            record();
        }
        @SuppressWarnings({"unchecked", "rawtypes"}) // filled with nothing else
        Callable<Integer>[] tasks = new Callable[n];
        Arrays.fill(tasks, (Callable<Integer>) () -> 1);
        ScopeSpec heard = scope().listener(listener.get());
        return List.of(
                new Contender("gather", () -> gather(scope(), tasks)),
                new Contender("listener(…).gather", () -> gather(heard, tasks)));
    }

    /** Until the JVM ends; all that a recording has by default is off, but for the library's events. */
    private static void record() {
        Recording recording = new Recording();
        for (String kind : List.of("Scope", "Fork", "Attempt", "Breaker", "Cancel", "Straggler", "Unhandled")) {
            recording.enable("dev.selvedge." + kind);
        }
        recording.start();
    }

    private static long gather(ScopeSpec spec, Callable<Integer>[] tasks) {
        long sum = 0;
        for (int value : spec.gather(tasks)) {
            sum += value;
        }
        return sum;
    }
}
