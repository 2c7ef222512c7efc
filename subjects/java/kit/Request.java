package kit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A request line, taken apart. */
final class Request {
    private static final int LINE_MOST = 4096;

    final List<String> words = new ArrayList<>();
    private final Map<String, String> fields = new HashMap<>();

    /** The next line without its end, null at the end of input, where half a line is none. */
    static String line(InputStream input) throws IOException, Refused {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int length = 0;
        for (int next = input.read(); next != '\n'; next = input.read()) {
            if (next < 0) {
                return null;
            }
            if (++length <= LINE_MOST) {
                line.write(next);
            }
        }
        if (length > LINE_MOST) {
            throw Refused.badArgument("the request is longer than " + LINE_MOST + " bytes");
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line.toByteArray())).toString();
        } catch (CharacterCodingException error) {
            throw Refused.badArgument("the request is not UTF-8");
        }
    }

    Request(String line) throws Refused {
        for (String word : line.split(" ", -1)) {
            add(word);
        }
        if (words.isEmpty()) {
            throw new Refused("unknown-request", "the line begins with a field; it must begin with a verb");
        }
    }

    private void add(String word) throws Refused {
        int equals = word.indexOf('=');
        if (word.isEmpty()) {
            throw Refused.badArgument("words are separated by single spaces");
        }
        if (equals >= 0) {
            String key = word.substring(0, equals);
            if (fields.put(key, word.substring(equals + 1)) != null) {
                throw Refused.badArgument(key + " is given twice");
            }
        } else if (!fields.isEmpty()) {
            throw Refused.badArgument("'" + word + "' stands after a key=value field: positional words come first");
        } else {
            words.add(word);
        }
    }

    String verb() {
        return words.get(0);
    }

    /** A positional word, empty if there are not so many. */
    String word(int index) {
        return index < words.size() ? words.get(index) : "";
    }

    /** Refuses unless there are so many words after the verb. */
    Request expect(int count, String usage) throws Refused {
        if (words.size() != count + 1) {
            throw Refused.badArgument("write: " + usage);
        }
        return this;
    }

    boolean has(String key) {
        return fields.containsKey(key);
    }

    long number(String key, long least, long most) throws Refused {
        if (!has(key)) {
            throw Refused.badArgument(key + "= is missing");
        }
        return number(key, fields.get(key), least, most);
    }

    /** Decimal digits only: parseLong alone would take signs. */
    static long number(String what, String text, long least, long most) throws Refused {
        if (text.matches("[0-9]+")) {
            try {
                long value = Long.parseLong(text);
                if (value >= least && value <= most) {
                    return value;
                }
            } catch (NumberFormatException tooLarge) {
                // said below
            }
        }
        throw Refused.badArgument(what + " must be a decimal integer from " + least + " to " + most + ", not '" + text + "'");
    }
}
