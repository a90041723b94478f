import AgentWire
import DeviceModel
import DeviceStore
import PushModel

/// What the server tells in the place of notifications: each notice is stored, acknowledged, and told to its app.
extension Agent {
    func noticed(_ notice: DeviceNotice, by carrier: OutgoingNotification, in session: Int) {
        let isForInstalledApp = apps[BundleID(carrier.topic)] != nil
        enqueue(
            .noticed(
                ArrivedNotice(
                    carrier: carrier, notice: notice, session: session, receivedAt: parts.now(),
                    isForInstalledApp: isForInstalledApp)))
    }

    /// Tells an app that is connected what was deleted on the server, until it has taken that.
    func tellDeletions(to app: BundleID) {
        guard let connection = apps[app]?.connection else { return }
        do {
            let deletions = try store.read { try $0.deletions(app: app) }
            guard !deletions.isEmpty else { return }
            AgentStep.handOver.take {
                connection.send(
                    deletions.map {
                        .messagesDeleted(deletion: $0.id.rawValue, count: $0.count, since: $0.since.rawValue)
                    })
            }
        } catch {
            storeFailed(error)
        }
    }
}
