import PushModel

/// A message that an app on a device sends to its provider, checked and not yet stored.
package struct AppMessage: Hashable, Sendable {
    /// The device that sends it: that of the session, whatever the message says.
    package var device: DeviceID
    /// The app that sends it.
    package var app: AppID
    /// The team that owns the app.
    package var team: TeamID
    /// The name that the app gave it. A second one of this name, from this app on this device, is the same message.
    package var messageID: String
    /// Keys and values, as the app gave them.
    package var data: [String: String]
    /// What the app sent beside them.
    package var raw: [UInt8]
    /// The last instant at which its provider may have it.
    package var expiresAt: Timestamp

    /// Makes a message of checked parts.
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

/// A message that waits for its provider.
package struct WaitingMessage: Hashable, Sendable {
    /// Its place among all messages: it rises from message to message, and is the cursor of streams.
    package var number: Int64
    /// What the app sent.
    package var message: AppMessage
    /// The topic of the app.
    package var topic: Topic
    /// The environment in which the app was registered when it came.
    package var environment: PushEnvironment
    /// The generation of that registration.
    package var generation: UInt16
    /// When it came.
    package var receivedAt: Timestamp

    /// Makes what a store has read.
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

/// How a message from an app ended.
package enum MessageEnd: String, Hashable, Sendable, CaseIterable {
    /// The provider acknowledged it.
    case taken
    /// Its time to live passed before a provider took it.
    case expired
}

/// What became of a message that was to be stored.
package enum MessageKeeping: Hashable, Sendable {
    /// It waits now.
    case kept
    /// It was stored before, whatever became of it since.
    case known
    /// The app is not registered on the device.
    case notRegistered
    /// As many wait for the app, or from this device for it, as may.
    case full
}

/// How many messages may wait.
package struct MessageLimits: Hashable, Sendable {
    /// For an app, from all devices.
    package var app = 100_000
    /// For an app, from one device.
    package var device = 1000

    /// The defaults.
    package init() {}
}

/// Whose messages are meant.
package struct MessageScope: Hashable, Sendable {
    /// Those of this team's apps; `nil` for every team's.
    package var team: TeamID?
    /// Those of this app alone; `nil` for all apps of the team.
    package var app: AppID?

    /// The messages of a team, or of one app.
    package init(team: TeamID? = nil, app: AppID? = nil) {
        self.team = team
        self.app = app
    }
}

/// Where a provider takes an app's messages.
package struct Webhook: Hashable, Sendable {
    /// The app.
    package var app: AppID
    /// Where they are sent.
    package var url: String
    /// Signs them. Never shown again after it was made.
    @Secret package var secret: String
    /// When it was set.
    package var setAt: Timestamp

    /// Makes an entry; nothing is checked.
    package init(app: AppID, url: String, secret: String, setAt: Timestamp) {
        self.app = app
        self.url = url
        self.secret = secret
        self.setAt = setAt
    }
}
