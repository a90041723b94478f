import PushCore

/// A broadcast as a store keeps it: the properties that the engine needs, and the contents of its copies.
package struct BroadcastRecord: Hashable, Sendable {
    /// The audience of the broadcast, and its expiration.
    package var broadcast: Broadcast
    /// The kind of push; `nil` where the endpoint specified none.
    package var pushType: PushType?
    /// The priority of the copies.
    package var priority: Priority
    /// The collapse id; `nil` where it replaces nothing.
    package var collapseID: String?
    /// The payload, stored once under ``payload``.
    package var content: PushContent
    /// The note beside `accepted` in the timelines of its copies; made once for all of them.
    private let note: String

    /// Creates the row of a broadcast.
    package init(
        broadcast: Broadcast, pushType: PushType?, priority: Priority, collapseID: String?, content: PushContent
    ) {
        self.broadcast = broadcast
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.content = content
        note = "a copy of the broadcast \(broadcast.id)"
    }

    /// The payload's id: the broadcast's own number.
    package var payload: PayloadID { PayloadID(rawValue: broadcast.id.rawValue) }

    /// The copy for a registration, as if it had been accepted separately.
    func copy(for registration: FanoutRegistration, of device: DeviceID, cell: UInt16, app: RegisteredApp)
        -> AcceptedNotification
    {
        let subject = TokenSubject(
            cell: cell, device: device, app: app.id, environment: registration.place.environment,
            generation: registration.generation)
        let notification = Notification(
            topic: app.topic, pushType: pushType, priority: priority,
            expiry: broadcast.isAttempt ? .once : .until(broadcast.expiresAt), collapseID: collapseID,
            content: content)
        return AcceptedNotification(
            app: app, subject: subject, notification: notification, ticket: 0,
            note: note)
    }
}

/// A summary of a broadcast for its timeline.
package struct BroadcastSummary: Hashable, Sendable {
    /// The audience, as the sender wrote it.
    package var audience: String
    /// The time after which no more copies are made.
    package var expiresAt: Timestamp
    /// The number of copies made so far, one for each registration that was processed.
    package var targeted: Int
    /// The number of copies with a line of each state in their timelines, by the state's text.
    package var states: [String: Int]

    /// Creates the summary of a broadcast.
    package init(audience: String, expiresAt: Timestamp, targeted: Int, states: [String: Int]) {
        self.audience = audience
        self.expiresAt = expiresAt
        self.targeted = targeted
        self.states = states
    }
}
