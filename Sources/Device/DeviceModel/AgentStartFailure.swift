import Machine

/// Why an agent cannot start. Each says what to do.
public enum AgentStartFailure: Error, Sendable, CustomStringConvertible {
    case folder(path: String, reason: String)
    case dataInUse(path: String, process: String)
    case socketInUse(path: String)
    case socketPathTooLong(path: String)
    case store(path: String, reason: String)

    /// A folder cannot be used, for what the machine says.
    package init(_ failure: MachineFailure) { self = .folder(path: failure.what, reason: failure.reason) }

    public var description: String {
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
