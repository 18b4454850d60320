package dev.selvedge.examples;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

/** What {@link ContextExamples} says is carried into forks. */
@Timeout(value = 30, unit = SECONDS)
class ContextExamplesTest {

    private static final ContextKey<String> USER = ContextKey.named("user");

    @AfterEach
    void clear() {
        MDC.clear();
        ContextExamples.TENANT.remove();
        assertThat(Context.current()).isSameAs(Context.root());
    }

    @Test
    void the_tenant_is_there_in_the_forks() {
        ContextExamples.TENANT.set("acme");
        Callable<String> tenant = ContextExamples.TENANT::get;

        List<String> seen = ContextExamples.WITH_TENANT.gather(tenant, tenant);

        assertThat(seen).containsExactly("acme", "acme");
        assertThat(ContextExamples.TENANT.get()).isEqualTo("acme");
    }

    @Test
    void no_tenant_is_carried_too() {
        Callable<String> tenant = ContextExamples.TENANT::get;

        assertThat(ContextExamples.WITH_TENANT.gather(tenant)).containsExactly((String) null);
    }

    @Test
    void the_mdc_of_logback_is_there_in_the_forks() {
        MDC.put("request", "42");

        List<String> seen = ContextExamples.WITH_MDC.map(List.of("a", "b"), k -> k + MDC.get("request"));

        assertThat(seen).containsExactly("a42", "b42");
        assertThat(MDC.get("request")).isEqualTo("42");
    }

    @Test
    void what_a_fork_changes_in_the_mdc_stays_in_the_fork() {
        MDC.put("request", "42");

        List<String> seen = ContextExamples.WITH_MDC.map(List.of("a", "b"), k -> {
            MDC.put("request", k);
            return MDC.get("request");
        });

        assertThat(seen).containsExactly("a", "b");
        assertThat(MDC.get("request")).isEqualTo("42");
    }

    @Test
    void an_empty_mdc_is_carried_too() {
        List<Map<String, String>> seen = ContextExamples.WITH_MDC.map(List.of(1), i -> {
            MDC.put("key", "value");
            return MDC.getCopyOfContextMap();
        });

        assertThat(seen).containsExactly(Map.of("key", "value"));
        assertThat(MDC.get("key")).isNull();
    }

    @Test
    void the_context_of_opentelemetry_is_current_in_the_forks() {
        try (var unused = Context.current().with(USER, "ann").makeCurrent()) {
            List<String> seen = ContextExamples.TRACED.map(
                    List.of("a", "b"), k -> k + Context.current().get(USER));

            assertThat(seen).containsExactly("aann", "bann");
        }
    }

    @Test
    void it_is_closed_behind_each_task() {
        Context outer = Context.current().with(USER, "ann");
        try (var unused = outer.makeCurrent()) {
            List<String> seen = ContextExamples.TRACED.map(List.of(1, 2, 3), i -> {
                try (var inner = Context.current().with(USER, "fork-" + i).makeCurrent()) {
                    return Context.current().get(USER);
                }
            });

            assertThat(seen).containsExactly("fork-1", "fork-2", "fork-3");
            assertThat(Context.current()).isSameAs(outer);
        }
    }

    @Test
    void both_are_carried_together_through_two_levels_of_scopes() throws Exception {
        MDC.put("request", "42");
        try (var unused = Context.current().with(USER, "ann").makeCurrent()) {
            List<List<String>> seen = ContextExamples.loadAll(
                    List.of("a", "b"),
                    k -> dev.selvedge.Selvedge.scope()
                            .map(
                                    List.of(1, 2),
                                    i -> k
                                            + i
                                            + MDC.get("request")
                                            + Context.current().get(USER)));

            assertThat(seen).containsExactly(List.of("a142ann", "a242ann"), List.of("b142ann", "b242ann"));
        }
    }
}
