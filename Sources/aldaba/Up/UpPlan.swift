import AgentEngine
import AgentProtocol
import AgentRuntime
import AldabaConfiguration
import Foundation
import Glibc
import HubServer
import Platform
import SQLiteStore

/// Everything that `up` makes and checks before it starts a child.
struct UpPlan: Sendable {
    let folder: DataFolder
    let values: ConfigurationValues
    /// The configuration file that was named, as a flag for server and agent: secrets reach them only by it.
    let configurationFlag: [String]
    let environment: [String: String]
    let startsApp: Bool
    /// The servers; `nil` where there is one.
    let nodes: UpNodes?
    let ports: [ConfigurationKey: Int]
    let certificates: DevelopmentCertificates.Paths
    let key: KeyRing.Entry
    /// The key of the demo app's hub; `nil` where the hubs' database cannot be used.
    let hubKey: HubKey?
    let socket: String
    /// The first is the data folder's own.
    let devices: [UpDevice]
    let executable: String
    let appExecutable: String
    private let lock: FolderLock

    static let portKeys: [ConfigurationKey] = [.apnsPort, .devicePort, .controlPort, .httpPort, .metricsPort]

    /// Makes the missing parts of the data folder.
    ///
    /// - Throws: ``CommandError`` with the remedy: folder unusable or in use, ports taken, no demo app.
    init(
        _ values: ConfigurationValues, file: String?, environment: [String: String], isEphemeral: Bool,
        startsApp: Bool, deviceCount: Int = 1, nodeCount: Int = 1, database: UpDatabase? = nil,
        newDatabases: [ServerDatabase] = []
    ) async throws {
        self.values = values
        configurationFlag = file.map { ["--config=\($0)"] } ?? []
        self.environment = environment
        self.startsApp = startsApp
        nodes = database.map { UpNodes(count: nodeCount, database: $0, host: values.text(.host) ?? "127.0.0.1") }
        folder = values.text(.data).map(DataFolder.init) ?? .standard(environment: environment)
        do { try folder.make() } catch {
            throw CommandError(
                .failed, "\(error); make it writable and your own, or choose another folder with --data")
        }
        do { lock = try DataFolder.lock(folder.upLock) } catch { throw CommandError(.failed, "\(error)") }
        _ = try ServerConfiguration(values, environment: environment)
        var ports: [ConfigurationKey: Int] = [:]
        for key in Self.portKeys {
            ports[key] = isEphemeral && values.origin(key) == .builtIn ? 0 : values.number(key)
        }
        try Self.checkPorts(ports)
        self.ports = ports
        certificates = try DevelopmentCertificates.ensure(folder: folder.certificates, now: Date()).paths
        try KnownDatabases(folder).beginAnew(newDatabases)
        try FolderStore.bind(folder, to: values.text(.postgres))
        if values.text(.postgres) == nil { _ = try KnownDatabases(folder).inspect(.server, SQLiteStore.inspection) }
        key = try await ServerRegister.ensureDemo(folder)
        // The key of device tokens comes after the register: it tells a folder that has lost its register.
        _ = try SealingKeys.ensure(folder.sealingKeys)
        hubKey = try await Self.hubKey(folder)
        socket = folder.agentSocket(environment: environment)
        try PrivateFile.makeFolder(URL(fileURLWithPath: socket).deletingLastPathComponent().path)
        devices = try UpDevice.prepare(deviceCount, folder, socket: socket, environment: environment)
        executable = try Self.resolved("/proc/self/exe")
        let app = URL(fileURLWithPath: executable).deletingLastPathComponent().path + "/" + DemoApp.program
        guard access(app, X_OK) == 0 else {
            throw CommandError(
                .failed, "the demo app \(app) is missing; build it with `swift build --product aldaba`")
        }
        appExecutable = try Self.resolved(app)
        try writeManifest()
    }

    /// The server tells why its hubs' database cannot be used, and goes on without it.
    private static func hubKey(_ folder: DataFolder) async throws -> HubKey? {
        do {
            if try FolderStore.address(in: folder) == nil {
                _ = try KnownDatabases(folder).inspect(.hub, HubDatabase.inspection)
            }
            return try await HubRegister.ensureDemo(folder)
        } catch let fault as DatabaseFault {
            Terminal.printError("warning: \(fault)")
            return nil
        }
    }

    private static func checkPorts(_ ports: [ConfigurationKey: Int]) throws {
        let taken = portKeys.compactMap { key in ports[key].flatMap(PortCheck.taken).map { (key, $0) } }
        guard !taken.isEmpty else { return }
        let lines = taken.map { key, taken in
            "port \(taken.port) is in use\(taken.holder); choose another with --\(key.rawValue) N, or take free ports "
                + "with --\(key.rawValue) 0 or --ephemeral"
        }
        throw CommandError(.failed, lines.joined(separator: "\n"))
    }

    private static func resolved(_ path: String) throws -> String {
        guard let real = realpath(path, nil) else {
            throw CommandError(.failed, "\(path) cannot be found: \(String(cString: strerror(errno)))")
        }
        defer { free(real) }
        return String(cString: real)
    }

    /// The environment of the device tokens: the sandbox, unless another is asked for.
    var pushEnvironment: String {
        values.origin(.environment) == .builtIn ? "sandbox" : values.text(.environment) ?? "sandbox"
    }

    /// The host that clients on this machine name.
    var clientHost: String {
        let host = values.text(.host) ?? "127.0.0.1"
        return ["0.0.0.0", "::"].contains(host) ? "127.0.0.1" : host
    }

    /// `aldaba` where the shell finds this program under that name; else the program's path.
    var shortExecutable: String {
        let candidates = (environment["PATH"] ?? "").split(separator: ":").map { folder in "\(folder)/aldaba" as String
        }
        let found = candidates.first { path in access(path, X_OK) == 0 }
        guard let found, let path = try? Self.resolved(found) else { return executable }
        return path == executable ? "aldaba" : executable
    }

    /// The environment variables of the demo app, beside the agent's socket.
    var appEnvironment: [String: String] {
        ["TODOLIST_APP_LOG": folder.appLog, "TODOLIST_FILE": folder.root + "/todo.json"]
    }

    private func writeManifest() throws {
        var manifest = AppManifest(
            id: BundleID(rawValue: DemoApp.topic.rawValue), name: "Todo", team: DemoApp.team.rawValue,
            executable: appExecutable,
            environment: appEnvironment, authorization: .granted, lifecycle: .always,
            backgroundModes: ["remote-notification"])
        manifest.schemes = ["todo"]
        let pictures =
            URL(fileURLWithPath: appExecutable).deletingLastPathComponent().path + "/" + DemoApp.pictureProgram
        if access(pictures, X_OK) == 0 {
            manifest.serviceExtension = ServiceExtensionManifest(
                id: DemoApp.topic.rawValue + ".Service", version: AldabaVersion.number, executable: pictures)
        }
        try AppFolder(path: folder.manifests).install(manifest)
    }
}
