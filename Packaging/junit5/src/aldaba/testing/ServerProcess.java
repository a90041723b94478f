package aldaba.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A process {@code aldaba serve} with free ports and a temporary folder; both end with {@link #close()}, or with the JVM. */
public final class ServerProcess implements AutoCloseable {
    private static final List<String> ARGUMENTS = List.of(
        "serve", "--report-ready", "--development=true", "--environment=sandbox", "--accept-any-credential=true",
        "--accept-any-token=true", "--apns-port=0", "--device-port=0", "--control-port=0", "--http-port=0",
        "--metrics-port=0");
    private final Path folder;
    private final Process process;
    private final ServerAddresses addresses;

    private ServerProcess(Path folder, Process process) throws IOException {
        this.folder = folder;
        this.process = process;
        BufferedReader output =
            new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = output.readLine();
        if (line == null) {
            throw new IllegalStateException("aldaba did not start: " + Files.readString(log(folder)));
        }
        Object told = Json.read(line);
        String host = "https://127.0.0.1:";
        addresses = new ServerAddresses(
            "http://127.0.0.1:" + Json.at(told, "httpPort"), host + Json.at(told, "apnsPort"),
            host + Json.at(told, "controlPort"), folder.resolve("certificates/ca.pem"));
        Thread reader = new Thread(() -> output.lines().forEach(arrived -> { }), "aldaba-output");
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts the program that the system property {@code aldaba.program} names, else {@code aldaba} of PATH. */
    public static ServerProcess start() {
        try {
            Path folder = Files.createTempDirectory("aldaba-");
            ProcessBuilder builder = new ProcessBuilder(System.getProperty("aldaba.program", "aldaba"));
            builder.command().addAll(ARGUMENTS);
            builder.command().add("--data=" + folder);
            // The settings are those of the arguments alone.
            builder.environment().keySet().removeIf(name -> name.startsWith("ALDABA_"));
            // The server ends when this process, which holds its standard input open, is gone.
            builder.environment().put("ALDABA_SUPERVISED", "1");
            builder.redirectError(log(folder).toFile());
            Process process = null;
            try {
                process = builder.start();
                return new ServerProcess(folder, process);
            } catch (IOException | RuntimeException error) {
                if (process != null) {
                    process.destroyForcibly().onExit().join();
                }
                remove(folder);
                throw error;
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The addresses of the server. */
    public ServerAddresses addresses() {
        return addresses;
    }

    /** Ends the process and removes its folder. */
    @Override
    public void close() throws IOException {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException error) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        remove(folder);
    }

    private static Path log(Path folder) {
        return folder.resolve("serve.log");
    }

    private static void remove(Path folder) throws IOException {
        List<Path> paths;
        try (Stream<Path> found = Files.walk(folder)) {
            paths = found.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : paths) {
            Files.deleteIfExists(path);
        }
    }
}
