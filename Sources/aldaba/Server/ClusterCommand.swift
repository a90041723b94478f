import AldabaConfiguration
import ArgumentParser
import PostgresStore
import PushCore

/// `aldaba cluster`: the servers that use one database.
struct ClusterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cluster", abstract: "Show the servers that use one PostgreSQL database.",
        subcommands: [Status.self])

    /// `aldaba cluster status`.
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show each server: whether it runs, its devices, its version.",
            discussion: "A server counts as running for five seconds after its last sign of life in the database.")
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let nodes = try await ServerRegister.readingStore(location.folder) { store in
                guard let store = store as? PostgresStore else {
                    throw CommandError(
                        .invalidInput, "the data of \(location.folder.root) is not in PostgreSQL: there is one server")
                }
                return try await store.cluster.nodeStates()
            }
            if json { return try print(JSONLine.of(nodes.map(Shown.init))) }
            for node in nodes { print(Self.line(node)) }
        }

        private static func line(_ node: PostgresCluster.Node) -> String {
            guard node.isAlive else {
                let isOver = node.age == nil
                return Terminal.text(
                    isOver
                        ? "server \(node.number)  ended  version \(node.program)"
                        : "server \(node.number)  does not answer  version \(node.program)")
            }
            return [
                Terminal.text("server \(node.number)  runs  version \(node.program)"),
                Terminal.text("\(node.sessions) devices"),
                Terminal.text(node.isCarrierConnected ? "NATS connected" : "NATS not connected"),
                Terminal.text(node.isCurrent ? "register current" : "register behind"),
            ].joined(separator: "  ")
        }
    }

    /// A server in JSON.
    private struct Shown: Encodable {
        var server: Int
        var version: String
        var state: String
        var heardMillisecondsAgo: Int?
        var devices: Int
        var isNATSConnected: Bool
        var isRegisterCurrent: Bool

        init(_ node: PostgresCluster.Node) {
            (server, version, devices) = (node.number, node.program, node.sessions)
            state = node.isAlive ? "running" : node.age == nil ? "ended" : "silent"
            (heardMillisecondsAgo, isNATSConnected, isRegisterCurrent) = (
                node.age, node.isCarrierConnected, node.isCurrent
            )
        }
    }
}

extension ServerRegister {
    /// Waits until all servers of a database have read a change of the register, for five seconds at most.
    ///
    /// - Returns: A sentence for the user; `nil` where there is one server.
    static func waitForServers(_ store: PostgresStore) async -> String? {
        var nodes: [PostgresCluster.Node] = []
        do {
            for _ in 0..<100 {
                nodes = try await store.cluster.nodeStates()
                if nodes.allSatisfy({ !$0.isAlive || $0.isCurrent }) { break }
                try await Task.sleep(for: .milliseconds(50))
            }
        } catch { return "the change is made; whether it counts at all servers is not known: \(error)" }
        return ServerRegister.sentence(nodes)
    }

    private static func sentence(_ nodes: [PostgresCluster.Node]) -> String? {
        func numbers(_ nodes: [PostgresCluster.Node]) -> String {
            nodes.map { "\($0.number)" }.joined(separator: ", ")
        }
        let alive = nodes.filter(\.isAlive)
        let behind = alive.filter { !$0.isCurrent }
        guard behind.isEmpty else { return "these servers have not read the change yet: \(numbers(behind))" }
        // A server that lost PostgreSQL may still run; one that is silent for longer has been taken away.
        let silent = nodes.filter { !$0.isAlive && $0.age.map { $0 < 3_600_000 } ?? false }
        guard silent.isEmpty else {
            return
                "the change counts at \(alive.count) servers; whether it counts at these, which do not answer, is not known: \(numbers(silent))"
        }
        return alive.count > 1 ? "the change counts at all \(alive.count) servers" : nil
    }
}
