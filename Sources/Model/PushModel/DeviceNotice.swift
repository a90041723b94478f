/// What the server tells a device about notifications, in the place of one. It has an id of the device's order, and the
/// device acknowledges it like a notification.
public enum DeviceNotice: Hashable, Sendable {
    /// So many notifications of an app were cleared from its mailbox, the first of them at this moment; they do not come.
    case deleted(count: Int, since: Timestamp)
    /// The provider took this notification back, which the device may have: it is to be taken off the screen.
    case withdrawn(NotificationID)
}

extension OutgoingNotification {
    /// Makes what carries a notice. It never expires, and has no payload.
    ///
    /// - Parameter at: When the notice was made.
    public init(
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
