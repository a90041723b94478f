import PushModel

/// What is counted of one accepted notification: the stages that it has reached, and the one outcome that it has.
/// A value, made of its timeline.
package struct DeliveryOutcome: Hashable, Sendable {
    /// How it ended, or that it has not. Every accepted notification has exactly one.
    package enum End: UInt8, Hashable, Sendable, CaseIterable {
        /// It waits, or was written to a connection and not acknowledged.
        case pending
        /// Its device has it.
        case delivered
        /// Its expiration passed before its device had it, or before its app took it.
        case expired
        /// A later one of its collapse id took its place.
        case replaced
        /// Its provider took it back before its device had it.
        case withdrawn
        /// More waited than may.
        case droppedOverflow
        /// Its device was away for too long.
        case droppedInactive
        /// Its registration ended, or the device does not have the app.
        case droppedUnregistered
        /// It was to be attempted once, and the device was not there.
        case droppedOffline
        /// It could not go on, for another reason.
        case failed
    }

    /// A stage that it may have reached, each beside the others.
    package enum Stage: UInt8, Hashable, Sendable, CaseIterable {
        /// It was written to a connection.
        case sent
        /// Its device has stored it.
        case received
        /// It was shown.
        case presented
        /// A person opened it, or chose an action.
        case opened
        /// A person dismissed it.
        case dismissed
        /// Its device has it and did not show it.
        case suppressed
        /// Its device had it within ten seconds of its acceptance.
        case prompt
    }

    /// The stages reached, as a set of bits.
    private var stages: UInt8 = 0
    /// How it ended, or that it has not.
    package private(set) var end = End.pending

    /// How soon after its acceptance a device has a notification that was not delayed.
    private static let promptness = Duration.seconds(10)

    /// What the lines of a timeline, but for `accepted` and `stored`, come to.
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
        // What the device gave up before its app took it was not delivered; what the server ended is, if it had it.
        let given = wasHandled ? nil : deviceEnd
        end = given ?? (isReceived ? .delivered : serverEnd ?? .pending)
    }

    /// Whether a stage was reached.
    package func has(_ stage: Stage) -> Bool { stages & (1 << stage.rawValue) != 0 }

    private mutating func insert(_ stage: Stage) { stages |= 1 << stage.rawValue }

    /// The end that a state is; `nil` for a state that is none.
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

    // MARK: As a store keeps it

    /// Stages and end in one number.
    package var encoded: Int64 { Int64(stages) | Int64(end.rawValue) << 8 }

    /// Reads what ``encoded`` has written; `nil` for anything else.
    package init?(encoded: Int64) {
        guard encoded >= 0, encoded < 1 << 16, let end = End(rawValue: UInt8(encoded >> 8)) else { return nil }
        stages = UInt8(encoded & 0xFF)
        self.end = end
    }

    /// The same notification when nobody will hear of it any more: what is still pending has ended unheard of.
    package func closed(isAttempt: Bool) -> DeliveryOutcome {
        var closed = self
        if end == .pending { closed.end = isAttempt ? .droppedOffline : .expired }
        return closed
    }
}
