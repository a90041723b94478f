/// A field of comma-separated values.
package enum CSVField {
    /// Quotes a field (RFC 4180). One that a spreadsheet would evaluate as a formula is marked as text.
    package static func quoted(_ field: String) -> String {
        let text = field.first.map { "=+-@\t\r".contains($0) } == true ? "'" + field : field
        guard text.unicodeScalars.contains(where: { ",\"\r\n".unicodeScalars.contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    /// A line of fields.
    package static func line(_ fields: [String]) -> String { fields.map(quoted).joined(separator: ",") + "\r\n" }
}
