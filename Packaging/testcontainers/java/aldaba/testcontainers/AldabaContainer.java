package aldaba.testcontainers;

import aldaba.testing.Aldaba;
import aldaba.testing.Fault;
import aldaba.testing.Received;
import aldaba.testing.ServerAddresses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** A server for tests in a container: APNs and FCM, which accept any key, service account, app and token. */
public class AldabaContainer extends GenericContainer<AldabaContainer> {
    private static final int SHARED_PORT = 443;
    private static final int APNS_PORT = 2197;
    private static final int HTTP_PORT = 8080;
    private Aldaba server;
    private Path authority;

    /** A container of the image {@code aldaba-tests}. */
    public AldabaContainer() {
        this(DockerImageName.parse("aldaba-tests"));
    }

    /** A container of another image. */
    public AldabaContainer(DockerImageName image) {
        super(image);
        withExposedPorts(SHARED_PORT, APNS_PORT, HTTP_PORT);
        // The line of the addresses, after which everything listens.
        waitingFor(Wait.forLogMessage(".*\"apnsPort\".*\\n", 1));
    }

    @Override
    public void start() {
        super.start();
        try {
            authority = Files.createTempFile("aldaba-", ".pem");
            copyFileFromContainer("/trust/ca.pem", authority.toString());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        server = Aldaba.at(new ServerAddresses(getHttp(), getApns(), getFcm(), authority));
    }

    @Override
    public void stop() {
        super.stop();
        try {
            if (authority != null) {
                Files.deleteIfExists(authority);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The server in a namespace of its own, with clock, TLS and all else that the JUnit extension offers. */
    public Aldaba getServer() {
        return server;
    }

    /** The address of the test API. */
    public String getHttp() {
        return "http://" + getHost() + ":" + getMappedPort(HTTP_PORT);
    }

    /** The address of APNs. */
    public String getApns() {
        return "https://" + getHost() + ":" + getMappedPort(APNS_PORT);
    }

    /** The address of FCM; access tokens are at {@code /token} of it. */
    public String getFcm() {
        return "https://" + getHost() + ":" + getMappedPort(SHARED_PORT);
    }

    /** The file with the certificate that the program under test must trust, PEM. */
    public Path getCa() {
        return authority;
    }

    /** The requests that came in the server's namespace. */
    public Received received() {
        return server.received();
    }

    /** A fault for requests of the server's namespace. */
    public Fault fault() {
        return server.fault();
    }

    /** Forgets requests and faults of the server's namespace. */
    public void reset() {
        server.reset();
    }
}
