import AldabaTestSupport
import Foundation
import Glibc
import Testing

@testable import PostgresStore

/// A PostgreSQL server of a test's own, on a socket in a temporary folder. It refuses to run as root, and runs as `nobody` then.
final class PostgresServer {
    /// The folders of Debian's versions, the newest first, and those of `PATH`.
    private static let folders: [String] = {
        let debian = "/usr/lib/postgresql"
        // A machine without the folder has no such versions.
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []).compactMap(Int.init)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return versions.sorted(by: >).map { "\(debian)/\($0)/bin" } + path.split(separator: ":").map(String.init)
    }()

    /// The folder with the server's programs; `nil` where none is installed.
    static let programs = folders.first { folder in
        ["initdb", "postgres", "pg_ctl"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
    }

    private let folder: TemporaryFolder
    private let server = Process()
    private let log = Pipe()

    /// Makes a database cluster and starts its server.
    init() throws {
        folder = try TemporaryFolder()
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
            ["-D", folder.path("data"), "-k", folder.url.path, "-c", "listen_addresses=", "-c", "fsync=off"])
        server.standardError = log
        try server.run()
        try waitUntilReady()
    }

    deinit {
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

    /// A new connection to the server.
    func connect() throws -> PostgresConnection {
        try PostgresConnection(["host": folder.url.path, "user": "postgres", "dbname": "postgres"])
    }

    private func prepare(_ process: Process, _ program: String, _ arguments: [String]) {
        let path = "\(Self.programs ?? "")/\(program)"
        process.executableURL = URL(fileURLWithPath: getuid() == 0 ? "/usr/bin/setpriv" : path)
        let user = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", path]
        process.arguments = (getuid() == 0 ? user : []) + arguments
        process.currentDirectoryURL = folder.url
        process.standardOutput = FileHandle.nullDevice
    }
}
