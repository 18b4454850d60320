package dev.selvedge;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A fan-out of up to five tasks of different types, written as a chain. Each step is an immutable value; nothing starts
 * before {@code gather} or {@code outcomes}, which may be called any number of times, and throw what {@link ScopeSpec}
 * says of all terminal methods.
 *
 * <p>The combining function runs in the calling thread after the scope has closed, outside its deadline.
 *
 * @since 0.1
 */
public final class FanOut {

    private FanOut() {}

    /**
     * One task of the chain, and those before it.
     *
     * @param spec how the scope is to be
     * @param before the task before this one
     * @param name the fork's name, if it was given one
     * @param task the task
     */
    record Link(
            ScopeSpec spec, @Nullable Link before, @Nullable String name, Callable<?> task) {

        Link then(@Nullable String nextName, Callable<?> next) {
            return new Link(spec, this, nextName, Objects.requireNonNull(next, "task"));
        }

        @Nullable
        Object[] gather() {
            return spec.gatherAll(tasks(), names());
        }

        List<Outcome<@Nullable Object>> outcomes() {
            return spec.eachOf(tasks(), names());
        }

        private int count() {
            int n = 0;
            for (Link l = this; l != null; l = l.before) {
                n++;
            }
            return n;
        }

        private Object[] tasks() {
            int n = count();
            Object[] tasks = new Object[n];
            for (Link l = this; l != null; l = l.before) {
                tasks[--n] = l.task;
            }
            return tasks;
        }

        private @Nullable String @Nullable [] names() {
            int n = count();
            @Nullable String[] names = new String[n];
            boolean any = false;
            for (Link l = this; l != null; l = l.before) {
                names[--n] = l.name;
                any |= l.name != null;
            }
            return any ? names : null;
        }
    }

    @SuppressWarnings({"unchecked", "NullAway"
    }) // each value is that of the task at its place, null if the task gave null
    private static <T extends @Nullable Object> T at(@Nullable Object[] values, int i) {
        return (T) values[i];
    }

    @SuppressWarnings("unchecked") // each outcome is that of the task at its place
    private static <T extends @Nullable Object> Outcome<T> at(List<Outcome<@Nullable Object>> outcomes, int i) {
        return (Outcome<T>) outcomes.get(i);
    }

    private static <R extends @Nullable Object, X extends Exception> R combined(Task<R, X> combine) throws X {
        try {
            return combine.call();
        } catch (InterruptedException e) {
            throw Here.cancelledBy(e);
        }
    }

    /**
     * One task.
     *
     * @param <A> the value of the first
     */
    public static final class Of1<A extends @Nullable Object> {

        private final Link last;

        Of1(Link last) {
            this.last = last;
        }

        /**
         * And a task more.
         *
         * @param <B> the value of the second task
         * @param task the second task; it runs in a fork
         * @return a chain of two tasks; this one stays as it is
         */
        @CheckReturnValue
        public <B extends @Nullable Object> Of2<A, B> fork(Callable<? extends B> task) {
            return new Of2<>(last.then(null, task));
        }

        /**
         * And a task more, with a name for its fork.
         *
         * @param <B> the value of the second task
         * @param name what messages, events and thread dumps call the fork
         * @param task the second task; it runs in a fork
         * @return a chain of two tasks; this one stays as it is
         */
        @CheckReturnValue
        public <B extends @Nullable Object> Of2<A, B> fork(String name, Callable<? extends B> task) {
            return new Of2<>(last.then(Objects.requireNonNull(name, "name"), task));
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their values; the first failure cancels the
         * others.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the values in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R gather(Task.Of<? super A, R, X> combine) throws X {
            Objects.requireNonNull(combine, "combine");
            @Nullable Object[] values = last.gather();
            A a = at(values, 0);
            return combined(() -> combine.call(a));
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their outcomes; a failure does not cancel the
         * others, a deadline leaves {@code Cancelled}.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the outcomes in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R outcomes(Task.Of<? super Outcome<A>, R, X> combine)
                throws X {
            Objects.requireNonNull(combine, "combine");
            List<Outcome<@Nullable Object>> outcomes = last.outcomes();
            Outcome<A> a = at(outcomes, 0);
            return combined(() -> combine.call(a));
        }
    }

    /**
     * Two tasks.
     *
     * @param <A> the value of the first
     * @param <B> the value of the second
     */
    public static final class Of2<A extends @Nullable Object, B extends @Nullable Object> {

        private final Link last;

        Of2(Link last) {
            this.last = last;
        }

        /**
         * And a task more.
         *
         * @param <C> the value of the third task
         * @param task the third task; it runs in a fork
         * @return a chain of three tasks; this one stays as it is
         */
        @CheckReturnValue
        public <C extends @Nullable Object> Of3<A, B, C> fork(Callable<? extends C> task) {
            return new Of3<>(last.then(null, task));
        }

        /**
         * And a task more, with a name for its fork.
         *
         * @param <C> the value of the third task
         * @param name what messages, events and thread dumps call the fork
         * @param task the third task; it runs in a fork
         * @return a chain of three tasks; this one stays as it is
         */
        @CheckReturnValue
        public <C extends @Nullable Object> Of3<A, B, C> fork(String name, Callable<? extends C> task) {
            return new Of3<>(last.then(Objects.requireNonNull(name, "name"), task));
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their values; the first failure cancels the
         * others.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the values in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R gather(Task.Of2<? super A, ? super B, R, X> combine)
                throws X {
            Objects.requireNonNull(combine, "combine");
            @Nullable Object[] values = last.gather();
            A a = at(values, 0);
            B b = at(values, 1);
            return combined(() -> combine.call(a, b));
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their outcomes; a failure does not cancel the
         * others, a deadline leaves {@code Cancelled}.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the outcomes in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R outcomes(
                Task.Of2<? super Outcome<A>, ? super Outcome<B>, R, X> combine) throws X {
            Objects.requireNonNull(combine, "combine");
            List<Outcome<@Nullable Object>> outcomes = last.outcomes();
            Outcome<A> a = at(outcomes, 0);
            Outcome<B> b = at(outcomes, 1);
            return combined(() -> combine.call(a, b));
        }
    }

    /**
     * Three tasks.
     *
     * @param <A> the value of the first
     * @param <B> the value of the second
     * @param <C> the value of the third
     */
    public static final class Of3<A extends @Nullable Object, B extends @Nullable Object, C extends @Nullable Object> {

        private final Link last;

        Of3(Link last) {
            this.last = last;
        }

        /**
         * And a task more.
         *
         * @param <D> the value of the fourth task
         * @param task the fourth task; it runs in a fork
         * @return a chain of four tasks; this one stays as it is
         */
        @CheckReturnValue
        public <D extends @Nullable Object> Of4<A, B, C, D> fork(Callable<? extends D> task) {
            return new Of4<>(last.then(null, task));
        }

        /**
         * And a task more, with a name for its fork.
         *
         * @param <D> the value of the fourth task
         * @param name what messages, events and thread dumps call the fork
         * @param task the fourth task; it runs in a fork
         * @return a chain of four tasks; this one stays as it is
         */
        @CheckReturnValue
        public <D extends @Nullable Object> Of4<A, B, C, D> fork(String name, Callable<? extends D> task) {
            return new Of4<>(last.then(Objects.requireNonNull(name, "name"), task));
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their values; the first failure cancels the
         * others.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the values in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R gather(
                Task.Of3<? super A, ? super B, ? super C, R, X> combine) throws X {
            Objects.requireNonNull(combine, "combine");
            @Nullable Object[] values = last.gather();
            A a = at(values, 0);
            B b = at(values, 1);
            C c = at(values, 2);
            return combined(() -> combine.call(a, b, c));
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their outcomes; a failure does not cancel the
         * others, a deadline leaves {@code Cancelled}.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the outcomes in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R outcomes(
                Task.Of3<? super Outcome<A>, ? super Outcome<B>, ? super Outcome<C>, R, X> combine) throws X {
            Objects.requireNonNull(combine, "combine");
            List<Outcome<@Nullable Object>> outcomes = last.outcomes();
            Outcome<A> a = at(outcomes, 0);
            Outcome<B> b = at(outcomes, 1);
            Outcome<C> c = at(outcomes, 2);
            return combined(() -> combine.call(a, b, c));
        }
    }

    /**
     * Four tasks.
     *
     * @param <A> the value of the first
     * @param <B> the value of the second
     * @param <C> the value of the third
     * @param <D> the value of the fourth
     */
    public static final class Of4<
            A extends @Nullable Object,
            B extends @Nullable Object,
            C extends @Nullable Object,
            D extends @Nullable Object> {

        private final Link last;

        Of4(Link last) {
            this.last = last;
        }

        /**
         * And a task more.
         *
         * @param <E> the value of the fifth task
         * @param task the fifth task; it runs in a fork
         * @return a chain of five tasks; this one stays as it is
         */
        @CheckReturnValue
        public <E extends @Nullable Object> Of5<A, B, C, D, E> fork(Callable<? extends E> task) {
            return new Of5<>(last.then(null, task));
        }

        /**
         * And a task more, with a name for its fork.
         *
         * @param <E> the value of the fifth task
         * @param name what messages, events and thread dumps call the fork
         * @param task the fifth task; it runs in a fork
         * @return a chain of five tasks; this one stays as it is
         */
        @CheckReturnValue
        public <E extends @Nullable Object> Of5<A, B, C, D, E> fork(String name, Callable<? extends E> task) {
            return new Of5<>(last.then(Objects.requireNonNull(name, "name"), task));
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their values; the first failure cancels the
         * others.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the values in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R gather(
                Task.Of4<? super A, ? super B, ? super C, ? super D, R, X> combine) throws X {
            Objects.requireNonNull(combine, "combine");
            @Nullable Object[] values = last.gather();
            A a = at(values, 0);
            B b = at(values, 1);
            C c = at(values, 2);
            D d = at(values, 3);
            return combined(() -> combine.call(a, b, c, d));
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their outcomes; a failure does not cancel the
         * others, a deadline leaves {@code Cancelled}.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the outcomes in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R outcomes(
                Task.Of4<? super Outcome<A>, ? super Outcome<B>, ? super Outcome<C>, ? super Outcome<D>, R, X> combine)
                throws X {
            Objects.requireNonNull(combine, "combine");
            List<Outcome<@Nullable Object>> outcomes = last.outcomes();
            Outcome<A> a = at(outcomes, 0);
            Outcome<B> b = at(outcomes, 1);
            Outcome<C> c = at(outcomes, 2);
            Outcome<D> d = at(outcomes, 3);
            return combined(() -> combine.call(a, b, c, d));
        }
    }

    /**
     * Five tasks.
     *
     * @param <A> the value of the first
     * @param <B> the value of the second
     * @param <C> the value of the third
     * @param <D> the value of the fourth
     * @param <E> the value of the fifth
     */
    public static final class Of5<
            A extends @Nullable Object,
            B extends @Nullable Object,
            C extends @Nullable Object,
            D extends @Nullable Object,
            E extends @Nullable Object> {

        private final Link last;

        Of5(Link last) {
            this.last = last;
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their values; the first failure cancels the
         * others.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the values in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R gather(
                Task.Of5<? super A, ? super B, ? super C, ? super D, ? super E, R, X> combine) throws X {
            Objects.requireNonNull(combine, "combine");
            @Nullable Object[] values = last.gather();
            A a = at(values, 0);
            B b = at(values, 1);
            C c = at(values, 2);
            D d = at(values, 3);
            E e = at(values, 4);
            return combined(() -> combine.call(a, b, c, d, e));
        }

        /**
         * Runs the tasks at the same time, each in a fork, and combines their outcomes; a failure does not cancel the
         * others, a deadline leaves {@code Cancelled}.
         *
         * @param <R> the result of the function
         * @param <X> its checked exception; {@code RuntimeException} is inferred where there is none
         * @param combine gets the outcomes in the order of the chain
         * @return what the function returns
         * @throws X what the function throws, as it is
         */
        public <R extends @Nullable Object, X extends Exception> R outcomes(
                Task.Of5<
                                ? super Outcome<A>,
                                ? super Outcome<B>,
                                ? super Outcome<C>,
                                ? super Outcome<D>,
                                ? super Outcome<E>,
                                R,
                                X>
                        combine)
                throws X {
            Objects.requireNonNull(combine, "combine");
            List<Outcome<@Nullable Object>> outcomes = last.outcomes();
            Outcome<A> a = at(outcomes, 0);
            Outcome<B> b = at(outcomes, 1);
            Outcome<C> c = at(outcomes, 2);
            Outcome<D> d = at(outcomes, 3);
            Outcome<E> e = at(outcomes, 4);
            return combined(() -> combine.call(a, b, c, d, e));
        }
    }
}
