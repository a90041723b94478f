import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Base64;
import javax.net.ssl.SSLContext;

/** The application under test: it sends alerts by APNs, as Java's own client can. */
final class Sender {
    private final String apns;
    private final HttpClient client;
    private final String token;

    Sender(String apns, SSLContext tls, String team) throws GeneralSecurityException {
        this.apns = apns;
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(tls).build();
        KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
        keys.initialize(new ECGenParameterSpec("secp256r1"));
        token = providerToken(keys.generateKeyPair().getPrivate(), team);
    }

    /** Sends an alert, and returns the status of the answer. */
    int send(String device, String title) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(apns + "/3/device/" + device))
            .header("authorization", "bearer " + token)
            .header("apns-topic", "com.example.App")
            .header("apns-push-type", "alert")
            .POST(HttpRequest.BodyPublishers.ofString("{\"aps\":{\"alert\":{\"title\":\"" + title + "\"}}}"))
            .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    private static String providerToken(PrivateKey key, String team) throws GeneralSecurityException {
        String signed = base64("{\"alg\":\"ES256\",\"kid\":\"ABC123DEFG\"}") + "."
            + base64("{\"iss\":\"" + team + "\",\"iat\":" + Instant.now().getEpochSecond() + "}");
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(key);
        signature.update(signed.getBytes(StandardCharsets.US_ASCII));
        return signed + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(signature.sign());
    }

    private static String base64(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
