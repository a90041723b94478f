/// A message of the server to a device about notifications, delivered in place of one. It has an id in the device's
/// order, and the device acknowledges it like a notification.
package enum DeviceNotice: Hashable, Sendable {
    /// A number of notifications of an app were cleared from its mailbox, the first of them at this time; they are not
    /// delivered.
    case deleted(count: Int, since: Timestamp)
    /// The provider withdrew this notification, which the device may have: it must be removed from the screen.
    case withdrawn(NotificationID)
}

extension OutgoingNotification {
    /// Creates the notification that contains a notice. It never expires, and has no payload.
    ///
    /// - Parameter at: The time at which the notice was made.
    package init(
        _ notice: DeviceNotice, id: NotificationID, team: TeamID, topic: Topic, environment: PushEnvironment,
        lane: Lane, at: Timestamp
    ) {
        self.init(
            id: id, apnsID: APNsID(rawValue: ""), team: team, topic: topic, environment: environment, lane: lane,
            pushType: nil,
            priority: .immediate, collapseID: nil, acceptedAt: at, expiresAt: .distantFuture, payload: [])
        self.notice = notice
    }
}
