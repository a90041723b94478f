import PushCore

/// A message that an app on a device sends to its provider, checked and not yet stored.
package struct AppMessage: Hashable, Sendable {
    /// The device that sends it: the session's, whatever the message contains.
    package var device: DeviceID
    /// The app that sends it.
    package var app: AppID
    /// The team that owns the app.
    package var team: TeamID
    /// The id that the app gave it. A second message with this id, from this app on this device, is the same message.
    package var messageID: String
    /// The keys and values, as the app sent them.
    package var data: [String: String]
    /// The bytes that the app sent in addition to the keys and values.
    package var raw: [UInt8]
    /// The last instant at which it may be delivered to its provider.
    package var expiresAt: Timestamp

    /// Creates a message from checked parts.
    package init(
        device: DeviceID, app: AppID, team: TeamID, messageID: String, data: [String: String], raw: [UInt8] = [],
        expiresAt: Timestamp
    ) {
        self.device = device
        self.app = app
        self.team = team
        self.messageID = messageID
        self.data = data
        self.raw = raw
        self.expiresAt = expiresAt
    }
}

/// A queued message for a provider.
package struct WaitingMessage: Hashable, Sendable {
    /// The message's sequence number, which rises and is the cursor of streams.
    package var number: Int64
    /// The message of the app.
    package var message: AppMessage
    /// The topic of the app.
    package var topic: Topic
    /// The environment in which the app was registered when the message arrived.
    package var environment: PushEnvironment
    /// The generation of that registration.
    package var generation: UInt16
    /// The time at which the message arrived.
    package var receivedAt: Timestamp

    /// Creates a message that a store has read.
    package init(
        number: Int64, message: AppMessage, topic: Topic, environment: PushEnvironment, generation: UInt16,
        receivedAt: Timestamp
    ) {
        self.number = number
        self.message = message
        self.topic = topic
        self.environment = environment
        self.generation = generation
        self.receivedAt = receivedAt
    }
}

/// The end of a message from an app.
package enum MessageEnd: String, Hashable, Sendable, CaseIterable {
    /// The provider acknowledged it.
    case taken
    /// The time to live passed before a provider acknowledged it.
    case expired
}

/// The outcome of storing a message.
package enum MessageInsertion: Hashable, Sendable {
    /// The message is queued.
    case kept
    /// The message was stored before, whatever its state is now.
    case known
    /// The app is not registered on the device.
    case notRegistered
    /// The queue of the app, or of this device for the app, is full.
    case full
}

/// The maximum numbers of queued messages.
package struct MessageLimits: Hashable, Sendable {
    /// The number for an app, from all devices.
    package var app = 100_000
    /// The number for an app, from one device.
    package var device = 1000

    /// Creates the default limits.
    package init() {}
}

/// A selection of apps whose messages are read.
package struct MessageScope: Hashable, Sendable {
    /// The team whose apps are selected; `nil` for every team's.
    package var team: TeamID?
    /// The only app that is selected; `nil` for all apps of the team.
    package var app: AppID?

    /// Creates a selection of a team's apps, or of one app.
    package init(team: TeamID? = nil, app: AppID? = nil) {
        self.team = team
        self.app = app
    }
}

/// The webhook of a provider for an app's messages.
package struct Webhook: Hashable, Sendable {
    /// The app.
    package var app: AppID
    /// The address to which the messages are sent.
    package var url: String
    /// The HMAC key that signs the requests. Never shown again after it was made.
    @Secret package var secret: String
    /// The time at which it was set.
    package var setAt: Timestamp

    /// Creates a webhook; nothing is checked.
    package init(app: AppID, url: String, secret: String, setAt: Timestamp) {
        self.app = app
        self.url = url
        self.secret = secret
        self.setAt = setAt
    }
}
