package aldaba.testing;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** The clock of the server, which expirations, ages of tokens and schedules follow. All tests of a server share it. */
public final class ServerClock {
    private final ServerConnection server;

    ServerClock(ServerConnection server) {
        this.server = server;
    }

    /** The server's time. */
    public Instant now() {
        return time(server.ask("GET", "/v1/clock", null));
    }

    /** Moves the clock on, and returns the new time. */
    public Instant advance(Duration time) {
        return time(server.ask("POST", "/v1/clock", Map.of("advance", time.toSeconds() + "s"), null));
    }

    private static Instant time(Object answer) {
        return Instant.parse((String) Json.at(answer, "now"));
    }
}
