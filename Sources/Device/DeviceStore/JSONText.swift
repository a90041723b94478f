import Foundation

/// Values as the JSON text of a column.
package enum JSONText {
    package static func of(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    /// `nil` for a text that a version of before or after cannot have meant.
    package static func read<Value: Decodable>(_ text: String?, as type: Value.Type = Value.self) -> Value? {
        text.flatMap { try? JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
    }
}
