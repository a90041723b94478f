import AgentEngine
import AgentProtocol
import Foundation
import Logging
import Networking
import Platform
import PushCore

/// An agent's data folder: the lock on it, the store, and the files of notifications.
struct AgentData: Sendable {
    let store: AgentStore
    let attachments: AttachmentStore
    private var lock: DataLock?

    /// Makes the folder where it is missing, locks it, and opens the store in it.
    ///
    /// - Throws: ``AgentStartError``.
    init(_ configuration: AgentConfiguration, now: Timestamp, logger: Logger) throws {
        do {
            try PrivateFolder.prepare(configuration.dataFolder, shut: true)
        } catch {
            throw AgentStartError(error)
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

    /// How many notifications one call of ``prune(_:of:now:_:)`` deletes at most.
    static let pruningLimit = 500

    /// Deletes what the limits do not let stay, of these apps or of all, one portion at a time.
    ///
    /// - Returns: The notifications that ended without having reached their apps, and whether there may be more to
    ///   delete.
    func prune(
        _ limits: AgentLimits, of apps: Set<BundleID>?, now: Timestamp, _ logger: Logger
    ) -> (ended: [NotificationID], mayHaveMore: Bool) {
        do {
            let pruning = try store.prune(limits, of: apps, now: now, limit: Self.pruningLimit)
            if !pruning.ended.isEmpty {
                logger.warning(
                    "Notifications ended that their apps did not take.",
                    metadata: [LogKey.count: "\(pruning.ended.count)"])
            }
            return (pruning.ended, pruning.deleted == Self.pruningLimit)
        } catch {
            logger.error("Old notifications could not be deleted.", metadata: [LogKey.error: "\(error)"])
            return ([], false)
        }
    }

    /// Deletes the files that no notification names, and the keys that senders do not use any more.
    func sweep(now: Timestamp, _ logger: Logger) {
        do {
            attachments.sweep(keeping: try store.read { try $0.attachmentPaths() }, now: Date())
        } catch {
            // The set of needed files is not known: all stay.
            logger.error("Files that no notification names could not be deleted.", metadata: [LogKey.error: "\(error)"])
        }
        do { try store.deleteOldKeys(now: now) } catch {
            logger.error("Old encryption keys could not be deleted.", metadata: [LogKey.error: "\(error)"])
        }
    }
}
