package dev.selvedge;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** What scopes of this process have that have no block around them: set once, or found. */
final class Defaults {

    private static final ReentrantLock LOCK = new ReentrantLock();

    /** null → what was set or found; written under the lock. */
    private static volatile @Nullable Context outermost;

    /** Who gave the defaults, for people; null if nobody did. Guarded by the lock. */
    private static @Nullable String source;

    /** Guarded by the lock. */
    private static boolean finding;

    private Defaults() {}

    /** Outside any block. */
    static Context context() {
        Context known = outermost;
        return known == null ? find() : known;
    }

    static void set(ScopeSpec spec) {
        Handover given = spec.asDefaults();
        LOCK.lock();
        try {
            String before = source;
            if (before != null) {
                throw new IllegalStateException("the defaults of this process are given once, and were by " + before);
            }
            outermost = Context.PLAIN.with(given);
            source = "Selvedge.defaults";
            Context.noteDefaults();
        } finally {
            LOCK.unlock();
        }
    }

    private static Context find() {
        LOCK.lock();
        try {
            if (outermost == null && !finding) {
                finding = true;
                try {
                    outermost = found();
                    Context.noteDefaults();
                } finally {
                    finding = false;
                }
            }
            Context known = outermost;
            return known == null ? Context.PLAIN : known; // a provider that opens a scope does so without defaults
        } finally {
            LOCK.unlock();
        }
    }

    private static Context found() {
        Context all = Context.PLAIN;
        List<String> names = new ArrayList<>();
        for (ScopeDefaults each : ServiceLoader.load(ScopeDefaults.class, ScopeDefaults.class.getClassLoader())) {
            ScopeSpec spec = Objects.requireNonNull(
                    each.defaults(), () -> "the defaults of " + each.getClass().getName());
            all = all.with(spec.asDefaults());
            names.add(each.getClass().getName());
        }
        if (!names.isEmpty()) {
            source = String.join(" and ", names);
        }
        return all;
    }
}
