/** Structured concurrency as a fluent DSL on virtual threads. */
module dev.selvedge {
    uses dev.selvedge.ScopeDefaults;

    requires static transitive java.net.http;
    requires static java.sql;
    requires static jdk.unsupported;
    requires static org.jspecify;
    requires static org.junit.jupiter.api;

    exports dev.selvedge;
    exports dev.selvedge.policy;
    exports dev.selvedge.time;
}
