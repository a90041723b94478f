import AgentProtocol
import Foundation

extension NSString {
    /// A text of a notification that is looked up in the app's string tables at delivery, in the language of that
    /// moment.
    ///
    /// Give the result to the title, subtitle or body of a ``UNMutableNotificationContent``, which keeps key and
    /// arguments; it is of no use elsewhere. Arguments are kept as their descriptions.
    public class func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
        LocalizedText.marked(
            NotificationContent.Localization(key: key, arguments: (arguments ?? []).map { "\($0)" }))
    }
}

extension String {
    /// The same as `NSString.localizedUserNotificationString(forKey:arguments:)`.
    public static func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
        NSString.localizedUserNotificationString(forKey: key, arguments: arguments)
    }
}

/// Writes key and arguments into a `String`, reads them again, and looks their text up.
enum LocalizedText {
    // A character of the private use area, which no text for people has.
    private static let opening: Character = "\u{10FD50}"
    private static let closing: Character = "\u{10FD51}"

    static func marked(_ localization: NotificationContent.Localization) -> String {
        guard let json = try? JSONEncoder().encode(localization) else { return localization.key }
        return "\(opening)\(String(decoding: json, as: UTF8.self))\(closing)"
    }

    /// Key and arguments of a marked text; `nil` for any other text.
    static func localization(marked text: String) -> NotificationContent.Localization? {
        guard text.first == opening, text.last == closing else { return nil }
        return try? JSONDecoder().decode(
            NotificationContent.Localization.self, from: Data(text.dropFirst().dropLast().utf8))
    }

    /// The text from the string tables of the app's own bundle; `nil` when they do not have the key.
    static func text(_ localization: NotificationContent.Localization) -> String? {
        let absent = "\(opening)\(closing)"
        let format = Bundle.main.localizedString(forKey: localization.key, value: absent, table: nil)
        return format == absent ? nil : text(of: format, localization.arguments)
    }

    /// The text where no table has the key: the key, as a format.
    static func fallback(_ localization: NotificationContent.Localization) -> String {
        text(of: localization.key, localization.arguments)
    }

    /// A format with its arguments; without any it is the text itself, per cent signs included.
    private static func text(of format: String, _ arguments: [String]) -> String {
        arguments.isEmpty ? format : filled(format, with: arguments)
    }

    /// Fills the placeholders of a format of Foundation's kind with the arguments' texts, whatever their conversion. A
    /// placeholder without an argument is left empty.
    static func filled(_ format: String, with arguments: [String]) -> String {
        var text = ""
        var rest = Substring(format)
        var next = 0
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[rest.index(after: percent)...]
            if rest.first == "%" {
                text.append("%")
                rest = rest.dropFirst()
                continue
            }
            guard let place = place(in: rest) else {
                text.append("%")
                continue
            }
            let index = place.position ?? next
            if place.position == nil { next += 1 }
            if arguments.indices.contains(index) { text += arguments[index] }
            rest = place.rest
        }
        return text + rest
    }

    /// A place behind its percent sign: position (`1$`), flags, width and length, then the conversion.
    private static func place(in text: Substring) -> (position: Int?, rest: Substring)? {
        var rest = text
        var position: Int?
        let digits = rest.prefix { "0123456789".contains($0) }
        if let number = Int(digits), number > 0, rest.dropFirst(digits.count).first == "$" {
            position = number - 1
            rest = rest.dropFirst(digits.count + 1)
        }
        rest = rest.drop { "#0- +.123456789".contains($0) }
        rest = rest.drop { "hlqLztj".contains($0) }
        guard let conversion = rest.first, "@dDiuUxXoOfFeEgGaAcCsSp".contains(conversion) else { return nil }
        return (position, rest.dropFirst())
    }
}
