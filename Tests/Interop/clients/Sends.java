import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.regex.Pattern;

/** Java's HttpClient: APNs by HTTP/2, and FCM. */
class Sends {
    static final HttpClient client = HttpClient.newHttpClient();

    static String part(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    static String token(String header, String claims, String pem, String kind, String algorithm) throws Exception {
        var der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
        var signature = Signature.getInstance(algorithm);
        signature.initSign(KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(der)));
        var signed = part(header.getBytes()) + "." + part(claims.getBytes());
        signature.update(signed.getBytes());
        return signed + "." + part(signature.sign());
    }

    static String member(String json, String name) {
        var found = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]*)\"").matcher(json);
        found.find();
        return found.group(1).replace("\\n", "\n");
    }

    static HttpResponse<String> post(String address, String body, String... headers) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(address)).headers(headers)
            .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    public static void main(String[] arguments) throws Exception {
        var now = Instant.now().getEpochSecond();
        var bearer = token(
            "{\"alg\":\"ES256\",\"kid\":\"ABC123DEFG\"}", "{\"iss\":\"DEF123GHIJ\",\"iat\":" + now + "}",
            Files.readString(Path.of("AuthKey_ABC123DEFG.p8")), "EC", "SHA256withECDSAinP1363Format");
        for (var device : new String[] {"ab".repeat(32), "0".repeat(60) + "0410"}) {
            var answer = post(
                "https://api.push.apple.com/3/device/" + device, "{\"aps\":{\"alert\":{\"title\":\"one\"}}}",
                "authorization", "bearer " + bearer, "apns-topic", "com.example.App", "apns-push-type", "alert");
            System.out.println(answer.version() + " " + answer.statusCode());
        }

        var account = Files.readString(Path.of("service-account.json"));
        var claims = String.format(
            "{\"iss\":\"%s\",\"aud\":\"%s\",\"iat\":%d,\"exp\":%d,\"scope\":\"%s\"}", member(account, "client_email"),
            member(account, "token_uri"), now, now + 3600, "https://www.googleapis.com/auth/firebase.messaging");
        var assertion = token("{\"alg\":\"RS256\"}", claims, member(account, "private_key"), "RSA", "SHA256withRSA");
        var granted = post(
            member(account, "token_uri"), "grant_type="
            + URLEncoder.encode("urn:ietf:params:oauth:grant-type:jwt-bearer", StandardCharsets.UTF_8) + "&assertion=" + assertion,
            "content-type", "application/x-www-form-urlencoded");
        var answer = post(
            "https://fcm.googleapis.com/v1/projects/" + member(account, "project_id") + "/messages:send",
            "{\"message\":{\"token\":\"java-device:APA91bKKK\",\"notification\":{\"title\":\"two\"}}}",
            "authorization", "Bearer " + member(granted.body(), "access_token"), "content-type", "application/json");
        System.out.println(answer.version() + " " + answer.statusCode());
    }
}
