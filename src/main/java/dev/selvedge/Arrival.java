package dev.selvedge;

import dev.selvedge.time.TimeSource;
import dev.selvedge.time.Waiter;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The result of an asynchronous client, which one thread waits for. */
final class Arrival<T extends @Nullable Object> implements BiConsumer<T, @Nullable Throwable> {

    private final Context context;
    private final Waiter waiter;

    /** Written by whoever completes the stage, before the wake-up. */
    private @Nullable Object value;

    private @Nullable Throwable error;

    private Arrival(Context context) {
        this.context = context;
        TimeSource clock = context.clock();
        this.waiter = clock.waiter("a completion stage").fromOutside();
    }

    static <T extends @Nullable Object> T await(CompletionStage<? extends T> stage) throws Exception {
        Arrival<T> arrival = new Arrival<>(Here.context());
        CompletionStage<?> unusedStage = stage.whenComplete(arrival);
        try {
            boolean unused = arrival.waiter.await(arrival.context.clock().never());
        } catch (InterruptedException e) {
            arrival.cancel(stage);
            throw Here.cancelledBy(e);
        }
        return arrival.result();
    }

    /** On whatever thread completes the stage. */
    @Override
    public void accept(T result, @Nullable Throwable failure) {
        value = result;
        error = failure;
        if (!waiter.wake() && failure == null) {
            context.discard("scope", "a completion stage", result); // nobody waits any more
        }
    }

    private void cancel(CompletionStage<?> stage) {
        try {
            Future<?> future = stage instanceof Future<?> f ? f : stage.toCompletableFuture();
            boolean unused = future.cancel(true);
        } catch (UnsupportedOperationException e) {
            // a stage that cannot be cancelled goes on, and its result is discarded
        } catch (RuntimeException e) {
            context.unhandled("scope", e);
        }
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // the value is a T, which may be null, if there is no error
    private T result() throws Exception {
        Throwable e = error;
        if (e == null) {
            return (T) value;
        }
        throw Sneaky.asException(e instanceof CompletionException && e.getCause() != null ? e.getCause() : e);
    }
}
