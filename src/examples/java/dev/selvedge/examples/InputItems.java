package dev.selvedge.examples;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The items of a stream, which are its lines or end with a zero byte, without the empty ones. They are read as they are
 * asked for, as soon as they are there: a stream may be endless, and pause.
 */
final class InputItems implements Iterator<String> {

    /** More than any system lets an argument have. */
    private static final int LONGEST = 1 << 20;

    /** As arguments of a command will be written. */
    static final Charset CHARSET = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

    private final String name;
    private final InputStream from;
    private final int end;
    private final byte[] buffer = new byte[1 << 13];
    private int at;
    private int limit;
    private long items;
    private String next;

    InputItems(String name, InputStream from, boolean endsWithZero) {
        this.name = name;
        this.from = from;
        this.end = endsWithZero ? 0 : '\n';
    }

    @Override
    public boolean hasNext() {
        try {
            while (next == null && (at < limit || fill())) {
                String item = read();
                next = item.isEmpty() ? null : item;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + name + ": " + e.getMessage(), e);
        }
        return next != null;
    }

    @Override
    public String next() {
        if (!hasNext()) {
            throw new NoSuchElementException(name + " has ended");
        }
        String item = next;
        next = null;
        return item;
    }

    private boolean fill() throws IOException {
        at = 0;
        limit = Math.max(0, from.read(buffer));
        return limit > 0;
    }

    /** Up to the end of the item, or of the stream. There is at least one byte. */
    private String read() throws IOException {
        items++;
        ByteArrayOutputStream begun = new ByteArrayOutputStream(0);
        do {
            int start = at;
            while (at < limit && buffer[at] != end) {
                at++;
            }
            begun.write(buffer, start, at - start);
            if (begun.size() > LONGEST) {
                throw new IOException("item " + items + " has more than " + LONGEST + " bytes");
            }
        } while (at == limit && fill());
        at = Math.min(at + 1, limit);
        return decoded(begun.toByteArray());
    }

    private String decoded(byte[] item) throws IOException {
        try {
            return CHARSET.newDecoder().decode(ByteBuffer.wrap(item)).toString();
        } catch (CharacterCodingException e) {
            throw new IOException(
                    "item " + items + " is no text in " + CHARSET + ", the encoding of LC_ALL or LANG", e);
        }
    }
}
