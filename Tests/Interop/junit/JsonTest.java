package aldaba.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void everyKindOfValueIsRead() {
        Object value = Json.read(" {\"a\": [1, -2.5e3, \"\\u00e9\\n\\ud83d\\ude00\", true, false, null, {}, []], \"b\" : \"\" } ");
        Map<String, Object> expected = new LinkedHashMap<>();
        expected.put("a", Arrays.asList(
            new BigDecimal("1"), new BigDecimal("-2.5e3"), "é\n😀", true, false, null, Map.of(), List.of()));
        expected.put("b", "");
        assertEquals(expected, value);
    }

    @Test
    void whatIsWrittenIsReadAgain() {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("quote\"back\\slash", Arrays.asList("line\nfeed\u0001", "😀", new BigDecimal("12"), true, null));
        value.put("empty", List.of(Map.of(), List.of()));
        assertEquals(value, Json.read(Json.write(value)));
    }

    @Test
    void whatIsNoJsonIsRefused() {
        for (String text : List.of(
            "", "{", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":1,}", "01", "1.", "+1", "tru", "\"", "\"\\x\"", "\"\\u12\"", "\"a\nb\"",
            "1 2", "[".repeat(300) + "]".repeat(300))) {
            assertThrows(IllegalArgumentException.class, () -> Json.read(text), text);
        }
    }

    @Test
    void aPathFindsMembersAndItems() {
        Object value = Json.read("{\"a\": {\"b\": [10, {\"c\": \"d\"}]}}");
        assertEquals("d", Json.at(value, "a.b.1.c"));
        assertNull(Json.at(value, "a.b.2"));
        assertNull(Json.at(value, "a.x.c"));
        assertNull(Json.at(value, "a.b.1.c.e"));
    }
}
