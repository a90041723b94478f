import AgentWire
import Foundation

/// Values as the JSON text of a column.
package enum JSONText {
    package static func of(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    /// A request's, as it was read where nothing of it has changed.
    static func request(_ request: NotificationRequest) throws -> String {
        try request.text?.whole ?? of(request)
    }

    /// What a request says, as it was read where nothing of it has changed.
    static func content(of request: NotificationRequest) throws -> String {
        try request.text?.content ?? of(request.content)
    }

    /// What makes a request appear, as it was read where nothing of it has changed; `nil` for "at once".
    static func trigger(of request: NotificationRequest) throws -> String? {
        try request.trigger.map { try request.text?.trigger ?? of($0) }
    }

    /// `nil` for a text that a version of before or after cannot have meant.
    package static func read<Value: Decodable>(_ text: String?, as type: Value.Type = Value.self) -> Value? {
        text.flatMap { try? JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
    }
}
