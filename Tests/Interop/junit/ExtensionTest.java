import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import aldaba.testing.Aldaba;
import aldaba.testing.AldabaExtension;
import aldaba.testing.ReceivedRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(AldabaExtension.class)
class ExtensionTest {
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();
    private Aldaba before;
    private Sender sender;

    @BeforeEach
    void prepare(Aldaba aldaba) throws Exception {
        before = aldaba;
        sender = new Sender(aldaba.apns(), aldaba.sslContext(), aldaba.namespace());
    }

    @RepeatedTest(8)
    void eachTestHasItsOwnRequests(Aldaba aldaba) throws Exception {
        assertEquals(before, aldaba, "the test and its preparation have the same");
        assertTrue(SEEN.add(aldaba.namespace()), "namespaces are not used twice");
        assertEquals(List.of(), aldaba.received().list());
        for (int index = 0; index < 3; index++) {
            assertEquals(200, sender.send(aldaba.newDeviceToken(), "Hello " + index));
        }
        List<ReceivedRequest> requests = aldaba.received().interfaceName("apns").status(200).waitFor(3);
        assertEquals(List.of("Hello 2", "Hello 1", "Hello 0"), requests.stream().map(ReceivedRequest::title).toList());
        assertEquals("Hello 1", aldaba.received().match("aps.alert.title", "Hello 1").waitForOne().title());
        assertEquals(2, aldaba.received().since(requests.get(2).number()).list().size());
        assertEquals("alert", requests.get(0).header("apns-push-type"));
    }

    @Test
    void anotherNamespaceHasNothingOfThis(Aldaba aldaba) throws Exception {
        assertEquals(200, sender.send(aldaba.newDeviceToken(), "Hello"));
        assertEquals(1, aldaba.received().status(200).waitFor(1).size());
        Aldaba other = aldaba.inNamespace("DEF123GHIJ");
        assertEquals(List.of(), other.received().list());
        other.reset();
        assertEquals(1, aldaba.received().list().size());
        aldaba.reset();
        assertEquals(List.of(), aldaba.received().list());
    }

    @Test
    void whatDoesNotComeFailsTheTestAndNamesWhatCame(Aldaba aldaba) throws Exception {
        assertEquals(200, sender.send(aldaba.newDeviceToken(), "Only"));
        AssertionError error = assertThrows(
            AssertionError.class, () -> aldaba.received().waitFor(2, Duration.ofSeconds(1)));
        assertTrue(error.getMessage().startsWith("of 2 requests 1 came within 1 s: [{"), error.getMessage());
        assertTrue(error.getMessage().contains("\"title\":\"Only\""), error.getMessage());
    }

    @Test
    void aFaultIsForItsRequestsAlone(Aldaba aldaba) throws Exception {
        String device = aldaba.newDeviceToken();
        aldaba.fault().token(device).status(503).reason("ServiceUnavailable").skip(1).times(2).add();
        assertEquals(200, sender.send(aldaba.newDeviceToken(), "Another"));
        for (int status : new int[] {200, 503, 503, 200}) {
            assertEquals(status, sender.send(device, "Hello"));
        }
        ReceivedRequest refused = aldaba.received().token(device).status(503).waitFor(2).get(0);
        assertEquals("ServiceUnavailable", refused.reason());
        assertEquals("refused", refused.state());
    }

    @Test
    void theClockMovesOn(Aldaba aldaba) {
        Instant now = aldaba.clock().now();
        Instant later = aldaba.clock().advance(Duration.ofMinutes(2));
        assertFalse(later.isBefore(now.plus(Duration.ofMinutes(2))));
        assertTrue(later.isBefore(now.plus(Duration.ofMinutes(4))));
    }
}
