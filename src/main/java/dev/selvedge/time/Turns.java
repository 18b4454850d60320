package dev.selvedge.time;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/*
 * Who may run, and when the time moves. Threads are counted, not watched: a participant is busy from before its start or
 * wake-up, as whoever starts or wakes it says, until it says itself that it waits.
 *
 *   ready → running → waiting → ready …      one at a time has the turn
 *            running → outside               it was seen parked outside the library, and its turn was given on
 *            running → external → ready      it has said that it works outside
 *
 * When nobody has the turn and nobody is ready, the next event happens. How the time gets there:
 *
 *   nobody outside                 it jumps; after a moment of real time, if somebody outside is known to have a hand in it
 *   all who are outside are parked,
 *   or have said so                it ticks along with real time
 *   one outside runs               it stands still
 *
 * Who is parked is seen by the Lookout, in real time. All of it is guarded by one lock, which the clock's waiters and
 * participants share.
 */
final class Turns {

    private static final Comparator<Event> BY_TIME_THEN_ORDER =
            Comparator.comparingLong(Event::due).thenComparingLong(Event::order);

    private static final int SWEEP_AT_LEAST = 1_000;

    final ReentrantLock lock = new ReentrantLock();
    private final boolean manual;

    /** Whether a jump waits a moment if something may be on its way. */
    private final boolean patient;

    /** Written under the lock. */
    private volatile long now;

    /** How far the time may go by itself. Guarded by the lock, as all that follows. */
    private long horizon;

    private long events;

    /** Counts whatever happens: if it stands, nothing has. */
    private long steps;

    private final Set<Participant> all = new LinkedHashSet<>();
    private final ArrayDeque<Participant> ready = new ArrayDeque<>();
    private final PriorityQueue<Event> agenda = new PriorityQueue<>(BY_TIME_THEN_ORDER);
    private int sweepAt = SWEEP_AT_LEAST;
    private @Nullable Participant running;

    /** The thread on which an alarm rings: nobody gets a turn meanwhile. */
    private @Nullable Thread ringer;

    /** Those whose turn was given on. */
    private final Set<Participant> outside = new LinkedHashSet<>();

    /** How many threads that take no part keep the time from moving. */
    private int holds;

    /** How many have said that they work outside. */
    private int externals;

    /** How many wait for something that code outside may bring. */
    private int awaitingOutside;

    /** Whether a thread that does not take part has woken or interrupted one that does. */
    private boolean touched;

    /** Why the clock does not serve any more. */
    private volatile @Nullable StuckClockError stuck;

    Turns(boolean manual, boolean patient) {
        this.manual = manual;
        this.patient = patient;
        this.horizon = manual ? 0 : Long.MAX_VALUE - 1;
    }

    long now() {
        return now;
    }

    boolean isManual() {
        return manual;
    }

    @Nullable
    StuckClockError stuck() {
        return stuck;
    }

    // All that follows: under the lock, held once.

    /** Somebody takes part, and waits for a turn: true if nobody did before. */
    boolean enroll(Participant p) {
        boolean first = all.isEmpty();
        all.add(p);
        ready.add(p);
        dispatch();
        return first;
    }

    /** Somebody takes part no more: true if nobody does now. */
    boolean leave(Participant p) {
        all.remove(p);
        ready.remove(p);
        giveUpTurn(p);
        dispatch();
        return all.isEmpty();
    }

    /** Not what rings: it keeps all others from their turns, so it would wait for itself. */
    void mayWait() {
        if (ringer == Thread.currentThread()) {
            throw new IllegalStateException(
                    "cannot wait on the clock: an alarm rings in this thread, and nobody gets a turn until it has rung");
        }
    }

    /** The participant gives up its turn until the waiter is woken, due or interrupted. */
    void yieldTo(VirtualWaiter waiter, Participant p, long due) {
        mayWait();
        p.waitsOn(waiter);
        awaitingOutside += waiter.isFromOutside() ? 1 : 0;
        if (due != Long.MAX_VALUE) {
            schedule(Math.max(due, now), waiter);
        }
        giveUpTurn(p);
        dispatch();
    }

    /** The participant's wait is over: its turn comes after those who were ready before it. */
    void ready(Participant p, VirtualWaiter waited) {
        awaitingOutside -= waited.isFromOutside() ? 1 : 0;
        ready.add(p);
    }

    /** The time stands still as long as somebody holds it. */
    void hold(int more) {
        holds += more;
        dispatch();
    }

    /** Work outside begins; by a participant, or by null, who takes no part. */
    void beginExternal(@Nullable Participant p) {
        mayWait();
        externals++;
        if (p != null) {
            p.goesOutside();
            giveUpTurn(p);
        }
        dispatch();
    }

    /** Work outside is over: a participant waits for its turn. */
    void endExternal(@Nullable Participant p) {
        externals--;
        steps++;
        if (p != null && running != p && !outside.contains(p)) { // a wait on the clock meanwhile has given it a turn
            ready.add(p);
        }
        dispatch();
    }

    private void giveUpTurn(Participant p) {
        steps++;
        if (running == p) {
            running = null;
        } else {
            outside.remove(p);
        }
    }

    void schedule(long due, Object what) {
        steps++;
        if (agenda.size() >= sweepAt) {
            agenda.removeIf(Event::isOver); // what was stopped long before its time must not pile up
            sweepAt = Math.max(SWEEP_AT_LEAST, 2 * agenda.size());
        }
        agenda.add(new Event(due, events++, what));
    }

    /** A thread that does not take part has a hand in what happens: there may be more to come from there. */
    void touchedBy(Thread thread, boolean takesPart) {
        if (!takesPart && thread != ringer && !all.isEmpty()) {
            touched = true;
        }
    }

    void moveHorizon(long to) {
        horizon = Math.max(horizon, to);
    }

    /** Gives the turn to whoever is next, and moves the time if nobody is. */
    void dispatch() {
        dispatch(false);
    }

    private void dispatch(boolean granted) {
        boolean mayJump = granted || mayJump();
        while (running == null && ringer == null) {
            Participant next = ready.poll();
            if (next != null) {
                steps++;
                running = next;
                next.release();
                return;
            }
            Event event = nextEvent(horizon);
            if (event == null || holds > 0 || (event.due > now && !mayJump)) {
                return; // all wait for one another, or for real time to pass
            }
            happen(event);
            mayJump = mayJump();
        }
    }

    private boolean mayJump() {
        return manual
                ? outside.stream().allMatch(Participant::isParked)
                : externals == 0 && outside.isEmpty() && !(patient && expectsOutside());
    }

    private void happen(Event event) {
        agenda.remove(); // it is the first
        steps++;
        now = Math.max(now, event.due);
        switch (event.what) {
            case VirtualWaiter waiter -> waiter.expire();
            case Alarm alarm -> ring(alarm);
            default -> throw new AssertionError(event.what);
        }
    }

    /** Outside the lock: what rings may take locks of its own. */
    private void ring(Alarm alarm) {
        ringer = Thread.currentThread();
        lock.unlock();
        try {
            alarm.trigger();
        } finally {
            lock.lock();
            ringer = null;
        }
    }

    private @Nullable Event nextEvent(long upTo) {
        while (true) {
            Event event = agenda.peek();
            if (event != null && event.isOver()) {
                agenda.remove();
                continue;
            }
            return event == null || event.due > upTo || all.isEmpty() ? null : event;
        }
    }

    /** Whether a moment has come and nothing is left to happen at it but what the calling participant does. */
    boolean restsAt(long moment) {
        return now >= moment && ready.isEmpty() && nextEvent(moment) == null;
    }

    /** When the next event is due, however far; {@code Long.MAX_VALUE} if there is none. */
    long nextDue() {
        Event next = nextEvent(Long.MAX_VALUE);
        return next == null ? Long.MAX_VALUE : next.due;
    }

    /** What is to happen, in its order. */
    List<Event> pending() {
        List<Event> pending = new ArrayList<>(agenda);
        pending.removeIf(Event::isOver);
        pending.sort(BY_TIME_THEN_ORDER);
        return Collections.unmodifiableList(pending);
    }

    // For the lookout: under the lock, too.

    long steps() {
        return steps;
    }

    List<Participant> participants() {
        return List.copyOf(all);
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Whether it is anybody's turn. */
    boolean isHeld() {
        return running != null || ringer != null;
    }

    @Nullable
    Participant running() {
        return running;
    }

    Set<Participant> outside() {
        return outside;
    }

    boolean hasExternals() {
        return externals > 0;
    }

    /** Whether something may come from outside that no count shows. */
    boolean expectsOutside() {
        return touched || awaitingOutside > 0;
    }

    /** The one whose turn it is was seen parked outside: the next one's turn. */
    void giveOn(Participant p) {
        outside.add(p);
        running = null;
        dispatch();
    }

    /** So much real time has passed while all who are busy were parked, or had said that they work outside. */
    void tick(long nanos) {
        if (holds > 0) {
            return;
        }
        long target = Math.min(now + nanos, horizon);
        Event event = nextEvent(target);
        if (event == null) {
            now = Math.max(now, target);
        } else {
            happen(event);
            dispatch();
        }
    }

    /** The moment of grace is over, and nothing has happened. */
    void jump() {
        dispatch(true);
    }

    /** From now on all run as they like, and no wait begins or goes on. */
    void fail(StuckClockError why) {
        stuck = why;
        steps++;
        for (Participant p : all) {
            p.abandon();
        }
    }

    /**
     * Something that happens at a moment.
     *
     * @param due the moment
     * @param order the place among those of the same moment
     * @param what a waiter whose time is up then, or an alarm
     */
    record Event(long due, long order, Object what) {
        boolean isOver() {
            return what instanceof VirtualWaiter w ? w.isOver() : what instanceof Alarm a && a.isOver();
        }

        /** For people. */
        String name() {
            return what.toString();
        }
    }
}
