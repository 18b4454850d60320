package dev.selvedge;

import dev.selvedge.time.TimeSource;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a specification says that blocks inside inherit, besides the deadline.
 *
 * @param clock the source of time, or null for that of the block around
 * @param listener who is told of events, besides those around
 * @param carrier what is carried into forks, besides what is around
 * @param sink who gets values that nobody can read any more, besides those around
 */
record Handover(
        @Nullable TimeSource clock,
        @Nullable Consumer<? super ScopeEvent> listener,
        @Nullable Carrier carrier,
        @Nullable Consumer<? super Object> sink) {

    static final Handover NOTHING = new Handover(null, null, null, null);

    Handover on(TimeSource time) {
        return new Handover(time, listener, carrier, sink);
    }

    Handover toldTo(Consumer<? super ScopeEvent> one) {
        return new Handover(clock, Listeners.both(listener, Listeners.Chain.apart(one)), carrier, sink);
    }

    Handover carrying(Carrier one) {
        return new Handover(clock, listener, Carrier.both(carrier, one), sink);
    }

    Handover discardingTo(Consumer<? super Object> one) {
        return new Handover(clock, listener, carrier, Listeners.both(sink, one));
    }
}
