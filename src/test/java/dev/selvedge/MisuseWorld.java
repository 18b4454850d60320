package dev.selvedge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.selvedge.batch.ProgressBar;
import dev.selvedge.policy.CircuitBreaker;
import dev.selvedge.policy.Retry;
import dev.selvedge.time.Alarm;
import dev.selvedge.time.Alarms;
import dev.selvedge.time.ClockInside;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.VirtualClock;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What one misuse is tried in: a clock of its own, a flag that tells whether any code of the caller ran, good arguments. */
final class MisuseWorld {

    final Lab lab = new Lab();
    final AtomicInteger ran = new AtomicInteger();
    final ScopeSpec spec = lab.scope("page");
    final Callable<String> task = () -> "ran " + ran.incrementAndGet();

    /** What came of the call. */
    @Nullable
    Object result;

    @Nullable
    Throwable thrown;

    /** How many forks the call has made, and whether it left the interrupt flag set. */
    private int forks;

    private boolean flag;

    /** Good arguments: a misuse puts one bad one among them. */
    private final Map<Class<?>, Object> samples = Map.ofEntries(
            sample(Callable.class, task),
            sample(Exception.class, new Exception("no")),
            sample(boolean.class, false),
            sample(List.class, List.of()),
            sample(Retry.DelaySource.class, Retry.DelaySource.BACKOFF),
            sample(Progress.class, new Progress(1, 0, 0, 0, 0, 0, 0, Duration.ZERO, false)),
            sample(Retry.Reason.class, Retry.Reason.ATTEMPTS),
            sample(Task.class, (Task<String, RuntimeException>) () -> "ran " + ran.incrementAndGet()),
            sample(Task.Void.class, (Task.Void<RuntimeException>) ran::incrementAndGet),
            sample(Task.VoidOf.class, (Task.VoidOf<Object, RuntimeException>) a -> ran.incrementAndGet()),
            sample(Task.Of.class, (Task.Of<Object, String, RuntimeException>) a -> "ran " + ran.incrementAndGet()),
            sample(Task.Of2.class, (Task.Of2<Object, Object, Object, RuntimeException>)
                    (a, b) -> ran.incrementAndGet()),
            sample(Task.Of3.class, (Task.Of3<Object, Object, Object, Object, RuntimeException>)
                    (a, b, c) -> ran.incrementAndGet()),
            sample(Task.Of4.class, (Task.Of4<Object, Object, Object, Object, Object, RuntimeException>)
                    (a, b, c, d) -> ran.incrementAndGet()),
            sample(Task.Of5.class, (Task.Of5<Object, Object, Object, Object, Object, Object, RuntimeException>)
                    (a, b, c, d, e) -> ran.incrementAndGet()),
            sample(Duration.class, Duration.ofSeconds(1)),
            sample(Instant.class, Instant.EPOCH),
            sample(int.class, 1),
            sample(long.class, 1L),
            sample(double.class, 0.5),
            sample(ProgressMeter.class, ProgressMeter.create()),
            sample(Task.VoidOf2.class, (Task.VoidOf2<Object, Object, RuntimeException>)
                    (a, b) -> ran.incrementAndGet()),
            sample(String.class, "name"),
            sample(Throwable.class, new IOException("broken")),
            sample(AutoCloseable.class, (AutoCloseable) () -> lab.note("closed")),
            sample(Collection.class, List.of(task, task)),
            sample(Iterable.class, (Iterable<String>) () -> {
                ran.incrementAndGet();
                return List.of("a", "b").iterator();
            }),
            sample(Callable[].class, new Callable<?>[] {task, task}),
            sample(TimeSource.class, lab.clock()),
            sample(Deadline.class, lab.clock().never()),
            sample(Consumer.class, (Consumer<Object>) o -> ran.incrementAndGet()),
            sample(Supplier.class, (Supplier<Object>) ran::incrementAndGet),
            sample(Function.class, (Function<Object, AutoCloseable>) o -> () -> ran.incrementAndGet()),
            sample(ThreadFactory.class, (ThreadFactory) Thread.ofVirtual()::unstarted),
            sample(CompletionStage.class, CompletableFuture.completedFuture("stage")),
            sample(ScopeSpec.class, Selvedge.scope("not as defaults")),
            sample(ProcessBuilder.class, new ProcessBuilder("true")),
            sample(TimeUnit.class, TimeUnit.MINUTES),
            sample(Shutdown.class, new Shutdown()),
            sample(Alarm.class, alarm()),
            sample(Object.class, "what"),
            sample(Thread.class, Thread.ofVirtual().unstarted(() -> {})),
            sample(TimeSource.Work.class, (TimeSource.Work<Object, RuntimeException>) ran::incrementAndGet),
            sample(TimeSource.VoidWork.class, (TimeSource.VoidWork<RuntimeException>) ran::incrementAndGet),
            sample(BooleanSupplier.class, (BooleanSupplier) () -> ran.incrementAndGet() > 0),
            sample(Class.class, IOException.class),
            sample(CancelReason.class, reason()),
            sample(CancelReason.Kind.class, CancelReason.Kind.CALLER),
            sample(CircuitBreaker.State.class, CircuitBreaker.State.CLOSED),
            sample(ScopeId.class, new ScopeId(1, "name", null, 0)),
            sample(Outcome.class, new Outcome.Success<>("value")));

    private static Map.Entry<Class<?>, Object> sample(Class<?> type, Object value) {
        return Map.entry(type, value);
    }

    static CancelReason reason() {
        return new CancelReason(CancelReason.Kind.CALLER, "because", null);
    }

    Alarm alarm() {
        return Alarms.alarm(() -> lab.note("rang"));
    }

    @Nullable
    Object[] samples(Executable method) {
        Class<?>[] types = method.getParameterTypes();
        @Nullable Object[] args = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            args[i] = java.util.Objects.requireNonNull(samples.get(types[i]), types[i] + " needs a sample");
        }
        if (method.getDeclaringClass() == Scope.class && types.length == 1 && types[0] == Collection.class) {
            args[0] = List.of();
        }
        return args;
    }

    /** One call of the method in question; only its own effects count. */
    void attempt(Executable method, @Nullable Object on, @Nullable Object... args) {
        method.setAccessible(true);
        int before = lab.events(ScopeEvent.ForkCreated.class).size();
        boolean flagBefore = Thread.currentThread().isInterrupted();
        try {
            result = method instanceof Method m ? m.invoke(on, args) : ((Constructor<?>) method).newInstance(args);
        } catch (InvocationTargetException e) {
            thrown = e.getCause();
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(method.toString(), e);
        }
        forks = lab.events(ScopeEvent.ForkCreated.class).size() - before;
        flag = Thread.currentThread().isInterrupted() && !flagBefore;
    }

    /** The call was refused: nothing was begun, nothing is left, and a use as it should be works. */
    void assertUntouched() {
        assertThat(ran).as("code of the caller").hasValue(0);
        assertThat(forks).as("forks that were made").isZero();
        assertThat(flag).as("the interrupt flag").isFalse();
        assertThat(lab.clock().pending()).isEmpty();
        assertThat(ClockInside.remains(lab.clock())).isEmpty();
        assertThat(lab.unhandled()).isEmpty();
        Duration before = lab.now();
        String value = lab.scope("after")
                .call(s -> s.fork("a", () -> {
                            Selvedge.sleep(Duration.ofSeconds(1));
                            return "a";
                        })
                        .join());
        assertThat(value).isEqualTo("a");
        assertThat(lab.now().minus(before)).isEqualTo(Duration.ofSeconds(1));
    }

    /** In any case. */
    void assertClean() {
        assertThat(ClockInside.remains(lab.clock())).isEmpty();
        lab.afterEach(null);
    }

    /** What a method is called on when nothing is said of threads and time: each in turn, within {@code call}. */
    void onEach(Class<?> type, ReceiverCall call) throws Exception {
        if (type == Scope.class) {
            spec.run(s -> {
                call.on(s);
                assertThat(s.fork("next", () -> "next").join()).isEqualTo("next");
            });
        } else if (type == Fork.class) {
            spec.run(s -> {
                Fork<String> a = s.fork("a", () -> {
                    Selvedge.sleep(Duration.ofSeconds(3));
                    return "value";
                });
                call.on(a);
                assertThat(catchThrowable(a::join))
                        .satisfiesAnyOf(
                                e -> assertThat(e).isNull(),
                                e -> assertThat(e).isInstanceOf(ScopeCancelledException.class));
            });
        } else if (type == ChildProcess.class) {
            spec.run(s -> call.on(s.process(new ProcessBuilder("true"))));
        } else if (type == Selvedge.class) {
            Throwable late = catchThrowable(() -> lab.scope("around")
                    .deadline(Duration.ofSeconds(2))
                    .run(() -> {
                        call.on(null);
                        if (thrown instanceof ScopeCancelledException e) {
                            throw e;
                        }
                    }));
            assertThat(late == null || thrown instanceof ScopeCancelledException)
                    .as("%s", late)
                    .isTrue();
        } else {
            for (Object each : receivers(type)) {
                call.on(each);
            }
        }
    }

    private List<?> receivers(Class<?> type) {
        List<Object> all = new ArrayList<>();
        FanOut.Of1<String> one = spec.fork(task);
        if (type == FanOut.Of1.class) {
            all.add(one);
        } else if (type == FanOut.Of2.class) {
            all.add(one.fork(task));
        } else if (type == FanOut.Of3.class) {
            all.add(one.fork(task).fork(task));
        } else if (type == FanOut.Of4.class) {
            all.add(one.fork(task).fork(task).fork(task));
        } else if (type == FanOut.Of5.class) {
            all.add(one.fork(task).fork(task).fork(task).fork(task));
        } else if (type == ScopeSpec.class) {
            all.add(spec);
        } else if (type == MainScope.class) {
            all.add(MainScope.of(spec).stoppedBy(new Shutdown()));
        } else if (type == Shutdown.class) {
            all.add(new Shutdown());
        } else if (type == Outcome.class) {
            all.add(new Outcome.Failure<>(new IOException("broken")));
        } else if (type == Outcomes.class) {
            all.add(spec.outcomes(List.of("a", "b", "c"), item -> item));
        } else if (type == ScopeFailedException.class) {
            all.add(new ScopeFailedException("the fork", List.of(new IllegalStateException("broken")), false));
        } else if (type == ProgressBar.class) {
            all.add(ProgressBar.lines(line -> ran.incrementAndGet()));
        } else if (type == VirtualClock.class) {
            all.add(lab.clock());
        } else if (type == TimeSource.class) {
            all.addAll(List.of(lab.clock(), TimeSource.system()));
        } else if (type == Deadline.class) {
            all.addAll(List.of(lab.clock().never(), lab.clock().after(Duration.ofSeconds(1))));
        } else if (type == dev.selvedge.time.Waiter.class) {
            all.addAll(List.of(lab.clock().waiter(), TimeSource.system().waiter()));
        } else {
            all.add(type); // for constructors and static methods alone
        }
        return all;
    }

    interface ReceiverCall {
        void on(@Nullable Object receiver) throws Exception;
    }

    /** In a thread that has nothing to do with anything. */
    static void inForeignThread(Runnable action) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = Thread.ofPlatform().start(() -> thrown.set(catchThrowable(action::run)));
        boolean unused = dev.selvedge.time.Waiter.awaitEndUninterruptibly(thread);
        assertThat(thrown.get()).isNull();
    }
}
