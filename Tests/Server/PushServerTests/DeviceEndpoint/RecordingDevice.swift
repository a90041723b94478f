import DeviceChannel
import PushCore

/// A device that notes what happens and stores what it is sent, unless told not to.
final class RecordingDevice: MCSClientDelegate {
    struct State: Sendable {
        var isLoggedIn = false
        var received: [OutgoingNotification] = []
        var confirmed: [NotificationID] = []
        var upstreamConfirmed: [String] = []
        var notSent: [String] = []
        var closed: MCSClientCloseReason?
    }

    let state = Watched(State())
    private let stores: Bool

    init(stores: Bool = true) { self.stores = stores }

    func loggedIn(_ connection: MCSClientConnection, serverTime: Timestamp) {
        state.change { $0.isLoggedIn = true }
    }

    func received(_ connection: MCSClientConnection, _ notifications: [OutgoingNotification]) {
        if stores { connection.acknowledge(notifications.map(\.id)) }
        state.change { $0.received += notifications }
    }

    func confirmed(_ connection: MCSClientConnection, _ ids: [NotificationID]) {
        state.change { $0.confirmed += ids }
    }

    func upstreamConfirmed(_ connection: MCSClientConnection, _ persistentIDs: [String]) {
        state.change { $0.upstreamConfirmed += persistentIDs }
    }

    func upstreamNotSent(_ connection: MCSClientConnection, persistentID: String) {
        state.change { $0.notSent.append(persistentID) }
    }

    func didDropStanza(_ connection: MCSClientConnection, persistentID: String, reason: String) {}

    func closed(_ connection: MCSClientConnection, _ reason: MCSClientCloseReason) {
        state.change { $0.closed = reason }
    }
}
