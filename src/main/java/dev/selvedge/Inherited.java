package dev.selvedge;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/**
 * How the forks of a scope find the ledger of the thread that owns it: a {@code ScopedValue} that the outermost scope of
 * each owner thread binds, and that the threads of its forks inherit.
 *
 * <p>The one file that knows of {@code ScopedValue}. It is bound through method handles, since it is a preview in JDK 21 to
 * 24 and class files that name it would run on one release only; {@code where}, {@code run}, {@code get} and {@code isBound}
 * have the same shape in all releases. Where scopes are plain threads ({@link Container}), or no scoped value can be had, an
 * inheritable thread-local does the same.
 */
sealed interface Inherited {

    /** The one in use. */
    Inherited WAY = Container.isStructured() ? scopedOrLocal() : new Local(new InheritableThreadLocal<>());

    /** The ledger that was bound last around the calling thread, by it or by a thread above it. */
    static @Nullable Ledger ledger() {
        return WAY.get();
    }

    /** Runs {@code body} with the ledger bound. */
    static void where(Ledger ledger, Runnable body) {
        WAY.bound(ledger, body);
    }

    /** The bound ledger. */
    @Nullable
    Ledger get();

    /** Runs the body with the ledger bound. */
    void bound(Ledger ledger, Runnable body);

    private static Inherited scopedOrLocal() {
        try {
            return Scoped.find();
        } catch (Throwable e) {
            Container.logOnce("no ScopedValue can be bound here", e);
            return new Local(new InheritableThreadLocal<>());
        }
    }

    /**
     * A record, since the JIT takes the fields of records for constants, as it must for method handles to be inlined.
     *
     * @param isBound whether there is a value
     * @param getter the value
     * @param where binds a value
     * @param runner runs with what was bound
     */
    record Scoped(MethodHandle isBound, MethodHandle getter, MethodHandle where, MethodHandle runner)
            implements Inherited {

        static Scoped find() throws Throwable {
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            Class<?> type = Class.forName("java.lang.ScopedValue");
            Class<?> carrier = Class.forName("java.lang.ScopedValue$Carrier");
            Object value = lookup.findStatic(type, "newInstance", MethodType.methodType(type))
                    .invoke();
            MethodHandle where = lookup.findStatic(type, "where", MethodType.methodType(carrier, type, Object.class));
            return new Scoped(
                    lookup.findVirtual(type, "isBound", MethodType.methodType(boolean.class))
                            .bindTo(value),
                    lookup.findVirtual(type, "get", MethodType.methodType(Object.class))
                            .bindTo(value)
                            .asType(MethodType.methodType(Ledger.class)),
                    MethodHandles.insertArguments(where, 0, value)
                            .asType(MethodType.methodType(Object.class, Ledger.class)),
                    lookup.findVirtual(carrier, "run", MethodType.methodType(void.class, Runnable.class))
                            .asType(MethodType.methodType(void.class, Object.class, Runnable.class)));
        }

        @Override
        public @Nullable Ledger get() {
            try {
                return (boolean) isBound.invokeExact() ? (Ledger) getter.invokeExact() : null;
            } catch (Throwable e) {
                throw Sneaky.sneak(e);
            }
        }

        @Override
        public void bound(Ledger ledger, Runnable body) {
            try {
                Object carrier = (Object) where.invokeExact(ledger);
                runner.invokeExact(carrier, body);
            } catch (Throwable e) {
                throw Sneaky.sneak(e);
            }
        }
    }

    /**
     * The stand-in.
     *
     * @param ledger inherited by threads that are made while it is set
     */
    record Local(InheritableThreadLocal<@Nullable Ledger> ledger) implements Inherited {

        @Override
        public @Nullable Ledger get() {
            return ledger.get();
        }

        @Override
        public void bound(Ledger value, Runnable body) {
            Ledger before = ledger.get();
            ledger.set(value);
            try {
                body.run();
            } finally {
                if (before == null) {
                    ledger.remove();
                } else {
                    ledger.set(before);
                }
            }
        }
    }
}
