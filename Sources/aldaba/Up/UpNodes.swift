import AldabaConfiguration
import Foundation
import Glibc

/// The servers of `up --nodes`, by their numbers from 1 on, and the ports in front of them.
struct UpNodes: Sendable {
    /// The first server is the one that `up` always has.
    let count: Int
    let database: UpDatabase
    /// The ports in front of all servers.
    let providers: SharedPort
    let devices: SharedPort
    let control: SharedPort
    let http: SharedPort
    /// The addresses of the servers after the first.
    let addresses: [Readiness<ServerAddresses>]

    /// A port in front of all servers.
    struct SharedPort: Sendable {
        let key: ConfigurationKey
        let balancer: LocalLoadBalancer
        let bound = Readiness<Int>()

        init(_ key: ConfigurationKey, host: String) {
            self.key = key
            balancer = LocalLoadBalancer(host: host)
        }

        /// Listens until the task is cancelled.
        func run(_ port: Int) async throws { try await balancer.run(port: port) { bound.settle(.success($0)) } }
    }

    init(count: Int, database: UpDatabase, host: String) {
        self.count = count
        self.database = database
        providers = SharedPort(.apnsPort, host: host)
        devices = SharedPort(.devicePort, host: host)
        control = SharedPort(.controlPort, host: host)
        http = SharedPort(.httpPort, host: "127.0.0.1")
        addresses = (1..<count).map { _ in Readiness() }
    }

    /// The ports in front of all servers.
    var sharedPorts: [SharedPort] { [providers, devices, control, http] }

    /// The name of a server's process.
    static func name(_ number: Int) -> String { number == 1 ? "serve" : "serve-\(number)" }

    /// The names of the processes after the first.
    var names: [String] { (1..<count).map { Self.name($0 + 1) } }

    /// Adds a server that listens.
    func listens(_ number: Int, _ told: ServerAddresses) {
        let name = Self.name(number)
        providers.balancer.set(told.apnsPort, of: name)
        devices.balancer.set(told.devicePort, of: name)
        control.balancer.set(told.controlPort, of: name)
        if let port = told.httpPort { http.balancer.set(port, of: name) }
        if number > 1 { addresses[number - 2].settle(.success(told)) }
    }

    /// The addresses that clients use: a server's own, with the ports in front in place of its ports.
    func shared(_ addresses: ServerAddresses) -> ServerAddresses {
        var shared = addresses
        shared.apnsPort = providers.bound.current ?? addresses.apnsPort
        shared.devicePort = devices.bound.current ?? addresses.devicePort
        shared.controlPort = control.bound.current ?? addresses.controlPort
        if addresses.httpPort != nil { shared.httpPort = http.bound.current ?? addresses.httpPort }
        return shared
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
