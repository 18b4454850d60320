package dev.selvedge.benchmarks.jmh;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.runner.options.Options;

/**
 * Contestants that do the same work: the methods of a class of JMH.
 *
 * @param benchmarks the class
 * @param leftOut tells of a contestant and its parameters whether they make no sense together, or are too heavy
 */
record Suite(Class<?> benchmarks, BiPredicate<String, Map<String, String>> leftOut) {

    /** Every suite. */
    static final List<Suite> ALL = List.of(
            new Suite(FanOut.class, FanOut::isLeftOut),
            new Suite(Policies.class, Policies::isLeftOut),
            new Suite(Cancellation.class, Cancellation::isLeftOut),
            new Suite(Scaling.class, Scaling::isLeftOut),
            new Suite(Memory.class, Memory::isLeftOut),
            new Suite(Timers.class, Timers::isLeftOut));

    /** The parameter that is none of JMH's. */
    static final String THREADS = "threads";

    /**
     * What JMH runs at one go: contestants with the same value of each parameter.
     *
     * @param contestants the names of benchmarks, in full
     * @param params by name
     */
    record Cell(List<String> contestants, Map<String, String> params) {}

    String name() {
        return benchmarks.getSimpleName();
    }

    boolean isSingleShot() {
        return List.of(benchmarks.getAnnotation(BenchmarkMode.class).value()).contains(Mode.SingleShotTime);
    }

    /** What there is to run: what was asked for, else what the setting has. */
    List<Cell> cells(Setting setting, Options asked) {
        Map<Map<String, List<String>>, List<String>> alike = new LinkedHashMap<>();
        contestants(asked)
                .forEach(m -> alike.computeIfAbsent(params(m, setting, asked), p -> new ArrayList<>())
                        .add(m.getName()));
        List<Cell> cells = new ArrayList<>();
        alike.forEach((values, contestants) -> {
            for (Map<String, String> params : product(values)) {
                List<String> wanted = contestants.stream()
                        .filter(c -> !leftOut.test(c, params))
                        .map(this::inFull)
                        .toList();
                if (!wanted.isEmpty()) {
                    cells.add(new Cell(wanted, params));
                }
            }
        });
        return cells;
    }

    private Stream<Method> contestants(Options asked) {
        return Arrays.stream(benchmarks.getDeclaredMethods())
                .filter(m -> m.isAnnotationPresent(Benchmark.class))
                .filter(m -> asked.getIncludes().isEmpty() || fits(asked.getIncludes(), m))
                .filter(m -> !fits(asked.getExcludes(), m))
                .sorted((a, b) -> a.getName().compareTo(b.getName()));
    }

    private boolean fits(Collection<String> patterns, Method m) {
        String name = inFull(m.getName());
        return patterns.stream().anyMatch(p -> Pattern.compile(p).matcher(name).find());
    }

    private String inFull(String contestant) {
        return benchmarks.getName() + "." + contestant;
    }

    /** The values of each parameter of a benchmark's states. */
    private Map<String, List<String>> params(Method benchmark, Setting setting, Options asked) {
        Map<String, List<String>> values = new TreeMap<>();
        for (Class<?> state : benchmark.getParameterTypes()) {
            for (Class<?> c = state; c != null; c = c.getSuperclass()) {
                Arrays.stream(c.getDeclaredFields())
                        .filter(f -> f.isAnnotationPresent(Param.class))
                        .forEach(f -> values.put(f.getName(), values(f, setting)));
            }
        }
        values.replaceAll(
                (name, all) -> Optional.ofNullable(asked.getParameter(name).orElse(null))
                        .map(List::copyOf)
                        .orElse(all));
        OnThreads threads = benchmarks.getAnnotation(OnThreads.class);
        if (threads != null && !asked.getThreads().hasValue()) {
            values.put(
                    THREADS,
                    switch (setting) {
                        case FULL -> List.of(threads.full());
                        case QUICK -> List.of(threads.quick());
                        case ONCE -> List.of("1");
                    });
        }
        return values;
    }

    private static List<String> values(Field param, Setting setting) {
        Less less = param.getAnnotation(Less.class);
        return List.of(
                switch (setting) {
                    case FULL -> param.getAnnotation(Param.class).value();
                    case QUICK -> less.quick();
                    case ONCE -> less.once();
                });
    }

    private static List<Map<String, String>> product(Map<String, List<String>> values) {
        List<Map<String, String>> all = List.of(Map.of());
        for (Map.Entry<String, List<String>> param : values.entrySet()) {
            all = all.stream()
                    .flatMap(some -> param.getValue().stream().map(value -> {
                        Map<String, String> more = new TreeMap<>(some);
                        more.put(param.getKey(), value);
                        return more;
                    }))
                    .map(Map::copyOf)
                    .toList();
        }
        return all;
    }
}
