package dev.selvedge;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What a logger is given until this is closed, instead of the console. */
public final class Log extends Handler implements AutoCloseable {

    private final Logger logger;
    private final List<LogRecord> records = Collections.synchronizedList(new ArrayList<>());

    private Log(Logger logger) {
        this.logger = logger;
    }

    public static Log of(String logger) {
        Log log = new Log(Logger.getLogger(logger));
        log.logger.setUseParentHandlers(false);
        log.logger.addHandler(log);
        return log;
    }

    /** What was logged with the messages. */
    public List<Throwable> thrown() {
        synchronized (records) {
            return records.stream().map(LogRecord::getThrown).toList();
        }
    }

    public List<String> at(Level level) {
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
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
    }
}
