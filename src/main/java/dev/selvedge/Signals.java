package dev.selvedge;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Handlers of the signals of the process. The one file that knows of {@code sun.misc.Signal}, which is of no standard and not
 * in every runtime: so by name only.
 *
 * @param of from a name without SIG
 * @param handle of a signal and a handler; gives the handler before
 * @param handler its type
 */
record Signals(MethodHandle of, MethodHandle handle, Class<?> handler) {

    private static final @Nullable Signals JDK = find();

    private static @Nullable Signals find() {
        try {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            return new Signals(
                    lookup.findConstructor(signal, MethodType.methodType(void.class, String.class))
                            .asType(MethodType.methodType(Object.class, String.class)),
                    lookup.findStatic(signal, "handle", MethodType.methodType(handler, signal, handler))
                            .asType(MethodType.methodType(Object.class, Object.class, Object.class)),
                    handler);
        } catch (ReflectiveOperationException | LinkageError | RuntimeException e) {
            return null; // a runtime without the module jdk.unsupported
        }
    }

    /**
     * Has something done whenever a signal comes, by a thread of the JVM's, a new one each time.
     *
     * @param name without SIG
     * @param action what is to be done
     * @return restores the handler before; null if the JVM does not give the signal away
     */
    static @Nullable Runnable handle(String name, Runnable action) {
        Signals signals = JDK;
        if (signals == null) {
            return null;
        }
        try {
            Object signal = signals.of.invoke(name);
            Object before = signals.handle.invoke(signal, signals.handlerThat(action));
            return () -> signals.restore(signal, before);
        } catch (Throwable e) {
            return null; // with -Xrs, for one
        }
    }

    private void restore(Object signal, Object before) {
        try {
            Object unused = handle.invoke(signal, before);
        } catch (Throwable e) {
            throw Sneaky.sneak(e);
        }
    }

    private Object handlerThat(Runnable action) {
        return Proxy.newProxyInstance(Signals.class.getClassLoader(), new Class<?>[] {handler}, (me, method, args) -> {
            switch (method.getName()) {
                case "handle" -> action.run();
                case "equals" -> {
                    return args != null && me == args[0];
                }
                case "hashCode" -> {
                    return System.identityHashCode(me);
                }
                default -> {
                    return "the handler of a main scope";
                }
            }
            return null;
        });
    }
}
