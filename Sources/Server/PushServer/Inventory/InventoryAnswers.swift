import PushCore

/// A page of notifications in the form of the API.
struct NotificationsAnswer: Encodable {
    var notifications: [Item]
    var next: String?

    struct Item: Encodable {
        var id: String
        var apnsId: String
        var team: String
        var topic: String
        var device: String?
        var environment: String?
        var acceptedAt: String?
        /// The notification's state: `waiting`, `ended`, `refused`.
        var state: String
        /// The last line of its timeline.
        var last: String
        var lastAt: String?
        /// The line that says what became of it, such as `presented` or `suppressed(settings)`.
        var outcome: String
        /// The title and the text that a person would read.
        var title: String?
        var body: String?
        var pushType: String?

        init(_ notification: InventoryNotification) {
            let timeline = notification.timeline
            let entries = TimelineEntry.ordered(timeline.entries)
            id = timeline.id.description
            apnsId = timeline.apnsID.rawValue
            team = timeline.team.rawValue
            topic = timeline.topic.rawValue
            device = timeline.device?.description
            environment = timeline.environment?.rawValue
            acceptedAt = entries.first { $0.state == .accepted }?.at.description
            state = notification.state.rawValue
            last = entries.last?.state.text ?? "-"
            lastAt = entries.last?.at.description
            outcome = TimelineEntry.outcome(of: entries)?.state.text ?? "-"
            let alert = notification.content?.json?["aps"]?["alert"]
            title = alert?["title"]?.text
            body = alert?.text ?? alert?["body"]?.text
            pushType = notification.content?.pushType?.rawValue
        }
    }
}

/// A page of devices in the form of the API.
struct DevicesAnswer: Encodable {
    var devices: [Item]
    var next: String?

    struct Item: Encodable {
        struct App: Encodable {
            var topic: String
            var environment: String
        }

        var device: String
        var state: String
        var enrolledAt: String
        /// The time at which its presence was last recorded, to the day.
        var seenAt: String?
        var apps: [App]

        init(_ device: InventoryDevice) {
            self.device = device.device.device.description
            state = device.state.rawValue
            enrolledAt = device.device.enrolledAt.description
            seenAt = device.device.seenAt?.description
            apps = device.registrations.map { App(topic: $0.topic.rawValue, environment: $0.environment.rawValue) }
        }
    }
}

/// A page of apps in the form of the API.
struct AppsAnswer: Encodable {
    var apps: [Item]
    var next: String?

    struct Item: Encodable {
        var topic: String
        var team: String
        var name: String?
        var limit: Int
        var overflow: String
        var capabilities: [String]

        init(_ app: RegisteredApp) {
            topic = app.topic.rawValue
            team = app.team.rawValue
            name = app.name
            limit = app.policy.limit
            overflow = app.policy.overflow.rawValue
            capabilities = app.isPushEnabled ? ["push"] : []
        }
    }
}
