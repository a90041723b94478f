package org.testcontainers.containers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import org.testcontainers.containers.wait.strategy.WaitStrategy;
import org.testcontainers.utility.DockerImageName;

/** A container of an image. */
public class GenericContainer<SELF extends GenericContainer<SELF>> implements AutoCloseable {
    private List<Integer> ports = List.of();

    public GenericContainer(DockerImageName image) {
    }

    @SuppressWarnings("unchecked")
    private SELF self() {
        return (SELF) this;
    }

    public SELF withExposedPorts(Integer... ports) {
        this.ports = List.of(ports);
        return self();
    }

    public SELF waitingFor(WaitStrategy strategy) {
        return self();
    }

    public void start() {
    }

    public void stop() {
    }

    @Override
    public void close() {
        stop();
    }

    public String getHost() {
        return "localhost";
    }

    public Integer getMappedPort(int port) {
        if (!ports.contains(port)) {
            throw new IllegalArgumentException("port " + port + " is not exposed");
        }
        return Arrays.stream(System.getenv("STUB_PORTS").split(",")).filter(each -> each.startsWith(port + "="))
            .map(each -> Integer.valueOf(each.split("=")[1])).findFirst().orElseThrow();
    }

    public void copyFileFromContainer(String containerPath, String destinationPath) {
        try {
            Files.copy(
                Path.of(System.getenv("STUB_ROOT") + containerPath), Path.of(destinationPath), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
