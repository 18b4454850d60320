package dev.selvedge.benchmarks.report;

import java.util.Locale;
import java.util.regex.Pattern;

/** What a contestant is, told by its name. */
enum Kind {
    RAW("raw.*|structured ?taskscope"),
    OTHER("mapconcurrent.*|gatherers?.*|.*semaphore.*|jox.*|kotlin.*|coroutines.*|.*failsafe.*|.*resilience4j.*"),
    STREAM("parallel ?stream"),
    POOL("(.*[^a-z])?(fixed|cached|forkjoin|pool).*|.*pool|.*completablefuture.*|work ?stealing.*|.*scheduled.*"),
    VIRTUAL(".*virtual.*|plain.*|threads?"),
    SELVEDGE(".*gather.*|.*map.*|.*selvedge.*|.*scope.*|foreach.*|.*progress.*|call.*");

    private final Pattern names;

    Kind(String names) {
        this.names = Pattern.compile(names);
    }

    /** The first whose pattern fits. */
    static Kind of(String contestant) {
        String name = contestant.toLowerCase(Locale.ROOT);
        for (Kind kind : values()) {
            if (kind.names.matcher(name).matches()) {
                return kind;
            }
        }
        return OTHER;
    }
}
