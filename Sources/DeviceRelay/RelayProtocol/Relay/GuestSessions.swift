/// The pairs of sessions by which devices of different users communicate. A value.
///
/// Guarantees: only two devices of which one has asked for the other can exchange messages. Each has at most ``limit``
/// partners, of which the oldest is replaced; a pair ends with either session.
struct GuestSessions: Sendable {
    /// How many devices of other persons one device talks with.
    static let limit = 32

    /// The others of each, the oldest first.
    private var partners: [RelaySession: [RelaySession]] = [:]

    /// Lets two sessions talk to each other. A session at its limit loses its oldest partner.
    ///
    /// - Returns: Both sessions of each pair that ended, each with the device that it lost.
    mutating func begin(_ one: RelaySession, _ other: RelaySession) -> [(session: RelaySession, lost: String)] {
        if partners[one]?.contains(other) == true { return [] }
        var ended: [(session: RelaySession, lost: String)] = []
        for (session, partner) in [(one, other), (other, one)] {
            if let all = partners[session], all.count >= Self.limit, let oldest = all.first {
                part(session, oldest)
                ended += [(session, oldest.device), (oldest, session.device)]
            }
            partners[session, default: []].append(partner)
        }
        return ended
    }

    /// The session of a device with which this one may talk.
    func partner(of session: RelaySession, _ device: String) -> RelaySession? {
        partners[session]?.first { $0.device == device }
    }

    /// Removes a session that is over, and returns those that communicated with it.
    mutating func end(_ session: RelaySession) -> [RelaySession] {
        let all = partners[session] ?? []
        for other in all { part(session, other) }
        return all
    }

    /// The sessions that have partners.
    var sessions: [RelaySession] { Array(partners.keys) }

    /// Ends one pair.
    mutating func end(_ one: RelaySession, with other: RelaySession) { part(one, other) }

    private mutating func part(_ one: RelaySession, _ other: RelaySession) {
        for (session, partner) in [(one, other), (other, one)] {
            partners[session]?.removeAll { $0 == partner }
            if partners[session]?.isEmpty == true { partners[session] = nil }
        }
    }
}
