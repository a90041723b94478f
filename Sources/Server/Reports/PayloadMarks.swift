import Foundation

/// What a payload says for reports and for clearing, a value. An encrypted payload says nothing.
package struct PayloadMarks: Hashable, Sendable {
    /// The sender's label, `google.c.a.m_l`; empty where there is none.
    package var label = ""
    /// The group whose notifications leave together, `aldaba.sync-group`; `nil` where there is none.
    package var syncGroup: String?
    /// Whether there is an alert.
    package var hasAlert = false

    private static let labelKey = Data("google.c.a.m_l".utf8)
    private static let groupKey = Data("sync-group".utf8)
    private static let alertKey = Data("\"alert\"".utf8)
    private static let longestGroup = 64

    /// Reads a payload. Most have neither label nor group, and are not parsed.
    package init(_ payload: [UInt8]) {
        let data = Data(payload)
        hasAlert = data.range(of: Self.alertKey) != nil
        guard data.range(of: Self.labelKey) != nil || data.range(of: Self.groupKey) != nil,
            let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return }
        if let label = object["google.c.a.m_l"] as? String, Self.isLabel(label) { self.label = label }
        if let group = (object["aldaba"] as? [String: Any])?["sync-group"] as? String, !group.isEmpty,
            group.utf8.count <= Self.longestGroup
        {
            syncGroup = group
        }
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
