package aldaba.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A question for the requests that were received; each method narrows it. */
public final class Received {
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private final ServerConnection server;
    private final List<String> query = new ArrayList<>();

    Received(ServerConnection server, String namespace) {
        this.server = server;
        with("namespace", namespace);
    }

    /** Requests of one interface, such as {@code apns} or {@code fcm}. */
    public Received interfaceName(String name) {
        return with("interface", name);
    }

    /** Requests for one device token. */
    public Received token(String token) {
        return with("token", token);
    }

    /** Requests for one app: a bundle id, or a project. */
    public Received app(String app) {
        return with("app", app);
    }

    /** Requests with one title. */
    public Received title(String title) {
        return with("title", title);
    }

    /** Requests with one body. */
    public Received body(String body) {
        return with("body", body);
    }

    /** Requests in one state, such as {@code acked} or {@code refused}. */
    public Received state(String state) {
        return with("state", state);
    }

    /** Requests that were answered with one status. */
    public Received status(int status) {
        return with("status", Integer.toString(status));
    }

    /** Requests whose payload has a value at a dotted path, such as {@code aps.alert.title}. */
    public Received match(String path, String value) {
        return with("match", path + "=" + value);
    }

    /** Requests after the one with a number. */
    public Received since(long number) {
        return with("since", Long.toString(number));
    }

    /** The requests that came so far, the newest first. */
    public List<ReceivedRequest> list() {
        Object answer = server.ask("GET", "/v1/received?limit=1000" + parameters(), null);
        List<ReceivedRequest> requests = new ArrayList<>();
        ((List<?>) Json.at(answer, "received")).forEach(entry -> requests.add(new ReceivedRequest(entry)));
        return requests;
    }

    /** Waits for a request, ten seconds at most; fails where none came, or where more than one has come by then. */
    public ReceivedRequest waitForOne() {
        List<ReceivedRequest> requests = waitFor(1);
        if (requests.size() > 1) {
            throw new AssertionError("one request was expected, and these came: " + requests);
        }
        return requests.get(0);
    }

    /** Waits for a number of requests at least; fails where they do not come within ten seconds. */
    public List<ReceivedRequest> waitFor(int count) {
        return waitFor(count, Duration.ofSeconds(10));
    }

    /** Waits for a number of requests at least; fails where they do not come in time, 60 seconds at most. */
    public List<ReceivedRequest> waitFor(int count, Duration timeout) {
        Duration longest = timeout.compareTo(LONGEST) < 0 ? timeout : LONGEST;
        server.ask(
            "GET", "/v1/received?limit=1&count=" + count + "&timeout=" + Math.max(1, longest.toSeconds()) + parameters(),
            longest);
        List<ReceivedRequest> requests = list();
        if (requests.size() < count) {
            throw new AssertionError(
                "of " + count + " requests " + requests.size() + " came within " + longest.toSeconds() + " s: " + requests);
        }
        return requests;
    }

    private Received with(String name, String value) {
        query.add("&" + name + "=" + ServerConnection.quoted(value));
        return this;
    }

    private String parameters() {
        return String.join("", query);
    }
}
