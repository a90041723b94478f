import PushCore

/// A text that a notification shows.
public enum APNsText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The text itself.
    case plain(String)
    /// The key of a text in the app's string tables, and the values of its place-holders.
    case localized(key: String, arguments: [String] = [])

    /// Creates the text itself.
    public init(stringLiteral text: String) { self = .plain(text) }

    /// Writes the text into the dictionary `alert`.
    ///
    /// - Parameter prefix: The beginning of the keys of a localized text, such as `title-`.
    func write(_ name: String, prefix: String, into alert: inout JSONValue) {
        switch self {
        case .plain(let text): alert.put(name, text)
        case .localized(let key, let arguments):
            alert.put("\(prefix)loc-key", key)
            alert.put("\(prefix)loc-args", arguments)
        }
    }

    /// The text as Live Activities want it: a string, or an object with the key.
    var liveActivityValue: JSONValue {
        switch self {
        case .plain(let text): return .string(text)
        case .localized(let key, let arguments):
            var object = JSONValue.object([])
            object.put("loc-key", key)
            object.put("loc-args", arguments)
            return object
        }
    }
}

/// The sound of a notification.
public enum APNsSound: Hashable, Sendable {
    /// The system's sound.
    case `default`
    /// A file of the app.
    case named(String)
    /// A sound that is also played in silent mode, which requires an entitlement. The volume is from 0 to 1.
    case critical(name: String = "default", volume: Double = 1)

    var value: JSONValue {
        switch self {
        case .default: return .string("default")
        case .named(let name): return .string(name)
        case .critical(let name, let volume):
            var object = JSONValue.object([.init("critical", .number("1"))])
            object.put("name", name)
            object.put("volume", min(max(0, volume), 1))
            return object
        }
    }
}

/// The interruption level of a notification.
public enum APNsInterruptionLevel: String, Hashable, Sendable {
    /// Added to the list without light or sound.
    case passive
    /// Shown at once; the default.
    case active
    /// Shown at once also where a focus holds others back.
    case timeSensitive = "time-sensitive"
    /// Shown at once, with sound also in silent mode; requires an entitlement.
    case critical
}
