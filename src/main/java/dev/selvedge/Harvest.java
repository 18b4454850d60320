package dev.selvedge;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of the outcomes of a call over items. Workers bring them; the owner makes room before it hands an item out, and
 * takes what there is when all threads have ended.
 */
abstract sealed class Harvest {

    /** The items that were cut off while they were worked on, by place; a job has few threads. */
    private final ConcurrentLinkedQueue<Long> cutOff = new ConcurrentLinkedQueue<>();

    /** There is no job, since its deadline had passed before; these are its items, as far as they are known. */
    void neverBegan(@Nullable Object[] all, CancelReason why) throws Exception {}

    /** Whether one failure means that there is no result. */
    abstract boolean isAllOrNone();

    /** Whether the result is outcomes, which are there whatever happens. */
    boolean isOutcomes() {
        return false;
    }

    /** Whether anybody wants to know how long an item took. */
    boolean isTimed() {
        return false;
    }

    static final CancelReason NOTHING_TO_DO = new CancelReason(CancelReason.Kind.CALLER, "no items", null);

    /** These will be handed out, and no others. */
    void takeAll(@Nullable Object[] all) {}

    /** An item is about to be handed out. */
    void take(long index, @Nullable Object item) {}

    abstract void succeeded(Worker worker, @Nullable Object value, long begun);

    abstract void failed(Worker worker, Throwable error, long begun);

    void cutOff(Worker worker, CancelReason why) {
        cutOff.add(worker.index);
    }

    final List<String> cutOffNames() {
        List<String> names = new ArrayList<>();
        cutOff.stream().sorted().forEach(i -> names.add(Bulk.nameOf(i)));
        return Collections.unmodifiableList(names);
    }

    /** Whether the owner has to do something with each outcome. */
    boolean needsOwner() {
        return false;
    }

    /** Hands one outcome on, if one waits. The owner. */
    boolean handOn(Bulk job) throws InterruptedException {
        return false;
    }

    /** Whether an outcome waits to be handed on. */
    boolean hasWaiting() {
        return false;
    }

    /** How many outcomes have been handed on; those that are kept count at once. */
    long handedOn() {
        return Long.MAX_VALUE;
    }

    /** All threads have ended. */
    void finish(Bulk job, boolean wasStopped) {}

    @Nullable
    Object result() {
        return null;
    }

    /** What there is until now, in the order of the items. */
    List<Outcome<?>> outcomes(CancelReason ofUnrun) {
        return List.of();
    }

    void discardAll(Bulk job) {}

    /** Nothing is wanted but that it is done. */
    static final class Nothing extends Harvest {

        @Override
        boolean isAllOrNone() {
            return true;
        }

        @Override
        void succeeded(Worker worker, @Nullable Object value, long begun) {}

        @Override
        void failed(Worker worker, Throwable error, long begun) {}
    }

    /** A place for each item: in pieces that stay where they are, since workers fill them while the owner adds more. */
    abstract static sealed class Kept extends Harvest {

        private static final int PIECE_BITS = 10;

        private int bits = PIECE_BITS;
        private volatile @Nullable Object[][] pieces = new Object[0][];
        private int taken;

        @Override
        void takeAll(@Nullable Object[] all) {
            bits = Integer.SIZE - 1;
            pieces = new Object[][] {new Object[all.length]};
            taken = all.length;
        }

        @Override
        void take(long index, @Nullable Object item) {
            if (index < taken) {
                return; // there is room for all
            }
            int i = Math.toIntExact(index); // more results fit into no list
            if (i >>> bits == pieces.length) {
                @Nullable Object[][] more = Arrays.copyOf(pieces, pieces.length + 1);
                more[pieces.length] = new Object[1 << bits];
                pieces = more;
            }
            taken = i + 1;
        }

        final void keep(long index, Object what) {
            int i = (int) index;
            pieces[i >>> bits][i & ((1 << bits) - 1)] = what;
        }

        final @Nullable Object at(int i) {
            return pieces[i >>> bits][i & ((1 << bits) - 1)];
        }

        final int taken() {
            return taken;
        }

        /** An array of the right size, to be filled; the one in which they lie, if that has it. */
        final @Nullable Object[] all() {
            return pieces.length == 1 && pieces[0].length == taken ? pieces[0] : new Object[taken];
        }
    }

    /** The values of all. */
    static final class Values extends Kept {

        private static final Object NULL = new Object();

        /** Stands in the place of an item that gave no value. */
        private record NoValue(Outcome<?> outcome) {}

        @Override
        boolean isAllOrNone() {
            return true;
        }

        @Override
        void succeeded(Worker worker, @Nullable Object value, long begun) {
            keep(worker.index, value == null ? NULL : value);
        }

        @Override
        void failed(Worker worker, Throwable error, long begun) {
            keep(worker.index, new NoValue(new Outcome.Failure<>(error)));
        }

        @Override
        void cutOff(Worker worker, CancelReason why) {
            super.cutOff(worker, why);
            keep(worker.index, new NoValue(new Outcome.Cancelled<>(why)));
        }

        @Override
        @Nullable
        Object[] result() {
            @Nullable Object[] values = all();
            for (int i = 0; i < values.length; i++) {
                Object value = at(i);
                values[i] = value == NULL ? null : value;
            }
            return values;
        }

        @Override
        List<Outcome<?>> outcomes(CancelReason ofUnrun) {
            List<Outcome<?>> outcomes = new ArrayList<>(taken());
            for (int i = 0; i < taken(); i++) {
                Object there = at(i);
                if (there == null) {
                    outcomes.add(new Outcome.Cancelled<>(ofUnrun));
                } else if (there instanceof NoValue none) {
                    outcomes.add(none.outcome);
                } else {
                    outcomes.add(new Outcome.Success<@Nullable Object>(there == NULL ? null : there));
                }
            }
            return Collections.unmodifiableList(outcomes);
        }

        @Override
        void discardAll(Bulk job) {
            for (int i = 0; i < taken(); i++) {
                Object there = at(i);
                if (there != null && there != NULL && !(there instanceof NoValue)) {
                    job.discard(Bulk.nameOf(i), i + 1, there);
                }
            }
        }
    }

    /** An outcome for each, with what it took. */
    static final class All extends Kept {

        /** Replaced if all are there from the start. The owner's. */
        private List<@Nullable Object> items = new ArrayList<>();

        private CancelReason ofUnrun = NOTHING_TO_DO;

        /** Why the source was not read to its end; null if it was. */
        private @Nullable CancelReason cutOff;

        @Override
        boolean isAllOrNone() {
            return false;
        }

        @Override
        boolean isOutcomes() {
            return true;
        }

        @Override
        boolean isTimed() {
            return true;
        }

        @Override
        void take(long index, @Nullable Object item) {
            super.take(index, item);
            if (index == items.size()) {
                items.add(item);
            }
        }

        @Override
        void takeAll(@Nullable Object[] all) {
            super.takeAll(all);
            items = Arrays.asList(all);
        }

        @Override
        void succeeded(Worker worker, @Nullable Object value, long begun) {
            keep(worker, new Outcome.Success<@Nullable Object>(value), begun);
        }

        @Override
        void failed(Worker worker, Throwable error, long begun) {
            keep(worker, new Outcome.Failure<>(error), begun);
        }

        private void keep(Worker worker, Outcome<?> outcome, long begun) {
            keep(worker.index, new Outcomes.Entry(outcome, worker.attempts(), worker.took(begun)));
        }

        @Override
        void cutOff(Worker worker, CancelReason why) {
            super.cutOff(worker, why);
            keep(worker.index, new Outcomes.Entry(new Outcome.Cancelled<>(why), worker.attempts(), 0));
        }

        @Override
        void finish(Bulk job, boolean wasStopped) {
            ofUnrun = job.reasonOfUnrun();
            cutOff = job.feed.isExhausted() ? null : ofUnrun;
        }

        @Override
        void neverBegan(@Nullable Object[] all, CancelReason why) {
            ofUnrun = why;
            cutOff = why;
        }

        @Override
        Outcomes<@Nullable Object, @Nullable Object> result() {
            Outcomes.Entry[] entries = new Outcomes.Entry[taken()];
            for (int i = 0; i < entries.length; i++) {
                entries[i] = entry(i, ofUnrun);
            }
            return new Outcomes<>(Collections.unmodifiableList(items), entries, cutOff);
        }

        private Outcomes.Entry entry(int i, CancelReason unrun) {
            return at(i) instanceof Outcomes.Entry e ? e : new Outcomes.Entry(new Outcome.Cancelled<>(unrun), 0, 0);
        }

        @Override
        List<Outcome<?>> outcomes(CancelReason unrun) {
            List<Outcome<?>> outcomes = new ArrayList<>(taken());
            for (int i = 0; i < taken(); i++) {
                outcomes.add(entry(i, unrun).outcome());
            }
            return Collections.unmodifiableList(outcomes);
        }

        @Override
        void discardAll(Bulk job) {
            for (int i = 0; i < taken(); i++) {
                if (at(i) instanceof Outcomes.Entry e && e.outcome() instanceof Outcome.Success<?>(var value)) {
                    job.discard(Bulk.nameOf(i), i + 1, value);
                }
            }
        }
    }

    /** Each is handed to a callback on the owner's thread, in the order in which they end. */
    static final class Handed extends Harvest {

        /** One that waits. */
        private record Ended(long index, @Nullable Object item, Outcome<?> outcome) {}

        private final Task.VoidOf2<@Nullable Object, Outcome<?>, ?> callback;
        private final ConcurrentLinkedQueue<Ended> waiting = new ConcurrentLinkedQueue<>();
        private long handedOn;
        private boolean isOver;

        @SuppressWarnings("unchecked") // it is given items of its job, and their outcomes
        Handed(Task.VoidOf2<?, ?, ?> callback) {
            this.callback = (Task.VoidOf2<@Nullable Object, Outcome<?>, ?>) callback;
        }

        @Override
        boolean isAllOrNone() {
            return false;
        }

        @Override
        void succeeded(Worker worker, @Nullable Object value, long begun) {
            waiting.add(new Ended(worker.index, worker.item, new Outcome.Success<@Nullable Object>(value)));
        }

        @Override
        void failed(Worker worker, Throwable error, long begun) {
            waiting.add(new Ended(worker.index, worker.item, new Outcome.Failure<>(error)));
        }

        @Override
        void cutOff(Worker worker, CancelReason why) {
            super.cutOff(worker, why);
            waiting.add(new Ended(worker.index, worker.item, new Outcome.Cancelled<>(why)));
        }

        @Override
        void neverBegan(@Nullable Object[] all, CancelReason why) throws Exception {
            for (Object item : all) {
                callback.run(item, new Outcome.Cancelled<>(why));
            }
        }

        @Override
        boolean needsOwner() {
            return true;
        }

        @Override
        boolean hasWaiting() {
            return !waiting.isEmpty();
        }

        @Override
        long handedOn() {
            return handedOn;
        }

        @Override
        boolean handOn(Bulk job) throws InterruptedException {
            Ended next = waiting.poll();
            if (next == null) {
                return false;
            }
            handedOn++;
            try {
                callback.run(next.item, next.outcome);
            } catch (Throwable t) {
                if (job.isCutOffBy(t)) {
                    throw Sneaky.sneak(t);
                }
                isOver = true;
                job.callbackThrew(t);
            }
            return true;
        }

        /**
         * What has ended is handed on whatever stopped the job, unless that was the callback; what was cut off only if the job
         * stopped by itself: whoever is asked to stop from outside has no use for it.
         */
        @Override
        void finish(Bulk job, boolean wasStopped) {
            if (wasStopped && !isOver) {
                CancelReason why = job.reasonOfUnrun();
                job.feed.forEachLeft(
                        (index, item) -> waiting.add(new Ended(index, item, new Outcome.Cancelled<>(why))));
            }
            if (isOver || !hasWaiting()) {
                discardAll(job);
                return;
            }
            Here.Aside aside = Here.putAside();
            try {
                Selvedge.scope().clock(job.context.clock()).run(() -> handOnRest(job, wasStopped));
            } finally {
                aside.putBack();
                discardAll(job);
            }
        }

        /** Outside the job, but in its time. */
        private void handOnRest(Bulk job, boolean wasStopped) {
            try {
                while (!isOver && hasWaiting()) {
                    if (!wasStopped && Objects.requireNonNull(waiting.peek()).outcome instanceof Outcome.Cancelled<?>) {
                        waiting.poll();
                    } else {
                        handOn(job);
                    }
                }
            } catch (Throwable cutOff) { // what else is thrown is kept
                isOver = true;
                job.cutOffAtItsEnd(cutOff);
            }
        }

        @Override
        void discardAll(Bulk job) {
            for (Ended e = waiting.poll(); e != null; e = waiting.poll()) {
                if (e.outcome instanceof Outcome.Success<?>(var value)) {
                    job.discard(Bulk.nameOf(e.index), e.index + 1, value);
                }
            }
        }
    }
}
