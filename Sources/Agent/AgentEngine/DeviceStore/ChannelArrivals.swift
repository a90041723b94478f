import AgentProtocol
import PushCore

/// A data message that came over the device channel.
package struct ArrivedData: Sendable {
    /// The message as the server sent it.
    package var message: OutgoingNotification
    /// The number of the session that brought it.
    package var session: Int
    /// When it came, by this device's wall clock.
    package var receivedAt: Timestamp
    /// Whether its app is installed here; else it ends at once.
    package var isForInstalledApp: Bool
    /// Whether its app's direct channel is open.
    package var isChannelOpen: Bool

    /// A message that came. Each parameter is the property of its name.
    package init(
        message: OutgoingNotification, session: Int, receivedAt: Timestamp, isForInstalledApp: Bool,
        isChannelOpen: Bool
    ) {
        self.message = message
        self.session = session
        self.receivedAt = receivedAt
        self.isForInstalledApp = isForInstalledApp
        self.isChannelOpen = isChannelOpen
    }
}

/// A notice of the server's that came over the device channel.
package struct ArrivedNotice: Sendable {
    /// The notification that carried the notice; its id is acknowledged.
    package var carrier: OutgoingNotification
    /// The notice itself.
    package var notice: DeviceNotice
    /// The number of the session that brought it.
    package var session: Int
    /// When it came, by this device's wall clock.
    package var receivedAt: Timestamp
    /// Whether its app is installed here; else it is acknowledged, and not reported.
    package var isForInstalledApp: Bool

    /// A notice that came. Each parameter is the property of its name.
    package init(
        carrier: OutgoingNotification, notice: DeviceNotice, session: Int, receivedAt: Timestamp,
        isForInstalledApp: Bool
    ) {
        self.carrier = carrier
        self.notice = notice
        self.session = session
        self.receivedAt = receivedAt
        self.isForInstalledApp = isForInstalledApp
    }
}

/// A deletion on the server that is to be reported to an app.
package struct Deletion: Sendable, Equatable {
    /// The id of the notice, by which the app confirms it.
    package var id: NotificationID
    /// How many notifications were deleted.
    package var count: Int
    /// When the first of them were, by the server's clock.
    package var since: Timestamp

    /// A deletion. Each parameter is the property of its name.
    package init(id: NotificationID, count: Int, since: Timestamp) {
        self.id = id
        self.count = count
        self.since = since
    }
}
