import AldabaConfiguration
import Foundation
import Glibc

/// The servers of `up --nodes`, by their numbers from 1 on, and the ports in front of them.
struct UpNodes: Sendable {
    /// The first server is the one that `up` always has.
    let count: Int
    let database: UpDatabase
    let providers: LocalLoadBalancer
    let devices: LocalLoadBalancer
    /// The addresses of the servers after the first.
    let addresses: [Readiness<ServerAddresses>]
    /// The ports in front.
    let providerPort = Readiness<Int>()
    let devicePort = Readiness<Int>()

    init(count: Int, database: UpDatabase, host: String) {
        self.count = count
        self.database = database
        (providers, devices) = (LocalLoadBalancer(host: host), LocalLoadBalancer(host: host))
        addresses = (1..<count).map { _ in Readiness() }
    }

    /// The name of a server's process.
    static func name(_ number: Int) -> String { number == 1 ? "serve" : "serve-\(number)" }

    /// The names of the processes after the first.
    var names: [String] { (1..<count).map { Self.name($0 + 1) } }

    /// Adds a server that listens.
    func listens(_ number: Int, _ told: ServerAddresses) {
        providers.set(told.apnsPort, of: Self.name(number))
        devices.set(told.devicePort, of: Self.name(number))
        if number > 1 { addresses[number - 2].settle(.success(told)) }
    }

    /// The data folder of a server.
    static func folder(_ number: Int, _ first: DataFolder) throws -> DataFolder {
        guard number > 1 else { return first }
        try PrivateFile.makeFolder(first.root + "/servers", marks: ["."])
        let folder = DataFolder(root: first.root + "/servers/\(number)")
        try folder.make()
        return folder
    }

    /// Kills the server whose number is pressed, until the task is cancelled; does nothing without a terminal.
    func killByKey(_ supervisor: Supervisor, told: @escaping @Sendable (String) -> Void) async {
        guard isatty(STDIN_FILENO) == 1 else { return }
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return }
        var raw = before
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
        defer { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
        while !Task.isCancelled {
            var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 0) > 0 else {
                try? await Task.sleep(for: .milliseconds(100))
                continue
            }
            var key: UInt8 = 0
            guard read(STDIN_FILENO, &key, 1) == 1 else { return }
            let number = Int(key) - 48
            guard (1...count).contains(number), let process = await supervisor.running[Self.name(number)] else {
                continue
            }
            kill(process, SIGKILL)
            told("server \(number) was killed; it starts again")
        }
    }
}
