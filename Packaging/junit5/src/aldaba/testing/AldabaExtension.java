package aldaba.testing;

import java.io.IOException;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests a parameter of the type {@link Aldaba}.
 *
 * <p>The first test that asks for one starts a server, which ends after the last test. Under {@code aldaba run} the run's own server
 * is used. Each test has a namespace of its own, which is reset after it, so that tests may run at the same time.
 */
public final class AldabaExtension implements ParameterResolver, AfterEachCallback {
    private static final ExtensionContext.Namespace STORE = ExtensionContext.Namespace.create(AldabaExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Aldaba.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getStore(STORE).getOrComputeIfAbsent(
            context.getUniqueId(), test -> Aldaba.at(server(context).addresses()), Aldaba.class);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Aldaba aldaba = context.getStore(STORE).get(context.getUniqueId(), Aldaba.class);
        if (aldaba != null) {
            aldaba.reset();
        }
    }

    private static Server server(ExtensionContext context) {
        return context.getRoot().getStore(STORE).getOrComputeIfAbsent("server", name -> Server.find(), Server.class);
    }

    /** The server of a test run; {@code process} is {@code null} under {@code aldaba run}. */
    private record Server(ServerAddresses addresses, ServerProcess process) implements ExtensionContext.Store.CloseableResource {
        static Server find() {
            String http = System.getenv("ALDABA_HTTP");
            if (http != null) {
                return new Server(
                    new ServerAddresses(http, "https://api.push.apple.com", "https://fcm.googleapis.com", null), null);
            }
            ServerProcess process = ServerProcess.start();
            return new Server(process.addresses(), process);
        }

        @Override
        public void close() throws IOException {
            if (process != null) {
                process.close();
            }
        }
    }
}
