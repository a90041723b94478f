import AgentProtocol
import Foundation

/// Values as the JSON text of a column.
package enum JSONText {
    /// The JSON text of a value; throws what its encoding throws.
    package static func of(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    /// The JSON text of a request: the text that it was read from, where nothing of it has changed since.
    static func request(_ request: NotificationRequest) throws -> String {
        try request.text?.whole ?? of(request)
    }

    /// The JSON text of a request's content: the text that it was read from, unless it has changed since.
    static func content(of request: NotificationRequest) throws -> String {
        try request.text?.content ?? of(request.content)
    }

    /// The JSON text of a request's trigger: the text that it was read from, where nothing of it has changed since.
    /// `nil` for a request that fires at once.
    static func trigger(of request: NotificationRequest) throws -> String? {
        try request.trigger.map { try request.text?.trigger ?? of($0) }
    }

    /// The value of a JSON text; `nil` for NULL, and for a text that is no such value, as another version may have
    /// written.
    package static func read<Value: Decodable>(_ text: String?, as type: Value.Type = Value.self) -> Value? {
        text.flatMap { try? JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
    }

    /// A text that is not the value that is to be read from it.
    package struct Fault: Error, CustomStringConvertible {
        /// The name of the stored value, and why it cannot be decoded.
        package let description: String
    }

    /// The value of a JSON text that is not to be lost; `nil` for NULL alone.
    ///
    /// - Parameter what: The name of the stored value, for the log.
    /// - Throws: ``Fault`` for a text that is no such value, as another version may have written.
    static func decoded<Value: Decodable>(_ text: String?, what: String) throws(Fault) -> Value? {
        guard let text else { return nil }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw Fault(description: "\(what) cannot be decoded: \(error)")
        }
    }
}
