package dev.selvedge.batch;

import dev.selvedge.Task;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A file of the items of a long job that are done, so that the job can be killed at any moment and started again: what is
 * done is not done twice.
 *
 * {@snippet class="dev.selvedge.examples.JournalExamples" region="import"}
 *
 * <p>An item counts as done when its line is in the file as safely as {@link Sync} says: as a rule, on the disk. If the
 * program is killed after that, by whatever signal, the next one that opens the file knows it. An item that was worked on
 * when the program was killed is worked on again: <b>so the work on one item must bear being done twice</b>. Results are
 * kept too, if it is said how to write and read them:
 *
 * {@snippet class="dev.selvedge.examples.JournalExamples" region="values"}
 *
 * <p><b>Files.</b> The journal is JSON Lines in UTF-8, one object a line, {@code {"key":"…","value":…}}: the value is the
 * encoder's text as it is. Of a key that stands there twice the first line counts. Failures are in a file beside it with
 * {@code .failed} at the end of its name, {@code {"key":"…","error":"…"}}: the last line counts. A file with {@code
 * .lock} at the end keeps others away, and stays.
 *
 * <p><b>Errors.</b> If a line cannot be written (the disk is full) or synced, that throws {@link UncheckedIOException};
 * the line is cut off again as far as possible, and the journal is <em>broken</em>: it takes nothing any more, and tells
 * each who comes of the same cause. Nothing is tried again, since a sync that failed once may seem to succeed the next
 * time. All that was acknowledged before is there when the file is opened again. As part of a job over many items such an
 * error ends the job: see {@link Task.Recorded}.
 *
 * <p>All methods are safe from any thread. None is cut short by an interrupt: the flag stays set. Some 130 bytes are kept
 * in memory for a key of 20 characters; values are read from the file when they are asked for.
 *
 * @param <I> an item
 * @since 0.1
 */
public final class Journal<I extends @Nullable Object> implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger("dev.selvedge");

    private static final String VALUE = "value";

    /** What follows the value in its line. */
    private static final int AFTER_VALUE = "}\n".length();

    private final Path path;
    private final Function<? super I, String> key;
    private final Claim claim;
    private final Disk.Handle file;
    private final LineFile done;
    private final FailureLog failures;
    private final Recovery recovery;

    /** Changed under the lock, so that each key is written once. */
    private final Map<String, Entry> entries;

    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by the lock. */
    private boolean closed;

    private Journal(Path path, Function<? super I, String> key, Sync sync, Disk disk, Place place, Claim claim)
            throws IOException {
        this.path = path;
        this.key = key;
        this.claim = claim;
        this.entries = new ConcurrentHashMap<>();
        this.file = disk.open(place.journal());
        try {
            long length = file.length();
            long good = Scan.of(
                    file,
                    toString(),
                    VALUE,
                    (line, bytes, end) -> entries.putIfAbsent(line.key(), new Entry(end, line.length())));
            this.failures = FailureLog.open(disk, place.failures(), sync);
            try {
                this.done = new LineFile(toString(), file, sync, good);
            } catch (Throwable e) {
                closing(failures::close, e);
                throw e;
            }
            entries.keySet().forEach(failures::forget);
            this.recovery = new Recovery(entries.size(), failures.errors().size(), length - good, failures.cut);
        } catch (Throwable e) {
            closing(file::close, e);
            throw e;
        }
    }

    /**
     * Opens a journal of which each line is on the disk before its item counts as done: {@link Sync#EVERY}.
     *
     * @param <I> an item
     * @param file made if there is none, in a directory that exists
     * @param key what tells an item from the others, in each run the same; see {@link #open(Path, Function, Sync)}
     * @return an open journal, with all that is in the file
     * @throws IllegalStateException if the journal is open already, in this process or another
     * @throws UncheckedIOException if a file cannot be read or written, is damaged, or is no journal; if it is a directory,
     *     a pipe, a device, or a link to nothing; or if there is no directory for it. The message says which
     */
    public static <I extends @Nullable Object> Journal<I> open(Path file, Function<? super I, String> key) {
        return open(file, key, Sync.EVERY);
    }

    /**
     * Opens a journal. A last line that was not written to its end is cut off, and said so in the log, as a warning, and
     * in {@link #recovery()}. A line that makes no sense with others after it is an error, and nothing is changed then.
     *
     * @param <I> an item
     * @param file made if there is none, in a directory that exists: a slip in a path should not begin all work anew
     * @param key what tells an item from the others, in each run the same; any text, the empty one, line breaks, zero
     *     characters and halves of surrogate pairs included: they are escaped. Called from any thread, more than once for
     *     an item
     * @param sync when lines are given to the disk
     * @return an open journal, with all that is in the file
     * @throws IllegalStateException if the journal is open already, in this process or another
     * @throws UncheckedIOException if a file cannot be read or written, is damaged, or is no journal; if it is a directory,
     *     a pipe, a device, or a link to nothing; or if there is no directory for it. The message says which
     */
    public static <I extends @Nullable Object> Journal<I> open(Path file, Function<? super I, String> key, Sync sync) {
        return open(file, key, sync, Disk.REAL);
    }

    static <I extends @Nullable Object> Journal<I> open(
            Path file, Function<? super I, String> key, Sync sync, Disk disk) {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(sync, "sync");
        try {
            Place place = Place.of(file);
            Claim claim = Claim.on(file, place.lock());
            Journal<I> journal;
            try {
                journal = new Journal<>(file, key, sync, disk, place, claim);
            } catch (Throwable e) {
                closing(claim::release, e);
                throw e;
            }
            journal.recovery.log(journal.toString());
            return journal;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open the journal " + file + ": " + Words.why(e), e);
        }
    }

    /** Closes something on the way out by an exception of ours. */
    static void closing(Closing what, Throwable why) {
        try {
            what.close();
        } catch (IOException | RuntimeException e) {
            why.addSuppressed(e);
        }
    }

    /** What closes something. */
    @FunctionalInterface
    interface Closing {
        void close() throws IOException;
    }

    // Work.

    /**
     * The items that are not done: those whose key is not in the journal, each key once. It is lazy: each item is looked
     * at when it is asked for, so the source may be endless, and what was done meanwhile is left out. An iterator
     * remembers the keys that it has given.
     *
     * @param items iterated over once by each iterator of the result
     * @return a view, whose iterators are for one thread at a time and throw {@code IllegalStateException} if the key
     *     function throws or gives null
     */
    public Iterable<I> pending(Iterable<? extends I> items) {
        Objects.requireNonNull(items, "items");
        return () -> new Pending(items.iterator());
    }

    /**
     * Work whose successes are journalled by their keys, and whose failures by their errors. It is to be given items that
     * are not done: for one that is, there is no result to be given, and that is an {@code IllegalStateException}.
     *
     * @param <R> the result for an item, which is not kept
     * @param <X> the checked exception of the work
     * @param fn the work on one item
     * @return a {@link Task.Recorded}, which the calls over many items make use of: an item whose record has been written
     *     is done. Its {@code known} and {@code record} throw {@code IllegalStateException} if the journal is closed, or
     *     the key function throws or gives null; and {@code UncheckedIOException} if the journal is broken
     */
    public <R extends @Nullable Object, X extends Exception> Task.Of<I, R, X> recording(
            Task.Of<? super I, ? extends R, ? extends X> fn) {
        return new Recording<I, R, X>(this, Objects.requireNonNull(fn, "fn"), null);
    }

    /**
     * Work whose results are journalled too: an item that is done gives the result that is in the file, and is not worked
     * on. So all results of a job come together, whichever run they are from.
     *
     * @param <R> the result for an item
     * @param <X> the checked exception of the work
     * @param fn the work on one item
     * @param encode makes a text of a result: one line, without a line break, a zero character ({@code \u005cu0000}) or
     *     half of a surrogate pair, since the file is text in UTF-8; JSON, if the file is to be JSON Lines, whose encoders
     *     escape all three. Called on the thread of the item
     * @param decode makes a result of that text. Called on the thread of the item
     * @return a {@link Task.Recorded} as the other method has it. It throws {@code IllegalStateException} too if {@code
     *     encode} or {@code decode} throws, if {@code encode} gives null or a text that is not as it must be, or if a line
     *     has no value
     */
    public <R extends @Nullable Object, X extends Exception> Task.Of<I, R, X> recording(
            Task.Of<? super I, ? extends R, ? extends X> fn,
            Function<? super R, String> encode,
            Function<String, ? extends R> decode) {
        Objects.requireNonNull(fn, "fn");
        Objects.requireNonNull(encode, "encode");
        return new Recording<I, R, X>(
                this, fn, new Recording.Codec<R>(encode, Objects.requireNonNull(decode, "decode")));
    }

    // Reading it.

    /**
     * Whether an item is done.
     *
     * @param item any item
     * @return true if its key is in the journal, also after that was closed
     * @throws IllegalStateException if the key function throws or gives null
     */
    public boolean contains(I item) {
        return entries.containsKey(keyOf(item));
    }

    /**
     * How many keys are done.
     *
     * @return those that were in the file, and those that came since
     */
    public int size() {
        return entries.size();
    }

    /**
     * What has failed, in this run or an earlier one, and has not succeeded since.
     *
     * @return the latest error of each key as text, the latest last; unmodifiable, as of now
     */
    public Map<String, String> failures() {
        Map<String, String> failed = new LinkedHashMap<>(failures.errors());
        failed.keySet().removeAll(entries.keySet());
        return Collections.unmodifiableMap(failed);
    }

    /**
     * What was found when the journal was opened.
     *
     * @return the same at each call
     */
    public Recovery recovery() {
        return recovery;
    }

    /**
     * Gives all that was written to the disk, and the journal to others. Whatever is being recorded meanwhile is
     * recorded, or refused. Later calls do nothing.
     *
     * @throws UncheckedIOException if the disk does not take it, or if anything could not be written or synced before: a
     *     job that seems to have gone well has not
     */
    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return; // it may be somebody else's by now
            }
            closed = true;
        } finally {
            lock.unlock();
        }
        UncheckedIOException first = null;
        for (Closing part : List.<Closing>of(done::close, failures::close, claim::release)) {
            try {
                part.close();
            } catch (UncheckedIOException e) {
                first = joined(first, e);
            } catch (IOException e) {
                first = joined(first, new UncheckedIOException("cannot unlock " + this + ": " + Words.why(e), e));
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private static UncheckedIOException joined(@Nullable UncheckedIOException first, UncheckedIOException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }

    @Override
    public String toString() {
        return "the journal " + path;
    }

    // For what records.

    String keyOf(I item) {
        String k;
        try {
            k = key.apply(item);
        } catch (Exception e) {
            throw broke("the key function", "the item", item, e);
        }
        if (k == null) {
            throw gaveNull("the key function", item);
        }
        return k;
    }

    IllegalStateException broke(String what, String on, @Nullable Object item, Exception e) {
        return new IllegalStateException(what + " of " + this + " threw " + e + " for " + on + " " + Words.of(item), e);
    }

    IllegalStateException gaveNull(String what, @Nullable Object item) {
        return new IllegalStateException(what + " of " + this + " gave null for the item " + Words.of(item));
    }

    @Nullable
    Entry entry(String k) {
        return entries.get(k);
    }

    /** Throws if nothing can be recorded any more. */
    void check(String k) {
        done.check(k);
        failures.check(k);
    }

    /** Returns when the key is in the file, as safely as was promised, and once. */
    void succeeded(I item, @Nullable String value) {
        String k = keyOf(item);
        byte[] line = Line.of(k, VALUE, value);
        Line written = Objects.requireNonNull(Line.parse(line, 0, line.length - 1, VALUE)); // as it will be read
        Entry entry;
        lock.lock();
        try {
            entry = entries.get(k);
            if (entry == null) {
                check(k);
                entry = new Entry(done.append(k, line), written.length());
                entries.put(k, entry);
                failures.forget(k);
            }
        } finally {
            lock.unlock();
        }
        try {
            done.acknowledge(k, entry.end);
        } catch (UncheckedIOException e) {
            boolean unused = entries.remove(k, entry); // it was cut off again
            throw e;
        }
    }

    void failed(I item, Throwable error) {
        String k = keyOf(item);
        done.check(k);
        if (!entries.containsKey(k)) {
            failures.record(k, error);
        }
    }

    /** The text of a value, read from the file. */
    String valueOf(String k, Entry entry) {
        if (entry.length == Line.NONE) {
            throw new IllegalStateException(
                    this + " has the key " + Words.quoted(k) + " without a value: it was recorded without an encoder");
        }
        try {
            byte[] bytes = new byte[entry.length];
            int have = 0;
            while (have < bytes.length) {
                int n = file.read(entry.end - AFTER_VALUE - bytes.length + have, bytes, have, bytes.length - have);
                if (n <= 0) {
                    throw new IOException("the file has become shorter");
                }
                have += n;
            }
            String text = Line.text(bytes, 0, bytes.length);
            if (text == null) {
                throw new IOException("it is no UTF-8");
            }
            return text;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot read the value of the key " + Words.quoted(k) + " from " + this + ": " + Words.why(e), e);
        }
    }

    /**
     * Where a key stands in the file.
     *
     * @param end the place after its line
     * @param length how many bytes its value has, which stands at the end of the line; or {@link Line#NONE}
     */
    record Entry(long end, int length) {}

    /** The items of a source that are not done. */
    private final class Pending implements Iterator<I> {

        private final Iterator<? extends I> items;
        private final Set<String> given = new HashSet<>();
        private @Nullable Next<I> next;

        Pending(Iterator<? extends I> items) {
            this.items = items;
        }

        @Override
        public boolean hasNext() {
            while (next == null && items.hasNext()) {
                I item = items.next();
                String k = keyOf(item);
                if (!entries.containsKey(k) && given.add(k)) {
                    next = new Next<>(item);
                }
            }
            return next != null;
        }

        @Override
        public I next() {
            if (!hasNext() || next == null) {
                throw new NoSuchElementException("nothing is pending any more");
            }
            I item = next.item;
            next = null;
            return item;
        }
    }

    /** An item that was found, and may be null. */
    private record Next<I extends @Nullable Object>(I item) {}

    /**
     * What was found in the files of a journal when it was opened.
     *
     * @param entries how many keys are done
     * @param failures how many keys have failed and not succeeded since
     * @param cut how many bytes were cut off from the end of the journal: a line that was not written to its end
     * @param cutFromFailures the same for the file of failures
     */
    public record Recovery(int entries, int failures, long cut, long cutFromFailures) {

        /**
         * Whether a line was found that was not written to its end, and cut off: the program was killed while it wrote, or
         * the power failed.
         *
         * @return true if any bytes were cut off
         */
        public boolean wasTorn() {
            return cut > 0 || cutFromFailures > 0;
        }

        void log(String journal) {
            if (wasTorn()) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        journal + " was not written to its end: " + cut + " bytes of it and " + cutFromFailures
                                + " of its failures were cut off; entries left: " + entries);
            }
        }
    }

    /**
     * When the lines of a journal are given to the disk, and so what a line is safe from once its item counts as done.
     * Immutable.
     */
    public static final class Sync {

        /**
         * Each line is on the disk before its item counts as done: safe from a power cut. Those that come together share
         * one sync, so the more items are worked on at the same time, the less it costs.
         */
        public static final Sync EVERY = new Sync("every", Duration.ZERO);

        /**
         * Lines are given to the operating system, and to the disk only at the end: safe from a kill of the program, at
         * next to no cost.
         */
        public static final Sync OS = new Sync("os", null);

        private final String name;

        /** Zero for at once, null for never. */
        private final @Nullable Duration delay;

        private Sync(String name, @Nullable Duration delay) {
            this.name = name;
            this.delay = delay;
        }

        /**
         * Lines are given to the operating system at once, and to the disk not much later: safe from a kill of the
         * program; a power cut may cost what was done in that time.
         *
         * @param delay how long after the first line of those that are not on the disk the sync begins, on the clock of
         *     the scope in which that line was written
         * @return a value
         * @throws IllegalArgumentException if {@code delay} is zero or negative
         */
        public static Sync interval(Duration delay) {
            if (Objects.requireNonNull(delay, "delay").isNegative() || delay.isZero()) {
                throw new IllegalArgumentException("delay must be positive: " + delay);
            }
            return new Sync("interval " + delay, delay);
        }

        boolean isEvery() {
            return this == EVERY;
        }

        boolean isLeftToSystem() {
            return this == OS;
        }

        /** How long after a line the sync is to begin; null if it is not to be waited for. */
        @Nullable
        Duration delay() {
            return isEvery() ? null : delay;
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
