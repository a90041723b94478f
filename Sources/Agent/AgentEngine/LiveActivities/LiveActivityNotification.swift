import AgentProtocol
import PushCore

/// The texts with which an app's Live Activities of one type are shown on the desktop, as its manifest states them.
///
/// A name in braces stands for an attribute, `state.NAME` for a member of the content state.
package struct LiveActivityTexts: Codable, Hashable, Sendable {
    /// The first line, such as `Order {orderNumber}`; the app's name where it is absent.
    package var title: String?
    /// The text, such as `{state.driver} arrives`; the members of the content state where it is absent.
    package var body: String?
    /// The name of a number from 0 to 1 that is shown as progress, such as `state.progress`.
    package var progress: String?

    /// Creates texts; nothing is checked.
    package init(title: String? = nil, body: String? = nil, progress: String? = nil) {
        self.title = title
        self.body = body
        self.progress = progress
    }
}

/// Composes the notification that shows a Live Activity: a value.
package struct LiveActivityNotification {
    private let record: LiveActivityRecord
    private let attributes: JSONValue
    private let state: JSONValue

    /// Composes for an activity.
    package init(_ record: LiveActivityRecord) {
        self.record = record
        // Both are JSON: `LiveActivitiesEngine` has checked them.
        attributes = (try? JSONValue(Array(record.activity.attributes.utf8))) ?? .object([])
        state = (try? JSONValue(Array(record.activity.content.state.utf8))) ?? .object([])
    }

    /// The notification, with the alert's texts where there is one.
    package func request(_ texts: LiveActivityTexts?, appName: String, alert: LiveActivityAlert?) -> NotificationRequest
    {
        var content = NotificationContent()
        content.title = texts?.title.map(filled) ?? appName
        content.body = texts?.body.map(filled) ?? members
        if let alert {
            if !alert.title.isEmpty { content.title = alert.title }
            if !alert.body.isEmpty { content.body = [alert.body, content.body].joined(separator: "\n") }
            content.sound = alert.sound
        }
        content.relevanceScore = min(max(record.activity.content.relevanceScore, 0), 1)
        content.categoryIdentifier = NotificationContent.liveActivityCategory
        content.progress = progress(texts)
        return NotificationRequest(identifier: record.identifier, content: content)
    }

    private func progress(_ texts: LiveActivityTexts?) -> Double? {
        let value = texts?.progress.flatMap { self.value($0) } ?? (texts == nil ? state["progress"] : nil)
        guard case .number(let text)? = value, let number = Double(text), number.isFinite else { return nil }
        return min(max(number, 0), 1)
    }

    /// The members of the content state, a line each.
    private var members: String {
        guard state.members != nil else { return Self.text(state) }
        return (state.members ?? []).map { "\($0.name): \(Self.text($0.value))" }.joined(separator: "\n")
    }

    /// A text with its names replaced by their values; names without a value stay.
    private func filled(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            result += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            result += value(name).map(Self.text) ?? "{\(name)}"
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    private func value(_ name: String) -> JSONValue? {
        var parts = name.split(separator: ".").map(String.init)
        guard let first = parts.first else { return nil }
        var value: JSONValue? = attributes
        if first == "state" {
            value = state
            parts.removeFirst()
        }
        for part in parts { value = value?[part] }
        return value
    }

    private static func text(_ value: JSONValue) -> String { value.text ?? value.json }
}
