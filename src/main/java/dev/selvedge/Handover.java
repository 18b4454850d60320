package dev.selvedge;

import dev.selvedge.time.TimeSource;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a specification says that blocks inside inherit, besides the deadline.
 *
 * @param clock the source of time, or null for that of the block around
 * @param listener who is told of events, besides those around
 * @param carrier what is carried into forks, besides what is around
 * @param aftermath what is done about what nobody waits for any more, besides what is around
 */
record Handover(
        @Nullable TimeSource clock,
        @Nullable Consumer<? super ScopeEvent> listener,
        @Nullable Carrier carrier,
        @Nullable Aftermath aftermath) {

    static final Handover NOTHING = new Handover(null, null, null, null);

    Handover on(TimeSource time) {
        return new Handover(time, listener, carrier, aftermath);
    }

    Handover toldTo(Consumer<? super ScopeEvent> one) {
        return new Handover(clock, Listeners.both(listener, Listeners.Chain.apart(one)), carrier, aftermath);
    }

    Handover carrying(Carrier one) {
        return new Handover(clock, listener, Carrier.both(carrier, one), aftermath);
    }

    Handover discardingTo(Consumer<? super Object> one) {
        return with(new Aftermath(one, null));
    }

    Handover stragglersAfter(Duration grace) {
        if (grace.isNegative() || grace.isZero()) {
            throw new IllegalArgumentException("grace must be positive: " + grace);
        }
        return with(new Aftermath(null, grace));
    }

    private Handover with(Aftermath more) {
        return new Handover(clock, listener, carrier, Aftermath.both(aftermath, more));
    }
}
