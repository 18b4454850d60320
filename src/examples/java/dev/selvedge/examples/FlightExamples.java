package dev.selvedge.examples;

import static dev.selvedge.Selvedge.scope;

import dev.selvedge.ScopeSpec;
import dev.selvedge.Selvedge;
import dev.selvedge.observe.JfrEvents;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;

/** Scopes in recordings of the flight recorder. */
public final class FlightExamples {

    private FlightExamples() {}

    static void everywhere() {
        // @start region="defaults"
        Selvedge.defaults(scope().listener(JfrEvents.events()));
        // @end
    }

    static ScopeSpec one() {
        // @start region="one"
        ScopeSpec orders = scope("orders").listener(JfrEvents.events());
        // @end
        return orders;
    }

    static void record(Path file, Runnable work) throws IOException {
        // @start region="record"
        try (Recording recording = new Recording()) {
            recording.enable("dev.selvedge.Fork").withThreshold(Duration.ofMillis(1));
            recording.start();
            work.run();
            recording.dump(file);
        }
        // @end
    }
}
