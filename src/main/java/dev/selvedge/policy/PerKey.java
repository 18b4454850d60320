package dev.selvedge.policy;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A policy for each key: a breaker for each host, a limiter for each customer. Made when a key is first asked for; thread-safe.
 *
 * {@snippet class="dev.selvedge.examples.PolicyExamples" region="per-key"}
 *
 * <p>It holds a bounded number of them. When it is full, it forgets one that is as a new one would be, so that nothing is lost
 * by it, and that was not asked for lately. Only if there is none such, it forgets one that is not: it starts afresh when its
 * key is asked for again.
 *
 * @param <K> the type of the keys; with {@code equals} and {@code hashCode}
 * @param <P> the type of the policies
 * @since 0.1
 */
public final class PerKey<K, P> {

    private static final int MOST = 10_000;

    private final Function<? super K, P> made;
    private final Predicate<? super P> isAsNew;
    private final int most;
    private final ConcurrentMap<K, Entry<P>> entries = new ConcurrentHashMap<>();

    /** Held by whoever looks for one to forget. */
    private final ReentrantLock forgetting = new ReentrantLock();

    /** The keys in the order in which they come up for being forgotten. */
    private final Queue<K> turn = new ConcurrentLinkedQueue<>();

    PerKey(Function<? super K, P> made, Predicate<? super P> isAsNew) {
        this(made, isAsNew, MOST);
    }

    private PerKey(Function<? super K, P> made, Predicate<? super P> isAsNew, int most) {
        this.made = made;
        this.isAsNew = isAsNew;
        this.most = most;
    }

    /**
     * The same, for so many keys at the most.
     *
     * @param keys 10,000 by default
     * @return a new one, with nothing in it; this one stays as it is
     * @throws IllegalArgumentException if {@code keys} is less than 1
     */
    public PerKey<K, P> atMost(int keys) {
        return new PerKey<>(made, isAsNew, Checks.atLeast(1, "keys", keys));
    }

    /**
     * The policy of a key.
     *
     * @param key any key
     * @return always the same object, unless it was forgotten meanwhile
     * @throws NullPointerException if {@code key} is null, or the function that makes policies gives null for it
     */
    public P get(K key) {
        Entry<P> there = entries.get(Objects.requireNonNull(key, "key"));
        if (there == null) {
            P fresh = Objects.requireNonNull(made.apply(key), () -> "there is no policy for the key " + key);
            Entry<P> mine = new Entry<>(fresh);
            there = entries.putIfAbsent(key, mine);
            if (there == null) {
                turn.add(key);
                forgetSome();
                return fresh;
            }
        }
        if (!there.isAskedFor) {
            there.isAskedFor = true;
        }
        return there.policy;
    }

    /**
     * How many keys have a policy.
     *
     * @return as of now
     */
    public int size() {
        return entries.size();
    }

    private void forgetSome() {
        while (entries.size() > most) {
            forgetting.lock();
            try {
                if (entries.size() > most && !forgetOne(true)) {
                    boolean unused = forgetOne(false);
                }
            } finally {
                forgetting.unlock();
            }
        }
    }

    /** Goes round once; whoever was asked for since the last time gets another round. */
    private boolean forgetOne(boolean onlyAsNew) {
        for (int n = turn.size(); n > 0; n--) {
            K key = turn.poll();
            Entry<P> entry = key == null ? null : entries.get(key);
            if (key == null || entry == null) {
                continue;
            }
            boolean spared = entry.isAskedFor && n > 1;
            entry.isAskedFor = false;
            if (!spared && (!onlyAsNew || isAsNew.test(entry.policy))) {
                entries.remove(key, entry);
                return true;
            }
            turn.add(key);
        }
        return false;
    }

    private static final class Entry<P> {

        private final P policy;

        /** Since it came up last. A hint, so nobody waits for it to be seen. */
        private volatile boolean isAskedFor;

        Entry(P policy) {
            this.policy = policy;
        }
    }
}
