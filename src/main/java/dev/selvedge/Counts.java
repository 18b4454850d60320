package dev.selvedge;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How the items of a call have ended. Each thread counts in a place of its own, so that an end costs one plain write; whoever
 * asks adds the places up.
 */
final class Counts {

    static final int SUCCEEDED = 0;
    static final int FAILED = 1;
    static final int CANCELLED = 2;
    static final int RETRIED = 3;
    static final int KNOWN = 4;

    private static final int KINDS = 5;

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock. A thread that ends leaves its place, with what is counted there, to the next one.
    private final List<AtomicLongArray> places = new ArrayList<>();
    private final Deque<AtomicLongArray> free = new ArrayDeque<>();

    /** A place that belongs to the calling thread until it leaves it. */
    AtomicLongArray place() {
        lock.lock();
        try {
            AtomicLongArray place = free.poll();
            if (place == null) {
                place = new AtomicLongArray(KINDS);
                places.add(place);
            }
            return place;
        } finally {
            lock.unlock();
        }
    }

    void leave(AtomicLongArray place) {
        lock.lock();
        try {
            free.push(place);
        } finally {
            lock.unlock();
        }
    }

    /** One more; by the thread whose place it is. */
    static void count(AtomicLongArray place, int kind) {
        place.setRelease(kind, place.getPlain(kind) + 1);
    }

    long[] sums() {
        lock.lock();
        try {
            long[] sums = new long[KINDS];
            for (AtomicLongArray place : places) {
                for (int kind = 0; kind < KINDS; kind++) {
                    sums[kind] += place.getAcquire(kind);
                }
            }
            return sums;
        } finally {
            lock.unlock();
        }
    }
}
