import AgentEngine
import Platform

/// The lock that keeps a second agent out of a data folder; the kernel gives it up when the process ends.
struct DataLock: Sendable {
    private let lock: FolderLock

    /// - Throws: ``AgentStartError/dataInUse(path:process:)`` when another process holds it.
    init(path: String, folder: String) throws(AgentStartError) {
        do {
            lock = try FolderLock(path: path)
        } catch {
            switch error {
            case .inUse(let process): throw .dataInUse(path: folder, process: process.map(String.init) ?? "")
            case .unusable(let action, let reason):
                throw .folder(path: folder, reason: "cannot \(action) \(path): \(reason)")
            }
        }
    }
}
