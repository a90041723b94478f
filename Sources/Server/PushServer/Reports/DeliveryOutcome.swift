import PushCore

/// The counted outcome of one accepted notification: the stages that it has reached, and its one end. A value, made
/// from its timeline.
package struct DeliveryOutcome: Hashable, Sendable {
    /// The end of a notification, or its absence. Every accepted notification has exactly one.
    package enum End: UInt8, Hashable, Sendable, CaseIterable {
        /// The notification is queued, or was written to a connection and not acknowledged.
        case pending
        /// The device has the notification.
        case delivered
        /// The expiration passed before the device had the notification, or before the app took it.
        case expired
        /// A later notification with the same collapse id replaced it.
        case replaced
        /// The provider withdrew it before the device had it.
        case withdrawn
        /// The mailbox was full.
        case droppedOverflow
        /// The device was away for too long.
        case droppedInactive
        /// The registration ended, or the device does not have the app.
        case droppedUnregistered
        /// The notification was to be attempted once, and the device was not connected.
        case droppedOffline
        /// The notification failed for another reason.
        case failed
    }

    /// A stage that a notification may reach, independently of the others.
    package enum Stage: UInt8, Hashable, Sendable, CaseIterable {
        /// The notification was written to a connection.
        case sent
        /// The device has stored the notification.
        case received
        /// The notification was shown.
        case presented
        /// A person opened it, or chose an action.
        case opened
        /// A person dismissed it.
        case dismissed
        /// The device has the notification and did not show it.
        case suppressed
        /// The device had the notification within ten seconds of its acceptance.
        case prompt
    }

    /// The stages reached, as a set of bits.
    private var stages: UInt8 = 0
    /// The end, or `pending`.
    package private(set) var end = End.pending

    /// The longest time between acceptance and arrival of a notification that counts as prompt.
    private static let promptness = Duration.seconds(10)

    /// Creates the outcome from the lines of a timeline, except `accepted` and `stored`.
    package init(acceptedAt: Timestamp, lines: [TimelineEntry]) {
        var (serverEnd, deviceEnd): (End?, End?) = (nil, nil)
        var wasHandled = false
        for line in lines {
            switch line.state {
            case .sent: insert(.sent)
            case .acked:
                insert(.received)
                if line.at.duration(since: acceptedAt) <= Self.promptness { insert(.prompt) }
            case .presented:
                insert(.presented)
                wasHandled = true
            case .opened, .action:
                insert(.opened)
                wasHandled = true
            case .dismissed:
                insert(.dismissed)
                wasHandled = true
            case .handed: wasHandled = true
            case .suppressed: insert(.suppressed)
            default:
                guard let end = Self.end(line.state) else { continue }
                if line.source == .server { serverEnd = serverEnd ?? end } else { deviceEnd = deviceEnd ?? end }
            }
        }
        let isReceived = has(.received) || wasHandled || has(.suppressed)
        if isReceived { insert(.received) }
        // A notification that the device dropped before its app took it was not delivered. One that the server ended
        // was, if the device had it.
        let given = wasHandled ? nil : deviceEnd
        end = given ?? (isReceived ? .delivered : serverEnd ?? .pending)
    }

    /// Whether a stage was reached.
    package func has(_ stage: Stage) -> Bool { stages & (1 << stage.rawValue) != 0 }

    private mutating func insert(_ stage: Stage) { stages |= 1 << stage.rawValue }

    /// The end for a state; `nil` for a state that is no end.
    private static func end(_ state: NotificationState) -> End? {
        switch state {
        case .expired: .expired
        case .replaced: .replaced
        case .withdrawn: .withdrawn
        case .dropped(.overflow): .droppedOverflow
        case .dropped(.inactive): .droppedInactive
        case .dropped(.unregistered): .droppedUnregistered
        case .dropped(.offline): .droppedOffline
        case .failed: .failed
        default: nil
        }
    }

    // MARK: Encoding for stores

    /// The stages and the end in one number.
    package var encoded: Int64 { Int64(stages) | Int64(end.rawValue) << 8 }

    /// Decodes a number made by ``encoded``; `nil` for any other.
    package init?(encoded: Int64) {
        guard encoded >= 0, encoded < 1 << 16, let end = End(rawValue: UInt8(encoded >> 8)) else { return nil }
        stages = UInt8(encoded & 0xFF)
        self.end = end
    }

    /// The outcome when no more events can arrive: a pending notification gets a final end.
    package func closed(isAttempt: Bool) -> DeliveryOutcome {
        var closed = self
        if end == .pending { closed.end = isAttempt ? .droppedOffline : .expired }
        return closed
    }
}
