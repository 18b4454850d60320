package dev.selvedge.time;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/*
 * Most alarms are stopped long before they are due, so setting and stopping one must cost next to nothing, and an alarm
 * that was stopped must not stay in memory until it would have rung.
 *
 * Setting pushes the alarm onto one of a few lock-free inboxes, chosen by the thread, and wakes the timer's thread only if
 * the alarm is due before the moment for which that thread sleeps. A push drops the alarms on top of its inbox that are
 * over; so on a thread that sets and stops in turn the inbox stays one deep. An inbox that grows deep asks to be drained.
 *
 * The timer's thread drains the inboxes into a heap that only it touches. Alarms that are stopped while they lie in the heap
 * are counted; when they are half of it, the heap is swept.
 */
final class Timer implements Runnable {

    private static final int STRIPES = 8;
    private static final int PADDING = 16; // one inbox to a cache line
    private static final int DRAIN_DEPTH = 1024;
    private static final int SWEEP_AT_LEAST = 1024;
    private static final int SMALLEST_HEAP = 64;

    private static final VarHandle INBOX = MethodHandles.arrayElementVarHandle(Alarm[].class);
    private static final VarHandle OVER_IN_HEAP;

    static {
        try {
            OVER_IN_HEAP = MethodHandles.lookup().findVarHandle(Timer.class, "overInHeap", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SystemTime time;
    private final @Nullable Alarm[] inboxes = new Alarm[STRIPES * PADDING];
    private final Thread thread;

    /** The moment for which the timer's thread sleeps; MIN_VALUE while it is awake and will look again by itself. */
    private volatile long wakesAt = Long.MIN_VALUE;

    /** Set by whoever wants the inboxes drained or the heap swept; cleared by the timer's thread. */
    private volatile boolean urged;

    /** Alarms in the heap that are over: up by one in {@link #ended}, to zero by a sweep. */
    private volatile int overInHeap;

    /** The timer thread's own. */
    private @Nullable Alarm[] heap = new Alarm[SMALLEST_HEAP];

    /** Written by the timer's thread only. */
    private volatile int size;

    private Timer(SystemTime time) {
        this.time = time;
        this.thread = new Thread(null, this, "selvedge-timer", 0, false);
        thread.setDaemon(true);
    }

    static Timer start(SystemTime time) {
        Timer timer = new Timer(time);
        timer.thread.start();
        return timer;
    }

    void add(Alarm alarm) {
        int inbox = ((int) Thread.currentThread().threadId() & (STRIPES - 1)) * PADDING;
        Alarm head;
        do {
            head = (Alarm) INBOX.getAcquire(inboxes, inbox);
            Alarm live = head;
            while (live != null && live.isOver()) {
                live = live.next;
            }
            alarm.next = live;
            alarm.depth = live == null ? 1 : live.depth + 1;
        } while (!INBOX.compareAndSet(inboxes, inbox, head, alarm));
        boolean deep = (alarm.depth & (DRAIN_DEPTH - 1)) == 0;
        if (deep) {
            urged = true;
        }
        if (deep || alarm.due() < wakesAt) {
            LockSupport.unpark(thread);
        }
    }

    /** An alarm in the heap was stopped. */
    void ended() {
        int over = (int) OVER_IN_HEAP.getAndAdd(this, 1) + 1;
        if (over >= SWEEP_AT_LEAST && over >= size >>> 1 && (over & 255) == 0) {
            urged = true;
            LockSupport.unpark(thread);
        }
    }

    /** How many alarms are held, over or not. For tests. */
    int held() {
        int held = size;
        for (int i = 0; i < inboxes.length; i += PADDING) {
            for (Alarm a = (Alarm) INBOX.getVolatile(inboxes, i); a != null; a = a.next) {
                held++;
            }
        }
        return held;
    }

    @Override
    public void run() {
        while (true) {
            urged = false;
            drain();
            ringWhatIsDue();
            long next = size == 0 ? Long.MAX_VALUE : top().due();
            wakesAt = next;
            // An alarm that was pushed before wakesAt was set has not woken this thread: look once more.
            if (!urged && earliestInInboxes() >= next) {
                sleepUntil(next);
            }
            wakesAt = Long.MIN_VALUE;
        }
    }

    private void sleepUntil(long next) {
        if (next == Long.MAX_VALUE) {
            LockSupport.park(this);
        } else {
            long left = next - time.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(this, left);
            }
        }
        Thread.interrupted(); // nobody has business interrupting it; a set flag would make it spin
    }

    private void ringWhatIsDue() {
        long now = time.nanoTime();
        while (size > 0 && (top().due() <= now || top().isOver())) {
            pop().trigger();
        }
    }

    private void drain() {
        for (int i = 0; i < inboxes.length; i += PADDING) {
            Alarm alarm = (Alarm) INBOX.getAndSet(inboxes, i, null);
            while (alarm != null) {
                Alarm next = alarm.next;
                alarm.next = null;
                if (!alarm.isOver()) {
                    push(alarm);
                }
                alarm = next;
            }
        }
        if (overInHeap >= SWEEP_AT_LEAST && overInHeap >= size >>> 1) {
            sweep();
        }
    }

    private long earliestInInboxes() {
        long earliest = Long.MAX_VALUE;
        for (int i = 0; i < inboxes.length; i += PADDING) {
            for (Alarm a = (Alarm) INBOX.getVolatile(inboxes, i); a != null; a = a.next) {
                if (!a.isOver()) {
                    earliest = Math.min(earliest, a.due());
                }
            }
        }
        return earliest;
    }

    private void sweep() {
        OVER_IN_HEAP.setVolatile(this, 0);
        int live = 0;
        for (int i = 0; i < size; i++) {
            Alarm alarm = at(i);
            if (!alarm.isOver()) {
                heap[live++] = alarm;
            }
        }
        Arrays.fill(heap, live, size, null);
        size = live;
        if (heap.length > SMALLEST_HEAP && live < heap.length / 4) {
            heap = Arrays.copyOf(heap, Math.max(SMALLEST_HEAP, live * 2));
        }
        for (int i = (live >>> 1) - 1; i >= 0; i--) {
            sink(i, at(i));
        }
    }

    private void push(Alarm alarm) {
        alarm.filed = this;
        int i = size;
        if (i == heap.length) {
            heap = Arrays.copyOf(heap, i * 2);
        }
        size = i + 1;
        while (i > 0) {
            int parent = (i - 1) >>> 1;
            Alarm above = at(parent);
            if (above.due() <= alarm.due()) {
                break;
            }
            heap[i] = above;
            i = parent;
        }
        heap[i] = alarm;
    }

    private Alarm pop() {
        Alarm first = top();
        int last = size - 1;
        Alarm moved = at(last);
        heap[last] = null;
        size = last;
        if (last > 0) {
            sink(0, moved);
        }
        first.filed = null;
        return first;
    }

    private void sink(int from, Alarm alarm) {
        int i = from;
        int half = size >>> 1;
        while (i < half) {
            int child = 2 * i + 1;
            if (child + 1 < size && at(child + 1).due() < at(child).due()) {
                child++;
            }
            if (alarm.due() <= at(child).due()) {
                break;
            }
            heap[i] = at(child);
            i = child;
        }
        heap[i] = alarm;
    }

    private Alarm top() {
        return at(0);
    }

    private Alarm at(int i) {
        return Objects.requireNonNull(heap[i]);
    }
}
