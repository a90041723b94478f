package aldaba.testing;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** A fault to provoke: which requests it is for, and what becomes of them. {@link #add()} makes it. */
public final class Fault {
    private final ServerConnection server;
    private final Map<String, Object> members = new LinkedHashMap<>();

    Fault(ServerConnection server, String namespace) {
        this.server = server;
        members.put("namespace", namespace);
    }

    /** Selects requests to one device token. */
    public Fault token(String token) {
        return with("token", token);
    }

    /** Selects requests of one app: a bundle id, or a project. */
    public Fault app(String app) {
        return with("app", app);
    }

    /** Sets the number of requests that get it, 0 for all; 1 without it. */
    public Fault times(int times) {
        return with("times", times);
    }

    /** Lets the first requests pass. */
    public Fault skip(int requests) {
        return with("skip", requests);
    }

    /** Answers with a status. */
    public Fault status(int status) {
        return with("status", status);
    }

    /** Answers with a reason, such as {@code TooManyRequests}. */
    public Fault reason(String reason) {
        return with("reason", reason);
    }

    /** Asks the sender to wait. */
    public Fault retryAfter(Duration time) {
        return with("retryAfter", time.toSeconds());
    }

    /** Answers later. */
    public Fault delay(Duration time) {
        return with("delay", time.toMillis());
    }

    /** Sets another action than an answer: {@code goaway}, {@code cut}, {@code silence} or {@code refuse-stream}, for example. */
    public Fault action(String action) {
        return with("action", action);
    }

    /** Sets any other member of the fault, as the server's API names it. */
    public Fault with(String member, Object value) {
        members.put(member, value);
        return this;
    }

    /** Makes the fault, and returns its id. It ends with the test. */
    public String add() {
        return String.valueOf(Json.at(server.ask("POST", "/v1/faults", members, null), "id"));
    }
}
