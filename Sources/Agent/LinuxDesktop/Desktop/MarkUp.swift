/// The body text of a notification, as the server's capabilities allow it.
enum MarkUp {
    /// Prepares a body: plain text is escaped where the server has the capability `body-markup`, else left as it is.
    ///
    /// What people typed never becomes markup. NUL, which D-Bus strings cannot hold, is left out.
    static func body(_ text: String, understandsMarkUp: Bool) -> String {
        guard understandsMarkUp else { return BusValue.plain(text) }
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for character in BusValue.plain(text).unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
