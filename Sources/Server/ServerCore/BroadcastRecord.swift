import Fanout
import PushModel
import RegisterCore

/// A broadcast as a store keeps it: what the engine has to know, and what its copies carry.
public struct BroadcastRecord: Hashable, Sendable {
    /// Who it is for, and until when.
    public var broadcast: Broadcast
    /// The kind of push; `nil` where its door named none.
    public var pushType: PushType?
    /// How urgent it is.
    public var priority: Priority
    /// Its collapse id; `nil` where it replaces nothing.
    public var collapseID: String?
    /// The payload, stored once under ``payload``.
    public var content: PushContent
    /// What the timelines of its copies say beside `accepted`; made once for all of them.
    private let note: String

    /// Makes the row of a broadcast.
    public init(
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
    public var payload: PayloadID { PayloadID(rawValue: broadcast.id.rawValue) }

    /// The copy for a registration, as it would have been accepted by itself.
    func copy(for registration: FanoutRegistration, of device: DeviceID, cell: UInt16, app: RegisteredApp)
        -> Acceptance
    {
        let subject = TokenSubject(
            cell: cell, device: device, app: app.id, environment: registration.place.environment,
            generation: registration.generation)
        let notification = Notification(
            topic: app.topic, pushType: pushType, priority: priority,
            expiry: broadcast.isAttempt ? .once : .until(broadcast.expiresAt), collapseID: collapseID,
            content: content)
        return Acceptance(
            app: app, subject: subject, notification: notification, ticket: 0,
            note: note)
    }
}

/// What is known of a broadcast, for those who ask for its timeline.
public struct BroadcastSummary: Hashable, Sendable {
    /// Who it is for, as its sender wrote it.
    public var audience: String
    /// From this instant on it reaches nobody who did not get it before.
    public var expiresAt: Timestamp
    /// How many copies were made so far, one for each registration that had its turn.
    public var targeted: Int
    /// How many of the copies have a line of each state in their timelines, by the state's text.
    public var states: [String: Int]

    /// Makes the sums of one broadcast.
    public init(audience: String, expiresAt: Timestamp, targeted: Int, states: [String: Int]) {
        self.audience = audience
        self.expiresAt = expiresAt
        self.targeted = targeted
        self.states = states
    }
}
