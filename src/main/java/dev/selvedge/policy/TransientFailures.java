package dev.selvedge.policy;

import java.io.CharConversionException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.ObjectStreamException;
import java.io.UncheckedIOException;
import java.io.UnsupportedEncodingException;
import java.net.MalformedURLException;
import java.net.UnknownServiceException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.FileSystemException;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/** Which failures of the JDK's own clients a later attempt may well not meet. */
final class TransientFailures {

    /** Timeout, too early, too many requests; server error, bad gateway, unavailable, gateway timeout (RFC 9110, 8470, 6585). */
    private static final Set<Integer> STATUSES = Set.of(408, 425, 429, 500, 502, 503, 504);

    /** Of the family of {@code IOException}, what is as wrong the next time. */
    private static final List<Class<?>> LASTING = List.of(
            FileNotFoundException.class,
            FileSystemException.class,
            CharacterCodingException.class,
            CharConversionException.class,
            UnsupportedEncodingException.class,
            ObjectStreamException.class,
            MalformedURLException.class,
            UnknownServiceException.class,
            SSLHandshakeException.class,
            SSLPeerUnverifiedException.class);

    private static final int WRAPPERS = 10;

    private TransientFailures() {}

    static boolean include(Throwable failure) {
        Throwable t = failure;
        for (int i = 0; i < WRAPPERS && isWrapper(t) && t.getCause() != null; i++) {
            t = t.getCause();
        }
        if (t instanceof Transient || t instanceof TimeoutException) {
            return true;
        }
        if (t instanceof HttpResponseException http) {
            return STATUSES.contains(http.status());
        }
        return t instanceof IOException ? !isLasting(t) : isOfDatabase(t) && Sql.isTransient(t);
    }

    private static boolean isLasting(Throwable t) {
        return LASTING.stream().anyMatch(type -> type.isInstance(t));
    }

    private static boolean isWrapper(@Nullable Throwable t) {
        return t instanceof UncheckedIOException || t instanceof ExecutionException || t instanceof CompletionException;
    }

    /** By name: a program without the module {@code java.sql} never comes to {@link Sql}. */
    private static boolean isOfDatabase(Throwable t) {
        for (Class<?> type = t.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals("java.sql.SQLException")) {
                return true;
            }
        }
        return false;
    }

    /** What is loaded only where there is a database. */
    private static final class Sql {

        /** Connection exceptions, and transactions that were rolled back: deadlocks, serialization failures (SQL:2023). */
        private static final List<String> CLASSES = List.of("08", "40");

        static boolean isTransient(Throwable t) {
            if (t instanceof java.sql.SQLTransientException || t instanceof java.sql.SQLRecoverableException) {
                return true;
            }
            String state = ((SQLException) t).getSQLState();
            return state != null && CLASSES.stream().anyMatch(state::startsWith);
        }
    }
}
