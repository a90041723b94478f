package aldaba.testing;

import java.io.InputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.UUID;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A server for tests, seen from one namespace: what is received, which faults are provoked, what the clock says.
 *
 * <p>A namespace is a team id of APNs and a project id of FCM. The server accepts any key, service account, app and token.
 */
public final class Aldaba {
    private final ServerConnection server;
    private final ServerAddresses addresses;
    private final String namespace;

    private Aldaba(ServerConnection server, ServerAddresses addresses, String namespace) {
        this.server = server;
        this.addresses = addresses;
        this.namespace = namespace;
    }

    /** A server at these addresses, in a new namespace. */
    public static Aldaba at(ServerAddresses addresses) {
        // Ten characters A-Z0-9, as Apple's team ids have.
        String team = "T" + UUID.randomUUID().toString().replace("-", "").substring(0, 9).toUpperCase();
        return new Aldaba(new ServerConnection(addresses.http()), addresses, team);
    }

    /** The same server for a namespace whose name is fixed: the team id or the project id of the application under test. */
    public Aldaba inNamespace(String name) {
        return new Aldaba(server, addresses, name);
    }

    /** The team id for provider tokens, and the project id for FCM, whose requests belong to this test. */
    public String namespace() {
        return namespace;
    }

    /** A new device token of APNs: 64 hexadecimal digits. */
    public String newDeviceToken() {
        return (UUID.randomUUID() + "" + UUID.randomUUID()).replace("-", "");
    }

    /** The address of APNs, such as {@code https://127.0.0.1:40123}. */
    public String apns() {
        return addresses.apns();
    }

    /** The address of FCM and of the access tokens, such as {@code https://127.0.0.1:40125}. */
    public String fcm() {
        return addresses.fcm();
    }

    /** The requests that came in this namespace. */
    public Received received() {
        return new Received(server, namespace);
    }

    /** A fault for requests of this namespace. */
    public Fault fault() {
        return new Fault(server, namespace);
    }

    /** Forgets what this namespace received, and its faults. */
    public void reset() {
        server.ask("POST", "/v1/reset?namespace=" + ServerConnection.quoted(namespace), null);
    }

    /** The server's clock. */
    public ServerClock clock() {
        return new ServerClock(server);
    }

    /** TLS that trusts the server, for clients to which a context can be given. */
    public SSLContext sslContext() {
        if (addresses.authority() == null) {
            // `aldaba run` has the whole JVM trust the server.
            try {
                return SSLContext.getDefault();
            } catch (GeneralSecurityException error) {
                throw new IllegalStateException(error);
            }
        }
        return trusting(addresses.authority());
    }

    private static SSLContext trusting(Path authority) {
        try (InputStream file = Files.newInputStream(authority)) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            store.setCertificateEntry("aldaba", CertificateFactory.getInstance("X.509").generateCertificate(file));
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException error) {
            throw new IllegalStateException("the certificate " + authority + " cannot be used", error);
        }
    }
}
