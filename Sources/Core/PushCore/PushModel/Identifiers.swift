/// The id of a device: one agent with its own id and secret. It is the MCS device id.
///
/// It is always in `1 ... Int64.max`, so that it fits an SQLite integer and is never the protocol's "no id".
package struct DeviceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The id as a number, `1 ... Int64.max`.
    package let rawValue: UInt64

    /// Creates an id from an untrusted number; `nil` when the number is 0 or beyond `Int64.max`.
    package init?(_ rawValue: UInt64) {
        guard rawValue != 0, rawValue <= UInt64(Int64.max) else { return nil }
        self.rawValue = rawValue
    }

    package var description: String { String(rawValue) }

    package static func < (left: DeviceID, right: DeviceID) -> Bool { left.rawValue < right.rawValue }
}

/// The number of an app in the server's register, which device tokens contain instead of the topic.
package struct AppID: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    /// The number in the register and the token; any 32 bits.
    package let rawValue: UInt32
    /// Creates an id from a number of the register; whether an app has it is not checked.
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package var description: String { String(rawValue) }
}

/// The id of a team, which owns apps and provider keys. Ten characters `A-Z0-9`, like Apple's.
package struct TeamID: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    /// The id as text; ``hasShape(_:)`` checks whether a text can be one.
    package let rawValue: String
    /// Creates an id from a text without a check. An untrusted text is checked with ``hasShape(_:)`` first.
    package init(rawValue: String) { self.rawValue = rawValue }
    package var description: String { rawValue }

    /// Whether the text has the shape of a team's id: ten characters `A-Z0-9`.
    package static func hasShape(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) }
    }
}

/// The id of a provider key. Ten characters `A-Z0-9`, like Apple's; unique over all teams.
package struct KeyID: Hashable, Comparable, Sendable, RawRepresentable, CustomStringConvertible {
    /// The id as text; ``hasShape(_:)`` checks whether a text can be one.
    package let rawValue: String
    /// Creates an id from a text without a check. An untrusted text is checked with ``hasShape(_:)`` first, or looked
    /// up.
    package init(rawValue: String) { self.rawValue = rawValue }
    package var description: String { rawValue }

    /// Whether the text has the shape of a key id, which is that of a team's.
    package static func hasShape(_ text: String) -> Bool { TeamID.hasShape(text) }

    package static func < (left: KeyID, right: KeyID) -> Bool { left.rawValue < right.rawValue }
}

/// An app's name on the wire: its bundle id, `com.example.todo`.
package struct Topic: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    /// The bundle id as text, in the case in which it was written.
    package let rawValue: String
    /// Creates a topic from a text without a check. An untrusted text is checked with `hasShape` first.
    package init(rawValue: String) { self.rawValue = rawValue }
    package var description: String { rawValue }

    /// Whether the text can be a topic: 1 to 255 bytes of letters, digits, `.`, `-` and `_`. It does not begin with a
    /// dot, so that it can also be a file's name.
    package static func hasShape(_ text: String) -> Bool { hasShape(ArraySlice(text.utf8)) }

    /// Whether the bytes can be a topic, as ``hasShape(_:)-(String)``.
    package static func hasShape(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.count <= 255 && bytes.first != 46
            && bytes.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 46 || $0 == 45
                    || $0 == 95
            }
    }

    /// Whether a text is `aldaba` or `web-push`, or begins with `aldaba.`, in upper or lower case. The server, the agent and
    /// the relay use such names for themselves, so that no app has one.
    package static func isReserved(_ text: String) -> Bool {
        let name = text.lowercased()
        return name == "aldaba" || name == "web-push" || name.hasPrefix("aldaba.")
    }
}

/// The two environments of device tokens; a token of one is a `BadDeviceToken` in the other.
package enum PushEnvironment: String, Sendable, CaseIterable {
    /// The environment for apps under development; Apple's development environment.
    case sandbox
    /// The environment for released apps.
    case production
}

/// The two lanes of a mailbox. A limit applies to one lane; ids rise through both.
package enum Lane: UInt8, Sendable, CaseIterable {
    /// Notifications of the APNs provider API.
    case apns = 0
    /// Messages of FCM's API.
    case fcm = 1
}

/// The internal id of one notification: unique and increasing within its device, time-ordered on a node.
///
/// It is the persistent id on the device channel and the key of the timeline.
package struct NotificationID: Hashable, Comparable, Sendable, RawRepresentable, CustomStringConvertible {
    /// The id as a number: positive for a provider's notification. The agent gives an app's own notifications negative
    /// ones.
    package let rawValue: Int64
    /// Creates an id from a number, without a check.
    package init(rawValue: Int64) { self.rawValue = rawValue }
    package var description: String { String(rawValue) }

    /// Parses the decimal form; `nil` for any other text, for 0 and for negative numbers.
    package init?(text: some StringProtocol) {
        guard let value = Int64(text), value > 0 else { return nil }
        self.rawValue = value
    }

    package static func < (left: NotificationID, right: NotificationID) -> Bool { left.rawValue < right.rawValue }
}

/// The UUID by which a provider identifies a notification: `apns-id`, in the case in which it was written.
///
/// UUIDs that differ in case are the same to a provider; look-ups use ``lookUpKey``.
package struct APNsID: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
    /// The UUID's text.
    package let rawValue: String
    /// Creates an id from a text, without a check.
    package init(rawValue: String) { self.rawValue = rawValue }
    package var description: String { rawValue }

    /// The text in lower case.
    package var lookUpKey: String { rawValue.lowercased() }
}

/// A registration of an app on a device: the decoded form of a device token.
package struct TokenSubject: Hashable, Sendable {
    /// The cell of servers that has the device's mailbox; 0 where there is one server.
    package var cell: UInt16
    /// The device whose agent registered the app.
    package var device: DeviceID
    /// The app that was registered.
    package var app: AppID
    /// The environment in which the token is valid.
    package var environment: PushEnvironment
    /// The number of renewals of the token; 15 bits, `0 ... 32767`.
    package var generation: UInt16

    /// Creates the subject of one token. Only the low 15 bits of `generation` are sealed into it.
    package init(cell: UInt16, device: DeviceID, app: AppID, environment: PushEnvironment, generation: UInt16) {
        self.cell = cell
        self.device = device
        self.app = app
        self.environment = environment
        self.generation = generation
    }
}
