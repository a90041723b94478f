package aldaba.testing;

import java.util.Map;

/** A request that a sender made, and the server's answer. */
public final class ReceivedRequest {
    private final Object members;

    ReceivedRequest(Object members) {
        this.members = members;
    }

    /** The request's number; later requests have higher ones. */
    public long number() {
        return ((Number) at("number")).longValue();
    }

    /** {@code apns}, {@code fcm}, {@code oauth} or another of the server's interfaces. */
    public String interfaceName() {
        return text("interface");
    }

    /** The device token that the request names. */
    public String token() {
        return text("token");
    }

    /** The notification's title. */
    public String title() {
        return text("title");
    }

    /** The notification's body. */
    public String body() {
        return text("body");
    }

    /** {@code refused}, or the last state of the notification's timeline such as {@code acked}. */
    public String state() {
        return text("state");
    }

    /** The status of the answer; 0 where none was given. */
    public int status() {
        return at("answer.status") instanceof Number status ? status.intValue() : 0;
    }

    /** The reason in the answer; {@code null} for an accepted request. */
    public String reason() {
        return text("answer.reason");
    }

    /** A header of the request, its name in lower case; {@code null} where it has none. */
    public String header(String name) {
        return at("headers") instanceof Map<?, ?> headers && headers.get(name) instanceof String value ? value : null;
    }

    /**
     * The value at a dotted path of the entry, such as {@code payload.aps.alert.title}: a string, a
     * {@link java.math.BigDecimal}, a boolean, a map, a list or {@code null}.
     */
    public Object at(String path) {
        return Json.at(members, path);
    }

    /** The entry as JSON. */
    @Override
    public String toString() {
        return Json.write(members);
    }

    private String text(String path) {
        return at(path) instanceof String text ? text : null;
    }
}
