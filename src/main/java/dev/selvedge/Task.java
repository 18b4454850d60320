package dev.selvedge;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Work that gives a value and may throw one kind of checked exception besides {@link InterruptedException}.
 *
 * <p>The type of the exception flows through {@link ScopeSpec#call(Task)}: a lambda that calls {@code http.send(…)}
 * makes {@code call} throw {@code IOException} and nothing more. The nested types are the same for work that takes
 * arguments, or gives nothing.
 *
 * @param <T> the value
 * @param <X> the checked exception; inferred as {@code RuntimeException} where there is none
 * @since 0.1
 */
@FunctionalInterface
public interface Task<T extends @Nullable Object, X extends Exception> extends Callable<T> {

    /**
     * Does the work.
     *
     * @return the value; null only if {@code T} allows it
     * @throws X if the work fails
     * @throws InterruptedException if the thread is interrupted meanwhile; a task should let it out
     */
    @Override
    T call() throws X, InterruptedException;

    /**
     * Work on one argument.
     *
     * @param <A> the argument
     * @param <T> the value
     * @param <X> the checked exception
     */
    @FunctionalInterface
    interface Of<A extends @Nullable Object, T extends @Nullable Object, X extends Exception> {
        /**
         * Does the work.
         *
         * @param a the argument
         * @return the value; null only if {@code T} allows it
         * @throws X if the work fails
         * @throws InterruptedException if the thread is interrupted meanwhile; a task should let it out
         */
        T call(A a) throws X, InterruptedException;
    }

    /**
     * Work on two arguments.
     *
     * @param <A> the first argument
     * @param <B> the second argument
     * @param <T> the value
     * @param <X> the checked exception
     */
    @FunctionalInterface
    interface Of2<
            A extends @Nullable Object, B extends @Nullable Object, T extends @Nullable Object, X extends Exception> {
        /**
         * Does the work.
         *
         * @param a the first argument
         * @param b the second argument
         * @return the value; null only if {@code T} allows it
         * @throws X if the work fails
         * @throws InterruptedException if the thread is interrupted meanwhile; a task should let it out
         */
        T call(A a, B b) throws X, InterruptedException;
    }

    /**
     * Work on three arguments.
     *
     * @param <A> the first argument
     * @param <B> the second argument
     * @param <C> the third argument
     * @param <T> the value
     * @param <X> the checked exception
     */
    @FunctionalInterface
    interface Of3<
            A extends @Nullable Object,
            B extends @Nullable Object,
            C extends @Nullable Object,
            T extends @Nullable Object,
            X extends Exception> {
        /**
         * Does the work.
         *
         * @param a the first argument
         * @param b the second argument
         * @param c the third argument
         * @return the value; null only if {@code T} allows it
         * @throws X if the work fails
         * @throws InterruptedException if the thread is interrupted meanwhile; a task should let it out
         */
        T call(A a, B b, C c) throws X, InterruptedException;
    }

    /**
     * Work on four arguments.
     *
     * @param <A> the first argument
     * @param <B> the second argument
     * @param <C> the third argument
     * @param <D> the fourth argument
     * @param <T> the value
     * @param <X> the checked exception
     */
    @FunctionalInterface
    interface Of4<
            A extends @Nullable Object,
            B extends @Nullable Object,
            C extends @Nullable Object,
            D extends @Nullable Object,
            T extends @Nullable Object,
            X extends Exception> {
        /**
         * Does the work.
         *
         * @param a the first argument
         * @param b the second argument
         * @param c the third argument
         * @param d the fourth argument
         * @return the value; null only if {@code T} allows it
         * @throws X if the work fails
         * @throws InterruptedException if the thread is interrupted meanwhile; a task should let it out
         */
        T call(A a, B b, C c, D d) throws X, InterruptedException;
    }

    /**
     * Work on five arguments.
     *
     * @param <A> the first argument
     * @param <B> the second argument
     * @param <C> the third argument
     * @param <D> the fourth argument
     * @param <E> the fifth argument
     * @param <T> the value
     * @param <X> the checked exception
     */
    @FunctionalInterface
    interface Of5<
            A extends @Nullable Object,
            B extends @Nullable Object,
            C extends @Nullable Object,
            D extends @Nullable Object,
            E extends @Nullable Object,
            T extends @Nullable Object,
            X extends Exception> {
        /**
         * Does the work.
         *
         * @param a the first argument
         * @param b the second argument
         * @param c the third argument
         * @param d the fourth argument
         * @param e the fifth argument
         * @return the value; null only if {@code T} allows it
         * @throws X if the work fails
         * @throws InterruptedException if the thread is interrupted meanwhile; a task should let it out
         */
        T call(A a, B b, C c, D d, E e) throws X, InterruptedException;
    }

    /**
     * Work that gives nothing.
     *
     * @param <X> the checked exception
     */
    @FunctionalInterface
    interface Void<X extends Exception> {
        /**
         * Does the work.
         *
         * @throws X if the work fails
         * @throws InterruptedException if the thread is interrupted meanwhile; a task should let it out
         */
        void run() throws X, InterruptedException;
    }

    /**
     * Work on one argument that gives nothing.
     *
     * @param <A> the argument
     * @param <X> the checked exception
     */
    @FunctionalInterface
    interface VoidOf<A extends @Nullable Object, X extends Exception> {
        /**
         * Does the work.
         *
         * @param a the argument
         * @throws X if the work fails
         * @throws InterruptedException if the thread is interrupted meanwhile; a task should let it out
         */
        void run(A a) throws X, InterruptedException;
    }

    /**
     * Work on two arguments that gives nothing.
     *
     * @param <A> the first argument
     * @param <B> the second argument
     * @param <X> the checked exception
     */
    @FunctionalInterface
    interface VoidOf2<A extends @Nullable Object, B extends @Nullable Object, X extends Exception> {
        /**
         * Does the work.
         *
         * @param a the first argument
         * @param b the second argument
         * @throws X if the work fails
         * @throws InterruptedException if the thread is interrupted meanwhile; a task should let it out
         */
        void run(A a, B b) throws X, InterruptedException;
    }
}
