package dev.selvedge.policy;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.Library;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** Every parameter of every public method of the policies, null: refused by name. What is out of range has tests of its own. */
@Timeout(30)
class NullsOfPoliciesTest {

    private static final CircuitBreaker BREAKER = CircuitBreaker.of("any");

    /** Something of each type, to call it on or with. */
    private static final Map<Class<?>, Object> SAMPLES = Map.ofEntries(
            Map.entry(Retry.class, Retry.DEFAULT),
            Map.entry(RetryBudget.class, RetryBudget.standard()),
            Map.entry(CircuitBreaker.class, BREAKER),
            Map.entry(CircuitBreaker.Permit.class, BREAKER.admit()),
            Map.entry(RateLimiter.class, RateLimiter.of(1_000_000, ofSeconds(1))),
            Map.entry(Bulkhead.class, Bulkhead.of(1_000)),
            Map.entry(PerKey.class, Bulkhead.perKey(k -> Bulkhead.of(1))),
            Map.entry(Duration.class, ofSeconds(1)),
            Map.entry(Deadline.class, Deadline.never()),
            Map.entry(TimeSource.class, TimeSource.system()),
            Map.entry(String.class, "name"),
            Map.entry(Object.class, "key"),
            Map.entry(Exception.class, new IOException()),
            Map.entry(Throwable.class, new IOException()),
            Map.entry(HttpResponseException.class, Responses.failure(500)),
            Map.entry(RandomGenerator.class, (RandomGenerator) () -> 0L),
            Map.entry(Predicate.class, (Predicate<Object>) x -> true),
            Map.entry(Function.class, (Function<Object, Object>) x -> Optional.empty()),
            Map.entry(IntFunction.class, (IntFunction<Object>) x -> ofSeconds(1)),
            Map.entry(UnaryOperator.class, UnaryOperator.identity()),
            Map.entry(BiConsumer.class, (BiConsumer<Object, Object>) (x, y) -> {}),
            Map.entry(Class[].class, new Class<?>[] {IOException.class}),
            Map.entry(Retry.Reason.class, Retry.Reason.ATTEMPTS),
            Map.entry(Retry.DelaySource.class, Retry.DelaySource.BACKOFF),
            Map.entry(int.class, 1),
            Map.entry(long.class, 1L),
            Map.entry(double.class, 1.0));

    /** What only its step can give. */
    private static Object sample(Class<?> type) throws Exception {
        List<Object> given = new ArrayList<>();
        if (type == CircuitBreaker.Settings.class) {
            CircuitBreaker unused = CircuitBreaker.of("x", s -> kept(given, s));
        } else if (type == RateLimiter.Settings.class) {
            RateLimiter unused = RateLimiter.of(1, ofSeconds(1), s -> kept(given, s));
        } else if (type == Bulkhead.Settings.class) {
            Bulkhead unused = Bulkhead.of(1, s -> kept(given, s));
        } else {
            given.add(java.util.Objects.requireNonNull(SAMPLES.get(type), type + " needs a sample"));
        }
        return given.get(0);
    }

    private static <T> T kept(List<Object> in, T value) {
        in.add(value);
        return value;
    }

    /** Interfaces are what the library calls, or have no methods that take anything. */
    @TestFactory
    Stream<DynamicTest> a_null_is_refused_by_the_name_of_its_parameter() throws Exception {
        List<DynamicTest> tests = new ArrayList<>();
        for (String name : Library.classNames()) {
            Class<?> type = Class.forName(name);
            if (type.getPackageName().equals("dev.selvedge.policy")
                    && isPublic(type)
                    && !type.isEnum()
                    && !type.isInterface()) {
                Stream.concat(Stream.of(type.getConstructors()), Stream.of(type.getDeclaredMethods()))
                        .filter(e -> Modifier.isPublic(e.getModifiers()) && !e.isSynthetic())
                        .filter(e -> !e.getName().equals("equals"))
                        .forEach(e -> addTests(e, tests));
            }
        }
        assertThat(tests).hasSizeGreaterThan(40);
        return tests.stream();
    }

    private static boolean isPublic(Class<?> type) {
        return Modifier.isPublic(type.getModifiers())
                && (type.getEnclosingClass() == null || isPublic(type.getEnclosingClass()));
    }

    private static void addTests(Executable e, List<DynamicTest> tests) {
        Parameter[] parameters = e.getParameters();
        for (int i = 0; i < parameters.length; i++) {
            Parameter p = parameters[i];
            int index = i;
            if (!p.getType().isPrimitive() && !p.getAnnotatedType().isAnnotationPresent(Nullable.class)) {
                tests.add(DynamicTest.dynamicTest(e.toGenericString() + ", " + p.getName(), () -> {
                    Object[] args = new Object[parameters.length];
                    for (int k = 0; k < args.length; k++) {
                        args[k] = k == index ? null : sample(parameters[k].getType());
                    }
                    assertThat(catchThrowable(() -> call(e, args)))
                            .isInstanceOf(NullPointerException.class)
                            .hasMessage(p.getName());
                }));
            }
        }
    }

    private static void call(Executable e, Object[] args) throws Throwable {
        try {
            if (e instanceof Method m) {
                Object on = Modifier.isStatic(m.getModifiers()) ? null : sample(m.getDeclaringClass());
                Object unused = m.invoke(on, args);
            } else {
                Object unused = ((Constructor<?>) e).newInstance(args);
            }
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }
}
