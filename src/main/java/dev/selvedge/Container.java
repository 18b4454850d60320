package dev.selvedge;

import dev.selvedge.time.Waiter;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What holds the threads of a scope: the JDK's {@code StructuredTaskScope}, used as a container only.
 *
 * <p>From it come the tree in a thread dump, the inheritance of scoped values, and the guarantee that no thread outlives the
 * scope. Results, failures, cancellation and deadlines are this library's own, so the tasks handed to it never throw, and it
 * is never cancelled.
 *
 * <p>The one file that knows of {@code StructuredTaskScope}. It is a preview up to JDK 27 and changed its shape in 25, 26 and
 * 27; through method handles two shapes are enough, and no {@code --enable-preview} is needed. On a release on which neither
 * binds, scopes are plain threads that the scope joins by itself; the system property {@value #PROPERTY} with the value
 * {@code threads} asks for that.
 *
 * <p>All methods are for the thread that opened the container; {@code join} comes once, before {@code close}.
 */
sealed interface Container {

    /** The system property that asks for plain threads. */
    String PROPERTY = "dev.selvedge.container";

    /** The one in use. */
    Container WAY = find();

    /** Whether the JDK's own scopes are in use. */
    static boolean isStructured() {
        return WAY instanceof Structured;
    }

    /** Opens a container. */
    Object open(@Nullable String name, ThreadFactory factory);

    /** Starts a thread that runs {@code task}. */
    void fork(Object container, Callable<?> task);

    /** Waits until all threads have ended. After an {@code InterruptedException} only {@code close} may follow. */
    void join(Object container) throws InterruptedException;

    /** Ends it. */
    void close(Object container);

    /** One line, once in a process. */
    static void logOnce(String what, Throwable why) {
        if (Once.LOGGED.compareAndSet(false, true)) {
            String then = what + ": scopes are plain virtual threads, and thread dumps do not show their tree";
            System.getLogger("dev.selvedge").log(System.Logger.Level.WARNING, then, why);
        }
    }

    private static Container find() {
        if ("threads".equals(System.getProperty(PROPERTY))) {
            return new Threads();
        }
        try {
            return Structured.find();
        } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
            logOnce("the JDK's StructuredTaskScope has a shape that is not known", e);
            return new Threads();
        }
    }

    /** Whether the line has been logged. */
    final class Once {
        private static final AtomicBoolean LOGGED = new AtomicBoolean();

        private Once() {}
    }

    /**
     * The JDK's scope. A record, since the JIT takes the fields of records for constants, as it must for method handles to be
     * inlined.
     *
     * @param opener from a name and a thread factory
     * @param forker of a scope and a callable
     * @param joiner of a scope
     * @param closer of a scope
     */
    record Structured(MethodHandle opener, MethodHandle forker, MethodHandle joiner, MethodHandle closer)
            implements Container {

        private static final String TYPE = "java.util.concurrent.StructuredTaskScope";

        /** Without a name, the JDK would make one of its class and an address, each time: 350 bytes. */
        private static final String UNNAMED = "scope";

        static Structured find() throws ReflectiveOperationException {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> type = Class.forName(TYPE);
            Class<?> subtask = Class.forName(TYPE + "$Subtask");
            Class<?> joined = type.isInterface() ? Object.class : type;
            return new Structured(
                    type.isInterface() ? Opening.find(lookup, type) : constructor(lookup, type),
                    lookup.findVirtual(type, "fork", MethodType.methodType(subtask, Callable.class))
                            .asType(MethodType.methodType(Object.class, Object.class, Callable.class)),
                    lookup.findVirtual(type, "join", MethodType.methodType(joined))
                            .asType(MethodType.methodType(Object.class, Object.class)),
                    lookup.findVirtual(type, "close", MethodType.methodType(void.class))
                            .asType(MethodType.methodType(void.class, Object.class)));
        }

        /** JDK 21 to 24: a class with a constructor. */
        private static MethodHandle constructor(MethodHandles.Lookup lookup, Class<?> type)
                throws ReflectiveOperationException {
            return lookup.findConstructor(type, MethodType.methodType(void.class, String.class, ThreadFactory.class))
                    .asType(MethodType.methodType(Object.class, String.class, ThreadFactory.class));
        }

        @Override
        public Object open(@Nullable String name, ThreadFactory factory) {
            String shown = name == null ? UNNAMED : name;
            try {
                return (Object) opener.invokeExact(shown, factory);
            } catch (Throwable e) {
                throw Sneaky.sneak(e);
            }
        }

        @Override
        public void fork(Object container, Callable<?> task) {
            try {
                Object unused = (Object) forker.invokeExact(container, task);
            } catch (Throwable e) {
                throw Sneaky.sneak(e);
            }
        }

        @Override
        public void join(Object container) throws InterruptedException {
            try {
                Object unused = (Object) joiner.invokeExact(container);
            } catch (Throwable e) {
                throw Sneaky.sneak(e);
            }
        }

        @Override
        public void close(Object container) {
            try {
                closer.invokeExact(container);
            } catch (Throwable e) {
                throw Sneaky.sneak(e);
            }
        }
    }

    /**
     * JDK 25 and later: an interface with {@code open(joiner, configuration)}, found by its arity since the type of its second
     * parameter changed.
     *
     * @param joiner makes a joiner that waits for all
     * @param open of a joiner and a function from configuration to configuration
     * @param withName of a configuration and a name
     * @param withThreadFactory of a configuration and a factory
     */
    record Opening(MethodHandle joiner, MethodHandle open, MethodHandle withName, MethodHandle withThreadFactory) {

        static MethodHandle find(MethodHandles.Lookup lookup, Class<?> type) throws ReflectiveOperationException {
            Class<?> joiner = Class.forName(type.getName() + "$Joiner");
            Class<?> configuration = Class.forName(type.getName() + "$Configuration");
            Opening opening = new Opening(
                    lookup.findStatic(joiner, "awaitAllSuccessfulOrThrow", MethodType.methodType(joiner))
                            .asType(MethodType.methodType(Object.class)),
                    lookup.unreflect(openOfTwo(type))
                            .asType(MethodType.methodType(Object.class, Object.class, UnaryOperator.class)),
                    lookup.findVirtual(configuration, "withName", MethodType.methodType(configuration, String.class))
                            .asType(MethodType.methodType(Object.class, Object.class, String.class)),
                    lookup.findVirtual(
                                    configuration,
                                    "withThreadFactory",
                                    MethodType.methodType(configuration, ThreadFactory.class))
                            .asType(MethodType.methodType(Object.class, Object.class, ThreadFactory.class)));
            return MethodHandles.lookup()
                    .bind(opening, "opened", MethodType.methodType(Object.class, String.class, ThreadFactory.class));
        }

        private static Method openOfTwo(Class<?> type) throws NoSuchMethodException {
            for (Method m : type.getMethods()) {
                if (m.getName().equals("open")
                        && m.getParameterCount() == 2
                        && m.getParameterTypes()[1].isAssignableFrom(UnaryOperator.class)) {
                    return m;
                }
            }
            throw new NoSuchMethodException(type.getName() + ".open(Joiner, UnaryOperator)");
        }

        @SuppressWarnings("UnusedMethod") // by its method handle
        private Object opened(String name, ThreadFactory factory) throws Throwable {
            UnaryOperator<Object> configure = defaults -> configured(defaults, name, factory);
            return (Object) open.invokeExact((Object) joiner.invokeExact(), configure);
        }

        private Object configured(Object defaults, String name, ThreadFactory factory) {
            try {
                Object named = (Object) withName.invokeExact(defaults, name);
                return (Object) withThreadFactory.invokeExact(named, factory);
            } catch (Throwable e) {
                throw Sneaky.sneak(e);
            }
        }
    }

    /** Plain threads, for a release on which the JDK's scope has a shape that is not known. */
    record Threads() implements Container {

        @Override
        public Object open(@Nullable String name, ThreadFactory factory) {
            return new Herd(factory, new ArrayList<>());
        }

        @Override
        public void fork(Object container, Callable<?> task) {
            Herd herd = (Herd) container;
            Thread thread = herd.factory.newThread(() -> run(task));
            if (thread == null) {
                throw new RejectedExecutionException("the thread factory gave no thread");
            }
            thread.start();
            herd.sweep();
            herd.threads.add(thread);
        }

        private static void run(Callable<?> task) {
            try {
                Object unused = task.call();
            } catch (Exception e) {
                throw Sneaky.sneak(e);
            }
        }

        @Override
        public void join(Object container) throws InterruptedException {
            for (Thread t : ((Herd) container).threads) {
                Waiter.awaitEnd(t);
            }
        }

        @Override
        public void close(Object container) {
            boolean interrupted = false;
            for (Thread t : ((Herd) container).threads) {
                interrupted |= Waiter.awaitEndUninterruptibly(t);
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * The threads of a scope made of plain threads.
     *
     * @param factory makes them
     * @param threads those that may still run
     */
    record Herd(ThreadFactory factory, List<Thread> threads) {

        private static final int SWEEP_AT_LEAST = 64;

        /** Keeps an endless series of forks from piling up: looks at each power of two. */
        void sweep() {
            int n = threads.size();
            if (n >= SWEEP_AT_LEAST && Integer.bitCount(n) == 1) {
                threads.removeIf(t -> !t.isAlive());
            }
        }
    }
}
