import RelayWire

/// Devices that look for one another by a place that both name, to pair: a value.
///
/// Guarantees: two devices meet at a place, and no third; a place is kept for ten minutes, and at most ``limit`` of them.
struct RelayMeetings: Sendable {
    /// How many devices may wait.
    static let limit = 1024
    /// How long one waits, in milliseconds.
    static let patience: Int64 = 600_000

    private var waiting: [[UInt8]: (session: RelaySession, until: Int64)] = [:]
    private var partners: [RelaySession: RelaySession] = [:]

    mutating func come(
        _ session: RelaySession, to place: [UInt8], at now: Int64
    ) -> [RelayDirectory.Directive] {
        leave(session)
        if let other = waiting[place], other.until > now, other.session.device != session.device {
            waiting[place] = nil
            partners[session] = other.session
            partners[other.session] = session
            return [
                .send(.met(device: session.device), to: other.session),
                .send(.met(device: other.session.device), to: session),
            ]
        }
        if waiting.count >= Self.limit { waiting = waiting.filter { $0.value.until > now } }
        guard waiting.count < Self.limit else {
            return [.send(.refused("too many devices are being paired; try again in a few minutes"), to: session)]
        }
        waiting[place] = (session, now + Self.patience)
        return []
    }

    /// The device that this one has met.
    func partner(of session: RelaySession) -> RelaySession? { partners[session] }

    mutating func leave(_ session: RelaySession) {
        if let other = partners.removeValue(forKey: session) { partners[other] = nil }
        if let place = waiting.first(where: { $0.value.session == session })?.key { waiting[place] = nil }
    }
}
