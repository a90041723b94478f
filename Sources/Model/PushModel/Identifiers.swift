/// A device: one agent with its own id and secret. The id is the MCS device id.
///
/// Always in `1 ... Int64.max`, so that it fits an SQLite integer and is never the protocol's "no id".
public struct DeviceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    /// Makes an id of a number from outside; `nil` when the number is 0 or beyond `Int64.max`.
    public init?(_ rawValue: UInt64) {
        guard rawValue != 0, rawValue <= UInt64(Int64.max) else { return nil }
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }

    public static func < (left: DeviceID, right: DeviceID) -> Bool { left.rawValue < right.rawValue }
}

/// The number of an app in the server's register; it is what a device token carries instead of the topic.
public struct AppID: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public var description: String { String(rawValue) }
}

/// A team: it owns apps and provider keys. Ten characters `A-Z0-9`, as Apple's are.
public struct TeamID: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    /// Whether the text has the shape of a team or key id: ten characters `A-Z0-9`.
    public static func hasShape(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) }
    }
}

/// An app's name on the wire: its bundle id, `com.example.todo`.
public struct Topic: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    /// Whether the text can name an app: 1 to 255 bytes of letters, digits, `.`, `-` and `_`, the first of them no dot,
    /// so that it can name a file too.
    public static func hasShape(_ text: String) -> Bool { hasShape(ArraySlice(text.utf8)) }

    /// Whether the bytes can name an app, as ``hasShape(_:)-(String)``.
    public static func hasShape(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.count <= 255 && bytes.first != 46
            && bytes.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 46 || $0 == 45
                    || $0 == 95
            }
    }
}

/// The two worlds of device tokens; a token of one is a `BadDeviceToken` in the other.
public enum PushEnvironment: String, Sendable, CaseIterable {
    case sandbox
    case production
}

/// The two lanes of a mailbox: limits, clearing and tombstones act within a lane, ids are one sequence.
public enum Lane: UInt8, Sendable, CaseIterable {
    case apns = 0
    case fcm = 1
}

/// The internal id of one notification: unique and increasing within its device, time-ordered on a node.
///
/// It is the persistent id on the device channel and the key of the timeline.
public struct NotificationID: Hashable, Comparable, Sendable, RawRepresentable, CustomStringConvertible {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
    public var description: String { String(rawValue) }

    /// Reads the decimal form; `nil` for anything else, for 0 and for negative numbers.
    public init?(text: some StringProtocol) {
        guard let value = Int64(text), value > 0 else { return nil }
        self.rawValue = value
    }

    public static func < (left: NotificationID, right: NotificationID) -> Bool { left.rawValue < right.rawValue }
}

/// One registration of an app on a device: what a device token stands for once it is opened.
public struct TokenSubject: Hashable, Sendable {
    public var cell: UInt16
    public var device: DeviceID
    public var app: AppID
    public var environment: PushEnvironment
    /// Counts how often the token was renewed; 15 bits, `0 ... 32767`.
    public var generation: UInt16

    public init(cell: UInt16, device: DeviceID, app: AppID, environment: PushEnvironment, generation: UInt16) {
        self.cell = cell
        self.device = device
        self.app = app
        self.environment = environment
        self.generation = generation
    }
}
