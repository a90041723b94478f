import AldabaConfiguration
import Foundation
import PushCore

/// A line by which the server reports what a device on demand got to the process that started it.
struct ArrivalReport: Codable {
    var event = "arrived"
    var app: String
    var token: String
    var id: String
    /// The payload as text; a message of FCM's is JSON too.
    var payload: String

    /// Writes the line to standard output; a line that cannot be written has no reader.
    static let write: @Sendable (OutgoingNotification, String) -> Void = { notification, token in
        let report = ArrivalReport(
            app: notification.topic.rawValue, token: token, id: notification.apnsID.rawValue,
            payload: String(decoding: notification.payload, as: UTF8.self))
        guard let line = try? JSONLine.of(report) else { return }
        // The reader is gone when this fails, and the server ends by itself then.
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Reads the line; `nil` for any other.
    init?(line: String) {
        guard let read = JSONLine.read(line, as: ArrivalReport.self), read.event == "arrived" else { return nil }
        self = read
    }

    private init(app: String, token: String, id: String, payload: String) {
        self.app = app
        self.token = token
        self.id = id
        self.payload = payload
    }
}
