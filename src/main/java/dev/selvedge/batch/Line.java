package dev.selvedge.batch;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A line of a journal: {@code {"key":"…"}}, or with one more field after the key, whose text is taken as it is.
 *
 * <p>It is read as strictly as it is written, without a space more: what somebody has edited by hand into another shape is
 * better refused than misread.
 *
 * @param key the key
 * @param from where the text of the other field begins in the bytes that were read
 * @param length how many bytes it has; {@link #NONE} if there is no such field
 */
record Line(String key, int from, int length) {

    static final int NONE = -1;

    private static final byte[] START = bytes("{\"key\":\"");

    private static final String ESCAPED = "\"\\/bfnrt";
    private static final String MEANING = "\"\\/\b\f\n\r\t";
    private static final int CONTROLS = 0x20;
    private static final int HEX_DIGITS = 4;
    private static final int HEX = 16;

    // Writing.

    /** The bytes of a line, with the line break. */
    static byte[] of(String key, String field, @Nullable String text) {
        StringBuilder s = new StringBuilder(key.length() + (text == null ? 0 : text.length()) + HEX * 2);
        s.append("{\"key\":");
        quote(s, key);
        if (text != null) {
            s.append(",\"").append(field).append("\":").append(text);
        }
        return bytes(s.append("}\n").toString());
    }

    static String quoted(String text) {
        StringBuilder s = new StringBuilder(text.length() + 2);
        quote(s, text);
        return s.toString();
    }

    private static void quote(StringBuilder s, String text) {
        s.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int known = c == '/' ? -1 : MEANING.indexOf(c);
            if (known >= 0) {
                s.append('\\').append(ESCAPED.charAt(known));
            } else if (c < CONTROLS || isAlone(text, i)) {
                s.append(String.format("\\u%04x", (int) c));
            } else {
                s.append(c);
            }
        }
        s.append('"');
    }

    /** Whether half of a surrogate pair stands there without the other: it has no bytes in UTF-8. */
    private static boolean isAlone(String text, int i) {
        char c = text.charAt(i);
        if (Character.isHighSurrogate(c)) {
            return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
        }
        return Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
    }

    /** Why a text cannot stand in a line as it is, for people; null if it can. */
    static @Nullable String flawOf(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n' || c == '\r') {
                return "a line break";
            }
            if (c == 0) {
                return "a zero character";
            }
            if (isAlone(text, i)) {
                return "half of a surrogate pair";
            }
        }
        return null;
    }

    // Reading.

    /** The line in these bytes, which have no line break; null if there is none. */
    static @Nullable Line parse(byte[] b, int start, int end, String field) {
        if (!hasAt(b, start, end, START) || holdsZero(b, start, end)) {
            return null;
        }
        int keyStart = start + START.length;
        int keyEnd = endOfString(b, keyStart, end);
        String key = keyEnd < 0 ? null : unescaped(b, keyStart, keyEnd);
        if (key == null || b[end - 1] != '}') {
            return null;
        }
        int rest = keyEnd + 1;
        if (rest == end - 1) {
            return new Line(key, rest, NONE);
        }
        byte[] name = bytes(",\"" + field + "\":");
        int text = rest + name.length;
        return hasAt(b, rest, end - 1, name) ? new Line(key, text, end - 1 - text) : null;
    }

    /** Whether these bytes may be what is left of a line that was not written to its end: its beginning, or zeros. */
    static boolean isTorn(byte[] b, int start, int end) {
        int n = Math.min(end - start, START.length);
        return Arrays.equals(b, start, start + n, START, 0, n) || b[start] == 0;
    }

    /** The string in these bytes, which stands in quotes; null if there is none. */
    static @Nullable String unquoted(byte[] b, int start, int end) {
        boolean isString = end - start >= 2 && b[start] == '"' && endOfString(b, start + 1, end) == end - 1;
        return isString ? unescaped(b, start + 1, end - 1) : null;
    }

    /** The text in these bytes; null if they are not UTF-8. */
    static @Nullable String text(byte[] b, int start, int end) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(b, start, end - start))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** As what has never been written to the disk does; no line of ours holds one. */
    static boolean holdsZero(byte[] b, int start, int end) {
        for (int i = start; i < end; i++) {
            if (b[i] == 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasAt(byte[] b, int start, int end, byte[] wanted) {
        return end - start >= wanted.length && Arrays.equals(b, start, start + wanted.length, wanted, 0, wanted.length);
    }

    /** Where the quote is that ends a string; negative if there is none, or something stands before it that must not. */
    private static int endOfString(byte[] b, int start, int end) {
        for (int i = start; i < end; i++) {
            if (b[i] == '"') {
                return i;
            }
            if (b[i] >= 0 && b[i] < CONTROLS) {
                return -1;
            }
            if (b[i] == '\\') {
                i++;
            }
        }
        return -1;
    }

    private static @Nullable String unescaped(byte[] b, int start, int end) {
        String s = text(b, start, end);
        if (s == null || s.indexOf('\\') < 0) {
            return s;
        }
        StringBuilder plain = new StringBuilder(s.length());
        for (int i = 0; i < s.length(); i++) {
            if (s.charAt(i) != '\\') {
                plain.append(s.charAt(i));
                continue;
            }
            char c = s.charAt(++i); // a string does not end with a backslash: it would have hidden the quote
            int known = ESCAPED.indexOf(c);
            if (known >= 0) {
                plain.append(MEANING.charAt(known));
            } else {
                int code = c == 'u' ? hex(s, i + 1) : -1;
                if (code < 0) {
                    return null;
                }
                plain.append((char) code);
                i += HEX_DIGITS;
            }
        }
        return plain.toString();
    }

    private static int hex(String s, int at) {
        if (at + HEX_DIGITS > s.length()) {
            return -1;
        }
        int code = 0;
        for (int i = at; i < at + HEX_DIGITS; i++) {
            int digit = s.charAt(i) < 0x80 ? Character.digit(s.charAt(i), HEX) : -1;
            if (digit < 0) {
                return -1;
            }
            code = code * HEX + digit;
        }
        return code;
    }

    private static byte[] bytes(String s) {
        return s.getBytes(StandardCharsets.UTF_8);
    }
}
