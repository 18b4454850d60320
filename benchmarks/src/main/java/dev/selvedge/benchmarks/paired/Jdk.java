package dev.selvedge.benchmarks.paired;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What only some releases of the JDK have, or each in a shape of its own, through method handles: so one build of the runner runs
 * on all of them, and on none with a flag. The handles are constants, which the compiler in the JVM inlines as it does calls.
 */
final class Jdk {

    private static final Scopes SCOPES = Scopes.find();
    private static final Optional<Gathering> GATHERING = Gathering.find();

    private Jdk() {}

    /** A {@code StructuredTaskScope} that is cancelled when a fork fails. */
    static AutoCloseable openScope() {
        try {
            return (AutoCloseable) SCOPES.open.invokeExact();
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Gives the subtask. */
    static Object fork(AutoCloseable scope, Callable<Integer> task) {
        try {
            return (Object) SCOPES.fork.invokeExact(scope, task);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Waits for all forks; throws if one has failed. */
    static void join(AutoCloseable scope) {
        try {
            SCOPES.join.invokeExact(scope);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** The value of a subtask that has succeeded. */
    static Integer value(Object subtask) {
        try {
            return (Integer) SCOPES.get.invokeExact(subtask);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Whether this release has {@code Gatherers}: since JDK 24. */
    static boolean hasGatherers() {
        return GATHERING.isPresent();
    }

    /** What {@code stream.gather(Gatherers.mapConcurrent(limit, mapper))} gives. */
    @SuppressWarnings("unchecked") // a stream of what the mapper gives
    static Stream<Integer> mapConcurrent(Stream<Integer> stream, int limit, Function<Integer, Integer> mapper) {
        Gathering gathering = GATHERING.orElseThrow();
        try {
            Object gatherer = (Object) gathering.mapConcurrent.invokeExact(limit, mapper);
            return (Stream<Integer>) (Stream<?>) gathering.gather.invokeExact(stream, gatherer);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    private static RuntimeException rethrown(Throwable e) {
        return switch (e) {
            case RuntimeException r -> r;
            case Error error -> throw error;
            default -> new IllegalStateException(e);
        };
    }

    /**
     * The JDK's scope. A record, since its fields are taken for constants.
     *
     * @param open gives a scope
     * @param fork of a scope and a callable
     * @param join of a scope
     * @param get of a subtask
     */
    private record Scopes(MethodHandle open, MethodHandle fork, MethodHandle join, MethodHandle get) {

        private static final String TYPE = "java.util.concurrent.StructuredTaskScope";

        static Scopes find() {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            try {
                Class<?> type = Class.forName(TYPE);
                Class<?> subtask = Class.forName(TYPE + "$Subtask");
                return new Scopes(
                        (type.isInterface()
                                        ? lookup.findStatic(type, "open", MethodType.methodType(type))
                                        : lookup.findConstructor(untilFailure(), MethodType.methodType(void.class)))
                                .asType(MethodType.methodType(AutoCloseable.class)),
                        lookup.findVirtual(type, "fork", MethodType.methodType(subtask, Callable.class))
                                .asType(MethodType.methodType(Object.class, AutoCloseable.class, Callable.class)),
                        (type.isInterface()
                                        ? lookup.findVirtual(type, "join", MethodType.methodType(Object.class))
                                        : joinAndThrow(lookup, untilFailure()))
                                .asType(MethodType.methodType(void.class, AutoCloseable.class)),
                        lookup.findVirtual(subtask, "get", MethodType.methodType(Object.class))
                                .asType(MethodType.methodType(Integer.class, Object.class)));
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        /** Up to JDK 24. */
        private static Class<?> untilFailure() throws ClassNotFoundException {
            return Class.forName(TYPE + "$ShutdownOnFailure");
        }

        private static MethodHandle joinAndThrow(MethodHandles.Lookup lookup, Class<?> type)
                throws ReflectiveOperationException {
            return MethodHandles.filterReturnValue(
                    lookup.findVirtual(type, "join", MethodType.methodType(type)),
                    lookup.findVirtual(type, "throwIfFailed", MethodType.methodType(void.class)));
        }
    }

    /**
     * Streams with gatherers.
     *
     * @param mapConcurrent of a limit and a function, gives a gatherer
     * @param gather of a stream and a gatherer
     */
    private record Gathering(MethodHandle mapConcurrent, MethodHandle gather) {

        static Optional<Gathering> find() {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            try {
                Class<?> gatherer = Class.forName("java.util.stream.Gatherer");
                Class<?> gatherers = Class.forName("java.util.stream.Gatherers");
                return Optional.of(new Gathering(
                        lookup.findStatic(
                                        gatherers,
                                        "mapConcurrent",
                                        MethodType.methodType(gatherer, int.class, Function.class))
                                .asType(MethodType.methodType(Object.class, int.class, Function.class)),
                        lookup.findVirtual(Stream.class, "gather", MethodType.methodType(Stream.class, gatherer))
                                .asType(MethodType.methodType(Stream.class, Stream.class, Object.class))));
            } catch (ReflectiveOperationException e) {
                return Optional.empty();
            }
        }
    }
}
