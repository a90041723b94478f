package aldaba.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Requests of the test API, with JSON in both directions. */
final class ServerConnection {
    private static final Duration USUAL = Duration.ofSeconds(30);
    private final HttpClient client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(USUAL).build();
    private final String base;

    /** Takes the server's http address. */
    ServerConnection(String base) {
        this.base = base;
    }

    /** Asks without a body; {@code waiting} is the time that the server may wait before it answers. */
    Object ask(String method, String path, Duration waiting) {
        return ask(method, path, null, waiting);
    }

    /** Asks, and returns the answer's JSON; throws where the answer is an error. */
    Object ask(String method, String path, Object body, Duration waiting) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(base + path))
            .timeout(waiting == null ? USUAL : USUAL.plus(waiting))
            .header("content-type", "application/json")
            .method(
                method,
                body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(Json.write(body)))
            .build();
        HttpResponse<String> answer;
        try {
            answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while Aldaba was asked", error);
        }
        if (answer.statusCode() / 100 != 2) {
            throw new IllegalStateException(method + " " + path + ": " + answer.statusCode() + " " + answer.body());
        }
        return answer.body().isEmpty() ? null : Json.read(answer.body());
    }

    static String quoted(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
}
