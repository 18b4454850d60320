package dev.selvedge.time;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is seen of one virtual clock in real time: who is parked outside the library, how long nothing has happened, and what
 * follows from that.
 */
final class Watch {

    private static final System.Logger LOG = System.getLogger("dev.selvedge.time");

    private static final long MILLI = 1_000_000;

    /** How long a thread must have been parked at one place to count as blocked outside the library, and at how many looks. */
    private static final long WINDOW = 20 * MILLI;

    private static final int LOOKS = 8;

    /** The most that a look adds to the time: one that was late, since the machine was busy, must not time anybody out. */
    private static final long TICK = 5 * MILLI;

    /** How long all must have waited for one another before that is called a deadlock. */
    private static final long DEADLOCK = 500 * MILLI;

    private static final long HELD = 2_000 * MILLI;

    private final VirtualClock clock;
    private final Turns turns;
    private final Duration grace;
    private final Duration patience;

    // Of the lookout's thread, under the clock's lock.
    private long steps = -1;
    private long since;
    private long lastLook;
    private boolean ticking;
    private boolean standing;
    private long standsSince;
    private boolean toldOfHolding;
    private boolean toldOfTicking;
    private @Nullable StuckClockError verdict;

    Watch(VirtualClock clock, Turns turns, Duration grace, Duration patience) {
        this.clock = clock;
        this.turns = turns;
        this.grace = grace;
        this.patience = patience;
    }

    Duration grace() {
        return grace;
    }

    Duration patience() {
        return patience;
    }

    /** Looks once. What is to be told is told outside the lock. */
    void look(long real) {
        List<Runnable> tell = new ArrayList<>();
        turns.lock.lock();
        try {
            if (!turns.isEmpty() && turns.stuck() == null) {
                lookAtThreads(real);
                if (steps == turns.steps()) {
                    nothingHappenedUntil(real, tell);
                }
                if (steps != turns.steps()) {
                    steps = turns.steps();
                    since = real;
                    ticking = false;
                    standing = false;
                    toldOfHolding = false;
                }
            }
            lastLook = real;
        } finally {
            turns.lock.unlock();
        }
        tell.forEach(Runnable::run);
        if (verdict != null) {
            pronounce(verdict);
        }
    }

    /** Once the report is in the log: whoever is told of it can rely on that. */
    private void pronounce(StuckClockError error) {
        turns.lock.lock();
        try {
            verdict = null;
            if (steps == turns.steps() && turns.stuck() == null) {
                turns.fail(error);
                Lookout.forget(this);
            }
        } finally {
            turns.lock.unlock();
        }
    }

    private void lookAtThreads(long real) {
        Participant running = turns.running();
        if (running != null && steps == turns.steps()) {
            running.look(real, WINDOW, LOOKS);
        }
        for (Participant p : turns.outside()) {
            p.look(real, WINDOW, LOOKS);
        }
    }

    private void nothingHappenedUntil(long real, List<Runnable> tell) {
        long quiet = real - since;
        Participant running = turns.running();
        if (running != null && running.isParked()) {
            turns.giveOn(running);
            if (!turns.isHeld() && !turns.isManual() && allParked()) {
                tickBy(WINDOW, tell); // so long it has been
            }
        } else if (turns.isHeld()) {
            if (quiet >= HELD && !toldOfHolding) {
                toldOfHolding = true;
                tellOfHolding(running, quiet, tell);
            }
        } else if (turns.isManual()) {
            turns.dispatch(); // it may have waited for somebody to be parked
        } else if (turns.hasExternals() || !turns.outside().isEmpty()) {
            tick(real, tell);
        } else if (turns.nextDue() < Long.MAX_VALUE) {
            if (quiet >= VirtualClock.nanos(grace)) {
                turns.jump();
            }
        } else if (quiet >= DEADLOCK && !turns.expectsOutside()) {
            fail(
                    "a deadlock on " + clock + ": all who take part wait, nothing is scheduled and nothing is external",
                    tell);
            return;
        }
        if (steps == turns.steps()
                && quiet >= VirtualClock.nanos(patience)
                && !turns.hasExternals()
                && !ticksToEvent()) {
            fail(
                    "the watchdog: no event on " + clock + " for " + Report.seconds(patience) + " of real time"
                            + (turns.isManual() ? "; it moves only by advance" : ""),
                    tell);
        }
    }

    /** Whether real time will bring it to an event before long: a deadline around work that blocks outside is to pass. */
    private boolean ticksToEvent() {
        return ticking && turns.nextDue() - turns.now() <= VirtualClock.nanos(patience);
    }

    /** Along with real time, while all who are busy are parked or have said that they work outside. */
    private void tick(long real, List<Runnable> tell) {
        if (!allParked()) {
            ticking = false;
            standStill(real, tell);
            return;
        }
        standing = false;
        if (ticking) {
            tickBy(Math.min(TICK, real - lastLook), tell);
        }
        ticking = true;
    }

    private void tickBy(long nanos, List<Runnable> tell) {
        turns.outside().stream().findFirst().ifPresent(first -> tellOfTicking(first, tell));
        turns.tick(nanos);
    }

    /** While one whose turn was given on runs: it may be done with what it blocked in, and spin. */
    private void standStill(long real, List<Runnable> tell) {
        if (!standing) {
            standing = true;
            standsSince = real;
        } else if (real - standsSince >= HELD && !toldOfHolding) {
            toldOfHolding = true;
            Participant busy = turns.outside().stream()
                    .filter(p -> !p.isParked())
                    .findFirst()
                    .orElse(null);
            tellOfHolding(busy, real - standsSince, tell);
        }
    }

    private boolean allParked() {
        return turns.outside().stream().allMatch(Participant::isParked);
    }

    // Reports.

    private void tellOfTicking(Participant p, List<Runnable> tell) {
        if (!toldOfTicking) {
            toldOfTicking = true;
            String text = clock + " ticks along with real time while \"" + p
                    + "\" blocks outside the library: wait through the library, or declare it with external(...)"
                    + Report.stack(p.thread());
            tell.add(() -> LOG.log(System.Logger.Level.INFO, text));
        }
    }

    private void tellOfHolding(@Nullable Participant p, long quiet, List<Runnable> tell) {
        String who = p == null ? "an alarm that rings" : "\"" + p + "\"";
        String text = clock + " is held by " + who + ", which has run for " + quiet / (1_000 * MILLI)
                + " s without waiting through the library" + Report.stack(p == null ? null : p.thread());
        tell.add(() -> LOG.log(System.Logger.Level.WARNING, text));
    }

    private void fail(String why, List<Runnable> tell) {
        StuckClockError error = new StuckClockError(why + Report.of(turns));
        verdict = error;
        tell.add(() -> LOG.log(System.Logger.Level.ERROR, String.valueOf(error.getMessage())));
    }
}
