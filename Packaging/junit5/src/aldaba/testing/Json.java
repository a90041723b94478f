package aldaba.testing;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON (RFC 8259) as the JDK's own types: maps, lists, strings, {@link BigDecimal}, booleans and {@code null}.
 */
final class Json {
    private static final int DEEPEST = 256;
    private final String text;
    private int index;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** Reads one value; throws {@link IllegalArgumentException} for a text that is none. */
    static Object read(String text) {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.blanks();
        if (reader.index < text.length()) {
            throw reader.fault();
        }
        return value;
    }

    /** Finds the value at a dotted path such as {@code aps.alert.title} or {@code items.0.id}; {@code null} where there is none. */
    static Object at(Object value, String path) {
        for (String name : path.split("\\.")) {
            if (value instanceof Map<?, ?> members) {
                value = members.get(name);
            } else if (value instanceof List<?> items && name.matches("\\d{1,9}") && Integer.parseInt(name) < items.size()) {
                value = items.get(Integer.parseInt(name));
            } else {
                return null;
            }
        }
        return value;
    }

    /** Writes a value. */
    static String write(Object value) {
        StringBuilder text = new StringBuilder();
        write(value, text);
        return text.toString();
    }

    private static void write(Object value, StringBuilder text) {
        if (value instanceof Map<?, ?> members) {
            String separator = "{";
            for (Map.Entry<?, ?> member : members.entrySet()) {
                text.append(separator);
                write(member.getKey().toString(), text);
                text.append(':');
                write(member.getValue(), text);
                separator = ",";
            }
            text.append(members.isEmpty() ? "{}" : "}");
        } else if (value instanceof Iterable<?> items) {
            String separator = "";
            text.append('[');
            for (Object item : items) {
                text.append(separator);
                write(item, text);
                separator = ",";
            }
            text.append(']');
        } else if (value instanceof CharSequence characters) {
            quote(characters, text);
        } else {
            text.append(value);
        }
    }

    private static void quote(CharSequence characters, StringBuilder text) {
        text.append('"');
        characters.chars().forEach(unit -> {
            if (unit == '"' || unit == '\\') {
                text.append('\\').append((char) unit);
            } else if (unit < 0x20 || Character.isSurrogate((char) unit)) {
                text.append(String.format("\\u%04x", unit));
            } else {
                text.append((char) unit);
            }
        });
        text.append('"');
    }

    private Object value() {
        blanks();
        switch (index < text.length() ? text.charAt(index) : '\0') {
            case '{':
                return members();
            case '[':
                return items();
            case '"':
                return string();
            case 't':
                return literal("true", true);
            case 'f':
                return literal("false", false);
            case 'n':
                return literal("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> members() {
        Map<String, Object> members = new LinkedHashMap<>();
        if (opens('}')) {
            return members;
        }
        do {
            blanks();
            String name = string();
            blanks();
            expect(':');
            members.put(name, value());
        } while (continues('}'));
        return members;
    }

    private List<Object> items() {
        List<Object> items = new ArrayList<>();
        if (opens(']')) {
            return items;
        }
        do {
            items.add(value());
        } while (continues(']'));
        return items;
    }

    /** Passes the opening bracket; answers whether the closing one follows at once. */
    private boolean opens(char closing) {
        if (++depth > DEEPEST) {
            throw fault();
        }
        index++;
        blanks();
        if (index < text.length() && text.charAt(index) == closing) {
            index++;
            depth--;
            return true;
        }
        return false;
    }

    private boolean continues(char closing) {
        blanks();
        if (index < text.length() && text.charAt(index) == ',') {
            index++;
            return true;
        }
        expect(closing);
        depth--;
        return false;
    }

    private String string() {
        expect('"');
        StringBuilder read = new StringBuilder();
        while (index < text.length()) {
            char unit = text.charAt(index++);
            if (unit == '"') {
                return read.toString();
            }
            if (unit < 0x20) {
                throw fault();
            }
            read.append(unit == '\\' ? escaped() : unit);
        }
        throw fault();
    }

    private char escaped() {
        char unit = index < text.length() ? text.charAt(index++) : '\0';
        int known = "\"\\/bfnrt".indexOf(unit);
        if (known >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(known);
        }
        if (unit != 'u' || index + 4 > text.length() || !text.substring(index, index + 4).matches("[0-9a-fA-F]{4}")) {
            throw fault();
        }
        index += 4;
        return (char) Integer.parseInt(text.substring(index - 4, index), 16);
    }

    private Object literal(String name, Object value) {
        if (!text.startsWith(name, index)) {
            throw fault();
        }
        index += name.length();
        return value;
    }

    private BigDecimal number() {
        int begin = index;
        while (index < text.length() && "+-.0123456789eE".indexOf(text.charAt(index)) >= 0) {
            index++;
        }
        String number = text.substring(begin, index);
        if (!number.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d{1,4})?")) {
            throw fault();
        }
        return new BigDecimal(number);
    }

    private void blanks() {
        while (index < text.length() && " \t\r\n".indexOf(text.charAt(index)) >= 0) {
            index++;
        }
    }

    private void expect(char expected) {
        if (index >= text.length() || text.charAt(index) != expected) {
            throw fault();
        }
        index++;
    }

    private IllegalArgumentException fault() {
        return new IllegalArgumentException("no JSON at character " + index);
    }
}
