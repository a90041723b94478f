import Attachments
import DeviceModel
import DeviceStore
import Foundation
import Logging
import Machine
import Observability
import PushModel

/// An agent's data folder: the lock on it, the store, and the files of notifications.
struct AgentData: Sendable {
    let store: AgentStore
    let attachments: AttachmentStore
    private var lock: DataLock?

    /// Makes the folder where it is missing, locks it, and opens the store in it.
    ///
    /// - Throws: ``AgentStartFailure``.
    init(_ configuration: AgentConfiguration, now: Timestamp, logger: Logger) throws {
        do {
            try PrivateFolder.prepare(configuration.dataFolder, shut: true)
        } catch {
            throw AgentStartFailure(error)
        }
        lock = try DataLock(path: configuration.lockPath, folder: configuration.dataFolder)
        let opened = try AgentStore.open(path: configuration.databasePath, now: now)
        if let aside = opened.aside {
            logger.error(
                "The agent's store was damaged. It was put aside and a new one begun.",
                metadata: [
                    LogKey.path: "\(aside)"
                ])
        }
        store = opened.store
        attachments = AttachmentStore(folder: configuration.attachmentsFolder)
    }

    /// Lets another agent open the folder.
    mutating func unlock() { lock = nil }

    /// Deletes the files that no notification names.
    func sweepAttachments(_ logger: Logger) {
        do {
            attachments.sweep(keeping: try store.read { try $0.attachmentPaths() }, now: Date())
        } catch {
            // Which files are named is not known: all stay.
            logger.error("Files that no notification names could not be deleted.", metadata: [LogKey.error: "\(error)"])
        }
    }
}
