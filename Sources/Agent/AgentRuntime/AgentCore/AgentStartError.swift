import AgentEngine
import Platform

/// The reason why an agent cannot start. Each description names the remedy.
package enum AgentStartError: Error, Sendable, CustomStringConvertible {
    /// A folder cannot be made, entered or trusted, or a file in it not written.
    case folder(path: String, reason: String)
    /// Another agent holds the data folder; `process` is its process id, empty where that is not known.
    case dataInUse(path: String, process: String)
    /// Another agent answers at the socket's path.
    case socketInUse(path: String)
    /// No Unix socket can have this path: more than 107 bytes (unix(7)).
    case socketPathTooLong(path: String)
    /// The agent's store cannot be opened, and why.
    case store(path: String, reason: String)

    /// Creates the failure of a folder from the system's error.
    package init(_ failure: MachineError) { self = .folder(path: failure.what, reason: failure.reason) }

    package var description: String {
        switch self {
        case .folder(let path, let reason):
            "the folder \(path) cannot be used: \(reason); give another data folder or correct its rights"
        case .dataInUse(let path, let process):
            "another agent\(process.isEmpty ? "" : " (process \(process))") uses \(path); end it, or give another data folder"
        case .socketInUse(let path):
            "another agent answers at \(path); end it, or give another socket path"
        case .socketPathTooLong(let path):
            "the socket path \(path) is longer than 107 bytes; give a shorter one"
        case .store(let path, let reason):
            "the agent's store \(path) cannot be opened: \(reason)"
        }
    }
}
