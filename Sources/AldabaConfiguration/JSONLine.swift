import Foundation

/// JSON for programs: one line, members in the order of their names.
package enum JSONLine {
    /// The text of a value, without a line feed.
    package static func of(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Reads a value; `nil` when the text is not one.
    package static func read<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
