package dev.selvedge;

import dev.selvedge.time.TimeSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A process that is never ended: it notes what would have been done. Its time is that of the lab. */
final class FakeJvm implements Jvm {

    private final TimeSource time;
    private final Map<Signal, Runnable> handlers = new EnumMap<>(Signal.class);
    private final List<Thread> hooks = new ArrayList<>();
    private final List<String> ends = new CopyOnWriteArrayList<>();
    private boolean exiting;
    private boolean eager;

    FakeJvm(TimeSource time) {
        this.time = time;
    }

    /** How it would have ended, and ended again. */
    List<String> ends() {
        return List.copyOf(ends);
    }

    /** Those that are installed. */
    List<Signal> handled() {
        return List.copyOf(handlers.keySet());
    }

    List<Thread> hooks() {
        return List.copyOf(hooks);
    }

    void receive(Signal signal) {
        handlers.get(signal).run();
    }

    /** The next SIGTERM comes as soon as there is a handler for it. */
    void receiveAtOnce() {
        eager = true;
    }

    /** The process begins to exit; the hooks run. */
    List<Thread> beginExit() {
        exiting = true;
        hooks.forEach(Thread::start);
        return List.copyOf(hooks);
    }

    @Override
    public TimeSource time() {
        return time;
    }

    @Override
    public void exit(int code) {
        throw new Ended("exit " + code);
    }

    @Override
    public void halt(int code) {
        ends.add("halt " + code);
    }

    @Override
    public void stay() {
        throw new Ended("stay");
    }

    @Override
    public void addHook(Thread hook) {
        if (exiting) {
            throw new IllegalStateException("Shutdown in progress");
        }
        hooks.add(hook);
    }

    @Override
    public void removeHook(Thread hook) {
        hooks.remove(hook);
    }

    @Override
    public @Nullable Runnable handle(Signal signal, Runnable action) {
        Runnable before = handlers.put(signal, action);
        if (eager && signal == Signal.SIGTERM) {
            eager = false;
            action.run();
        }
        return () -> {
            if (before == null) {
                handlers.remove(signal);
            } else {
                handlers.put(signal, before);
            }
        };
    }

    /** What the owner's thread would never have come back from. */
    static final class Ended extends Error {
        private static final long serialVersionUID = 1;

        Ended(String how) {
            super(how);
        }
    }
}
