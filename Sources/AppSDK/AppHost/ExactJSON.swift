import Foundation

extension JSONSerialization {
    /// Parses an object with every character of its names and strings; `nil` for a text that is no object.
    ///
    /// Foundation on Linux drops a byte order mark (U+FEFF) at the beginning of a name or string. A member that the
    /// server does not take for `aps` would become it. Foundation keeps a mark that is written as an escape.
    package static func exactObject(_ text: String) -> [String: Any]? {
        let escaped = text.unicodeScalars.contains("\u{FEFF}") ? text.replacing("\u{FEFF}", with: #"\uFEFF"#) : text
        return (try? jsonObject(with: Data(escaped.utf8))) as? [String: Any]
    }
}
