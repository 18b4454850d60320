package dev.selvedge.observe;

import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeListener.Where;
import dev.selvedge.time.TimeSource;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * An event as it was heard.
 *
 * @param event what happened; without the values of tasks, which are nobody's business here
 * @param where when and where
 * @param thread the thread it was told on, of an event with which a thread begins something; else null
 * @param clock by which the times are, of a scope that opens; else null
 */
record Noted(
        ScopeEvent event,
        Where where,
        @Nullable WeakReference<Thread> thread,
        @Nullable TimeSource clock) {}
