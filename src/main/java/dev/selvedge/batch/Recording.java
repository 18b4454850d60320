package dev.selvedge.batch;

import dev.selvedge.Outcome;
import dev.selvedge.Task;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Work on the items of a journal.
 *
 * @param <I> an item
 * @param <R> the result for an item
 * @param <X> the checked exception of the work
 */
final class Recording<I extends @Nullable Object, R extends @Nullable Object, X extends Exception>
        implements Task.Recorded<I, R, X> {

    private final Journal<I> journal;
    private final Task.Of<? super I, ? extends R, ? extends X> fn;
    private final @Nullable Codec<R> codec;

    Recording(Journal<I> journal, Task.Of<? super I, ? extends R, ? extends X> fn, @Nullable Codec<R> codec) {
        this.journal = journal;
        this.fn = fn;
        this.codec = codec;
    }

    /**
     * How values become text, and text values.
     *
     * @param encode gives one line
     * @param decode reads it
     */
    record Codec<R extends @Nullable Object>(
            Function<? super R, String> encode, Function<String, ? extends R> decode) {}

    @Override
    public Outcome.@Nullable Success<R> known(I item) {
        String key = journal.keyOf(item);
        journal.check(key); // rather than work on what cannot be recorded
        Journal.Entry entry = journal.entry(key);
        if (entry == null) {
            return null;
        }
        if (codec == null) {
            throw new IllegalStateException(journal + " has the key " + Words.quoted(key)
                    + " already, without a value to give for the item " + Words.of(item)
                    + ": give only what is pending(items), or an encoder and a decoder");
        }
        String text = journal.valueOf(key, entry);
        try {
            return new Outcome.Success<>(codec.decode.apply(text));
        } catch (Exception e) {
            throw journal.broke("the decoder", "the value of the item", item, e);
        }
    }

    @Override
    public R work(I item) throws X, InterruptedException {
        return fn.call(item);
    }

    @Override
    public void record(I item, Outcome<R> outcome) {
        switch (outcome) {
            case Outcome.Success<R> s ->
                journal.succeeded(item, codec == null ? null : encoded(codec, item, s.value()));
            case Outcome.Failure<R> f -> journal.failed(item, f.error());
            case Outcome.Cancelled<R> c ->
                throw new IllegalArgumentException(
                        "the item " + Words.of(item) + " was cut off, so there is nothing to record: " + c.reason());
        }
    }

    private String encoded(Codec<R> codec, I item, R value) {
        String text;
        try {
            text = codec.encode.apply(value);
        } catch (Exception e) {
            throw journal.broke("the encoder", "the item", item, e);
        }
        if (text == null) {
            throw journal.gaveNull("the encoder", item);
        }
        String flaw = Line.flawOf(text);
        if (flaw != null) {
            throw new IllegalStateException(
                    "the encoder of " + journal + " gave " + flaw + " for the key " + Words.quoted(journal.keyOf(item))
                            + ", and a value must be one line of text: " + Words.quoted(text));
        }
        return text;
    }
}
