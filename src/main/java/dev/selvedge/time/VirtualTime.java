package dev.selvedge.time;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * An extension for JUnit Jupiter that gives each test a {@link VirtualClock} of its own, and fails a test that leaves
 * something behind on it.
 *
 * {@snippet class="dev.selvedge.examples.TimeoutTest" region="extension"}
 *
 * <p>Any parameter of type {@code VirtualClock}, of a test or a method that runs before or after each, is the one clock
 * of that test; with {@link Manual} it is moved by hand. After the test nobody may take part in the clock any more, and
 * nothing may be scheduled on it: else the test fails with what is left, by name, and whoever still waits there is let
 * go with a {@link StuckClockError}.
 *
 * <p>The clock is not installed anywhere. Hand it to the scope under test, {@code scope().clock(clock)}; blocks inside
 * inherit it. JUnit is needed at run time only by those who use this class.
 *
 * @since 0.1
 */
public final class VirtualTime implements ParameterResolver, AfterEachCallback {

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
        return parameter.getParameter().getType() == VirtualClock.class
                && test.getTestMethod().isPresent(); // else the tests of the class would share it
    }

    @Override
    public VirtualClock resolveParameter(ParameterContext parameter, ExtensionContext test) {
        boolean manual = parameter.isAnnotated(Manual.class);
        ExtensionContext.Store store = test.getStore(HERE);
        VirtualClock clock = store.get(manual, VirtualClock.class);
        if (clock == null) {
            clock = manual ? VirtualClock.manual() : VirtualClock.jumping();
            store.put(manual, clock);
        }
        return clock;
    }

    @Override
    public void afterEach(ExtensionContext test) {
        List<String> left = new ArrayList<>();
        for (boolean manual : new boolean[] {false, true}) {
            VirtualClock clock = test.getStore(HERE).get(manual, VirtualClock.class);
            if (clock != null) {
                left.addAll(clock.remains());
            }
        }
        if (!left.isEmpty()) {
            throw new AssertionError("the test left something behind: " + String.join("; ", left));
        }
    }
}
