import AldabaConfiguration
import Foundation
import Glibc
import Platform

/// Connects the network of a run with this machine's, by the program slirp4netns: a network card whose other end are ordinary
/// connections of that program.
struct NetworkConnector: Sendable {
    /// The name of the network card inside.
    static let interface = "tap0"
    /// The address of the program's name server inside.
    static let nameServer = "10.0.2.3"

    private let program: String
    private let environment: [String: String]

    /// Finds the program.
    init(environment: [String: String]) throws {
        guard let program = ChildProgram.find("slirp4netns", environment: environment) else {
            throw CommandError(
                .failed,
                "the program slirp4netns is missing, which --allow-network needs; Debian's package slirp4netns has it")
        }
        self.program = program
        self.environment = environment
    }

    /// A running connector.
    struct Connection {
        fileprivate var pid: pid_t
        /// The program ends when the other end of its descriptor closes, also when this process is killed.
        fileprivate var pipe: PipeEnds

        /// Ends the program.
        func end() {
            var pipe = pipe
            pipe.close()
            _ = ChildProgram.reap(pid)
        }
    }

    /// Connects the network of a process, once it has one of its own.
    func connect(_ process: pid_t) throws -> Connection {
        try waitForNetwork(of: process)
        let pipe = try PipeEnds()
        let silent = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(silent) }
        let pid = try ChildProgram(
            path: program,
            arguments: ["--configure", "--mtu=65520", "--exit-fd=3", String(process), Self.interface],
            environment: environment
        ).start(output: silent, errors: silent, further: pipe.reading)
        return Connection(pid: pid, pipe: pipe)
    }

    /// Waits until a process has left this process's network. The kernel tells of that by no event.
    private func waitForNetwork(of process: pid_t) throws {
        var own = stat()
        var other = stat()
        for _ in 0..<2000 {
            if stat("/proc/self/ns/net", &own) == 0, stat("/proc/\(process)/ns/net", &other) == 0,
                own.st_ino != other.st_ino
            {
                return
            }
            usleep(5000)
        }
        throw CommandError(.failed, "the run got no network of its own within ten seconds")
    }

    /// Waits inside of the run until the network card is there with its route. The kernel tells of that by no event here.
    static func waitForRoute() throws {
        for _ in 0..<2000 {
            // A file that cannot be read has no route yet.
            let routes = (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8)) ?? ""
            if routes.contains("\(interface)\t00000000") { return }
            usleep(5000)
        }
        throw CommandError(.failed, "slirp4netns did not connect the network within ten seconds")
    }
}
