package dev.selvedge.time;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What is logged for this package until it is closed, instead of to the console. */
final class Log extends Handler implements AutoCloseable {

    private static final Logger LOG = Logger.getLogger(Log.class.getPackageName());

    private final List<LogRecord> records = Collections.synchronizedList(new ArrayList<>());

    static Log open() {
        Log log = new Log();
        LOG.setUseParentHandlers(false);
        LOG.addHandler(log);
        return log;
    }

    List<String> at(Level level) {
        synchronized (records) {
            return records.stream()
                    .filter(r -> r.getLevel().equals(level))
                    .map(LogRecord::getMessage)
                    .toList();
        }
    }

    @Override
    public void publish(LogRecord r) {
        records.add(r);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        LOG.removeHandler(this);
        LOG.setUseParentHandlers(true);
    }
}
