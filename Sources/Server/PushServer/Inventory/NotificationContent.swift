import PushCore

/// The content of an accepted notification.
package struct NotificationContent: Sendable, Hashable {
    /// The push type; `nil` where the provider named none.
    package var pushType: PushType?
    /// The priority.
    package var priority: Priority
    /// The collapse id; `nil` where it replaces nothing.
    package var collapseID: String?
    /// The time at which it expires; `nil` for one attempt.
    package var expiresAt: Timestamp?
    /// The lane of its mailbox.
    package var lane: Lane
    /// The payload as the device gets it; `nil` once it was forgotten, a day after the timeline's last line.
    package var payload: [UInt8]?

    /// Creates the content of a notification.
    package init(
        pushType: PushType?, priority: Priority, collapseID: String?, expiresAt: Timestamp?, lane: Lane,
        payload: [UInt8]?
    ) {
        self.pushType = pushType
        self.priority = priority
        self.collapseID = collapseID
        self.expiresAt = expiresAt
        self.lane = lane
        self.payload = payload
    }

    /// The payload as JSON; `nil` where it is none.
    package var json: JSONValue? { payload.flatMap { try? JSONValue($0) } }

    /// Whether a text of the payload contains a text in lower case.
    func contains(_ text: String) -> Bool { json?.contains(text) ?? false }
}

extension JSONValue {
    /// Whether a string in the tree contains a text in lower case.
    fileprivate func contains(_ part: String) -> Bool {
        switch self {
        case .string(let text): text.lowercased().contains(part)
        case .array(let items): items.contains { $0.contains(part) }
        case .object(let members): members.contains { $0.value.contains(part) }
        case .null, .boolean, .number: false
        }
    }
}
