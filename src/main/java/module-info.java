/** Structured concurrency as a fluent DSL on virtual threads. */
module dev.selvedge {
    uses dev.selvedge.ScopeDefaults;

    requires static transitive java.net.http;
    requires static java.sql;
    requires static me.tongfei.progressbar;
    requires static jdk.jfr;
    requires static jdk.unsupported;
    requires static org.jspecify;
    requires static org.junit.jupiter.api;

    exports dev.selvedge;
    exports dev.selvedge.batch;
    exports dev.selvedge.observe;
    exports dev.selvedge.policy;
    exports dev.selvedge.time;
}
