import PushCore

/// A change of the rows of a ``NotificationStore``.
package enum RowChange: Hashable, Sendable {
    /// Stores a payload that many notifications refer to.
    case insertPayload(PayloadRecord)
    /// Stores a notification; where ``NotificationRecord/waits`` is `true`, also its waiting row. A shared payload must
    /// have been inserted before.
    case insertNotification(NotificationRecord)
    /// Stores a request that was refused, so that its timeline gives the reason.
    case insertRefusal(RefusalRecord)
    /// Deletes the waiting row of a notification.
    case removeWaiting(NotificationID, of: DeviceID)
    /// Stores a tombstone for the device, in place of an earlier one of the same app, environment and lane.
    case keepTombstone(Mailbox.Tombstone, of: DeviceID)
    /// Deletes the tombstone with this id.
    case removeTombstone(NotificationID, of: DeviceID)
    /// Stores a recall for the device.
    case insertRecall(Mailbox.Recall, of: DeviceID)
    /// Deletes the recall with this id.
    case removeRecall(NotificationID, of: DeviceID)
    /// Adds to what expired while the device was away.
    case addMissed(MissedNotifications, of: DeviceID)
    /// Deletes the counts of what expired while the device was away: those of one app in one environment, or all.
    case forgetMissed(of: DeviceID, only: RegistrationKey?)
    /// Records a device's presence.
    case noteSeen(DeviceID, at: Timestamp)
    /// Adds a line to a timeline, unless it has one with the same time and state.
    case appendLine(TimelineEntry, to: NotificationID)
    /// Moves the position up to which a device's broadcasts were processed.
    case moveCursor(DeviceID, to: Int64)
    /// Records that a node has the session of a device, with its epoch. The mailbox's row is locked.
    case openSession(DeviceID, node: UInt16, epoch: UInt64)
    /// Records that a device has no session, unless it has opened a later one than that of the epoch.
    case closeSession(DeviceID, epoch: UInt64)
    /// Makes the ceiling of ids durable; a lower one changes nothing.
    case raiseHighWater(to: Int64)
    /// Records that timelines of a team were not recorded.
    case noteUnrecorded(UnrecordedSpan)
}

/// A notification as a store keeps it.
package struct NotificationRecord: Hashable, Sendable {
    /// The internal id, the row's key.
    package var id: NotificationID
    /// The decoded device token: device, app, environment and generation.
    package var subject: TokenSubject
    /// The `apns-id` that the provider sent; `nil` when the server made it.
    package var apnsID: APNsID?
    /// The push type; `nil` where the provider specified none.
    package var pushType: PushType?
    /// The priority.
    package var priority: Priority
    /// The collapse id; `nil` where it replaces nothing.
    package var collapseID: String?
    /// The time at which it was accepted.
    package var acceptedAt: Timestamp
    /// The time at which it expires; `nil` for one attempt.
    package var expiresAt: Timestamp?
    /// Whether it is queued in the device's mailbox (the timeline's `stored`).
    package var waits: Bool
    /// The lane of the mailbox in which it is queued.
    package var lane: Lane
    /// The payload, or the id of one that it shares.
    package var payload: NotificationPayload
    /// The note beside `accepted`; `nil` for none.
    package var note: String?

    /// Creates the row of a notification.
    package init(
        id: NotificationID, subject: TokenSubject, apnsID: APNsID?, pushType: PushType?, priority: Priority,
        collapseID: String?, acceptedAt: Timestamp, expiresAt: Timestamp?, waits: Bool, lane: Lane,
        payload: NotificationPayload, note: String? = nil
    ) {
        self.id = id
        self.subject = subject
        self.apnsID = apnsID
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.waits = waits
        self.lane = lane
        self.payload = payload
        self.note = note
    }
}

/// A refused request as a store keeps it.
package struct RefusalRecord: Hashable, Sendable {
    /// The internal id by which its timeline is found, the row's key.
    package var id: NotificationID
    /// The team whose credential came with the request.
    package var team: TeamID
    /// The topic as the provider wrote it, cut to 255 characters; it may belong to no app.
    package var topic: String
    /// The `apns-id` of the request; `nil` where the provider sent none.
    package var apnsID: APNsID?
    /// The time at which it was refused.
    package var at: Timestamp
    /// The reason's code, such as `BadDeviceToken`.
    package var code: String
    /// The fault and its place; no secret and nothing of the payload.
    package var note: String?

    /// Creates the row of a refused request.
    package init(
        id: NotificationID, team: TeamID, topic: String, apnsID: APNsID?, at: Timestamp, code: String, note: String?
    ) {
        self.id = id
        self.team = team
        self.topic = topic
        self.apnsID = apnsID
        self.at = at
        self.code = code
        self.note = note
    }
}

/// The number of a team's timelines that were not recorded, and the range of their ids.
package struct UnrecordedSpan: Hashable, Sendable {
    /// The team that sent the notifications.
    package var team: TeamID
    /// The lowest of their ids.
    package var first: NotificationID
    /// The highest of their ids; ids between the two may have timelines all the same.
    package var last: NotificationID
    /// The number of timelines that were not recorded; at least 1.
    package var count: Int

    /// Creates the row of one span of ids.
    package init(team: TeamID, first: NotificationID, last: NotificationID, count: Int) {
        self.team = team
        self.first = first
        self.last = last
        self.count = count
    }
}
