package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.ScopeSpec;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.trace.Tracer;

/** Scopes that are counted and traced. */
public final class TelemetryExamples {

    private TelemetryExamples() {}

    static ScopeSpec both(MeterRegistry registry, Tracer tracer) {
        // @start region="both"
        ScopeSpec page = scope("page").listener(new ScopeMeters(registry)).listener(new ScopeTraces(tracer));
        // @end
        return page;
    }
}
