package dev.selvedge.examples;

import dev.selvedge.ScopeEvent;
import dev.selvedge.ScopeListener;
import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import java.time.Duration;
import java.util.function.Consumer;

/** What happens in scopes, as those who listen see it. */
public final class EventExamples {

    private EventExamples() {}

    static ScopeSpec impatient(Consumer<String> alert) {
        // @start region="stragglers"
        ScopeSpec spec = Selvedge.scope("report")
                .deadline(Duration.ofSeconds(30))
                .stragglersAfter(Duration.ofSeconds(2))
                .listener(event -> {
                    if (event instanceof ScopeEvent.StragglerFound found) {
                        alert.accept(found.fork() + " ignores its deadline, at "
                                + found.stack().get(0));
                    }
                });
        // @end
        return spec;
    }

    static ScopeSpec indented(Consumer<String> log) {
        // @start region="where"
        ScopeListener tree = (event, where) -> {
            int depth = 0;
            for (var around = where.scope().parent(); around != null; around = around.parent()) {
                depth++;
            }
            if (event instanceof ScopeEvent.ScopeOpened || event instanceof ScopeEvent.ScopeClosed) {
                log.accept("  ".repeat(depth) + where.scope() + " "
                        + event.getClass().getSimpleName());
            }
        };
        ScopeSpec spec = Selvedge.scope("page").listener(tree);
        // @end
        return spec;
    }
}
