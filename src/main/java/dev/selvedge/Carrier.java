package dev.selvedge;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What is carried from a thread that forks into the threads of its forks: a propagator, and those before it. */
final class Carrier {

    private final @Nullable Carrier before;
    private final Supplier<?> capture;
    private final Function<Object, ? extends AutoCloseable> install;

    private Carrier(@Nullable Carrier before, Supplier<?> capture, Function<Object, ? extends AutoCloseable> install) {
        this.before = before;
        this.capture = capture;
        this.install = install;
    }

    @SuppressWarnings("unchecked") // it is only given what its capture gave
    static <V extends @Nullable Object> Carrier of(
            Supplier<? extends V> capture, Function<? super V, ? extends AutoCloseable> install) {
        return new Carrier(null, capture, (Function<Object, ? extends AutoCloseable>) install);
    }

    /** Those of {@code outer} first, then {@code own}; a propagator that is there already is not added again. */
    static Carrier both(@Nullable Carrier outer, Carrier own) {
        if (outer == null) {
            return own;
        }
        Carrier base = own.before == null ? outer : both(outer, own.before);
        return base.includes(own) ? base : new Carrier(base, own.capture, own.install);
    }

    private boolean includes(Carrier one) {
        for (Carrier c = this; c != null; c = c.before) {
            if (c.capture == one.capture && c.install == one.install) {
                return true;
            }
        }
        return false;
    }

    /** What is there now, on the calling thread. */
    Load load() {
        Load earlier = before == null ? null : before.load();
        return new Load(earlier, install, capture.get());
    }

    /**
     * What was captured, to be put into place around a task.
     *
     * @param before what goes around this
     * @param install puts the value into place
     * @param value what was captured; may be null
     */
    record Load(
            @Nullable Load before,
            Function<Object, ? extends AutoCloseable> install,
            @Nullable Object value) {

        /** The task with all this around it, each closed after it; a close that throws is reported in {@code scope}. */
        <T extends @Nullable Object> Callable<T> around(Callable<? extends T> task, Context context, String scope) {
            Callable<T> inner = () -> within(task, context, scope);
            return before == null ? inner : before.around(inner, context, scope);
        }

        @SuppressWarnings("NullAway") // a propagator is given what its own capture gave, null included
        private <T extends @Nullable Object> T within(Callable<? extends T> task, Context context, String scope)
                throws Exception {
            AutoCloseable open = Objects.requireNonNull(install.apply(value), "a propagator's install gave null");
            try {
                return task.call();
            } finally {
                close(open, context, scope);
            }
        }

        private static void close(AutoCloseable open, Context context, String scope) {
            Here.Aside aside = Here.putAside();
            try {
                open.close();
            } catch (Throwable e) {
                context.unhandled(scope, e);
            } finally {
                aside.putBack();
            }
        }
    }
}
