package dev.selvedge.policy;

import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import dev.selvedge.time.Waiter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Lets so many calls run at the same time; others wait for a slot. One object for each service, shared by all calls to it;
 * thread-safe.
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="bulkhead"}
 *
 * <p>Who comes first gets the next slot, unless it is {@linkplain Settings#unfair unfair}. A call that finds none within the
 * time it may wait, by its deadline or {@link Settings#maxWait}, gets a {@link BulkheadFullException}. A slot is held until the
 * call has really ended: one that was timed out and runs on still has it.
 *
 * @since 0.1
 */
public final class Bulkhead {

    private final int slots;
    private final Settings settings;
    private final PerClock<Room> rooms = new PerClock<>(Room::new);

    private Bulkhead(int slots, Settings settings) {
        this.slots = slots;
        this.settings = settings;
    }

    /**
     * A bulkhead of so many slots.
     *
     * @param slots how many calls may run at the same time
     * @return a new bulkhead, all slots free, to be shared
     * @throws IllegalArgumentException if {@code slots} is less than 1
     */
    public static Bulkhead of(int slots) {
        return of(slots, settings -> settings);
    }

    /**
     * A bulkhead of so many slots, with settings of its own.
     *
     * @param slots how many calls may run at the same time
     * @param settings makes the settings from the default ones
     * @return a new bulkhead, all slots free, to be shared
     * @throws IllegalArgumentException if {@code slots} is less than 1
     */
    public static Bulkhead of(int slots, UnaryOperator<Settings> settings) {
        Checks.atLeast(1, "slots", slots);
        Settings made = Objects.requireNonNull(settings, "settings").apply(new Settings(null, true));
        return new Bulkhead(slots, Objects.requireNonNull(made, "settings gave null"));
    }

    /**
     * A bulkhead for each key, a host for example, made when the key is first asked for.
     *
     * @param <K> the type of the keys
     * @param bulkhead makes the bulkhead of a key
     * @return the bulkheads by key; at most 10,000, of which those with all slots free may be forgotten
     */
    public static <K> PerKey<K, Bulkhead> perKey(Function<? super K, Bulkhead> bulkhead) {
        return new PerKey<>(Objects.requireNonNull(bulkhead, "bulkhead"), b -> b.free() == b.slots);
    }

    /**
     * Takes a slot, now or when one becomes free.
     *
     * @param until by when; its clock is the time that the wait goes by
     * @return the slot, to be closed by whoever, once
     * @throws BulkheadFullException if there was none until then, or within {@link Settings#maxWait}
     * @throws InterruptedException if the thread is interrupted while it waits, or before it would have to
     */
    public Slot enter(Deadline until) throws InterruptedException {
        Room room = rooms.on(Objects.requireNonNull(until, "until").clock());
        if (!room.take()) {
            room.waitFor(until);
        }
        return new Slot(room);
    }

    /**
     * Enters if a slot is free.
     *
     * @param time the clock of the calls
     * @return the slot, to be closed when the work has ended; null if none is free, or others wait for it already
     */
    public @Nullable Slot tryEnter(TimeSource time) {
        Room room = rooms.on(Objects.requireNonNull(time, "time"));
        return room.take() ? new Slot(room) : null;
    }

    /**
     * How many slots are free.
     *
     * @return from 0 to the number of slots, as of now
     */
    public int free() {
        return rooms.latest().free.get();
    }

    /**
     * How many calls wait for a slot.
     *
     * @return those that are blocked, as of now
     */
    public int waiting() {
        return rooms.latest().queue.size();
    }

    @Override
    public String toString() {
        return "the bulkhead of " + slots + (slots == 1 ? " slot" : " slots");
    }

    /** How a bulkhead is to be: an immutable value. Each step returns a new one. */
    public static final class Settings {

        private final @Nullable Duration maxWait;
        private final boolean fair;

        private Settings(@Nullable Duration maxWait, boolean fair) {
            this.maxWait = maxWait;
            this.fair = fair;
        }

        /**
         * Lets a call wait for so long at the most.
         *
         * @param maxWait zero for not at all; by default, as long as its deadline allows
         * @return a new value; this one stays as it is
         * @throws IllegalArgumentException if {@code maxWait} is negative
         */
        public Settings maxWait(Duration maxWait) {
            return new Settings(Checks.notNegative("maxWait", maxWait), fair);
        }

        /**
         * Lets a call that comes when a slot is just free take it, though others wait: more throughput, and no order.
         *
         * @return a new value; this one stays as it is
         */
        public Settings unfair() {
            return new Settings(maxWait, false);
        }
    }

    /** A place in a bulkhead, held by one call. */
    public static final class Slot implements AutoCloseable {

        private static final VarHandle CLOSED;

        static {
            try {
                CLOSED = MethodHandles.lookup().findVarHandle(Slot.class, "closed", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final Room room;

        /** false → true by the first close. */
        @SuppressWarnings("unused") // through CLOSED
        private volatile boolean closed;

        private Slot(Room room) {
            this.room = room;
        }

        /** Gives the slot back. From any thread; later calls do nothing. */
        @Override
        public void close() {
            if (CLOSED.compareAndSet(this, false, true)) {
                room.give();
            }
        }
    }

    /**
     * What it is on one clock. A slot that becomes free is handed to the first who waits; whoever comes to wait looks again
     * after having queued, so that a slot that was freed just before finds it.
     */
    private final class Room {

        private final TimeSource time;
        private final AtomicInteger free = new AtomicInteger(slots);
        private final Queue<Waiter> queue = new ConcurrentLinkedQueue<>();

        Room(TimeSource time) {
            this.time = time;
        }

        boolean take() {
            return (!settings.fair || queue.isEmpty()) && takeOne();
        }

        private boolean takeOne() {
            while (true) {
                int n = free.get();
                if (n == 0) {
                    return false;
                }
                if (free.compareAndSet(n, n - 1)) {
                    return true;
                }
            }
        }

        void give() {
            free.incrementAndGet();
            handOver();
        }

        private void handOver() {
            while (!queue.isEmpty() && takeOne()) {
                Waiter first = queue.poll();
                if (first == null || !first.wake()) {
                    free.incrementAndGet(); // nobody there, or gone: to the next one
                }
            }
        }

        void waitFor(Deadline until) throws InterruptedException {
            Waiter me = time.waiter(Bulkhead.this);
            queue.add(me);
            handOver();
            try {
                if (me.await(latest(until))) {
                    return;
                }
            } catch (InterruptedException e) {
                leave(me);
                throw e;
            }
            leave(me);
            throw new BulkheadFullException(Bulkhead.this + " had none free in time", slots);
        }

        private Deadline latest(Deadline until) {
            return settings.maxWait == null ? until : until.earlier(time.after(settings.maxWait));
        }

        private void leave(Waiter me) {
            boolean unused = queue.remove(me);
            handOver(); // it may have been passed over while it was the first
        }
    }
}
