import AldabaConfiguration
import Foundation
import Glibc
import Platform
import PushCore

/// The run of a command inside the namespaces: hosts, certificate, server, the command itself.
struct RunSession: Sendable {
    private let command: [String]
    /// The hosts that are this server.
    private let hosts: [String]
    private let isQuiet: Bool
    /// Whether the command runs in the namespaces of its caller.
    private let isPlain: Bool
    /// Whether connections to APNs have Apple's limits.
    private let hasAppleLimits: Bool
    /// Whether other hosts can be reached too.
    private let allowsNetwork: Bool
    private let environment: [String: String]
    private let addresses = Readiness<ServerAddresses>()

    init(
        _ command: [String], hosts: [String], isQuiet: Bool, isPlain: Bool, hasAppleLimits: Bool,
        allowsNetwork: Bool, environment: [String: String]
    ) {
        self.command = command
        self.hosts = VendorNames.all + hosts
        self.isQuiet = isQuiet
        self.isPlain = isPlain
        self.hasAppleLimits = hasAppleLimits
        self.allowsNetwork = allowsNetwork
        self.environment = environment
    }

    /// Runs to the command's end.
    func run() async throws -> ProgramEnd {
        guard let program = ChildProgram.find(command[0], environment: environment) else {
            throw CommandError(.failed, "\(command[0]) is no program that PATH finds")
        }
        let folder = isPlain ? try Self.makeTemporaryFolder() : try Self.makeFolder()
        defer { if isPlain { Self.remove(folder) } }
        if !isPlain {
            try NamespaceSetup.startLoopback()
            try nameHosts(folder)
            if allowsNetwork { try Self.connectNetwork(folder) }
        }
        let certificates = try DevelopmentCertificates.ensure(
            folder: folder.certificates, names: hosts, now: Date()
        ).paths
        let server = try startServer(folder)
        let found: ServerAddresses
        do { found = try await addresses.value() } catch {
            throw CommandError(.failed, "the server did not start: \(Self.logEnd(folder))")
        }
        var variables = environment.merging(
            try RunTrust.variables(
                authority: certificates.authority, addsPublic: allowsNetwork, folder: folder, environment: environment)
        ) {
            $1
        }
        variables[RunNamespace.variable] = nil
        variables.merge(Self.variables(found, folder)) { $1 }
        // Capabilities are a thread's, so the same thread starts the command.
        if !isPlain { try NamespaceSetup.dropCapabilities() }
        let pid = try ChildProgram(path: program, arguments: Array(command.dropFirst()), environment: variables)
            .startBeside()
        passSignals(to: pid)
        let end = ChildProgram.reap(pid)
        kill(server.pid, SIGTERM)
        // The lines of what arrived end with the server.
        server.output.wait()
        return end
    }

    /// The variables by which the command's own tests ask what arrived, and set faults; and the addresses for programs whose
    /// hosts can be set.
    private static func variables(_ addresses: ServerAddresses, _ folder: DataFolder) -> [String: String] {
        var variables = ["ALDABA_DATA": folder.root, "ALDABA_APNS": addresses.apns, "ALDABA_FCM": addresses.control]
        guard let http = addresses.http else { return variables }
        variables["ALDABA_HTTP"] = http
        variables["FIREBASE_EMULATOR_HUB"] = http.replacing("http://", with: "")
        return variables
    }

    /// Makes a data folder that ends with the run.
    private static func makeTemporaryFolder() throws -> DataFolder {
        let name = "aldaba-run-\(UUID().uuidString.prefix(8).lowercased())"
        let folder = DataFolder(root: FileManager.default.temporaryDirectory.path + "/" + name)
        try folder.make()
        return folder
    }

    /// Removes a folder. What is left of it has no further use.
    private static func remove(_ folder: DataFolder) { try? FileManager.default.removeItem(atPath: folder.root) }

    /// The folders one of which is empty on every system, as the Filesystem Hierarchy Standard has them.
    private static let places = ["/var/local", "/var/opt", "/srv", "/media", "/mnt", "/opt"]

    /// Makes a data folder in memory, which nobody else sees and which ends with the namespace.
    private static func makeFolder() throws -> DataFolder {
        let manager = FileManager.default
        // A folder that cannot be listed is passed over like one with files.
        guard let place = places.first(where: { (try? manager.contentsOfDirectory(atPath: $0))?.isEmpty == true })
        else {
            throw CommandError(
                .failed, "none of the folders \(places.joined(separator: ", ")) is there and empty; one must be")
        }
        try NamespaceSetup.mountMemory(at: place)
        let folder = DataFolder(root: place + "/aldaba")
        try folder.make()
        return folder
    }

    /// Gives the hosts this machine's address.
    private func nameHosts(_ folder: DataFolder) throws {
        let names = hosts.joined(separator: " ")
        let known: Data
        do { known = try Data(contentsOf: URL(fileURLWithPath: "/etc/hosts")) } catch {
            throw CommandError(
                .failed, "/etc/hosts cannot be read, and so not be replaced: \(error.localizedDescription)")
        }
        let file = folder.root + "/hosts"
        try PrivateFile.write(Array("127.0.0.1 \(names)\n".utf8) + known, to: file, mode: 0o644)
        try NamespaceSetup.mount(file, over: "/etc/hosts")
    }

    /// A server that was started, and the end of its output.
    private struct Server {
        var pid: pid_t
        var output: DispatchGroup
    }

    private func startServer(_ folder: DataFolder) throws -> Server {
        guard let program = realpath("/proc/self/exe", nil) else {
            throw CommandError(.failed, "/proc/self/exe cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { free(program) }
        let arguments =
            [
                "serve", "--report-ready", "--data=\(folder.root)", "--development=true", "--environment=sandbox",
                "--control-port=0", "--http-port=0", "--metrics-port=0", "--accept-any-credential=true",
                "--accept-any-token=true", "--apple-limits=\(hasAppleLimits)",
            ] + ports
        var output = try PipeEnds()
        defer { output.close() }
        let log = open(folder.root + "/serve.log", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(log) }
        let settings = environment.filter { !$0.key.hasPrefix("ALDABA_") }
        let pid = try ChildProgram(path: String(cString: program), arguments: arguments, environment: settings)
            .start(output: output.writing, errors: log)
        let end = DispatchGroup()
        end.enter()
        let reading = output.giveReading()
        NamedThread.begin("aldaba-server") {
            read(reading)
            close(reading)
            addresses.settle(.failure(CancellationError()))
            end.leave()
        }
        return Server(pid: pid, output: end)
    }

    /// Waits for the connection with the machine's network, whose name server gets this machine's in its place.
    private static func connectNetwork(_ folder: DataFolder) throws {
        try NetworkConnector.waitForRoute()
        let file = folder.root + "/resolv.conf"
        try PrivateFile.write(Array("nameserver \(NetworkConnector.nameServer)\n".utf8), to: file, mode: 0o644)
        try NamespaceSetup.mount(file, over: "/etc/resolv.conf")
    }

    private var ports: [String] {
        isPlain
            ? ["--apns-port=0", "--device-port=0", "--shared-port=0"]
            : [
                "--shared-port=443", "--apns-port=2197", "--device-port=5223", "--legacy-port=2195",
                "--legacy-feedback-port=2196",
            ]
    }

    /// Reads the server's lines to their end.
    private func read(_ descriptor: Int32) {
        var splitter = LineSplitter()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            for line in splitter.append(buffer[..<count]) {
                if let told = ServerAddresses(line: line) {
                    addresses.settle(.success(told))
                } else if !isQuiet, let report = ArrivalReport(line: line) {
                    Terminal.printError(report.text)
                }
            }
        }
    }

    private static func logEnd(_ folder: DataFolder) -> String {
        // Without a log the sentence before it stands alone.
        let log = (try? String(contentsOfFile: folder.root + "/serve.log", encoding: .utf8)) ?? ""
        return log.split(separator: "\n").suffix(5).joined(separator: "\n")
    }

    /// Passes on the signals that the process outside was sent, and ends all when it is gone. In namespaces of its own this
    /// is the first process, with which the others end.
    private func passSignals(to pid: pid_t) {
        // A first process ignores what it does not handle; the command gets what is typed by itself.
        for number in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
        NamedThread.begin("aldaba-signals") { [isPlain] in
            var number: UInt8 = 0
            while Glibc.read(RunNamespace.signals, &number, 1) == 1 { kill(pid, Int32(number)) }
            // Without a namespace the main thread ends the server and removes the folder, as after every command.
            if isPlain { kill(pid, SIGKILL) } else { _exit(1) }
        }
    }
}

extension ArrivalReport {
    /// The line that a person reads.
    var text: String { TerminalText.line("arrived  \(app)  \(token.prefix(16))  \(payload)") }
}
