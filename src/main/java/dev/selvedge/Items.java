package dev.selvedge;

import dev.selvedge.time.VirtualClock;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The calls over many items: what each keeps, and how its items come to threads. */
final class Items {

    private Items() {}

    static <R extends @Nullable Object> List<R> map(ScopeSpec spec, Iterable<?> items, Task.Of<?, ?, ?> fn) {
        Harvest harvest = new Harvest.Values();
        @Nullable
        Object[] values = Items.<@Nullable Object[]>run(spec, items, Objects.requireNonNull(fn, "fn"), harvest);
        return values == null || values.length == 0 ? List.of() : new Values<>(values);
    }

    static <I extends @Nullable Object> void forEach(
            ScopeSpec spec, Iterable<? extends I> items, Task.VoidOf<? super I, ?> action) {
        Objects.requireNonNull(action, "action");
        Task.Of<I, @Nullable Void, Exception> fn = item -> {
            action.run(item);
            return null;
        };
        Object unused = run(spec, items, fn, new Harvest.Nothing());
    }

    static <I extends @Nullable Object, R extends @Nullable Object> Outcomes<I, R> outcomes(
            ScopeSpec spec, Iterable<?> items, Task.Of<?, ?, ?> fn) {
        Harvest.All harvest = new Harvest.All();
        Outcomes<I, R> outcomes = Items.<Outcomes<I, R>>run(spec, items, Objects.requireNonNull(fn, "fn"), harvest);
        return outcomes == null ? new Outcomes<>(List.of(), new Outcomes.Entry[0], null) : outcomes;
    }

    static <X extends Exception> void eachCompleted(
            ScopeSpec spec, Iterable<?> items, Task.Of<?, ?, ?> fn, Task.VoidOf2<?, ?, X> sink) throws X {
        Objects.requireNonNull(fn, "fn");
        Harvest harvest = new Harvest.Handed(Objects.requireNonNull(sink, "sink"));
        Object unused = run(spec, items, fn, harvest);
    }

    /** Null if there is nothing to do. */
    private static <T> @Nullable T run(ScopeSpec spec, Iterable<?> items, Task.Of<?, ?, ?> fn, Harvest harvest) {
        Objects.requireNonNull(items, "items");
        if (!(items instanceof Collection<?> collection)) {
            return run(spec, fn, harvest, null, job -> {
                int most = job.mostAtWork(Feed.WITHOUT_A_NUMBER);
                return isThreadEach(spec, job)
                        ? new PulledFeed.ThreadEach(job, items, Progress.UNKNOWN, most)
                        : new PulledFeed.Ring(job, items, Progress.UNKNOWN, most);
            });
        }
        @Nullable Object[] all = collection.toArray();
        if (all.length == 0 && spec.conduct().report() == null) {
            return null;
        }
        harvest.takeAll(all);
        return run(spec, fn, harvest, all, job -> {
            int most = job.mostAtWork(Math.max(1, all.length));
            if (isThreadEach(spec, job)) {
                return new PulledFeed.ThreadEach(job, Arrays.asList(all), all.length, most);
            }
            if (harvest.needsOwner()) {
                return new PulledFeed.Ring(job, Arrays.asList(all), all.length, most);
            }
            return new Feed.OfArray(job, all);
        });
    }

    /** All are null if nobody knows them before. */
    @SuppressWarnings("unchecked") // what a harvest gives is what its call gives
    private static <T> @Nullable T run(
            ScopeSpec spec,
            Task.Of<?, ?, ?> fn,
            Harvest harvest,
            @Nullable Object @Nullable [] all,
            Function<Bulk, Feed> feed) {
        Bulk[] job = new Bulk[1];
        try {
            return ScopeSpec.execute(spec, ledger -> job[0] = new Bulk(ledger, spec, fn, feed, harvest));
        } catch (DeadlineExceededException | ScopeCancelledException e) {
            if (job[0] == null) {
                neverBegan(spec, harvest, all, e);
                if (harvest.isOutcomes() && e instanceof DeadlineExceededException) {
                    return (T) harvest.result();
                }
            }
            throw e;
        }
    }

    /** Its time was over before: whoever is told how a job ends is told all the same. */
    private static void neverBegan(
            ScopeSpec spec, Harvest harvest, @Nullable Object @Nullable [] all, RuntimeException why) {
        try {
            if (why instanceof DeadlineExceededException passed) {
                harvest.neverBegan(all == null ? new Object[0] : all, ScopeSpec.reasonOf(passed));
            }
        } catch (InterruptedException e) { // from here on of the callback
            throw Here.cancelledBy(e);
        } catch (Exception e) {
            throw Sneaky.sneak(e);
        } finally {
            Conduct.Report report = spec.conduct().report();
            if (report != null) {
                Reporter.tellOfNone(report, spec, all == null ? Progress.UNKNOWN : all.length);
            }
        }
    }

    /** On a virtual clock the start of an item is an event. */
    private static boolean isThreadEach(ScopeSpec spec, Bulk job) {
        return spec.conduct().isThreadPerItem() || job.context.clock() instanceof VirtualClock;
    }
}
