package dev.selvedge.policy;

import dev.selvedge.policy.CircuitBreaker.Permit;
import dev.selvedge.time.Deadline;
import dev.selvedge.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The circuit of a breaker on one clock, and how calls get leave from it. */
final class LiveCircuit {

    private static final VarHandle CIRCUIT;

    static {
        try {
            CIRCUIT = MethodHandles.lookup().findVarHandle(LiveCircuit.class, "circuit", Circuit.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final CircuitBreaker breaker;
    private final TimeSource time;

    /** Goes on by the functions of {@link Circuit}; whoever brings that about tells of it. */
    private volatile Circuit circuit;

    LiveCircuit(CircuitBreaker breaker, TimeSource time) {
        this.breaker = breaker;
        this.time = time;
        this.circuit = closed();
    }

    CircuitBreaker breaker() {
        return breaker;
    }

    Circuit get() {
        return circuit;
    }

    TimeSource time() {
        return time;
    }

    long now() {
        return time.nanoTime();
    }

    /** One that has seen nothing yet. */
    Circuit.Closed closed() {
        CircuitBreaker.Settings settings = breaker.settings();
        Window window = settings.window();
        return new Circuit.Closed(window, settings.wantsDurations() ? null : new Permit(this, window, null, 0));
    }

    void closeByHand() {
        circuit = closed();
    }

    void goOn(UnaryOperator<Circuit> function) {
        while (true) {
            Circuit before = circuit;
            Circuit after = function.apply(before);
            if (after == before) {
                return;
            }
            if (CIRCUIT.compareAndSet(this, before, after)) {
                if (!breaker.isForcedOpen()) {
                    breaker.tell(before.state(), after.state());
                }
                return;
            }
        }
    }

    Permit admit() {
        while (true) {
            if (breaker.isForcedOpen()) {
                throw refusal(" was opened by hand", ChronoUnit.FOREVER.getDuration(), null);
            }
            Circuit before = circuit;
            if (before instanceof Circuit.Closed closed) {
                Permit forAll = closed.permit();
                return forAll == null ? new Permit(this, closed.window(), null, now()) : forAll;
            }
            long now = now();
            Circuit after = Circuit.asked(before, now, breaker.settings().trials());
            if (after == before) {
                throw refusal(before, now);
            }
            if (CIRCUIT.compareAndSet(this, before, after)) {
                Permit trial = new Permit(this, null, ((Circuit.HalfOpen) after).series(), now);
                breaker.tell(before.state(), after.state());
                return trial;
            }
        }
    }

    private CircuitOpenException refusal(Circuit refusing, long now) {
        return switch (refusing) {
            case Circuit.Closed closed -> throw new AssertionError("a closed circuit refuses nobody");
            case Circuit.Open open -> {
                Duration left = Duration.ofNanos(open.remaining(now));
                yield refusal(" is open for another " + Deadline.inWords(left), left, open.cause());
            }
            case Circuit.HalfOpen half ->
                refusal(" is half-open, and a trial runs", Duration.ofNanos(half.remaining(now)), half.cause());
        };
    }

    private CircuitOpenException refusal(String why, Duration retryAfter, @Nullable Throwable cause) {
        return new CircuitOpenException(breaker.name(), breaker + why, retryAfter, cause);
    }
}
