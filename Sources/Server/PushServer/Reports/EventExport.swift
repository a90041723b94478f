import Foundation
import PushCore

extension ExportFormat {
    /// The events of a notification, one per line.
    func lines(_ notification: ReportedNotification) throws -> String {
        try notification.entries.map { entry in
            let event = Event(notification, entry)
            switch self {
            case .jsonl: return try event.json() + "\n"
            case .csv: return CSVField.line(event.values)
            }
        }.joined()
    }
}

/// An event as it is exported.
struct Event: Encodable {
    var id: String
    var apnsId: String
    var app: String
    var device: String
    var environment: String
    var lane: String
    var at: String
    var state: String
    var source: String
    var note: String?
    var label: String?
    var topic: String?

    init(_ notification: ReportedNotification, _ entry: TimelineEntry) {
        id = notification.id.description
        apnsId = notification.apnsID.rawValue
        app = notification.topic.rawValue
        device = notification.device.description
        environment = notification.environment.rawValue
        lane = notification.lane == .fcm ? "fcm" : "apns"
        at = entry.at.description
        state = entry.state.text
        source = entry.source.rawValue
        note = entry.note
        label = notification.label.isEmpty ? nil : notification.label
        topic = notification.audience
    }

    static let columns = [
        "id", "apnsId", "app", "device", "environment", "lane", "at", "state", "source", "note", "label", "topic",
    ]

    var values: [String] {
        [id, apnsId, app, device, environment, lane, at, state, source, note ?? "", label ?? "", topic ?? ""]
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
