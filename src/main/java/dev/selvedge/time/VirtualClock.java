package dev.selvedge.time;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A clock for tests, on which waiting takes no time: when every thread that takes part waits, the time jumps to the
 * next moment at which something happens.
 *
 * {@snippet class="dev.selvedge.examples.DocExamples" region="jumping"}
 *
 * <p>Every thread inside a scope on this clock takes part. Starts, wake-ups and alarms are events in one queue, ordered
 * by time and then by registration, and <em>one participant runs at a time</em>, until it waits through the library or
 * ends. So what a program does is a function of the program: the same order and the same times in every run.
 *
 * <p>A participant that blocks in any other way (a raw {@code Thread.sleep}, a socket, a {@code j.u.c.} queue) still
 * counts as running and holds the clock, and the other participants with it, until it comes back.
 *
 * <p>All methods are safe from any thread.
 *
 * @since 0.1
 */
public final class VirtualClock implements TimeSource {

    private static final Comparator<Event> BY_TIME_THEN_ORDER =
            Comparator.comparingLong(Event::due).thenComparingLong(Event::order);

    private final ReentrantLock lock = new ReentrantLock();
    private final Deadline never = new Deadline(this, Long.MAX_VALUE);
    private final Map<Thread, Participant> participants = new ConcurrentHashMap<>();

    /** Written under the lock. */
    private volatile long now;

    /** How far the time may go by itself. Guarded by the lock, as all that follows. */
    private long horizon;

    private long events;
    private int running;
    private final ArrayDeque<Participant> ready = new ArrayDeque<>();
    private final PriorityQueue<Event> agenda = new PriorityQueue<>(BY_TIME_THEN_ORDER);

    private VirtualClock(long horizon) {
        this.horizon = horizon;
    }

    /**
     * A clock that stands at zero and jumps by itself whenever all who take part wait.
     *
     * @return a new clock, which shares nothing with any other
     */
    public static VirtualClock jumping() {
        return new VirtualClock(Long.MAX_VALUE - 1);
    }

    /**
     * A clock that stands at zero and moves only by {@link #advance}. Who waits on it, with nobody to move it, waits
     * for good.
     *
     * @return a new clock, which shares nothing with any other
     */
    public static VirtualClock manual() {
        return new VirtualClock(0);
    }

    /**
     * Lets so much time pass: everything due until then, and at that very moment, happens in its order, and has come to
     * rest when this returns.
     *
     * @param by how far the time moves from now on; zero lets happen what is due at this moment
     * @throws IllegalArgumentException if {@code by} is negative: time does not go back
     */
    public void advance(Duration by) {
        if (Objects.requireNonNull(by, "by").isNegative()) {
            throw new IllegalArgumentException("time does not go back: by must not be negative: " + by);
        }
        Participant me = enter("advance");
        try {
            Deadline target = after(by);
            lock.lock();
            try {
                horizon = Math.max(horizon, target.nanosOn(this));
            } finally {
                lock.unlock();
            }
            boolean interrupted = false;
            do {
                VirtualWaiter waiter = new VirtualWaiter(this);
                try {
                    waiter.await(target);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            } while (!restsAt(target));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        } finally {
            if (me != null) {
                me.end();
            }
        }
    }

    /**
     * The time that has passed on this clock since it was made.
     *
     * @return zero at first; to the nanosecond
     */
    public Duration elapsed() {
        return Duration.ofNanos(now);
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public Deadline after(Duration d) {
        return Deadline.of(this, now, d);
    }

    @Override
    public Deadline never() {
        return never;
    }

    @Override
    public Waiter waiter() {
        return new VirtualWaiter(this);
    }

    @Override
    public void set(Alarm alarm, Deadline due) {
        if (!alarm.arm(due.nanosOn(this))) {
            return;
        }
        lock.lock();
        try {
            schedule(alarm.due(), alarm);
            dispatch();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void interrupt(Thread thread) {
        lock.lock();
        try {
            Participant p = participants.get(thread);
            if (p != null) {
                p.interrupted();
            }
            thread.interrupt();
            dispatch();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isInterrupted(Thread thread) {
        Participant p = participants.get(thread);
        return thread.isInterrupted() || (p != null && p.isInterrupted());
    }

    /**
     * Announces a participant whose thread is about to be started: its start is an event like any other. That thread
     * must call {@link Participant#begin()} first and {@link Participant#end()} last.
     *
     * @param name what people are to read; it need not be unique
     * @return the participant that the thread is to be; to be {@linkplain Participant#withdraw() withdrawn} if the
     *     thread cannot be started
     */
    public Participant enroll(String name) {
        Participant p = new Participant(this, Objects.requireNonNull(name, "name"));
        lock.lock();
        try {
            ready.add(p);
            dispatch();
        } finally {
            lock.unlock();
        }
        return p;
    }

    /**
     * Makes the calling thread take part until it calls {@link Participant#end()}; it waits for its turn first.
     *
     * @param name what people are to read; it need not be unique
     * @return the participant to be ended by this thread; null if the thread takes part already, and nothing has
     *     changed
     */
    public @Nullable Participant enter(String name) {
        if (participants.containsKey(Thread.currentThread())) {
            return null;
        }
        Participant p = enroll(name);
        p.begin();
        return p;
    }

    @Override
    public String toString() {
        return "a virtual clock at " + elapsed();
    }

    void began(Participant p) {
        participants.put(Thread.currentThread(), p);
        p.awaitTurn();
    }

    void ended(Participant p) {
        lock.lock();
        try {
            participants.remove(Thread.currentThread(), p);
            running--;
            dispatch();
        } finally {
            lock.unlock();
        }
    }

    void withdraw(Participant p) {
        lock.lock();
        try {
            if (!ready.remove(p) && p.isReleased()) {
                running--;
                dispatch();
            }
        } finally {
            lock.unlock();
        }
    }

    @Nullable
    Participant me() {
        return participants.get(Thread.currentThread());
    }

    ReentrantLock lock() {
        return lock;
    }

    /** Under the lock: the participant, which runs, gives up its turn until the waiter is woken, due or interrupted. */
    void yieldTo(VirtualWaiter waiter, Participant p, long due) {
        p.waitsOn(waiter);
        if (due != Long.MAX_VALUE) {
            schedule(Math.max(due, now), waiter);
        }
        running--;
        dispatch();
    }

    /** Under the lock: the participant's turn comes after those who were ready before it. */
    void ready(Participant p) {
        ready.add(p);
    }

    /** Under the lock, held once: gives the turn to whoever is next, and moves the time if nobody is. */
    void dispatch() {
        while (running == 0) {
            Participant next = ready.poll();
            if (next != null) {
                running = 1;
                next.release();
                return;
            }
            Event event = nextEvent();
            if (event == null) {
                return; // all wait for one another, or for something outside
            }
            now = Math.max(now, event.due);
            switch (event.what) {
                case VirtualWaiter waiter -> waiter.expire();
                case Alarm alarm -> ring(alarm);
                default -> throw new AssertionError(event.what);
            }
        }
    }

    /** Outside the lock: what rings may take locks of its own. Nobody else gets a turn meanwhile. */
    private void ring(Alarm alarm) {
        running = 1;
        lock.unlock();
        try {
            alarm.trigger();
        } finally {
            lock.lock();
            running = 0;
        }
    }

    private @Nullable Event nextEvent() {
        while (true) {
            Event event = agenda.peek();
            if (event == null) {
                return null;
            }
            if (event.isOver()) {
                agenda.remove();
                continue;
            }
            if (event.due > horizon || participants.isEmpty()) {
                return null;
            }
            agenda.remove();
            return event;
        }
    }

    private void schedule(long due, Object what) {
        if (due != Long.MAX_VALUE) {
            agenda.add(new Event(due, events++, what));
        }
    }

    /** How many moments lie ahead at which something happens. For tests. */
    int pendingForTest() {
        lock.lock();
        try {
            return (int) agenda.stream().filter(e -> !e.isOver()).count();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a moment has come and nothing is left to happen at it but what the calling participant does. */
    private boolean restsAt(Deadline moment) {
        lock.lock();
        try {
            Event next = nextEvent();
            if (next != null) {
                agenda.add(next);
            }
            long target = moment.nanosOn(this);
            return now >= target && ready.isEmpty() && (next == null || next.due > target);
        } finally {
            lock.unlock();
        }
    }

    /** Something that happens at a moment: a waiter whose time is up, or an alarm. */
    private record Event(long due, long order, Object what) {
        boolean isOver() {
            return what instanceof VirtualWaiter w ? w.isOver() : what instanceof Alarm a && a.isOver();
        }
    }
}
