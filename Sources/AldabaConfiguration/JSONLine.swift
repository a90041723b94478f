import Foundation

/// JSON for programs: one line, members in the order of their names.
public enum JSONLine {
    /// The text of a value, without a line feed.
    public static func of(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Reads a value; `nil` when the text is not one.
    public static func read<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
