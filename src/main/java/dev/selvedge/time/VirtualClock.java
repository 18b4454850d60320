package dev.selvedge.time;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
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
 * <p><b>Beside real work.</b> A participant that runs holds the clock. One that blocks outside the library (a raw
 * {@code Thread.sleep}, a socket, a {@code j.u.c.} queue) is seen doing so after about 20 real milliseconds: its turn
 * is given to the next one, and once all who are busy block like that the time ticks along with real time, so that
 * nothing times out sooner than it would in reality, and a real hang still does. Work that runs where nobody can see it
 * (a platform thread that reads a socket, a child process whose output is read) is declared with
 * {@link #external(Work)}.
 *
 * <p><b>Hangs.</b> If all participants wait, nothing is scheduled and nothing is external, every wait ends with a
 * {@link StuckClockError}, whose message tells who waits for what. The same ends any other hang, after
 * {@linkplain #withWatchdog 30 seconds of real time} without an event.
 *
 * <p>All methods are safe from any thread.
 *
 * @since 0.1
 */
public final class VirtualClock implements TimeSource {

    private static final Duration GRACE = Duration.ofMillis(10);
    private static final Duration WATCHDOG = Duration.ofSeconds(30);

    private final Turns turns;
    private final Watch watch;
    private final Deadline never = new Deadline(this, Long.MAX_VALUE);
    private final Map<Thread, Participant> participants = new ConcurrentHashMap<>();

    /** The thread that moves the time by hand. Guarded by the lock. */
    private @Nullable Thread advancing;

    /** The clock of a test and those made from it, all of which are looked at after it; null elsewhere. */
    private final @Nullable List<VirtualClock> family;

    private VirtualClock(boolean manual, Duration grace, Duration watchdog, @Nullable List<VirtualClock> family) {
        this.turns = new Turns(manual, !grace.isZero());
        this.watch = new Watch(this, turns, grace, watchdog);
        this.family = family;
        if (family != null) {
            family.add(this);
        }
    }

    /** A clock for a test: it and all that are made from it are in the list. */
    static VirtualClock ofTest(boolean manual, List<VirtualClock> family) {
        return new VirtualClock(manual, GRACE, WATCHDOG, family);
    }

    /**
     * A clock that stands at zero and jumps by itself whenever all who take part wait.
     *
     * @return a new clock, which shares nothing with any other
     */
    public static VirtualClock jumping() {
        return new VirtualClock(false, GRACE, WATCHDOG, null);
    }

    /**
     * A clock that stands at zero and moves only by {@link #advance} and {@link #advanceUntilIdle}. Who waits on it,
     * with nobody to move it, waits until the {@linkplain #withWatchdog watchdog} ends that.
     *
     * @return a new clock, which shares nothing with any other
     */
    public static VirtualClock manual() {
        return new VirtualClock(true, GRACE, WATCHDOG, null);
    }

    /**
     * A clock like this one, with another grace: how long it waits in real time, and looks again, before a jump at
     * which something may be on its way from outside. That is so while somebody waits for a {@code CompletionStage},
     * and once a thread that takes no part has woken or interrupted one that does. Other jumps take no time.
     *
     * @param grace in real time, 10 ms by default; zero means to jump at once
     * @return a new clock, which stands at zero and shares nothing with this one
     * @throws IllegalArgumentException if {@code grace} is negative
     */
    public VirtualClock withGrace(Duration grace) {
        if (Objects.requireNonNull(grace, "grace").isNegative()) {
            throw new IllegalArgumentException("grace must not be negative: " + grace);
        }
        return new VirtualClock(turns.isManual(), grace, watch.patience(), family);
    }

    /**
     * A clock like this one, with another patience: how long it may stand in real time, with nothing happening on it,
     * while somebody takes part and no external work is declared. After that it is stuck: every wait on it ends with a
     * {@link StuckClockError}. While it ticks along with real time, something that is due within another such time is
     * waited for.
     *
     * @param patience in real time, 30 s by default; a duration too long to count in nanoseconds (292 years) means for
     *     good
     * @return a new clock, which stands at zero and shares nothing with this one
     * @throws IllegalArgumentException if {@code patience} is zero or negative
     */
    public VirtualClock withWatchdog(Duration patience) {
        if (Objects.requireNonNull(patience, "patience").isNegative() || patience.isZero()) {
            throw new IllegalArgumentException("patience must be positive: " + patience);
        }
        return new VirtualClock(turns.isManual(), watch.grace(), patience, family);
    }

    // Moving the time by hand.

    /**
     * Lets so much time pass: everything due until then, and at that very moment, happens in its order, and has come to
     * rest when this returns.
     *
     * @param by how far the time moves from now on; zero lets happen what is due at this moment
     * @throws IllegalArgumentException if {@code by} is negative: time does not go back
     * @throws IllegalStateException if another thread, or this one around this call, is moving the clock; or if an
     *     alarm of it rings in this thread
     */
    public void advance(Duration by) {
        if (Objects.requireNonNull(by, "by").isNegative()) {
            throw new IllegalArgumentException("time does not go back: by must not be negative: " + by);
        }
        moving("advance", () -> advanceTo(after(by)));
    }

    /**
     * Lets happen what is due at this moment, and what that leads to, without the time moving on. When it returns,
     * every other participant waits.
     *
     * @throws IllegalStateException if another thread, or this one around this call, is moving the clock; or if an
     *     alarm of it rings in this thread
     */
    public void runCurrent() {
        moving("runCurrent", () -> advanceTo(after(Duration.ZERO)));
    }

    /**
     * Lets the time pass until nothing is scheduled any more: every sleep, deadline and alarm has come or was stopped,
     * and all others wait or have ended. With something that goes on for good, like {@code every}, this does too.
     * Inside a scope with a deadline, that deadline is scheduled as well.
     *
     * @throws IllegalStateException if another thread, or this one around this call, is moving the clock; or if an
     *     alarm of it rings in this thread
     */
    public void advanceUntilIdle() {
        moving("advanceUntilIdle", () -> {
            advanceTo(after(Duration.ZERO));
            for (long due = nextDue(); due != Long.MAX_VALUE; due = nextDue()) {
                advanceTo(new Deadline(this, due));
            }
        });
    }

    private void moving(String how, Runnable move) {
        turns.lock.lock();
        try {
            if (advancing != null) {
                throw new IllegalStateException("cannot " + how + ": the clock is already being moved by " + advancing);
            }
            turns.mayWait();
            advancing = Thread.currentThread();
        } finally {
            turns.lock.unlock();
        }
        Participant me = enter(how);
        try {
            move.run();
        } finally {
            turns.lock.lock();
            try {
                advancing = null;
            } finally {
                turns.lock.unlock();
            }
            if (me != null) {
                me.end();
            }
        }
    }

    private void advanceTo(Deadline target) {
        long moment = Math.min(target.nanosOn(this), Long.MAX_VALUE - 1); // the last that can be waited for
        Deadline due = new Deadline(this, moment);
        turns.lock.lock();
        try {
            turns.moveHorizon(moment);
        } finally {
            turns.lock.unlock();
        }
        boolean interrupted = false;
        do {
            try {
                boolean unused = new VirtualWaiter(this, "the time to pass").await(due);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        } while (!restsAt(moment));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean restsAt(long moment) {
        turns.lock.lock();
        try {
            return turns.restsAt(moment);
        } finally {
            turns.lock.unlock();
        }
    }

    private long nextDue() {
        turns.lock.lock();
        try {
            return turns.nextDue();
        } finally {
            turns.lock.unlock();
        }
    }

    // Reading it.

    /**
     * The time that has passed on this clock since it was made.
     *
     * @return zero at first; to the nanosecond
     */
    public Duration elapsed() {
        return Duration.ofNanos(turns.now());
    }

    /**
     * The moment of this clock as that of a wall clock that showed 1970-01-01T00:00:00Z when this one was made. As a
     * {@link java.time.InstantSource}, {@code clock::now} serves code that asks for the date.
     *
     * @return the epoch, and what has {@linkplain #elapsed() passed} since
     */
    @Override
    public Instant now() {
        return Instant.EPOCH.plus(elapsed());
    }

    /**
     * What is scheduled: sleeps and other waits with an end, deadlines of scopes, alarms.
     *
     * @return what will happen if nothing stops it, in its order; unmodifiable, as of now
     */
    public List<Pending> pending() {
        turns.lock.lock();
        try {
            return turns.pending().stream()
                    .map(e -> new Pending(e.name(), Duration.ofNanos(e.due())))
                    .toList();
        } finally {
            turns.lock.unlock();
        }
    }

    /**
     * Something that is scheduled.
     *
     * @param name what it is, for people: {@code fork-1: a sleep of 5 s}, {@code the deadline of the scope "page"}
     * @param due when, as {@link #elapsed} counts
     */
    public record Pending(String name, Duration due) {
        /** Checks that both are there. */
        public Pending {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(due, "due");
        }
    }

    @Override
    public long nanoTime() {
        return turns.now();
    }

    @Override
    public Deadline after(Duration d) {
        return Deadline.of(this, turns.now(), d);
    }

    @Override
    public Deadline never() {
        return never;
    }

    // Waiting on it.

    @Override
    public Waiter waiter() {
        return new VirtualWaiter(this, null);
    }

    @Override
    public Waiter waiter(Object what) {
        return new VirtualWaiter(this, Objects.requireNonNull(what, "what"));
    }

    @Override
    public void set(Alarm alarm, Deadline due) {
        Objects.requireNonNull(alarm, "alarm");
        if (!alarm.arm(Objects.requireNonNull(due, "due").nanosOn(this))) {
            return;
        }
        touch(() -> {
            if (alarm.due() != Long.MAX_VALUE) {
                turns.schedule(alarm.due(), alarm);
            }
        });
    }

    @Override
    public void interrupt(Thread thread) {
        Objects.requireNonNull(thread, "thread");
        touch(() -> {
            Participant p = participants.get(thread);
            if (p != null) {
                p.interrupted();
            }
            thread.interrupt();
        });
    }

    @Override
    public boolean isInterrupted(Thread thread) {
        Objects.requireNonNull(thread, "thread");
        Participant p = participants.get(thread);
        return thread.isInterrupted() || (p != null && p.isInterrupted());
    }

    @Override
    public <T extends @Nullable Object, X extends Exception> T external(Work<T, X> work)
            throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        Participant me = me();
        turns.lock.lock();
        try {
            turns.beginExternal(me);
        } finally {
            turns.lock.unlock();
        }
        try {
            return work.call();
        } finally {
            turns.lock.lock();
            try {
                turns.endExternal(me);
            } finally {
                turns.lock.unlock();
            }
            if (me != null) {
                me.awaitTurn();
            }
        }
    }

    /**
     * Runs something that blocks for moments in real time and is part of a wait on this clock: the calling thread counts
     * as running all the while, and is not taken for one that blocks outside.
     *
     * @param briefly runs in the calling thread
     * @return what it returns
     */
    public boolean holdDuring(BooleanSupplier briefly) {
        Objects.requireNonNull(briefly, "briefly");
        Participant me = me();
        if (me == null) {
            return briefly.getAsBoolean();
        }
        boolean before = me.hold(true);
        try {
            return briefly.getAsBoolean();
        } finally {
            boolean unused = me.hold(before);
        }
    }

    /**
     * Runs several steps of which others must not see the one without the other happen at different times: the time stands
     * still meanwhile, even if the calling thread takes no part.
     *
     * @param steps runs in the calling thread, and does not wait
     * @return what it returns
     */
    public boolean standingStill(BooleanSupplier steps) {
        Objects.requireNonNull(steps, "steps");
        if (me() != null) {
            return steps.getAsBoolean();
        }
        hold(1);
        try {
            return steps.getAsBoolean();
        } finally {
            hold(-1);
        }
    }

    private void hold(int more) {
        turns.lock.lock();
        try {
            turns.hold(more);
        } finally {
            turns.lock.unlock();
        }
    }

    // Taking part in it.

    /**
     * Announces a participant whose thread is about to be started: its start is an event like any other. That thread
     * must call {@link Participant#begin()} first and {@link Participant#end()} last.
     *
     * @param name what people are to read; it need not be unique
     * @return the participant that the thread is to be; to be {@linkplain Participant#withdraw() withdrawn} if the
     *     thread cannot be started
     */
    public Participant enroll(String name) {
        return enroll(new Participant(this, Objects.requireNonNull(name, "name"), false));
    }

    private Participant enroll(Participant p) {
        turns.lock.lock();
        try {
            if (p.isGuest()) { // it waits for its turn at once
                turns.mayWait();
            }
            if (turns.enroll(p)) {
                Lookout.watch(watch);
            }
        } finally {
            turns.lock.unlock();
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
        Objects.requireNonNull(name, "name");
        if (me() != null) {
            return null;
        }
        Participant p = enroll(new Participant(this, name, true));
        p.begin();
        return p;
    }

    @Override
    public String toString() {
        return "a virtual clock at " + Report.seconds(elapsed());
    }

    // For waiters, participants and whoever watches over tests.

    void began(Participant p) {
        turns.lock.lock();
        try {
            p.begins(me());
            participants.put(Thread.currentThread(), p);
        } finally {
            turns.lock.unlock();
        }
        p.awaitTurn();
    }

    void ended(Participant p, boolean byItsThread) {
        turns.lock.lock();
        try {
            if (!p.ends(byItsThread)) {
                return;
            }
            participants.remove(Thread.currentThread(), p);
            if (turns.leave(p)) {
                Lookout.forget(watch);
            }
        } finally {
            turns.lock.unlock();
        }
    }

    void interruptedBetween(Participant p) {
        turns.lock.lock();
        try {
            p.interrupted();
            turns.dispatch();
        } finally {
            turns.lock.unlock();
        }
    }

    /** Something that may give somebody a turn, done by any thread. */
    void touch(Runnable what) {
        turns.lock.lock();
        try {
            turns.touchedBy(Thread.currentThread(), me() != null);
            what.run();
            turns.dispatch();
        } finally {
            turns.lock.unlock();
        }
    }

    /** Whether anything has happened on it yet. */
    boolean isUsed() {
        turns.lock.lock();
        try {
            return turns.steps() > 0;
        } finally {
            turns.lock.unlock();
        }
    }

    /** What is left on a clock whose test is over, for people, or nothing; whoever takes part is let go. */
    String remains() {
        turns.lock.lock();
        try {
            String left = Report.of(turns);
            if (!turns.isEmpty()) {
                Lookout.forget(watch);
                turns.fail(new StuckClockError("the test of " + this + " is over" + left));
            }
            return left.isEmpty() ? "" : "\n on " + this + ":" + left;
        } finally {
            turns.lock.unlock();
        }
    }

    @Nullable
    Participant me() {
        return participants.get(Thread.currentThread());
    }

    Turns turns() {
        return turns;
    }

    static long nanos(Duration d) {
        return TimeUnit.NANOSECONDS.convert(d); // saturates
    }
}
