/** Structured concurrency as a fluent DSL on virtual threads. */
module dev.selvedge {
    requires static org.jspecify;

    exports dev.selvedge;
    exports dev.selvedge.time;
}
