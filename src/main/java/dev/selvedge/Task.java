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

    /**
     * Work on an item whose outcome is kept somewhere: in a journal, a table, a file. Over many items,
     * {@code map}, {@code outcomes} and
     * {@code eachCompleted} of {@link ScopeSpec} call the three steps one by one, for each item on the thread that works on it: they ask
     * for what is {@link #known}; if nothing is, they {@link #work}, under the policies; what comes of that after all
     * attempts they have {@link #record recorded}, once. An item counts as done when that has returned. If {@code known} or
     * {@code record} throws, that is no failure of the item, but the end of the job: see {@link ScopeFailedException}.
     *
     * @param <I> an item
     * @param <R> the result for an item
     * @param <X> the checked exception of the work
     */
    interface Recorded<I extends @Nullable Object, R extends @Nullable Object, X extends Exception>
            extends Of<I, R, X> {
        /**
         * What an earlier run has made of an item.
         *
         * @param item the item
         * @return its outcome, which is then taken as it is: the item is not worked on; or null if there is none
         */
        Outcome.@Nullable Success<R> known(I item);

        /**
         * Does the work; called again for each attempt.
         *
         * @param item the item
         * @return the result
         * @throws X if the work fails
         * @throws InterruptedException if the thread is interrupted meanwhile
         */
        R work(I item) throws X, InterruptedException;

        /**
         * Keeps the final outcome of an item that was worked on. The interrupt flag is put aside meanwhile: what was done is
         * recorded, even if the job is being cancelled.
         *
         * @param item the item
         * @param outcome a success or a failure; never a cancellation
         */
        void record(I item, Outcome<R> outcome);

        /** The three steps in one, for code that calls it by itself. */
        @Override
        default R call(I item) throws X, InterruptedException {
            Outcome.Success<R> known = known(item);
            if (known != null) {
                return known.value();
            }
            R value;
            try {
                value = work(item);
            } catch (Throwable t) {
                if (!Cancellation.isInFlight(t)) {
                    record(item, new Outcome.Failure<>(t));
                }
                throw t;
            }
            record(item, new Outcome.Success<>(value));
            return value;
        }
    }
}
