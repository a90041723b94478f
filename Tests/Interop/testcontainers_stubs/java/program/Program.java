import aldaba.testcontainers.AldabaContainer;
import aldaba.testing.Aldaba;
import aldaba.testing.ReceivedRequest;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;

/** A program that uses the module for Java; its argument is the namespace of the sender. */
public final class Program {
    public static void main(String[] arguments) throws Exception {
        try (AldabaContainer container = new AldabaContainer()) {
            container.start();
            Aldaba aldaba = container.getServer().inNamespace(arguments[0]);
            aldaba.fault().with("interface", "apns").status(429).reason("TooManyRequests").add();
            System.out.printf(
                "{\"http\": \"%s\", \"apns\": \"%s\", \"fcm\": \"%s\", \"ca\": \"%s\"}%n", container.getHttp(),
                container.getApns(), container.getFcm(), Files.readString(container.getCa()).replace("\n", "\\n"));
            aldaba.received().status(200).waitFor(1, Duration.ofSeconds(20));
            List<ReceivedRequest> received = aldaba.received().interfaceName("apns").list();
            System.out.println(received.stream().map(ReceivedRequest::status).toList());
            aldaba.reset();
            System.out.println(aldaba.received().list().size());
            if (!container.received().list().isEmpty()) {
                throw new AssertionError("another namespace has requests");
            }
        }
    }
}
