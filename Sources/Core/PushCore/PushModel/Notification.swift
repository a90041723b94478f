/// The kinds of push that APNs knows, by their `apns-push-type` text.
package enum PushType: String, Sendable, CaseIterable {
    /// A notification that shows text, sounds or sets a badge.
    case alert
    /// A notification that wakes its app and shows nothing.
    case background
    /// A request to a location push extension for the device's location.
    case location
    /// An incoming call.
    case voip
    /// An update of a complication of a watch face.
    case complication
    /// Changes for a file provider extension.
    case fileprovider
    /// A request to a managed device to contact its management server.
    case mdm
    /// The beginning, update or end of a Live Activity.
    case liveactivity
    /// An update of a Push to Talk session.
    case pushtotalk
    /// A request to reload widgets.
    case widgets
    /// A request to reload controls.
    case controls

    /// The code of the state `failed` for a push that nothing on the device receives.
    package static let noReceiver = "noReceiver"
}

/// The priority of a notification, one of APNs' three.
package enum Priority: UInt8, Sendable, CaseIterable {
    /// Never wakes a device.
    case low = 1
    /// May be grouped to save power.
    case considerate = 5
    /// Delivered at once; the default.
    case immediate = 10
}

/// The time until which a notification is delivered: the three meanings of `apns-expiration`.
package enum Expiry: Hashable, Sendable {
    /// The header was absent: the policy's default, 30 days.
    case policyDefault
    /// `0`: one attempt, never stored.
    case once
    /// Stored and retried until then, 30 days at most.
    case until(Timestamp)
}

/// The content of a notification, in the form of the service whose API accepted it.
package enum PushContent: Hashable, Sendable {
    /// A payload of APNs, verbatim: a JSON object.
    case apns([UInt8])
    /// A message of FCM, as the bytes that are sent to the device.
    case fcm([UInt8])

    /// The lane of the mailbox in which it is queued.
    package var lane: Lane {
        switch self {
        case .apns: .apns
        case .fcm: .fcm
        }
    }

    /// The bytes, as stores and device wires keep them in addition to the lane.
    package var bytes: [UInt8] {
        switch self {
        case .apns(let bytes), .fcm(let bytes): bytes
        }
    }
}

/// A provider's notification for one device token: headers and content, already checked.
package struct Notification: Hashable, Sendable {
    /// The `apns-id` exactly as the provider sent it; `nil` when the server makes one.
    package var apnsID: APNsID?
    /// The app's own topic, without a suffix that the push type adds.
    package var topic: Topic
    /// The `apns-push-type`; `nil` when the provider sent none, and no suffix of the topic implied one.
    package var pushType: PushType?
    /// The `apns-priority`.
    package var priority: Priority
    /// The `apns-expiration`.
    package var expiry: Expiry
    /// The collapse id, at most 64 bytes; it replaces the queued and the shown notification with the same id.
    package var collapseID: String?
    /// The body, in the form of the endpoint that accepted it.
    package var content: PushContent

    /// Creates a notification from checked parts. The defaults are those of absent header fields.
    package init(
        apnsID: APNsID? = nil, topic: Topic, pushType: PushType? = nil, priority: Priority = .immediate,
        expiry: Expiry = .policyDefault, collapseID: String? = nil, content: PushContent
    ) {
        self.apnsID = apnsID
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiry = expiry
        self.collapseID = collapseID
        self.content = content
    }
}

/// A notification for a device, as a device wire writes it in one packet.
package struct OutgoingNotification: Hashable, Sendable {
    /// The internal id, which the device acknowledges.
    package var id: NotificationID
    /// The provider's `apns-id`, or the one that the server made.
    package var apnsID: APNsID
    /// The team that owns the app.
    package var team: TeamID
    /// The topic of its app.
    package var topic: Topic
    /// The environment of the device token that it was sent to.
    package var environment: PushEnvironment
    /// The lane of the mailbox in which it is queued.
    package var lane: Lane
    /// The kind of push, where the provider sent one or the topic implied it.
    package var pushType: PushType?
    /// The priority.
    package var priority: Priority
    /// The collapse id, at most 64 bytes; on the device it replaces the shown notification with the same id.
    package var collapseID: String?
    /// The time at which it was accepted.
    package var acceptedAt: Timestamp
    /// The last instant at which it may be delivered; `nil` for one attempt (never stored).
    package var expiresAt: Timestamp?
    /// The provider's body, verbatim: a JSON object.
    package var payload: [UInt8]
    /// The notice that is delivered in place of a notification; `nil` for a notification.
    package internal(set) var notice: DeviceNotice?

    /// Creates a notification for a device; nothing is checked.
    package init(
        id: NotificationID, apnsID: APNsID, team: TeamID, topic: Topic, environment: PushEnvironment,
        lane: Lane, pushType: PushType?, priority: Priority, collapseID: String?, acceptedAt: Timestamp,
        expiresAt: Timestamp?, payload: [UInt8]
    ) {
        self.id = id
        self.apnsID = apnsID
        self.team = team
        self.topic = topic
        self.environment = environment
        self.lane = lane
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.payload = payload
    }
}
