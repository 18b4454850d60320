package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.ScopeSpec;
import dev.selvedge.Task;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/** What a thread knows, carried into its forks. */
public final class ContextExamples {

    // @start region="tenant"
    static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    static final ScopeSpec WITH_TENANT = scope().propagate(TENANT::get, tenant -> {
        TENANT.set(tenant);
        return TENANT::remove;
    });
    // @end

    // @start region="mdc"
    static final ScopeSpec WITH_MDC = scope().propagate(MDC::getCopyOfContextMap, ContextExamples::putIntoMdc);

    private static AutoCloseable putIntoMdc(@Nullable Map<String, String> entries) {
        if (entries != null) {
            MDC.setContextMap(entries);
        }
        return MDC::clear;
    }
    // @end

    // @start region="opentelemetry"
    static final ScopeSpec TRACED = scope().propagate(Context::current, Context::makeCurrent);
    // @end

    // @start region="together"
    static final ScopeSpec SERVICE = scope("service")
            .propagate(MDC::getCopyOfContextMap, ContextExamples::putIntoMdc)
            .propagate(Context::current, Context::makeCurrent);

    /** Every scope inside inherits what the outer one carries. */
    public static <T> List<T> loadAll(List<String> keys, Task.Of<String, T, ?> load) {
        return SERVICE.map(keys, load);
    }
    // @end

    private ContextExamples() {}
}
