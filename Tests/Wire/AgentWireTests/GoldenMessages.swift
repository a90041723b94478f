import AgentWire
import Foundation

/// The messages that the files in `Fixtures/agentwire` hold, by file name.
enum GoldenMessages {
    static let notification = DeliveredNotification(
        id: 9_007_199_254_740_993, identifier: "chat-7", apnsID: "4d1c3f60-2f0a-4b0e-9a57-0c9f4f7c2b11",
        topic: "com.example.todo", date: 1_790_000_000_000,
        payload: #"{"aps":{"alert":"Grüße / ✓"},"todo":"milk"}"#)
    static let plain = DeliveredNotification(
        id: 2, identifier: "x", apnsID: nil, topic: "t", date: -1, payload: "{}")

    static let fromApp: [(file: String, message: AppMessage)] = [
        ("hello", .hello(version: 1, app: "com.example.todo", secret: "s3")),
        ("hello-without-secret", .hello(version: 1, app: "com.example.todo", secret: nil)),
        ("requestAuthorization", .requestAuthorization(request: 1, options: 7)),
        ("registerForRemoteNotifications", .registerForRemoteNotifications(request: 2)),
        ("unregisterForRemoteNotifications", .unregisterForRemoteNotifications(request: 3)),
        ("getSettings", .getSettings(request: 4)),
        ("ready", .ready),
        ("handled-presented", .handled(notification: 9_007_199_254_740_993, outcome: .presented(options: 26))),
        ("handled-notPresented", .handled(notification: 5, outcome: .notPresented)),
        ("handled-background", .handled(notification: 5, outcome: .background(.noData))),
        ("responseHandled", .responseHandled(response: 6)),
        ("stateChanged", .stateChanged(.inactive)),
    ]

    static let fromAgent: [(file: String, message: AgentMessage)] = [
        (
            "welcome",
            .welcome(.init(version: 1, state: .background, authorization: 2, launchNotification: notification))
        ),
        ("welcome-plain", .welcome(.init(version: 1, state: .active, authorization: 0))),
        ("refused", .refused(version: 1, code: "unknownApp", message: "Install it first.")),
        ("authorizationAnswered", .authorizationAnswered(request: 1, granted: true)),
        ("registered", .registered(request: 2, token: "00ff")),
        ("registered-unasked", .registered(request: nil, token: "00ff")),
        ("registrationFailed", .registrationFailed(request: 2, code: "unreachable", message: "No server.")),
        (
            "settings",
            .settings(
                request: 4,
                NotificationSettings(
                    authorizationStatus: 2, alertSetting: 2, soundSetting: 2, badgeSetting: 1,
                    notificationCenterSetting: 2, alertStyle: 1))
        ),
        ("deliver", .deliver(notification, kind: .foregroundAndBackground)),
        ("respond", .respond(response: 8, notification: plain, action: "reply", userText: "on my way")),
        ("respond-plain", .respond(response: 8, notification: plain, action: "open", userText: nil)),
        ("handledConfirmed", .handledConfirmed(notifications: [5, 9_007_199_254_740_993])),
        ("responsesConfirmed", .responsesConfirmed(responses: [8])),
    ]

    /// The bytes of one file, without its last line feed.
    static func bytes(_ file: String) throws -> [UInt8] {
        let data = try Data(contentsOf: folder.appendingPathComponent("\(file).json"))
        return Array(data.last == 0x0A ? data.dropLast() : data)
    }

    static let folder: URL = {
        var place = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while place.path != "/" {
            let candidate = place.appendingPathComponent("Fixtures/agentwire", isDirectory: true)
            if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
            place.deleteLastPathComponent()
        }
        return place
    }()
}
