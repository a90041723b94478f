import PushCore

/// One device in the form of the API.
struct DeviceAnswer: Encodable {
    struct Connection: Encodable {
        /// The time at which the device logged in.
        var since: String
        /// The network that it connects from, where one is known.
        var network: String?
    }

    struct App: Encodable {
        var topic: String
        var team: String
        var environment: String
        /// The device token, which is the app's registration token with FCM too.
        var token: String
        var registeredAt: String
        var waiting: Int
        var missed: [Missed]
        /// Whether senders can encrypt to the app.
        var hasEncryptionKey: Bool
        var fcm: FCM?
    }

    struct Missed: Encodable {
        var reason: String
        var lane: String
        var count: Int
        var since: String
    }

    struct FCM: Encodable {
        var sender: String
        var category: String
        var subtype: String
        var installation: String?
    }

    var device: String
    var state: String
    var enrolledAt: String
    /// The time at which its presence was last recorded, to the day.
    var seenAt: String?
    var blockedAt: String?
    var revokedAt: String?
    /// The present connection; absent while there is none.
    var connection: Connection?
    var apps: [App]

    init(
        _ detail: DeviceDetail, connection: ConnectedSession?, token: (DeviceDetail.App) throws -> String
    ) throws {
        device = detail.device.device.description
        state = detail.state.rawValue
        enrolledAt = detail.device.enrolledAt.description
        seenAt = detail.device.seenAt?.description
        blockedAt = detail.device.blockedAt?.description
        revokedAt = detail.device.revokedAt?.description
        self.connection = connection.map { Connection(since: $0.since.description, network: $0.network) }
        apps = try detail.apps.map { app in
            App(
                topic: app.topic.rawValue, team: app.team.rawValue, environment: app.place.environment.rawValue,
                token: try token(app), registeredAt: app.registeredAt.description, waiting: app.waiting,
                missed: app.missed.map {
                    Missed(
                        reason: $0.reason.rawValue, lane: $0.lane == .fcm ? "fcm" : "apns", count: $0.count,
                        since: $0.since.description)
                }, hasEncryptionKey: app.hasEncryptionKey,
                fcm: app.web.map {
                    FCM(
                        sender: $0.sender, category: $0.category, subtype: $0.subtype, installation: $0.installation)
                })
        }
    }
}
