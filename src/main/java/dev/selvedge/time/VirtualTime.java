package dev.selvedge.time;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * An extension for JUnit Jupiter that gives each test a {@link VirtualClock} of its own, and fails a test that leaves
 * something behind on it.
 *
 * {@snippet class="dev.selvedge.examples.TimeoutTest" region="extension"}
 *
 * <p>Any parameter of type {@code VirtualClock}, of a test or a method that runs before or after each, is the one clock
 * of that test; with {@link Manual} it is moved by hand. After the test nobody may take part in the clock any more, or in
 * one made from it by {@code withGrace} or {@code withWatchdog}, and nothing may be scheduled there: else the test fails
 * with what is left, by name and place, and whoever still waits there is let go with a {@link StuckClockError}.
 *
 * <p>The clock is not installed anywhere. Hand it to the scope under test, {@code scope().clock(clock)}; blocks inside
 * inherit it. If a test asks for a clock and nothing happens on it, a line of the log says so. JUnit is needed at run time
 * only by those who use this class.
 *
 * @since 0.1
 */
public final class VirtualTime implements ParameterResolver, AfterEachCallback {

    private static final System.Logger LOG = System.getLogger("dev.selvedge.time");

    private static final ExtensionContext.Namespace HERE = ExtensionContext.Namespace.create(VirtualTime.class);

    /** For JUnit. */
    public VirtualTime() {}

    /** Asks for a clock that is moved by hand: {@link VirtualClock#manual()}. */
    @Documented
    @Target(ElementType.PARAMETER)
    @Retention(RetentionPolicy.RUNTIME)
    public @interface Manual {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
        return parameter.getParameter().getType() == VirtualClock.class;
    }

    @Override
    public VirtualClock resolveParameter(ParameterContext parameter, ExtensionContext test) {
        if (test.getTestMethod().isEmpty()) {
            throw new ParameterResolutionException(
                    "a VirtualClock belongs to one test, and a constructor or a method that runs"
                            + " before or after all serves several: ask for it in the test, or before or after each");
        }
        Kind kind = Kind.of(parameter.isAnnotated(Manual.class));
        Clocks clocks = test.getStore(HERE).get(kind, Clocks.class);
        if (clocks == null) {
            clocks = Clocks.of(kind);
            test.getStore(HERE).put(kind, clocks);
        }
        return clocks.asked();
    }

    @Override
    public void afterEach(ExtensionContext test) {
        StringBuilder left = new StringBuilder();
        for (Kind kind : Kind.values()) {
            Clocks clocks = test.getStore(HERE).get(kind, Clocks.class);
            if (clocks != null) {
                clocks.family.forEach(clock -> left.append(clock.remains()));
                if (clocks.family.stream().noneMatch(VirtualClock::isUsed)) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "nothing happened on the clock that the test " + test.getDisplayName()
                                    + " has asked for: put scope().clock(clock) around the code under test");
                }
            }
        }
        if (!left.isEmpty()) {
            throw new AssertionError(
                    "the test left something behind: what takes part has to end, what is due to be stopped" + left);
        }
    }

    private enum Kind {
        JUMPING,
        MANUAL;

        static Kind of(boolean manual) {
            return manual ? MANUAL : JUMPING;
        }
    }

    /**
     * The clocks of a test.
     *
     * @param asked what its parameters are
     * @param family that, and those made from it
     */
    private record Clocks(VirtualClock asked, List<VirtualClock> family) {
        static Clocks of(Kind kind) {
            List<VirtualClock> family = new CopyOnWriteArrayList<>();
            return new Clocks(VirtualClock.ofTest(kind == Kind.MANUAL, family), family);
        }
    }
}
