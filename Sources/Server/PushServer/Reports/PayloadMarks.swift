import Glibc
import PushCore

/// The properties of a payload that reports and sync groups use, a value. An encrypted payload has none.
package struct PayloadMarks: Hashable, Sendable {
    /// The sender's label, `google.c.a.m_l`; empty where there is none.
    package var label = ""
    /// The sync group, `aldaba.sync-group`, whose notifications are cleared together; `nil` where there is none.
    package var syncGroup: String?
    /// Whether the payload has an alert.
    package var hasAlert = false

    private static let labelKey: StaticString = "google.c.a.m_l"
    private static let groupKey: StaticString = "sync-group"
    private static let alertKey: StaticString = "\"alert\""
    private static let longestGroup = 64

    /// Parses a payload.
    package init(_ payload: [UInt8]) { self = payload.withUnsafeBytes(Self.init(of:)) }

    /// Parses the bytes of a payload. Most have neither label nor group, and are not parsed as JSON.
    package init(of payload: UnsafeRawBufferPointer) {
        hasAlert = Self.contains(Self.alertKey, in: payload)
        guard Self.contains(Self.labelKey, in: payload) || Self.contains(Self.groupKey, in: payload),
            let object = try? JSONValue(object: Array(payload))
        else { return }
        if case .string(let label) = object["google.c.a.m_l"], Self.isLabel(label) { self.label = label }
        if case .string(let group) = object["aldaba"]?["sync-group"], !group.isEmpty,
            group.utf8.count <= Self.longestGroup
        {
            syncGroup = group
        }
    }

    private static func contains(_ key: StaticString, in payload: UnsafeRawBufferPointer) -> Bool {
        guard var place = payload.baseAddress else { return false }
        let end = place + payload.count
        let length = key.utf8CodeUnitCount
        while end - place >= length, let found = memchr(place, Int32(key.utf8Start[0]), end - place - length + 1) {
            if memcmp(found, key.utf8Start, length) == 0 { return true }
            place = UnsafeRawPointer(found) + 1
        }
        return false
    }

    /// Whether a text can be a label: 1 to 50 characters `a-zA-Z0-9-_.~%`.
    package static func isLabel(_ text: String) -> Bool {
        (1...50).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || "-_.~%".utf8.contains(byte)
            }
    }
}
